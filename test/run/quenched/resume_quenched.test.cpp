// A quenched run that was stopped continues, and ends with the same bits as an uninterrupted one: by Ctrl-C, by kill -9, with its newest
// checkpoint damaged, without its start file, and with more sweeps than before.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/quenched/quenched_checkpoint.hpp>

#include <test/run/quenched/quenched_fixture.hpp>

#include <map>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;

class ResumeQuenched : public test::QuenchedTest {
   protected:
    void SetUp() override {
        QuenchedTest::SetUp();
        quenched_file();
        const auto text = read_file(directory / "quenched.toml");
        test::write_file(directory / "quenched.toml", text + "checkpoint_every = 0\n");
    }
    /// More sweeps than a test waits for, so that it can be stopped on the way.
    const std::vector<std::string> many{"update.sweeps=60", "output.every=10"};
    Process start_many(const std::string& name) {
        std::vector<std::string> arguments{"run", "quenched.toml", "-o", name, "--json"};
        for (const auto& each : many) arguments.insert(arguments.end(), {"--set", each});
        return start(arguments);
    }
    /// The same, never stopped, with a checkpoint at its end alone.
    void run_whole() {
        auto settings = many;
        settings.emplace_back("output.checkpoint_every=1000");
        run_to_end("whole", settings);
    }
    test::Outcome resume(const std::string& name) {
        auto outcome = kasane({"resume", name, "--json"});
        EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        return outcome;
    }
};

TEST_F(ResumeQuenched, AfterAnInterruptTheRunEndsInTheSameBits) {
    run_whole();
    auto process = start_many("stopped");
    ASSERT_TRUE(wait_for([&] { return checkpoints("stopped").size() == 2 || !process.running(); }));
    process.signal(SIGINT);
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 130) << outcome.err;
    const auto stopped = outcome.json();
    EXPECT_EQ(stopped["status"], "interrupted");
    EXPECT_TRUE(stopped["configuration"].is_null());
    const int sweeps = stopped["steps"];
    EXPECT_GT(sweeps, 0);
    EXPECT_LT(sweeps, 60);
    EXPECT_EQ(measurements("stopped").back().sweep, sweeps);
    const auto resumed = resume("stopped").json();
    EXPECT_EQ(resumed["status"], "done");
    EXPECT_EQ(resumed["steps"], 60);
    EXPECT_EQ(resumed["configurations"], 6);
    expect_same("whole", "stopped");
    const auto record = nlohmann::json::parse(read_file(directory / "stopped/record.json"));
    ASSERT_EQ(record["segments"].size(), 2U);
    EXPECT_EQ(record["segments"][1]["first_sweep"], sweeps);
    EXPECT_EQ(record["link_updates"], 60.0 * 3 * 4 * 192);
}

TEST_F(ResumeQuenched, AfterKillsAtAnyMomentTheRunEndsInTheSameBits) {
    run_whole();
    auto process = start_many("killed");
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "killed/run.toml") && fs::exists(directory / "killed/checkpoints"); }));
    const int kills = kill_and_resume(process, "killed", {40, 111, 20, 149, 77});
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_GT(kills, 0);
    expect_same("whole", "killed");
}

TEST_F(ResumeQuenched, ADamagedNewestCheckpointIsPassedOver) {
    run_to_end("whole");
    for (const bool truncated : {true, false}) {
        const std::string name = truncated ? "truncated" : "flipped";
        run_to_end(name, {"update.sweeps=8", "output.every=0"});
        // The last two of a run under way: the one it ended with, and an earlier one that it would have had.
        run_to_end(name + "-earlier", {"update.sweeps=6", "output.every=0"});
        fs::copy(checkpoints(name + "-earlier").back(), directory / name / "checkpoints");
        ASSERT_EQ(checkpoints(name).size(), 2U);
        auto text = read_file(directory / "whole/run.toml");
        test::write_file(directory / name / "run.toml", text);
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
        EXPECT_EQ(read_file(directory / name / "measurements.csv"), read_file(directory / "whole/measurements.csv"));
        EXPECT_EQ(field(name + "/conf.lime").links, field("whole/conf.lime").links);
    }
}

TEST_F(ResumeQuenched, EveryFlippedByteOfACheckpointIsDetected) {
    run_to_end("out", {"update.sweeps=2", "update.thermalisation=0"});
    const auto path = checkpoints("out").back();
    const auto good = run::read_quenched_checkpoint(path);
    EXPECT_EQ(good.sweep, 2);
    EXPECT_EQ(good.measurements, measurements("out"));
    EXPECT_EQ(good.field.links, field("out/conf.lime").links);
    const auto bytes = read_file(path);
    int refused = 0, harmless = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 997) {
        auto damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        test::write_file(directory / "damaged.hdf5", damaged);
        try {  // bytes of HDF5 that are not read may flip; what is read must equal what was written
            const auto read = run::read_quenched_checkpoint(directory / "damaged.hdf5");
            EXPECT_EQ(read.field.links, good.field.links) << i;
            EXPECT_EQ(read.measurements, good.measurements) << i;
            EXPECT_EQ(read.sweep, good.sweep) << i;
            EXPECT_EQ(read.record, good.record) << i;
            ++harmless;
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, harmless) << "most of the file is links";
}

TEST_F(ResumeQuenched, WithoutAValidCheckpointNothingIsChanged) {
    run_to_end("out");
    const auto before = read_file(directory / "out/measurements.csv");
    for (const auto& path : checkpoints("out")) test::write_file(path, "not a checkpoint");
    const auto outcome = kasane({"resume", "out", "--json"});
    test::expect_bad_input(outcome, {"no checkpoint", "out"});
    EXPECT_EQ(read_file(directory / "out/measurements.csv"), before);
}

TEST_F(ResumeQuenched, BeforeTheFirstCheckpointTheRunStartsAgain) {
    run_to_end("whole");
    run_to_end("early");
    for (const auto& path : checkpoints("early")) fs::remove(path);
    fs::remove(directory / "early/record.json");
    resume("early");
    expect_same("whole", "early");
}

TEST_F(ResumeQuenched, OfAFinishedRunWithoutCheckpointsNothingIsChanged) {
    run_to_end("out");
    fs::remove_all(directory / "out/checkpoints");
    const auto contents = [&] {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(directory / "out"))
            all[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
        return all;
    };
    const auto before = contents();
    for (const bool empty : {false, true}) {
        if (empty) fs::create_directory(directory / "out/checkpoints");
        const auto outcome = resume("out");
        EXPECT_EQ(outcome.json()["status"], "done");
        EXPECT_EQ(outcome.json()["steps"], 12);
        EXPECT_GT(outcome.json()["plaquette"]["mean"], 0);
        EXPECT_NE(outcome.err.find("already done"), std::string::npos);
        fs::remove(directory / "out/checkpoints");
        EXPECT_TRUE(contents() == before);
    }
}

TEST_F(ResumeQuenched, ADeeplyNestedRecordIsAnError) {
    run_to_end("out");
    test::write_file(directory / "out/record.json", std::string(50'000, '[') + std::string(50'000, ']'));
    ASSERT_EQ(kasane({"report", "out"}).status, 0);
    EXPECT_NE(read_file(directory / "out/report.html").find("nested deeper"), std::string::npos);
    resume("out");
    EXPECT_EQ(nlohmann::json::parse(read_file(directory / "out/record.json"))["status"], "done");
    ASSERT_EQ(kasane({"run", "quenched.toml", "-o", "out", "--force", "--quiet"}).status, 0);
}

TEST_F(ResumeQuenched, ANewestCheckpointOfANewerLayoutIsSetAside) {
    run_to_end("whole");
    run_to_end("out", {"update.sweeps=8"});
    test::write_file(directory / "out/run.toml", read_file(directory / "whole/run.toml"));
    const auto newer = directory / "out/checkpoints/checkpoint_000000000010.hdf5";
    {
        auto file = hdf5::File::create(newer);
        file.create_group("/Checkpoint");
        file.set_attribute("/Checkpoint", "Problem", std::string("quenched"));
        file.set_attribute("/Checkpoint", "Layout", std::uint32_t{1000});
        file.close();
    }
    const auto bytes = read_file(newer);
    const auto outcome = resume("out");
    EXPECT_NE(outcome.err.find("newer version"), std::string::npos) << outcome.err;
    EXPECT_EQ(read_file(newer.string() + ".unread"), bytes);
    EXPECT_EQ(outcome.json()["steps"], 12);
}

TEST_F(ResumeQuenched, OfAFinishedRunReportsDone) {
    run_to_end("out");
    const auto configuration = fs::last_write_time(directory / "out/conf.lime");
    fs::remove(directory / "out/measurements.csv");  // as a kill between the checkpoint and the table would have it
    const auto outcome = resume("out");
    EXPECT_EQ(outcome.json()["status"], "done");
    EXPECT_EQ(outcome.json()["steps"], 12);
    EXPECT_NE(outcome.err.find("already done"), std::string::npos);
    EXPECT_EQ(fs::last_write_time(directory / "out/conf.lime"), configuration);
    EXPECT_EQ(measurements("out").size(), 13U);
    // Without its configuration it is written again.
    const auto links = field("out/conf.lime").links;
    fs::remove(directory / "out/conf.lime");
    resume("out");
    EXPECT_EQ(field("out/conf.lime").links, links);
}

TEST_F(ResumeQuenched, MoreSweepsContinueAndOtherPhysicsIsRefused) {
    run_to_end("whole");
    run_to_end("longer", {"update.sweeps=7"});
    const auto text = read_file(directory / "longer/run.toml");
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        const auto at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        test::write_file(directory / "longer/run.toml", changed.replace(at, from.size(), to));
    };
    with("sweeps = 7", "sweeps = 5");
    test::expect_bad_input(kasane({"resume", "longer", "--json"}), {"update.sweeps", "is 5", "7"});
    with("beta = 5.7", "beta = 5.8");
    test::expect_bad_input(kasane({"resume", "longer", "--json"}), {"action.beta", "5.8", "5.7"});
    with("[2, 4, 6, 4]", "[2, 4, 4, 4]");
    test::expect_bad_input(kasane({"resume", "longer", "--json"}), {"lattice.extents", "2x4x4x4", "2x4x6x4"});
    with("overrelaxation = 2", "overrelaxation = 3");
    test::expect_bad_input(kasane({"resume", "longer", "--json"}), {"update.overrelaxation"});
    with("sweeps = 7", "sweeps = 12");
    resume("longer");
    expect_same("whole", "longer");
}

TEST_F(ResumeQuenched, TheStartFileIsNotNeeded) {
    run_to_end("first");
    fs::rename(directory / "first/conf.lime", directory / "start.lime");
    const std::vector<std::string> settings{"start.kind=file", "start.file=start.lime"};
    run_to_end("whole", settings);
    auto shorter = settings;
    shorter.emplace_back("update.sweeps=6");
    run_to_end("part", shorter);
    auto text = read_file(directory / "part/run.toml");
    const std::string from = "sweeps = 6";
    test::write_file(directory / "part/run.toml", text.replace(text.find(from), from.size(), "sweeps = 12"));
    fs::remove(directory / "start.lime");
    resume("part");
    expect_same("whole", "part");
}

}  // namespace
