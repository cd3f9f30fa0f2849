// `run`, `check`, `sample`, `forces`, `info`: what they write and promise.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;
using json = nlohmann::json;

class Run : public test::CommandTest {};

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

std::vector<double> numbers(const std::string& row) {
    std::vector<double> all;
    std::istringstream stream(row);
    for (std::string field; std::getline(stream, field, ',');) all.push_back(std::stod(field));
    return all;
}

TEST_F(Run, WritesItsDirectory) {
    small_run();
    const auto outcome = kasane({"run", "small.toml", "--json", "--set", "output.report=true"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto result = outcome.json();
    EXPECT_EQ(result["directory"], "out");
    EXPECT_EQ(result["status"], "done");
    EXPECT_EQ(result["steps"], 40);
    EXPECT_EQ(result["time"], 0.625);
    EXPECT_GT(result["seconds"], 0);
    EXPECT_LT(result["relative_energy_error"], 1e-3);
    for (const char* name : {"run.toml", "log.txt", "energy.csv", "record.json", "report.html", "snapshots/snapshot_0000.hdf5",
                             "snapshots/snapshot_0004.hdf5", "checkpoints/checkpoint_000000000040.hdf5"})
        EXPECT_TRUE(fs::is_regular_file(directory / "out" / name)) << name;
    EXPECT_FALSE(fs::exists(directory / "out/snapshots/snapshot_0005.hdf5"));
    EXPECT_NE(read_file(directory / "out/log.txt").find("257 particles"), std::string::npos);

    const auto rows = lines(read_file(directory / "out/energy.csv"));
    ASSERT_EQ(rows.size(), 12u) << "the header, the start, and every fourth of 40 steps";
    EXPECT_EQ(rows[0].substr(0, 60), "time,step,kinetic,potential,energy,relative_energy_error,vir");
    const auto last = numbers(rows.back());
    ASSERT_EQ(last.size(), 27u);
    EXPECT_EQ(last[0], 0.625);
    EXPECT_EQ(last[1], 40);
    EXPECT_EQ(last[4], last[2] + last[3]);
    const double first_energy = numbers(rows[1])[4];
    EXPECT_EQ(last[5], (last[4] - first_energy) / std::abs(first_energy));
    // Pairs in single precision: about 1e-7 each, more where a sum nearly cancels.
    EXPECT_GT(last[21], 0) << "the median force error";
    EXPECT_LE(last[21], last[22]);
    EXPECT_LE(last[22], last[23]);
    EXPECT_LT(last[23], 1e-4);
    EXPECT_EQ(last[24], 40) << "steps of all";
    EXPECT_EQ(last[25], 40.0 * 257) << "particles advanced";
    EXPECT_EQ(last[26], 1) << "active, in the mean";
    EXPECT_TRUE(std::isnan(numbers(rows[1])[26])) << "before the first step";

    const auto record = json::parse(read_file(directory / "out/record.json"));
    for (const char* key : {"kasane",
                            "commit",
                            "build",
                            "device",
                            "threads",
                            "simd",
                            "title",
                            "problem",
                            "status",
                            "started",
                            "finished",
                            "particles",
                            "particles_by_type",
                            "units",
                            "softening",
                            "dt",
                            "force",
                            "step",
                            "steps",
                            "step_counts",
                            "force_error",
                            "time",
                            "seconds",
                            "timers",
                            "interactions",
                            "rate",
                            "bound",
                            "relative_energy_error",
                            "segments",
                            "unused_keys",
                            "papers"})
        EXPECT_TRUE(record.contains(key)) << key;
    EXPECT_EQ(record["particles_by_type"], json::parse("[0, 257, 0, 0, 0, 0]"));
    EXPECT_EQ(record["interactions"], 41.0 * 257 * 257) << "a force at the start and one a step";
    EXPECT_EQ(record["threads"], 2);
    EXPECT_GT(record["timers"]["force"]["seconds"], 0);

    const auto snapshot = gravity::read_snapshot(directory / "out/snapshots/snapshot_0004.hdf5");
    EXPECT_EQ(snapshot.time, 0.625);
    EXPECT_EQ(snapshot.units, gravity::nbody_units());
    EXPECT_EQ(snapshot.softening[1], 0.05);
    EXPECT_EQ(snapshot.force_error.count, 256);
    EXPECT_EQ(snapshot.force_error.median, last[21]);
    EXPECT_EQ(snapshot.force_error.p99, last[22]);
    EXPECT_EQ(snapshot.force_error.max, last[23]);
    EXPECT_EQ(record["force_error"]["max"], last[23]);
}

TEST_F(Run, AReportThatIsNotWantedIsNeitherCountedNorWritten) {
    small_run();
    const auto memory = [&](const std::string& report) {
        return kasane({"check", "small.toml", "--json", "--set", "output.report=" + report}).json()["memory"]["host_bytes"].get<double>();
    };
    EXPECT_GT(memory("true"), memory("false") + 32e6) << "its pictures";
    const auto outcome = kasane({"run", "small.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(outcome.json()["report"].is_null());
    EXPECT_FALSE(fs::exists(directory / "out/report.html"));
    ASSERT_EQ(kasane({"report", "out"}).status, 0);
    EXPECT_NE(read_file(directory / "out/report.html").find("<canvas"), std::string::npos) << "the film";
}

TEST_F(Run, WithoutAnAuditThereAreNoForceErrors) {
    small_run("audit = 0\n");
    ASSERT_EQ(kasane({"run", "small.toml", "--quiet", "--set", "output.report=true"}).status, 0);
    for (const std::size_t column : {21u, 22u, 23u})
        EXPECT_TRUE(std::isnan(numbers(lines(read_file(directory / "out/energy.csv")).back())[column]));
    EXPECT_EQ(gravity::read_snapshot(directory / "out/snapshots/snapshot_0004.hdf5").force_error, gravity::SnapshotForceError{});
    EXPECT_TRUE(json::parse(read_file(directory / "out/record.json"))["force_error"].is_null());
    EXPECT_EQ(read_file(directory / "out/report.html").find("Force error"), std::string::npos);
}

TEST_F(Run, TheResolvedFileRunsToTheSameBits) {
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml"}).status, 0);
    const auto again = kasane({"run", "out/run.toml", "-o", "again"});
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(read_file(directory / "again/energy.csv"), read_file(directory / "out/energy.csv"));
    // Written out again it is the same but for the directory's name.
    auto text = read_file(directory / "again/run.toml");
    text.replace(text.find("\"again\""), 7, "\"out\"  ");
    EXPECT_EQ(text, read_file(directory / "out/run.toml"));
}

TEST_F(Run, ForceReplacesARunAndLeavesOtherFiles) {
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml"}).status, 0);
    test::write_file(directory / "out/notes.txt", "mine");
    test::write_file(directory / "out/snapshots/picture.png", "mine too");
    const auto outcome = kasane({"run", "small.toml", "--force", "--set", "output.snapshot_every=0.625", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read_file(directory / "out/notes.txt"), "mine");
    EXPECT_EQ(read_file(directory / "out/snapshots/picture.png"), "mine too");
    EXPECT_TRUE(fs::exists(directory / "out/snapshots/snapshot_0001.hdf5"));
    EXPECT_FALSE(fs::exists(directory / "out/snapshots/snapshot_0002.hdf5")) << "a snapshot of the old run";
}

TEST_F(Run, AKeplerPairReturnsAfterOnePeriod) {
    // Separation 1 at apocentre with e = 0.5, masses 1 and 3, G = 1: a = 2/3, P = 2 pi sqrt(a^3 / 4) = 1.7100.
    const double pi = std::acos(-1.0), period = 2 * pi * std::sqrt(std::pow(2.0 / 3, 3) / 4);
    test::write_file(directory / "kepler.toml",
                     "[run]\nproblem = 'gravity'\nunits = 'nbody'\ndevice = 'cpu'\nuntil = " + json(period).dump() +
                         "\n[[object]]\nmodel = 'point'\nmass = 1\n[[object]]\nmodel = 'point'\nmass = 3\n"
                         "[orbit]\nseparation = 1\npericentre = 0.33333333333333333\neccentricity = 0.5\n"
                         "[force]\nsoftening = 0\nprecision = 'double'\n[step]\ndt = " +
                         json(period / 4000).dump() + "\n[output]\ndirectory = 'out'\n");
    const auto outcome = kasane({"run", "kepler.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto first = gravity::read_snapshot(directory / "out/snapshots/snapshot_0000.hdf5").particles;
    const auto last = gravity::read_snapshot(directory / "out/snapshots/snapshot_0020.hdf5").particles;
    const auto start = first.position[0] - first.position[1], end = last.position[0] - last.position[1];
    EXPECT_NEAR(std::sqrt(dot(start, start)), 1, 1e-12);
    // Leapfrog's phase error is about (2 pi)^2/24 (dt/P)^2 times a factor of the eccentricity (about 1/(1-e)^3 = 8), here 1e-6 of
    // an orbit of length 4; the period is given to 6 decimals.
    EXPECT_NEAR(end.x, start.x, 1e-4);
    EXPECT_NEAR(end.y, start.y, 1e-4);
    EXPECT_LT(outcome.json()["relative_energy_error"], 1e-5);
}

TEST_F(Run, ABlowUpIsReportedWithItsTimeAndRemedy) {
    // No softening, and r^3 = 1e-330 is below the range of doubles: the accelerations are infinite at once.
    test::write_file(directory / "blow.toml",
                     "[run]\nproblem = 'gravity'\nunits = 'nbody'\ndevice = 'cpu'\nuntil = 1\n"
                     "[[object]]\nmodel = 'point'\nmass = 1\n[[object]]\nmodel = 'point'\nmass = 1\nposition = [1e-110, 0, 0]\n"
                     "[force]\nsoftening = 0\nprecision = 'double'\n[step]\ndt = 0.1\n[output]\ndirectory = 'out'\n");
    const auto outcome = kasane({"run", "blow.toml", "--json"});
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    const auto message = outcome.json()["error"]["message"].get<std::string>();
    for (const char* word : {"blew up", "t = ", "dt", "softening"}) EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_EQ(json::parse(read_file(directory / "out/record.json"))["status"], "failed");
}

TEST_F(Run, CheckDescribesTheRun) {
    small_run();
    const auto outcome = kasane({"check", "small.toml", "--json", "--set", "run.title=A test"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto result = outcome.json();
    EXPECT_EQ(result["title"], "A test");
    EXPECT_EQ(result["particles"], 257);
    EXPECT_EQ(result["steps"], 40);
    EXPECT_GT(result["memory"]["host_bytes"], 257 * 100);
    EXPECT_GT(result["memory"]["host_available"], result["memory"]["host_bytes"]);
    EXPECT_NE(result["resolved"].get<std::string>().find("checkpoint_every = 60.0"), std::string::npos);
    EXPECT_NE(result["papers"].dump().find("Plummer"), std::string::npos);
    EXPECT_FALSE(fs::exists(directory / "out"));
    EXPECT_NE(kasane({"check", "small.toml"}).out.find("memory: "), std::string::npos);
}

// Memory per particle, by the difference of two runs, so that the program and its libraries do not count. Both are interrupted in their
// first step, after which they write all their files: with fewer than 131,072 particles the report of a whole run takes more than the run.
TEST_F(Run, TakesTheMemoryThatCheckReports) {
    small_run();
    double reported[2], taken[2];
    const double particles[] = {32'768, 81'920};
    for (int k = 0; k < 2; ++k) {
        const auto count = "initial.count=" + std::to_string(static_cast<int>(particles[k]));
        const std::vector<std::string> settings{"--set", count,
                                                "--set", "run.until=1",
                                                "--set", "output.audit=0",
                                                "--set", "output.report=true",
                                                "--set", "output.snapshot_every=0.015625",
                                                "--set", "output.diagnostics_every=0.015625",
                                                "--json"};
        const auto name = "out" + std::to_string(k);
        std::vector<std::string> check{"check", "small.toml"}, run{"run", "small.toml", "-o", name};
        for (auto* arguments : {&check, &run}) arguments->insert(arguments->end(), settings.begin(), settings.end());
        reported[k] = kasane(check).json()["memory"]["host_bytes"];
        auto process = start(run);
        ASSERT_TRUE(wait_for([&] { return fs::exists(directory / name / "snapshots/snapshot_0000.hdf5"); }));
        process.signal(SIGINT);
        const auto outcome = process.wait();
        ASSERT_EQ(outcome.status, 130) << outcome.err;
        ASSERT_TRUE(fs::exists(directory / name / "snapshots/snapshot_0001.hdf5"));
        taken[k] = static_cast<double>(outcome.peak_bytes);
    }
    const double n = particles[1] - particles[0], each = (reported[1] - reported[0]) / n, measured = (taken[1] - taken[0]) / n;
    EXPECT_LE(measured, each) << "bytes a particle";
    EXPECT_GT(measured, 0.6 * each) << "bytes a particle: block steps and potentials, which this run has not, are counted too";
}

// A whole run with its report, beside the program and its libraries, which the check of the same file takes.
TEST_F(Run, TheReportTakesTheMemoryThatCheckReports) {
    small_run();
    std::vector<std::string> check{"check", "small.toml", "--json"}, run{"run", "small.toml", "--json"};
    for (auto* arguments : {&check, &run})
        for (const char* setting : {"initial.count=131072", "run.until=0.3125", "force.method=tree", "force.delta=0.1", "output.audit=0",
                                    "output.report=true", "output.snapshot_every=0.015625", "output.diagnostics_every=0.3125"})
            arguments->insert(arguments->end(), {"--set", setting});
    const auto planned = start(check).wait();
    ASSERT_EQ(planned.status, 0) << planned.err;
    const double reported = planned.json()["memory"]["host_bytes"];
    const auto outcome = start(run).wait();
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    ASSERT_TRUE(fs::exists(directory / "out/snapshots/snapshot_0020.hdf5"));
    EXPECT_LE(static_cast<double>(outcome.peak_bytes) - static_cast<double>(planned.peak_bytes), reported);
}

// Run files of version 0.1 may have it.
TEST_F(Run, TheFormerKeyAccumulationIsListedAsUnused) {
    small_run();
    for (const char* method : {"direct", "tree"})
        for (const char* value : {"plain", "double"}) {
            const auto outcome = kasane({"check", "small.toml", "--json", "--set", std::string("force.accumulation=") + value, "--set",
                                         std::string("force.method=") + method});
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            EXPECT_EQ(outcome.json()["unused_keys"], json::parse(R"(["force.accumulation"])"));
            EXPECT_EQ(outcome.json()["resolved"].get<std::string>().find("accumulation"), std::string::npos);
        }
}

TEST_F(Run, KnownKeysThatAreNotUsedAreListed) {
    small_run();
    const auto outcome = kasane({"check", "small.toml", "--json", "--set", "initial.model=point", "--set", "initial.mass=1"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["unused_keys"], json::parse(R"(["initial.count"])"));
}

TEST_F(Run, SampleTakesModelFilesAndRunFiles) {
    test::write_file(directory / "model.toml",
                     "units = 'nbody'\nmodel = 'hernquist'\ncount = 1000\nmass = 2\nscale = 1\n"
                     "truncation = { radius = 20, width = 4 }\n");
    auto outcome = kasane({"sample", "model.toml", "-o", "a.hdf5", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["n"], 1000);
    ASSERT_EQ(kasane({"sample", "model.toml", "-o", "b.hdf5", "--threads", "1"}).status, 0);
    ASSERT_EQ(kasane({"sample", "model.toml", "-o", "c.hdf5", "--seed", "2", "--count", "77"}).status, 0);
    const auto a = gravity::read_snapshot(directory / "a.hdf5"), b = gravity::read_snapshot(directory / "b.hdf5"),
               c = gravity::read_snapshot(directory / "c.hdf5");
    EXPECT_EQ(a.particles.position, b.particles.position) << "whatever the threads";
    EXPECT_EQ(c.particles.size(), 77);
    EXPECT_NE(a.particles.position[0], c.particles.position[0]);
    EXPECT_DOUBLE_EQ(a.particles.mass[0], 0.002);
    outcome = kasane({"sample", "model.toml", "-o", "a.hdf5", "--json"});
    test::expect_bad_input(outcome, {"a.hdf5", "exists already"});

    // Two placed objects, one a model file, one a snapshot, turned and moved.
    test::write_file(directory / "pair.toml",
                     "units = 'nbody'\n[[object]]\nmodel = 'model.toml'\ncount = 10\nposition = [5, 0, 0]\n"
                     "[[object]]\nfile = 'c.hdf5'\nvelocity = [0, 0, 7]\nspin = [0, 0, 90]\n");
    outcome = kasane({"sample", "pair.toml", "-o", "pair.hdf5", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto pair = gravity::read_snapshot(directory / "pair.hdf5").particles;
    ASSERT_EQ(pair.size(), 87);
    EXPECT_EQ(std::set<std::uint64_t>(pair.id.begin(), pair.id.end()).size(), 87u) << "ids are unique";
    EXPECT_NEAR(pair.position[10].x, -c.particles.position[0].y, 1e-12);
    EXPECT_NEAR(pair.position[10].y, c.particles.position[0].x, 1e-12);
    EXPECT_NEAR(pair.velocity[10].z, c.particles.velocity[0].z + 7, 1e-12);
}

TEST_F(Run, ForcesOfASnapshot) {
    small_run();
    ASSERT_EQ(kasane({"sample", "small.toml", "-o", "s.hdf5"}).status, 0);
    const auto outcome = kasane(
        {"forces", "s.hdf5", "-o", "f.hdf5", "--method", "direct", "--softening", "0.05", "--audit", "100", "--json", "--device", "cpu"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto result = outcome.json();
    EXPECT_EQ(result["n"], 257);
    EXPECT_EQ(result["method"], "direct");
    EXPECT_EQ(result["interactions"], 257.0 * 257);
    EXPECT_EQ(result["audit"]["count"], 100);
    // Pairs in single precision: about 1e-7 each, more where a sum nearly cancels.
    EXPECT_LT(result["audit"]["median"], 1e-6);
    EXPECT_LT(result["audit"]["max"], 1e-4);
    EXPECT_LE(result["audit"]["median"], result["audit"]["p99"]);
    EXPECT_LE(result["audit"]["p99"], result["audit"]["max"]);
    EXPECT_GT(result["audit"]["max"], 0);

    const auto file = hdf5::File::open(directory / "f.hdf5");
    const auto acceleration = file.read<Vec3<double>>("/Acceleration");
    const auto potential = file.read<double>("/Potential");
    const auto snapshot = gravity::read_snapshot(directory / "s.hdf5").particles;
    EXPECT_EQ(file.read<std::uint64_t>("/ParticleIDs"), snapshot.id);
    ASSERT_EQ(acceleration.size(), 257u);
    ASSERT_EQ(potential.size(), 257u);
    // An independent plain sum over a few particles.
    for (std::size_t i : {0u, 100u, 256u}) {
        Vec3<double> a;
        double phi = 0;
        for (std::size_t j = 0; j < 257; ++j) {
            if (j == i) continue;
            const auto d = snapshot.position[j] - snapshot.position[i];
            const double r = std::sqrt(dot(d, d) + 0.05 * 0.05);
            a += snapshot.mass[j] / (r * r * r) * d;
            phi -= snapshot.mass[j] / r;
        }
        const auto e = acceleration[i] - a;
        EXPECT_LT(std::sqrt(dot(e, e)), 1e-5 * std::sqrt(dot(a, a)));
        EXPECT_NEAR(potential[i], phi, 1e-5 * std::abs(phi));
    }
    const auto exact =
        kasane({"forces", "s.hdf5", "-o", "d.hdf5", "--precision", "double", "--softening", "0.05", "--audit", "257", "--json"});
    ASSERT_EQ(exact.status, 0) << exact.err;
    EXPECT_LT(exact.json()["audit"]["max"], 1e-12);
}

TEST_F(Run, InfoListsDevicesAndBuild) {
    const auto outcome = kasane({"info", "--json"});
    ASSERT_EQ(outcome.status, 0);
    const auto result = outcome.json();
    for (const char* key : {"version", "commit", "build", "devices", "threads", "thread_binding", "memory_nodes", "simd"})
        EXPECT_TRUE(result.contains(key)) << key;
    for (const char* key : {"compiler", "cuda", "mpi"}) EXPECT_TRUE(result["build"].contains(key)) << key;
    ASSERT_GE(result["devices"].size(), 1u);
    EXPECT_EQ(result["devices"][0]["kind"], "cpu");
    EXPECT_GT(result["devices"][0]["memory_bytes"], 1'000'000);
    EXPECT_EQ(kasane({"info", "--json", "--threads", "1"}).json()["threads"], 1);
    // The command starts itself again; OpenMP has then bound the first thread already.
    setenv("OMP_PROC_BIND", "close", 1);
    const auto bound = kasane({"info", "--json"}).json();
    unsetenv("OMP_PROC_BIND");
    EXPECT_EQ(bound["threads"], result["threads"]);
    EXPECT_EQ(bound["thread_binding"], "close");
}

TEST_F(Run, HelpAndUsage) {
    EXPECT_EQ(kasane({"--help"}).status, 0);
    EXPECT_EQ(kasane({"--version"}).status, 0);
    for (const char* verb : {"run", "check", "resume", "report", "sample", "forces", "bench", "info"}) {
        const auto outcome = kasane({verb, "--help"});
        EXPECT_EQ(outcome.status, 0) << verb;
        for (const char* option : {"--json", "--device", "--threads", "--quiet"})
            EXPECT_NE(outcome.out.find(option), std::string::npos) << verb;
    }
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{{},
                                                                                       {"fly"},
                                                                                       {"run"},
                                                                                       {"run", "a.toml", "b.toml"},
                                                                                       {"info", "--threads", "many"},
                                                                                       {"info", "--nonsense"},
                                                                                       {"forces", "a", "--method", "magic", "-o", "b"}})
        EXPECT_EQ(kasane(wrong).status, 2);
    test::expect_bad_input(kasane({"run", "--json"}), {"FILE"});
    test::expect_bad_input(kasane({"fly", "--json"}), {"fly"});
}

}  // namespace
