// A run that was stopped continues, and ends with the same bits as an uninterrupted one: by Ctrl-C, by kill -9, with its newest
// checkpoint damaged, and with a full disk.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/driver/run_directory.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>
#include <map>
#include <sys/mount.h>
#include <sys/resource.h>
#include <tuple>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;

class Resume : public test::CommandTest {
   protected:
    std::vector<fs::path> checkpoints(const std::string& name) {
        std::vector<fs::path> all;
        std::error_code absent;
        for (const auto& entry : fs::directory_iterator(directory / name / "checkpoints", absent))
            if (entry.path().extension() == ".hdf5") all.push_back(entry.path());
        std::sort(all.begin(), all.end());
        return all;
    }
    /// Runs to the end without a stop. @param more settings that both runs have
    void run_reference(const std::vector<std::string>& more = {}) { run_to_end("reference", more); }
    void run_to_end(const std::string& name, const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"run", "small.toml", "-o", name, "--quiet"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto outcome = kasane(arguments);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    }
    /// Every file of a run with its bytes.
    std::map<std::string, std::string> contents(const std::string& name) {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(directory / name))
            all[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
        return all;
    }
    /// The same rows of energy.csv, the same particles in every snapshot and at the end: bit by bit.
    void expect_same_as_reference(const std::string& name) {
        EXPECT_EQ(read_file(directory / name / "energy.csv"), read_file(directory / "reference/energy.csv"));
        int snapshots = 0;
        for (const auto& entry : fs::directory_iterator(directory / "reference/snapshots")) {
            const auto a = gravity::read_snapshot(entry.path());
            const auto b = gravity::read_snapshot(directory / name / "snapshots" / entry.path().filename());
            EXPECT_EQ(a.particles.position, b.particles.position) << entry.path();
            EXPECT_EQ(a.particles.velocity, b.particles.velocity) << entry.path();
            EXPECT_EQ(a.particles.id, b.particles.id) << entry.path();
            EXPECT_EQ(a.time, b.time) << entry.path();
            ++snapshots;
        }
        EXPECT_EQ(snapshots, 5);
        const auto a = run::read_gravity_checkpoint(checkpoints("reference").back()),
                   b = run::read_gravity_checkpoint(checkpoints(name).back());
        EXPECT_EQ(a.step, b.step);
        EXPECT_EQ(a.particles.position, b.particles.position);
        EXPECT_EQ(a.particles.velocity, b.particles.velocity);
    }
    /// Starts a run that would take long (many particles for its 40 steps are not needed: the plain variant is slow enough).
    std::vector<std::string> slow() {
        return {"--set", "initial.count=1025", "--set", "force.variant=plain", "--set", "output.checkpoint_every=0"};
    }
};

TEST_F(Resume, AfterAnInterruptTheRunEndsInTheSameBits) {
    small_run();
    run_reference(slow());
    for (const int signal : {SIGINT, SIGTERM}) {
        const std::string name = "stopped" + std::to_string(signal);
        std::vector<std::string> arguments{"run", "small.toml", "-o", name, "--json"};
        for (const auto& each : slow()) arguments.push_back(each);
        auto process = start(arguments);
        ASSERT_TRUE(wait_for([&] { return checkpoints(name).size() == 2 || !process.running(); }));
        process.signal(signal);
        auto outcome = process.wait();
        ASSERT_EQ(outcome.status, 130) << outcome.err;
        EXPECT_EQ(outcome.json()["status"], "interrupted");
        EXPECT_EQ(nlohmann::json::parse(read_file(directory / name / "record.json"))["status"], "interrupted");
        const int steps = outcome.json()["steps"];
        EXPECT_GT(steps, 0);
        EXPECT_LT(steps, 40);
        EXPECT_EQ(run::read_gravity_checkpoint(checkpoints(name).back()).step, steps) << "the checkpoint is of the step it stopped at";

        outcome = kasane({"resume", name, "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["status"], "done");
        EXPECT_EQ(outcome.json()["steps"], 40);
        expect_same_as_reference(name);
        const auto record = nlohmann::json::parse(read_file(directory / name / "record.json"));
        EXPECT_EQ(record["status"], "done");
        EXPECT_EQ(record["segments"].size(), 2u);
        EXPECT_EQ(record["segments"][1]["first_step"], steps);
        EXPECT_FALSE(record["papers"].empty());
    }
}

TEST_F(Resume, AfterKillsAtAnyMomentTheRunEndsInTheSameBits) {
    small_run();
    run_reference(slow());
    std::vector<std::string> arguments{"run", "small.toml", "-o", "killed", "--quiet"};
    for (const auto& each : slow()) arguments.push_back(each);
    auto process = start(arguments);
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "killed/run.toml") && fs::exists(directory / "killed/checkpoints"); }));
    // Sooner and later in the run, in the middle of whatever it does; the first may be before the first checkpoint.
    const int kills = kill_and_resume(process, "killed", {3, 60, 111, 20, 77, 149, 35});
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_GT(kills, 1);
    expect_same_as_reference("killed");
}

/// The same for the tree code with block steps, where several trees are built during the run.
class ResumeTree : public Resume {
   protected:
    void run_tree_reference() {
        tree_run(2049);
        const auto outcome = kasane({"run", "tree.toml", "-o", "reference", "--quiet", "--set", "output.checkpoint_every=0"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto record = nlohmann::json::parse(read_file(directory / "reference/record.json"));
        ASSERT_GT(record["step_counts"]["rebuilds"], 4);
        ASSERT_LT(record["step_counts"]["active_fraction"], 0.9);
    }
    /// Also the bytes of every snapshot, and what the next step would start from.
    void expect_same_files(const std::string& name) {
        expect_same_as_reference(name);
        for (const auto& entry : fs::directory_iterator(directory / "reference/snapshots"))
            EXPECT_TRUE(read_file(entry.path()) == read_file(directory / name / "snapshots" / entry.path().filename())) << entry.path();
        const auto a = run::read_gravity_checkpoint(checkpoints("reference").back()),
                   b = run::read_gravity_checkpoint(checkpoints(name).back());
        EXPECT_EQ(a.state.order, b.state.order);
        EXPECT_EQ(a.state.acceleration, b.state.acceleration);
    }
};

TEST_F(ResumeTree, AfterAnInterruptTheRunEndsInTheSameBits) {
    run_tree_reference();
    auto process = start({"run", "tree.toml", "-o", "stopped", "--json", "--set", "output.checkpoint_every=0"});
    ASSERT_TRUE(wait_for([&] { return checkpoints("stopped").size() == 2 || !process.running(); }));
    process.signal(SIGINT);
    auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 130) << outcome.err;
    const int steps = outcome.json()["steps"];
    EXPECT_GT(steps, 0);
    EXPECT_LT(steps, 20);
    outcome = kasane({"resume", "stopped", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_same_files("stopped");
    const auto whole = nlohmann::json::parse(read_file(directory / "reference/record.json")),
               parts = nlohmann::json::parse(read_file(directory / "stopped/record.json"));
    for (const char* count : {"block_steps", "updates", "active_fraction", "levels"})
        EXPECT_EQ(parts["step_counts"][count], whole["step_counts"][count]) << count;
}

/// The last walk before a row of energy.csv also computes potentials, which changes the rounding of its forces; a row that is due only
/// because the run ends has a walk of its own.
TEST_F(ResumeTree, WithALaterEndTheRunEndsInTheSameBits) {
    run_tree_reference();
    auto outcome = kasane({"run", "tree.toml", "-o", "longer", "--quiet", "--set", "run.until=0.21875"});  // 7 steps, rows at every second
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    auto text = read_file(directory / "longer/run.toml");
    const std::string end = "until = 0.21875";
    ASSERT_NE(text.find(end), std::string::npos) << text;
    test::write_file(directory / "longer/run.toml", text.replace(text.find(end), end.size(), "until = 0.625"));
    outcome = kasane({"resume", "longer", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto a = run::read_gravity_checkpoint(checkpoints("reference").back()),
               b = run::read_gravity_checkpoint(checkpoints("longer").back());
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.particles.position, b.particles.position);
    EXPECT_EQ(a.particles.velocity, b.particles.velocity);
    EXPECT_EQ(a.state.acceleration, b.state.acceleration);
}

TEST_F(ResumeTree, FromTheCheckpointOfTheStart) {
    run_tree_reference();
    ASSERT_EQ(kasane({"run", "tree.toml", "-o", "early", "--quiet", "--set", "output.checkpoint_every=1000"}).status, 0);
    fs::remove(checkpoints("early").back());
    ASSERT_EQ(checkpoints("early").size(), 1u);
    const auto outcome = kasane({"resume", "early", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_same_files("early");
}

TEST_F(ResumeTree, AfterKillsAtAnyMomentTheRunEndsInTheSameBits) {
    run_tree_reference();
    auto process = start({"run", "tree.toml", "-o", "killed", "--quiet", "--set", "output.checkpoint_every=0"});
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "killed/run.toml") && fs::exists(directory / "killed/checkpoints"); }));
    const int kills = kill_and_resume(process, "killed", {60, 111, 20, 149, 77});
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_GT(kills, 1);
    expect_same_files("killed");
}

// From 32,768 particles on a checkpoint of a step with a snapshot shares its particles with the snapshot.
TEST_F(ResumeTree, OfManyParticlesFromCheckpointsThatShareTheirParticlesWithSnapshots) {
    tree_run(32'768);
    const std::vector<std::string> settings{
        "--set", "run.until=0.125", "--set", "output.snapshot_every=0.0625", "--set", "output.checkpoint_every=1000", "--quiet"};
    const auto run = [&](const std::string& name) {
        std::vector<std::string> words{"run", "tree.toml", "-o", name};
        words.insert(words.end(), settings.begin(), settings.end());
        const auto outcome = kasane(words);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    };
    const auto particles = [&](const std::string& name) {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(directory / name / "checkpoints"))
            if (entry.path().filename().string().starts_with("particles_")) all.push_back(entry.path());
        std::sort(all.begin(), all.end());
        return all;
    };
    const auto newest = [&](const std::string& name) {
        return run::read_gravity_checkpoint(run::checkpoints_in(directory / name).front());
    };
    run("whole"), run("early");
    ASSERT_EQ(particles("whole").size(), 2u);
    EXPECT_EQ(fs::hard_link_count(particles("whole").back()), 2u);
    EXPECT_LT(fs::file_size(run::checkpoints_in(directory / "whole").front()), fs::file_size(particles("whole").back()) / 2);
    // Without the snapshots, and from the start: the checkpoint of the end is removed.
    const auto expected = newest("whole");
    fs::remove(run::checkpoints_in(directory / "early").front());
    fs::remove_all(directory / "early/snapshots");
    auto outcome = kasane({"resume", "early", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto again = newest("early");
    EXPECT_EQ(again.step, expected.step);
    EXPECT_EQ(again.particles.position, expected.particles.position);
    EXPECT_EQ(again.particles.velocity, expected.particles.velocity);
    EXPECT_EQ(again.state.acceleration, expected.state.acceleration);
    // A checkpoint without its particles is passed over; a run that replaces this one leaves none of its files.
    fs::remove(particles("early").back());
    outcome = kasane({"resume", "early"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("has its particles in particles_"), std::string::npos) << outcome.err;
    EXPECT_EQ(newest("early").particles.position, expected.particles.position);
    ASSERT_EQ(kasane({"run", "tree.toml", "-o", "early", "--force", "--quiet", "--set", "initial.count=100"}).status, 0);
    EXPECT_TRUE(particles("early").empty());
}

TEST_F(Resume, FromTheCheckpointOfTheStart) {
    small_run();
    run_reference();
    run_to_end("early", {"--set", "output.checkpoint_every=1000"});
    ASSERT_EQ(checkpoints("early").size(), 2u) << "of the start and of the end";
    fs::remove(checkpoints("early").back());
    const auto outcome = kasane({"resume", "early", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_same_as_reference("early");
}

TEST_F(Resume, ADamagedNewestCheckpointIsPassedOver) {
    small_run();
    run_reference();
    for (const bool truncated : {true, false}) {
        const std::string name = truncated ? "truncated" : "flipped";
        run_to_end(name, {"--set", "output.checkpoint_every=0"});
        ASSERT_EQ(checkpoints(name).size(), 2u) << "the last two are kept";
        const auto newest = checkpoints(name).back();
        auto bytes = read_file(newest);
        if (truncated)
            bytes.resize(bytes.size() / 2);
        else
            bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        test::write_file(newest, bytes);
        const auto outcome = kasane({"resume", name});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_NE(outcome.err.find("warning"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find(newest.filename().string()), std::string::npos) << outcome.err;
        expect_same_as_reference(name);
    }
}

TEST_F(Resume, WithoutAValidCheckpointNothingIsChanged) {
    small_run();
    run_to_end("out", {});
    const auto energy = read_file(directory / "out/energy.csv");
    for (const auto& path : checkpoints("out")) test::write_file(path, "not a checkpoint");
    const auto outcome = kasane({"resume", "out", "--json"});
    test::expect_bad_input(outcome, {"no checkpoint", "out"});
    EXPECT_EQ(outcome.json()["problems"].size(), 3u) << "and why each is none";
    EXPECT_EQ(read_file(directory / "out/energy.csv"), energy);
}

TEST_F(Resume, BeforeTheFirstCheckpointTheRunStartsAgain) {
    small_run();
    run_reference();
    run_to_end("early", {});
    for (const auto& path : checkpoints("early")) fs::remove(path);
    fs::remove(directory / "early/record.json");  // it is first written with the first checkpoint
    const auto outcome = kasane({"resume", "early", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_same_as_reference("early");
}

TEST_F(Resume, OfAFinishedRunReportsDoneAndChangesNothing) {
    small_run();
    for (const char* checkpoints : {"there", "empty", "gone"}) {
        const std::string name = std::string("out-") + checkpoints, folder = name + "/checkpoints";
        run_to_end(name, {});
        if (checkpoints != std::string("there")) fs::remove_all(directory / folder);
        if (checkpoints == std::string("empty")) fs::create_directory(directory / folder);
        const auto before = contents(name);
        const auto outcome = kasane({"resume", name, "--json"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["status"], "done");
        EXPECT_EQ(outcome.json()["steps"], 40);
        EXPECT_NE(outcome.err.find("is already done"), std::string::npos) << outcome.err;
        EXPECT_TRUE(contents(name) == before) << checkpoints;
    }
}

TEST_F(Resume, WithoutTheCheckpointsOfAnUnfinishedRunNothingIsChanged) {
    small_run();
    run_to_end("out", {});
    auto record = read_file(directory / "out/record.json");
    record.replace(record.find("\"done\""), 6, "\"interrupted\"");
    test::write_file(directory / "out/record.json", record);
    fs::remove_all(directory / "out/checkpoints");
    const auto before = contents("out");
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"out", "40 steps", "no checkpoint"});
    EXPECT_TRUE(contents("out") == before);
}

TEST_F(Resume, EditedKeysThatTheRunDependsOnAreRefused) {
    small_run();
    run_to_end("out", {"--set", "output.checkpoint_every=0"});
    fs::remove(checkpoints("out").back());
    const auto text = read_file(directory / "out/run.toml");
    const auto energy = read_file(directory / "out/energy.csv");
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        const auto at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        test::write_file(directory / "out/run.toml", changed.replace(at, from.size(), to));
    };
    const auto refused = [&](const std::string& from, const std::string& to, const std::vector<std::string>& words) {
        with(from, to);
        test::expect_bad_input(kasane({"resume", "out", "--json"}), words);
    };
    refused("softening = 0.05", "softening = 0.06", {"run.toml", "force.softening", "is 0.06", "0.05", "must not change on resume"});
    refused("precision = \"single\"", "precision = \"double\"", {"force.precision", "double", "single"});
    refused("units = \"nbody\"", "units = \"galactic\"", {"run.units", "galactic", "nbody"});
    refused("dt = 0.015625", "dt = 0.0078125", {"step.dt"});
    refused("snapshot_every = 0.15625", "snapshot_every = 0.3125", {"output.snapshot_every"});
    EXPECT_EQ(read_file(directory / "out/energy.csv"), energy);
    // Both methods have keys of their own.
    const auto force = text.find("[force]"), step = text.find("[step]");
    with(text.substr(force, step - force), "[force]\nmethod = \"tree\"\nsoftening = 0.05\n\n");
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"force.method", "tree", "direct"});
    // The rest may change.
    with("variant = \"auto\"", "variant = \"plain\"");
    auto changed = read_file(directory / "out/run.toml");
    for (const auto& [from, to] :
         {std::pair{"until = 0.625", "until = 0.75"}, std::pair{"diagnostics_every = 0.0625", "diagnostics_every = 0.125"},
          std::pair{"audit = 256", "audit = 16"}, std::pair{"threads = 2", "threads = 1"}})
        changed.replace(changed.find(from), std::string(from).size(), to);
    test::write_file(directory / "out/run.toml", changed);
    const auto outcome = kasane({"resume", "out", "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["steps"], 48);
}

TEST_F(ResumeTree, EditedKeysOfTreeAndBlockStepsAreRefused) {
    tree_run();
    ASSERT_EQ(kasane({"run", "tree.toml", "-o", "out", "--quiet", "--set", "output.checkpoint_every=0"}).status, 0);
    fs::remove(checkpoints("out").back());
    const auto text = read_file(directory / "out/run.toml");
    for (const auto& [from, to, key] :
         {std::tuple{"delta = 0.001953125", "delta = 0.01", "force.delta"},
          std::tuple{"multipole = \"quadrupole\"", "multipole = \"monopole\"", "force.multipole"},
          std::tuple{"leaf_size = 32", "leaf_size = 8", "force.leaf_size"}, std::tuple{"eta = 0.5", "eta = 1.0", "step.eta"},
          std::tuple{"method = \"block\"", "method = \"adaptive\"", "step.method"},
          std::tuple{"deepest = 24", "deepest = 4", "step.deepest"}, std::tuple{"dt_max = 0.03125", "dt_max = 0.015625", "step.dt_max"}}) {
        auto changed = text;
        ASSERT_NE(changed.find(from), std::string::npos) << from;
        test::write_file(directory / "out/run.toml", changed.replace(changed.find(from), std::string(from).size(), to));
        test::expect_bad_input(kasane({"resume", "out", "--json"}), {key, "must not change on resume"});
    }
}

/// What cannot be read may be whole: of a newer version, or of another user. It stays, under another name.
TEST_F(Resume, ANewestCheckpointThatCannotBeReadIsSetAside) {
    small_run();
    run_reference();
    for (const char* what : {"newer layout", "directory", "dangling link"}) {
        const std::string name = what;
        run_to_end(name, {"--set", "output.checkpoint_every=0"});
        const auto newest = checkpoints(name).back();
        fs::remove(newest);
        if (name == "newer layout") {
            auto file = hdf5::File::create(newest);
            file.create_group("/Checkpoint");
            file.set_attribute("/Checkpoint", "Layout", std::uint32_t{1000});
            file.close();
        } else if (name == "directory") {
            fs::create_directory(newest);
        } else {
            fs::create_symlink("nowhere", newest);
        }
        const auto bytes = name == "newer layout" ? read_file(newest) : "";
        const auto outcome = kasane({"resume", name});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto aside = newest.string() + ".unread";
        EXPECT_NE(outcome.err.find("renamed to " + name), std::string::npos) << outcome.err;
        EXPECT_TRUE(fs::exists(fs::symlink_status(aside))) << what;
        if (name == "newer layout") {
            EXPECT_EQ(read_file(aside), bytes);
        }
        EXPECT_EQ(checkpoints(name).size(), 2u);
        expect_same_as_reference(name);
        // A second one does not replace it.
        fs::remove(checkpoints(name).back());
        fs::create_directory(newest);
        EXPECT_EQ(kasane({"resume", name}).status, 0);
        EXPECT_TRUE(fs::exists(fs::symlink_status(aside + "2"))) << what;
    }
}

TEST_F(Resume, ALogThatCannotBeWrittenIsReportedInFull) {
    small_run();
    run_to_end("out", {"--set", "output.checkpoint_every=0"});
    fs::remove(checkpoints("out").back());
    fs::remove(directory / "out/log.txt");
    fs::create_directory(directory / "out/log.txt");
    const auto energy = read_file(directory / "out/energy.csv");
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"out/log.txt", "the log cannot be written", "move it away"});
    EXPECT_EQ(read_file(directory / "out/energy.csv"), energy);
}

TEST_F(Resume, TheInitialSnapshotIsNotNeeded) {
    small_run();
    ASSERT_EQ(kasane({"sample", "small.toml", "-o", "start.hdf5"}).status, 0);
    test::write_file(
        directory / "file.toml",
        "[run]\nproblem = 'gravity'\nuntil = 0.625\ndevice = 'cpu'\n[initial]\nfile = 'start.hdf5'\n[force]\nsoftening = 0.05\n"
        "[step]\ndt = 0.015625\n[output]\ndirectory = 'out'\ncheckpoint_every = 0\n");
    auto outcome = kasane({"run", "file.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto whole = run::read_gravity_checkpoint(checkpoints("out").back());
    EXPECT_EQ(whole.units.name, "nbody") << "the file's own units";
    fs::remove(checkpoints("out").back());
    fs::remove(directory / "start.hdf5");
    outcome = kasane({"resume", "out", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto resumed = run::read_gravity_checkpoint(checkpoints("out").back());
    EXPECT_EQ(resumed.particles.position, whole.particles.position);
    EXPECT_EQ(resumed.units, whole.units);
}

TEST_F(Resume, TwoProcessesNeverShareADirectory) {
    small_run();
    std::vector<std::string> arguments{
        "run", "small.toml", "-o", "out", "--quiet", "--set", "run.until=1e4", "--set", "output.checkpoint_every=0"};
    auto process = start(arguments);
    ASSERT_TRUE(wait_for([&] { return checkpoints("out").size() == 2; }));
    // Its own output files belong to the first process.
    const auto second = directory / "second";
    fs::create_directory(second);
    const test::Outcome outcome = Process(second, {"resume", "../out", "--json"}, {}).wait();
    test::expect_bad_input(outcome, {"another kasane"});
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait().status, 130);
}

TEST_F(Resume, OtherDirectoriesAreRefused) {
    small_run();
    test::expect_bad_input(kasane({"resume", "nowhere", "--json"}), {"no such directory", "nowhere"});
    test::expect_bad_input(kasane({"resume", "small.toml", "--json"}), {"not a directory"});
    fs::create_directory(directory / "empty");
    test::expect_bad_input(kasane({"resume", "empty", "--json"}), {"not the directory of a run"});
    run_to_end("out", {"--set", "output.checkpoint_every=0"});
    auto text = read_file(directory / "out/run.toml");
    text.replace(text.find("dt = 0.015625"), 13, "dt = 0.03125 ");
    test::write_file(directory / "out/run.toml", text);
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"step.dt", "must not change on resume"});
}

/// Fails writes beyond so many bytes per file, as a full disk does.
std::function<void()> limit_files(rlim_t bytes) {
    return [bytes] {
        const rlimit limit{bytes, bytes};
        setrlimit(RLIMIT_FSIZE, &limit);
    };
}

TEST_F(Resume, AFullDiskIsAClearErrorAndLeavesTheLastGoodCheckpoint) {
    small_run();
    run_reference();
    // 257 particles make snapshots and checkpoints of some 20 kB; energy.csv grows beyond 4 kB after a few of its 10 rows.
    run_to_end("full", {"--set", "output.checkpoint_every=0"});
    fs::remove(checkpoints("full").back());
    const auto good = checkpoints("full").back();
    const auto bytes = read_file(good);
    const auto outcome = kasane({"resume", "full", "--json"}, limit_files(4096));
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_NE(outcome.json()["error"]["message"].get<std::string>().find("cannot write"), std::string::npos) << outcome.out;
    EXPECT_EQ(read_file(good), bytes);
    const auto after = kasane({"resume", "full", "--quiet"});
    ASSERT_EQ(after.status, 0) << after.err;
    expect_same_as_reference("full");
}

TEST_F(Resume, ASmallFileSystemThatFillsUp) {
    if (geteuid() != 0) GTEST_SKIP() << "mounting a small file system needs root: run the test as root";
    const auto mounted = directory / "small_disk";
    fs::create_directory(mounted);
    if (mount("kasane", mounted.c_str(), "tmpfs", 0, "size=600k") != 0)
        GTEST_SKIP() << "no tmpfs can be mounted: " << std::strerror(errno) << ". Give the container the capability SYS_ADMIN";
    struct Unmount {
        fs::path path;
        ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
    } unmount{mounted};
    small_run();
    run_reference();
    // Each of the five snapshots and each checkpoint has some 30 kB: beside the ballast they do not fit, without it they do.
    test::write_file(mounted / "ballast", std::string(450 << 10, 'x'));
    auto outcome = kasane({"run", "small.toml", "-o", "small_disk/out", "--json", "--set", "output.checkpoint_every=0"});
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
    ASSERT_FALSE(checkpoints("small_disk/out").empty());
    EXPECT_NO_THROW(run::read_gravity_checkpoint(checkpoints("small_disk/out").back()));
    fs::remove(mounted / "ballast");
    outcome = kasane({"resume", "small_disk/out", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_same_as_reference("small_disk/out");
}

}  // namespace
