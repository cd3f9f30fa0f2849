// Runs of several ranks against the same runs of one: files, resumed runs, keys of [parallel], what is refused.
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>

#include <gtest/gtest.h>
#include <test/run/ranks.hpp>

#include <cmath>
#include <sstream>

namespace {

using namespace kasane;
using test::count;
using test::read_file;
namespace fs = std::filesystem;
using nlohmann::json;

class Parallel : public test::RanksTest {
   protected:
    /// A Plummer sphere of many grains: 8 steps, and no report.
    void sphere(const std::string& step = "dt = 0.015625") {
        test::write_file(directory / "sphere.toml",
                         "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nthreads = 1\nuntil = 0.125\n"
                         "[initial]\nmodel = \"plummer\"\ncount = 1000\n[force]\nsoftening = 0.01\n[step]\n" +
                             step + "\n[output]\ndirectory = \"out\"\nsnapshot_every = 0.0625\nreport = false\n");
    }
    std::vector<fs::path> checkpoints(const std::string& name) const {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(directory / name / "checkpoints"))
            if (entry.path().filename().string().starts_with("checkpoint")) all.push_back(entry.path());
        std::sort(all.begin(), all.end());
        return all;
    }
    void expect_same_run(const std::string& a, const std::string& b) const {
        EXPECT_EQ(read_file(directory / a / "energy.csv"), read_file(directory / b / "energy.csv")) << b;
        int snapshots = 0;
        for (const auto& entry : fs::directory_iterator(directory / a / "snapshots")) {
            EXPECT_TRUE(read_file(entry.path()) == read_file(directory / b / "snapshots" / entry.path().filename())) << b << entry.path();
            ++snapshots;
        }
        EXPECT_GT(snapshots, 1);
        const auto one = run::read_gravity_checkpoint(checkpoints(a).back()), other = run::read_gravity_checkpoint(checkpoints(b).back());
        EXPECT_EQ(one.step, other.step);
        EXPECT_EQ(one.particles.position, other.particles.position);
        EXPECT_EQ(one.particles.velocity, other.particles.velocity);
        EXPECT_EQ(one.particles.id, other.particles.id);
        EXPECT_EQ(one.state.frame.origin, other.state.frame.origin);
        EXPECT_EQ(one.state.frame.total, other.state.frame.total);
    }
    void run_on(int n, const std::string& name, const std::string& report = "false") {
        const auto outcome = ranks(n, {"run", "sphere.toml", "-o", name, "--quiet", "--set", "output.report=" + report});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "") << "they are quiet";
    }
};

TEST_F(Parallel, TwoToFourRanksWriteTheFilesOfOne) {
    sphere();
    ASSERT_EQ(kasane({"run", "sphere.toml", "-o", "one"}).status, 0);
    for (const int n : {2, 3, 4}) {
        const auto name = std::to_string(n);
        run_on(n, name, "true");
        expect_same_run("one", name);
        const auto record = json::parse(read_file(directory / name / "record.json"));
        EXPECT_EQ(record["parallel"]["ranks"], n);
        EXPECT_EQ(record["parallel"]["members_per_rank"], 1);
        EXPECT_EQ(record["parallel"]["placement"].size(), static_cast<std::size_t>(n));
        EXPECT_FALSE(record["parallel"]["engine"].get<std::string>().empty());
        ASSERT_EQ(record["rank_memory_bytes"].size(), static_cast<std::size_t>(n));
        for (const auto& bytes : record["rank_memory_bytes"]) EXPECT_GT(bytes, 1e6);
        EXPECT_NE(read_file(directory / name / "report.html").find("MiB of host memory"), std::string::npos);
        EXPECT_EQ(record["parallel"]["form"], "one-sided");
        EXPECT_EQ(record["segments"][0]["members"], n);
        EXPECT_EQ(record["interactions"], 9e6) << "of all workers: a force at the start and one a step";
        EXPECT_NE(read_file(directory / name / "report.html").find("Ranks"), std::string::npos);
    }
    const auto record = json::parse(read_file(directory / "one/record.json"));
    EXPECT_EQ(record["parallel"]["ranks"], 1);
    EXPECT_TRUE(record["parallel"]["engine"].is_null());
}

TEST_F(Parallel, SevenAndEightRanksWriteTheFilesOfOne) {
    sphere("dt = 0.0625");
    ASSERT_EQ(kasane({"run", "sphere.toml", "-o", "one", "--quiet"}).status, 0);
    for (const int n : {7, 8}) {
        run_on(n, std::to_string(n));
        expect_same_run("one", std::to_string(n));
    }
}

TEST_F(Parallel, BlockStepsToo) {
    sphere("method = \"block\"\ndt_max = 0.0625");
    ASSERT_EQ(kasane({"run", "sphere.toml", "-o", "one", "--quiet"}).status, 0);
    ASSERT_LT(json::parse(read_file(directory / "one/record.json"))["step_counts"]["active_fraction"], 0.9);
    run_on(3, "three");
    expect_same_run("one", "three");
}

TEST_F(Parallel, ARunResumesOnAnyNumberOfRanks) {
    // 100 steps: the frame of the force is renewed on the way, at step 64, and not where the run continues.
    sphere("dt = 0.00125");
    const std::vector<std::string> some{
        "--set", "initial.count=513", "--set", "output.checkpoint_every=0", "--set", "output.diagnostics_every=0.0125"};
    const auto words = [&](const std::string& name, const std::string& until) {
        std::vector<std::string> all{
            "run", "sphere.toml", "-o", name, "--quiet", "--set", "run.until=" + until, "--set", "output.snapshot_every=0.0625"};
        all.insert(all.end(), some.begin(), some.end());
        return all;
    };
    const auto go_on = [&](const std::string& name, int last, const std::string& until, int n) {
        auto text = read_file(directory / name / "run.toml");
        const auto from = "until = " + std::string(last == 30 ? "0.0375" : "0.0875"), to = "until = " + until;
        ASSERT_NE(text.find(from), std::string::npos) << text;
        text.replace(text.find(from), from.size(), to);
        test::write_file(directory / name / "run.toml", text);
        const auto outcome = n == 1 ? kasane({"resume", name}) : ranks(n, {"resume", name});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        // The tests beside this one may make the machine busy; every other warning is a fault.
        std::istringstream lines(outcome.err);
        for (std::string line; std::getline(lines, line);)
            EXPECT_TRUE(line.find("warning") == std::string::npos || line.find("of other programs") != std::string::npos) << line;
    };
    ASSERT_EQ(kasane(words("whole", "0.125")).status, 0);
    ASSERT_EQ(ranks(2, words("two", "0.0375")).status, 0);
    go_on("two", 30, "0.0875", 3);
    go_on("two", 70, "0.125", 1);
    expect_same_run("whole", "two");
    ASSERT_EQ(kasane(words("one", "0.0875")).status, 0);
    go_on("one", 70, "0.125", 4);
    expect_same_run("whole", "one");
    const auto segments = json::parse(read_file(directory / "two/record.json"))["segments"];
    ASSERT_EQ(segments.size(), 3u);
    EXPECT_EQ(segments[0]["members"], 2);
    EXPECT_EQ(segments[1]["members"], 3);
    EXPECT_EQ(segments[1]["first_step"], 30);
    EXPECT_EQ(segments[2]["first_step"], 70);
}

/// A tree: a run of several ranks has the energies of one to the errors of its forces, and continues on another number of ranks.
TEST_F(Parallel, ATreeRunsAndResumesOnAnyNumberOfRanks) {
    sphere("method = \"block\"\ndt_max = 0.015625");
    const auto words = [](const std::string& name, const std::string& until) {
        return std::vector<std::string>{"run",   "sphere.toml",         "-o",    name,
                                        "--set", "force.method=tree",   "--set", "run.until=" + until,
                                        "--set", "initial.count=2000",  "--set", "output.diagnostics_every=0.015625",
                                        "--set", "force.softening=0.05"};
    };
    ASSERT_EQ(kasane(words("one", "0.125")).status, 0);
    for (const int n : {2, 3}) {
        const auto name = std::to_string(n);
        const auto outcome = ranks(n, words(name, n == 2 ? "0.0625" : "0.125"));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
    }
    auto text = read_file(directory / "2/run.toml");
    const std::string from = "until = 0.0625";
    ASSERT_NE(text.find(from), std::string::npos) << text;
    test::write_file(directory / "2/run.toml", text.replace(text.find(from), from.size(), "until = 0.125"));
    const auto outcome = ranks(3, {"resume", "2"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("divided anew"), std::string::npos) << outcome.err;

    const auto energies = [&](const std::string& name) {
        std::istringstream lines(read_file(directory / name / "energy.csv"));
        std::vector<std::string> all;
        for (std::string line; std::getline(lines, line);) all.push_back(line);
        return all;
    };
    const auto record_of = [&](const std::string& name) { return json::parse(read_file(directory / name / "record.json")); };
    const auto one = record_of("one");
    const auto exact = run::read_gravity_checkpoint(checkpoints("one").back());
    for (const std::string name : {"2", "3"}) {
        SCOPED_TRACE(name);
        const auto record = record_of(name);
        EXPECT_EQ(energies(name).size(), energies("one").size());
        EXPECT_EQ(record["status"], "done");
        EXPECT_EQ(record["parallel"]["ranks"], 3);
        EXPECT_TRUE(record["parallel"]["form"].is_null() || record["parallel"]["form"] == "");
        EXPECT_LT(record["relative_energy_error"], 1e-3);
        EXPECT_LT(record["force_error"]["median"], 1e-3);
        EXPECT_GT(record["interactions"], 0.5 * one["interactions"].get<double>());
        std::int64_t particles = 0;
        for (const auto& load : record["worker_loads"]) particles += load["particles"].get<std::int64_t>();
        EXPECT_EQ(record["worker_loads"].size(), 3u);
        EXPECT_EQ(particles, 2000);
        const auto end = run::read_gravity_checkpoint(checkpoints(name).back());
        EXPECT_EQ(end.step, exact.step);
        EXPECT_EQ(end.particles.id, exact.particles.id);
        EXPECT_EQ(end.state.acceleration.size(), 2000u);
        double most = 0;
        for (std::size_t i = 0; i < 2000; ++i) {
            const auto d = end.particles.position[i] - exact.particles.position[i];
            most = std::max(most, std::sqrt(dot(d, d)));
        }
        EXPECT_LT(most, 1e-3) << "forces differ by 1e-3 of themselves, of the order of 1 to 10, for a time of 0.125";
        EXPECT_GT(most, 0) << "the trees are divided";
        EXPECT_TRUE(fs::exists(directory / name / "snapshots/snapshot_0002.hdf5"));
    }
}

/// Objects of several components, and a snapshot that each rank reads a part of: the particles of one rank, in one file or in a set.
TEST_F(Parallel, EachRankDrawsReadsAndWritesItsParticles) {
    sphere();
    ASSERT_EQ(kasane({"run", "sphere.toml", "-o", "first", "--quiet"}).status, 0);
    fs::copy_file(directory / "first/snapshots/snapshot_0001.hdf5", directory / "start.hdf5");
    test::write_file(directory / "mixed.toml",
                     "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nthreads = 1\nuntil = 0.0625\n"
                     "[[object]]\nmodel = \"plummer\"\ncount = 700\nmass = 2\nposition = [3, 0, 0]\nspin = [20, 10, 0]\ntype = 2\n"
                     "[[object]]\nfile = \"start.hdf5\"\nposition = [-3, 0, 0]\n"
                     "[[object]]\nmodel = \"uniform\"\ncount = 300\nscale = 1\nposition = [0, 3, 0]\ntype = 3\n"
                     "[force]\nsoftening = {type1 = 0.02, type2 = 0.01, type3 = 0.05}\n[step]\ndt = 0.015625\n"
                     "[output]\ndirectory = \"out\"\nsnapshot_every = 0.03125\n");
    ASSERT_EQ(kasane({"run", "mixed.toml", "-o", "one", "--quiet"}).status, 0);
    const auto energies = read_file(directory / "one/energy.csv");
    for (const int n : {2, 3, 4})
        for (const std::string files : {"one", "ranks"}) {
            SCOPED_TRACE(testing::Message() << n << " ranks, " << files);
            const auto name = files + std::to_string(n);
            const auto outcome = ranks(n, {"run", "mixed.toml", "-o", name, "--quiet", "--set", "output.snapshot_files=" + files});
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            EXPECT_EQ(read_file(directory / name / "energy.csv"), energies);
            for (const std::string snapshot : {"snapshot_0000", "snapshot_0001", "snapshot_0002"}) {
                const auto one = gravity::read_snapshot(directory / "one/snapshots" / (snapshot + ".hdf5"));
                const auto path = directory / name / "snapshots" / (snapshot + (files == "one" ? ".hdf5" : ".0.hdf5"));
                const auto other = gravity::read_snapshot(path);
                EXPECT_EQ(gravity::inspect_snapshot(path).files, files == "one" ? 1 : n);
                EXPECT_EQ(other.particles.position, one.particles.position);
                EXPECT_EQ(other.particles.velocity, one.particles.velocity);
                EXPECT_EQ(other.particles.mass, one.particles.mass);
                EXPECT_EQ(other.particles.id, one.particles.id);
                EXPECT_EQ(other.particles.type, one.particles.type);
                EXPECT_EQ(other.time, one.time);
                EXPECT_EQ(other.softening, one.softening);
                EXPECT_EQ(other.components, one.components);
                EXPECT_EQ(other.units, one.units);
                EXPECT_EQ(other.force_error, one.force_error);
            }
            const auto a = run::read_gravity_checkpoint(checkpoints("one").back()),
                       b = run::read_gravity_checkpoint(checkpoints(name).back());
            EXPECT_EQ(a.particles.position, b.particles.position);
            EXPECT_EQ(a.particles.softening, b.particles.softening);
            const auto record = json::parse(read_file(directory / name / "record.json")),
                       one = json::parse(read_file(directory / "one/record.json"));
            for (const char* key : {"particles", "particles_by_type", "objects", "components", "softenings", "softening", "units"})
                EXPECT_EQ(record[key], one[key]) << key;
            EXPECT_NE(read_file(directory / name / "report.html").find("<canvas"), std::string::npos) << "the film of the snapshots";
        }
    // A run starts from a set of files on any number of ranks.
    test::write_file(directory / "again.toml",
                     "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nthreads = 1\nuntil = 0.125\n"
                     "[initial]\nfile = \"ranks4/snapshots/snapshot_0002.0.hdf5\"\n[force]\nsoftening = 0.02\n[step]\ndt = 0.015625\n"
                     "[output]\ndirectory = \"out\"\nreport = false\n");
    ASSERT_EQ(kasane({"run", "again.toml", "-o", "again1", "--quiet"}).status, 0);
    for (const int n : {2, 3}) {
        const auto name = "again" + std::to_string(n);
        ASSERT_EQ(ranks(n, {"run", "again.toml", "-o", name, "--quiet"}).status, 0);
        expect_same_run("again1", name);
    }
}

/// The ranks write their files while steps go on; the run ends when it waits for them.
TEST_F(Parallel, ReportsARankThatCannotWriteItsFileOfASet) {
    sphere();
    ASSERT_EQ(ranks(3, {"run", "sphere.toml", "-o", "out", "--quiet", "--set", "output.snapshot_files=ranks"}).status, 0);
    fs::remove(checkpoints("out").back());
    const auto file = directory / "out/snapshots/snapshot_0002.1.hdf5";
    fs::remove(file);
    fs::create_directories(file / "in the way");
    const auto outcome = ranks(3, {"resume", "out"});
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("snapshot_0002.1.hdf5"), std::string::npos) << outcome.err;
    fs::remove_all(file);
    EXPECT_EQ(ranks(3, {"resume", "out"}).status, 0);
    EXPECT_EQ(gravity::inspect_snapshot(file).files, 3);
}

/// From 32,768 particles on the root rank collects them, and a thread writes them while steps go on: the same files.
TEST_F(Parallel, ManyParticlesAreWrittenBesideTheSteps) {
    sphere("dt = 0.0625");
    const std::vector<std::string> many{"--quiet", "--set", "initial.count=33000", "--set", "output.checkpoint_every=0"};
    const auto words = [&](const std::string& name, const std::vector<std::string>& more) {
        std::vector<std::string> all{"run", "sphere.toml", "-o", name};
        all.insert(all.end(), many.begin(), many.end());
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    ASSERT_EQ(kasane(words("one", {})).status, 0);
    const auto outcome = ranks(3, words("three", {}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_same_run("one", "three");
    const auto output = [&](const std::string& name) {
        return json::parse(read_file(directory / name / "record.json"))["timers"]["output"]["calls"].get<int>();
    };
    EXPECT_EQ(output("three"), output("one"));
    // Without its last checkpoint the run continues from the one before, with the same bits; a file that cannot be written ends it.
    fs::remove(checkpoints("three").back());
    const auto file = directory / "three/snapshots/snapshot_0002.hdf5";
    fs::remove(file);
    fs::create_directories(file / "in the way");
    const auto failed = ranks(2, {"resume", "three"});
    EXPECT_EQ(failed.status, 2) << failed.err;
    EXPECT_NE(failed.err.find("snapshot_0002.hdf5"), std::string::npos) << failed.err;
    fs::remove_all(file);
    EXPECT_EQ(ranks(2, {"resume", "three"}).status, 0);
    expect_same_run("one", "three");
    // Each rank writes its particles, and checkpoints are one file.
    ASSERT_EQ(ranks(2, words("set", {"--set", "output.snapshot_files=ranks"})).status, 0);
    const auto whole = run::read_gravity_checkpoint(checkpoints("one").back()),
               set = run::read_gravity_checkpoint(checkpoints("set").back());
    EXPECT_EQ(whole.particles.position, set.particles.position);
    EXPECT_EQ(whole.particles.velocity, set.particles.velocity);
}

TEST_F(Parallel, ASetOfAnotherNumberOfRanksIsReplaced) {
    sphere();
    ASSERT_EQ(ranks(4, {"run", "sphere.toml", "-o", "out", "--quiet", "--set", "output.snapshot_files=ranks"}).status, 0);
    const auto before = gravity::read_snapshot(directory / "out/snapshots/snapshot_0002.0.hdf5");
    // Without the last checkpoint the run continues from an earlier one and writes the last snapshot again.
    fs::remove(checkpoints("out").back());
    const auto outcome = ranks(2, {"resume", "out"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto after = gravity::read_snapshot(directory / "out/snapshots/snapshot_0002.0.hdf5");
    EXPECT_EQ(after.particles.position, before.particles.position);
    EXPECT_FALSE(fs::exists(directory / "out/snapshots/snapshot_0002.2.hdf5"));
    EXPECT_TRUE(fs::exists(directory / "out/snapshots/snapshot_0002.1.hdf5"));
    const auto last = gravity::inspect_snapshot(directory / "out/snapshots/snapshot_0002.0.hdf5");
    EXPECT_EQ(last.files, 2);
}

/// A softening of each component, block steps, softening 0, a tree: the particles are those that one rank draws.
TEST_F(Parallel, RanksStartATreeWithTheParticlesOfOne) {
    sphere("method = \"block\"\ndt_max = 0.015625");
    const std::vector<std::string> settings{"--quiet", "--set", "force.method=tree", "--set", "run.until=0.03125"};
    const auto run_it = [&](int n, const std::string& name, std::vector<std::string> more) {
        std::vector<std::string> words{"run", "sphere.toml", "-o", name};
        words.insert(words.end(), settings.begin(), settings.end());
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = n == 1 ? kasane(words) : ranks(n, words);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    };
    for (const std::string softening : {"0.01", "0.0"}) {
        const std::vector<std::string> set{"--set", "force.softening=" + softening};
        run_it(1, "one" + softening, set);
        for (const int n : {2, 3}) {
            const auto name = std::to_string(n) + softening;
            run_it(n, name, set);
            const auto one = gravity::read_snapshot(directory / ("one" + softening) / "snapshots/snapshot_0000.hdf5"),
                       other = gravity::read_snapshot(directory / name / "snapshots/snapshot_0000.hdf5");
            EXPECT_EQ(other.particles.position, one.particles.position);
            EXPECT_EQ(other.particles.velocity, one.particles.velocity);
            EXPECT_EQ(other.particles.id, one.particles.id);
            const auto checkpoint = run::read_gravity_checkpoint(checkpoints(name).back());
            EXPECT_EQ(checkpoint.particles.size(), 1000);
            EXPECT_EQ(checkpoint.state.acceleration.size(), 1000u);
        }
    }
}

TEST_F(Parallel, CheckReportsPlacementAndMemoryOfEachRank) {
    sphere();
    const auto outcome = ranks(2, {"check", "sphere.toml", "--json", "--set", "initial.count=20000"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto result = outcome.json();
    ASSERT_EQ(result["ranks"].size(), 2u);
    EXPECT_NE(result["ranks"][1]["placement"].get<std::string>().find("rank 1"), std::string::npos);
    const double root = result["ranks"][0]["memory"]["host_bytes"], other = result["ranks"][1]["memory"]["host_bytes"];
    EXPECT_NEAR(root, other, 0.05 * other) << "no rank holds all particles";
    EXPECT_GT(result["ranks"][1]["memory"]["host_bytes"], 9000 * 56) << "its half";
    const auto more = ranks(2, {"check", "sphere.toml", "--json", "--set", "initial.count=40000"});
    ASSERT_EQ(more.status, 0) << more.err;
    const auto memory_of = [&](int rank) {
        return more.json()["ranks"][static_cast<std::size_t>(rank)]["memory"]["host_bytes"].get<double>();
    };
    // Position, velocity, mass, softening, number, type and acceleration of all particles, for the files.
    EXPECT_NEAR(memory_of(0) - memory_of(1), 40000 * 85, 0.05 * memory_of(1));
    EXPECT_NE(result["resolved"].get<std::string>().find("[parallel]"), std::string::npos);
    EXPECT_FALSE(fs::exists(directory / "out"));
}

/// One error, printed once, with status 2 of the launcher; nothing is written.
void expect_one_error(const test::Outcome& outcome, const std::vector<std::string>& words) {
    test::expect_bad_input(outcome, words);
    EXPECT_EQ(count(outcome.err, "error: "), 1) << outcome.err;
    EXPECT_EQ(count(outcome.out, "\"error\""), 1) << outcome.out;
}

TEST_F(Parallel, ErrorsAreReportedOnce) {
    sphere();
    expect_one_error(ranks(3, {"run", "sphere.toml", "--json", "-o", "sphere.toml/out"}), {"output.directory"});
    expect_one_error(ranks(2, {"sample", "m31.toml", "-o", "m31.hdf5", "--json"}), {"kasane sample", "one rank", "2 were started"});
    expect_one_error(ranks(2, {"run", "sphere.toml", "--json", "--set", "initial.count=100000000000"}), {"memory", "initial.count"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(Parallel, RanksOfDifferentRunsAreRefused) {
    sphere();
    const std::string command = " '" KASANE_COMMAND "' ";
    expect_one_error(
        launch("1" + command + "run sphere.toml --json : -n 1" + command + "run sphere.toml --json -o other", without_delay).wait(),
        {"rank 1", "-o other", "same command"});
    fs::create_directory(directory / "elsewhere");
    test::write_file(directory / "elsewhere/sphere.toml", read_file(directory / "sphere.toml") + "# changed\n");
    expect_one_error(launch("1" + command + "run sphere.toml --json : -n 1 -wdir '" + (directory / "elsewhere").string() + "'" + command +
                                "run sphere.toml --json",
                            without_delay)
                         .wait(),
                     {"rank 1", "sphere.toml", "checksums differ"});
    EXPECT_FALSE(fs::exists(directory / "out"));
    EXPECT_FALSE(fs::exists(directory / "elsewhere/out"));
}

/// The table [parallel], without a launcher.
class ParallelKeys : public test::CommandTest {
   protected:
    test::Outcome check(std::vector<std::string> settings) {
        small_run();
        std::vector<std::string> words{"check", "small.toml", "--json"};
        for (auto& setting : settings) words.push_back("--set"), words.push_back("parallel." + std::move(setting));
        return kasane(words);
    }
};

TEST_F(ParallelKeys, AreShownWhereTheyAreGiven) {
    EXPECT_EQ(check({}).json()["resolved"].get<std::string>().find("[parallel]"), std::string::npos);
    const auto outcome = check({"buffer=64", "form=one-sided"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto resolved = outcome.json()["resolved"].get<std::string>();
    for (const char* line : {"[parallel]", "gpus_per_rank = 1", "buffer = 64.0", "engine = \"auto\"", "form = \"one-sided\""})
        EXPECT_NE(resolved.find(line), std::string::npos) << line;
}

TEST_F(ParallelKeys, ErrorsNameTheirKey) {
    test::expect_bad_input(check({"gpus_per_rank=0"}), {"parallel.gpus_per_rank", "at least 1"});
    test::expect_bad_input(check({"gpus_per_rank=2"}), {"run.device", "worker"});
    test::expect_bad_input(check({"buffer=0"}), {"parallel.buffer"});
    test::expect_bad_input(check({"engine=nccl"}), {"parallel.engine", "CUDA"});
    test::expect_bad_input(check({"engine=mpi"}), {"parallel.engine", "'mpi'", "staged"});
    test::expect_bad_input(check({"form=both-sides"}), {"parallel.form", "CUDA"});
    test::expect_bad_input(check({"bufer=1"}), {"parallel.bufer", "did you mean 'buffer'"});
    tree_run();
    test::expect_bad_input(kasane({"check", "tree.toml", "--json", "--set", "parallel.form=one-sided"}), {"parallel.form", "direct"});
    test::expect_bad_input(kasane({"check", "tree.toml", "--json", "--set", "parallel.buffer=1"}), {"parallel.buffer", "direct"});
}

}  // namespace
