// Measurements of runs of hybrid Monte Carlo beside the plaquette, time scales, and the number of steps that is tuned.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/spectrum.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/run/hmc/hmc_checkpoint.hpp>
#include <kasane/run/hmc/hmc_file.hpp>
#include <kasane/run/hmc/step_tuner.hpp>

#include <test/report/markup.hpp>
#include <test/run/hmc/hmc_fixture.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace {

using namespace kasane;
using test::read_file;
using json = nlohmann::json;
namespace fs = std::filesystem;

class HmcMeasured : public test::HmcTest {
   protected:
    /// Two flavours, two pseudofermion fields and the determinant of the clover term.
    void quark_file(const std::string& quarks = "", const std::string& masses = "[[hasenbusch]]\nmass = 0.4\n",
                    const std::string& more = "") {
        test::write_file(directory / "hmc.toml",
                         "[run]\nproblem = 'hmc'\ndevice = 'cpu'\nthreads = 2\n[lattice]\nextents = [2, 4, 2, 4]\n[gauge]\nbeta = 5.6\n"
                         "[quarks]\nkappa = 0.13\ncsw = 1.2\n" +
                             quarks + masses + "[hmc]\ntrajectories = 6\nthermalisation = 2\naccept_first = 2\nsteps = 5\nlength = 0.5\n" +
                             more + "[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\ncheckpoint_every = 0\n");
    }
    json record(const std::string& name) { return json::parse(read_file(directory / name / "record.json")); }
    run::UpdateTable table(const std::string& name, const std::string& file) {
        return run::read_table(directory / name / (file + ".csv"), "trajectory");
    }
    run::HmcFile parsed(const std::vector<io::Setting>& settings = {}) {
        run::RankCoordinator ranks;
        const std::vector<std::string> problems{"hmc"};
        const auto path = directory / "hmc.toml";
        return run::read_hmc_file({path, settings, problems, ranks});
    }
};

const std::vector<std::string> all_measurements{"measure.reversibility_every=2", "measure.flow_every=3", "measure.flow_time=0.5",
                                                "measure.spectrum_every=2", "measure.flow_step=0.05"};

TEST_F(HmcMeasured, RecordForcesAndIterationsOfEachTerm) {
    quark_file();
    run_to_end("out");
    const auto dynamics = table("out", "dynamics");
    ASSERT_EQ(dynamics.updates.size(), 6U);
    EXPECT_EQ(dynamics.columns.front(), "steps");
    ASSERT_EQ(dynamics.columns.size(), 1U + 4 * 4);
    const auto found = record("out")["terms"];
    ASSERT_EQ(found.size(), 4U);
    const std::vector<std::string> names{"gauge", "quark 1", "quark 2", "clover determinant"};
    for (std::size_t k = 0; k < names.size(); ++k) {
        EXPECT_EQ(found[k]["name"], names[k]);
        const auto mean = dynamics.column("force_mean[" + names[k] + "]", 2),
                   largest = dynamics.column("force_largest[" + names[k] + "]", 2);
        ASSERT_EQ(mean.size(), 4U);
        EXPECT_NEAR(found[k]["force_mean"].get<double>(), (mean[0] + mean[1] + mean[2] + mean[3]) / 4, 1e-14);
        EXPECT_EQ(found[k]["force_largest"].get<double>(), *std::ranges::max_element(largest));
        for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(mean[i] > 0 && largest[i] > mean[i]) << names[k];
        EXPECT_EQ(found[k]["iterations"].get<double>() > 0, names[k].starts_with("quark")) << names[k];
    }
    EXPECT_GT(found[1]["iterations"].get<double>(), found[1]["force_iterations"].get<double>());
    const auto log = read_file(directory / "out/log.txt");
    EXPECT_NE(log.find("trajectory 6: quark 2: force mean "), std::string::npos) << log;
    const auto html = read_file(directory / "out/report.html");
    EXPECT_EQ(test::markup_problem(html, test::Dialect::html), "");
    for (const char* words : {"Force, quark 1", "Forces", "iterations in a trajectory", "quark 1, quark 2; 2 steps in a drift: gauge"})
        EXPECT_NE(html.find(words), std::string::npos) << words;
}

TEST_F(HmcMeasured, HaveNoEffectOnTheChain) {
    quark_file();
    run_to_end("without");
    run_to_end("with", all_measurements);
    expect_same("without", "with");
    EXPECT_EQ(read_file(directory / "without/dynamics.csv"), read_file(directory / "with/dynamics.csv"));
    EXPECT_FALSE(fs::exists(directory / "without/reversibility.csv"));
    EXPECT_FALSE(fs::exists(directory / "without/flow.csv"));
    EXPECT_FALSE(fs::exists(directory / "without/spectrum.csv"));
    EXPECT_EQ(table("with", "reversibility").updates, (std::vector<std::int64_t>{2, 4, 6}));
    for (const double distance : table("with", "reversibility").column("distance"))
        EXPECT_TRUE(distance > 0 && distance < 1e-6) << distance;  // force_rtol = 1e-8 times links and forces
    const auto found = record("with");
    EXPECT_EQ(found["reversibility"]["returns"], 3);
    EXPECT_GT(found["reversibility"]["largest_distance"].get<double>(), 0);

    // The flow is that of `lattice measure`.
    const auto flow = table("with", "flow");
    EXPECT_EQ(flow.updates, (std::vector<std::int64_t>{3, 6}));
    const auto measured = kasane({"lattice", "measure", "with/conf.lime", "--flow-time", "0.5", "--flow-step", "0.05", "--json"}).json();
    const auto& last = measured["flow"]["points"].back();
    EXPECT_NEAR(flow.column("charge").back(), last["topological_charge"].get<double>(), 1e-12);
    EXPECT_NEAR(flow.column("t2E").back(), last["t2E"].get<double>(), 1e-12);
    EXPECT_EQ(found["flow"]["measurements"], 2);  // both after thermalisation
    const auto charges = flow.column("charge");
    EXPECT_NEAR(found["flow"]["topological_charge"]["mean"].get<double>(), (charges[0] + charges[1]) / 2, 1e-15);

    // The smallest eigenvalue is that of the last configuration's operator.
    const auto spectrum = table("with", "spectrum");
    EXPECT_EQ(spectrum.updates, (std::vector<std::int64_t>{2, 4, 6}));
    lattice::QuarkOperator<Cpu> D(Cpu{1}, {{2, 4, 2, 4}}, {{0.13, 1.2, lattice::Boundary::antiperiodic}});
    D.pack(lattice::links_on(Cpu{1}, field("with/conf.lime")));
    const auto expected = lattice::measure_spectrum(D, 5, 7);                                      // from another vector
    EXPECT_NEAR(spectrum.column("smallest").back(), expected.smallest, 0.02 * expected.smallest);  // both have rtol = 0.01
    EXPECT_NEAR(spectrum.column("largest").back(), expected.largest, 0.02 * expected.largest);
    EXPECT_EQ(found["spectrum"]["measurements"], 2);
    EXPECT_EQ(found["spectrum"]["least"].get<double>(), std::min(spectrum.column("smallest")[1], spectrum.column("smallest")[2]));

    const auto html = read_file(directory / "with/report.html");
    EXPECT_EQ(test::markup_problem(html, test::Dialect::html), "");
    for (const char* words : {"Return to the start", "Topological charge", "Smallest eigenvalue", "Luscher"})
        EXPECT_NE(html.find(words), std::string::npos) << words;
    for (const char* bad : {">nan<", "nan(", " nan", ">inf<"}) EXPECT_EQ(html.find(bad), std::string::npos) << bad;
}

TEST_F(HmcMeasured, ResumedRunsHaveTheSameTables) {
    quark_file();
    auto more = all_measurements;
    run_to_end("whole", more);
    more.push_back("hmc.trajectories=3");
    run_to_end("part", more);
    auto text = read_file(directory / "part/run.toml");
    const auto at = text.find("trajectories = 3");
    ASSERT_NE(at, std::string::npos);
    test::write_file(directory / "part/run.toml", text.replace(at, 16, "trajectories = 6"));
    ASSERT_EQ(kasane({"resume", "part", "--quiet"}).status, 0);
    expect_same("whole", "part");
    for (const char* name : {"dynamics.csv", "reversibility.csv", "flow.csv", "spectrum.csv"})
        EXPECT_EQ(read_file(directory / "whole" / name), read_file(directory / "part" / name)) << name;
    EXPECT_EQ(record("whole")["flow"], record("part")["flow"]);
    // A flipped byte of a table in the checkpoint is detected.
    const auto path = checkpoints("part").back();
    const auto good = run::read_hmc_checkpoint(path);
    EXPECT_EQ(good.tables.flow, table("part", "flow"));
    auto bytes = read_file(path);
    const double charge = good.tables.flow.column("charge").back();
    const auto place = bytes.find(std::string(reinterpret_cast<const char*>(&charge), sizeof charge));
    ASSERT_NE(place, std::string::npos);
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    test::write_file(directory / "damaged.hdf5", bytes);
    EXPECT_THROW(run::read_hmc_checkpoint(directory / "damaged.hdf5"), InputError);
}

TEST_F(HmcMeasured, CheckpointsOfLayout1AreRead) {
    const auto old = run::read_hmc_checkpoint(fs::path(KASANE_SOURCE_DIR) / "test/run/hmc/checkpoint_layout1.hdf5");
    EXPECT_EQ(old.trajectory, 2);
    EXPECT_EQ(old.rows.size(), 2U);
    EXPECT_EQ(old.field.extents, (lattice::Extents{{2, 2, 2, 2}}));
    for (const auto* table : old.tables.all()) EXPECT_TRUE(table->empty());
    EXPECT_EQ(json::parse(old.record)["quarks"]["kappa"], 0.13);
}

TEST_F(HmcMeasured, EachFactorMayHaveItsTimeScale) {
    const std::string two = "[[hasenbusch]]\nmass = 0.1\n[[hasenbusch]]\nmass = 0.4\n";
    const auto terms = [](const std::vector<lattice::Level>& levels) {
        std::vector<std::vector<int>> all;
        for (const auto& level : levels) all.push_back(level.terms);
        return all;
    };
    using Terms = std::vector<std::vector<int>>;
    quark_file("gauge_steps = 4\n", two);
    EXPECT_EQ(terms(parsed().levels()), (Terms{{1, 2, 3, 4}, {0}}));
    const auto three = parsed({{"hasenbusch.0.steps=2"}, {"hasenbusch.1.steps=3"}}).levels();
    EXPECT_EQ(terms(three), (Terms{{1}, {2}, {3, 4}, {0}}));
    EXPECT_EQ(three[0].steps, 5);
    EXPECT_EQ(three[1].steps, 2);
    EXPECT_EQ(three[2].steps, 3);
    EXPECT_EQ(three[3].steps, 4);
    EXPECT_EQ(terms(parsed({{"hasenbusch.1.steps=3"}}).levels()), (Terms{{1, 2}, {3, 4}, {0}}));
    // The operations of leapfrog: each kick of a level, at each of its steps.
    const auto operations = lattice::operations_of(parsed({{"hasenbusch.1.steps=3"}, {"hmc.integrator=leapfrog"}}).levels(), 1);
    const auto kicks = [&](int level) {
        return std::ranges::count_if(operations,
                                     [&](const auto& o) { return o.kind == lattice::Operation::Kind::kick && o.level == level; });
    };
    EXPECT_EQ(kicks(0), 5 + 1);
    EXPECT_EQ(kicks(1), 5 * 3 + 1);
    EXPECT_EQ(kicks(2), 5 * 3 * 4 + 1);

    run_to_end("out", {"hasenbusch.1.steps=3", "hmc.trajectories=3"});
    EXPECT_EQ(record("out")["quarks"]["hasenbusch_steps"], (json{0, 3}));
    EXPECT_NE(read_file(directory / "out/report.html").find("quark 1, quark 2; 3 steps in a drift: quark 3; 4 steps in a drift: gauge"),
              std::string::npos);
    for (const double dH : table("out", "measurements").column("dH")) EXPECT_LT(std::abs(dH), 1);
    test::expect_bad_input(kasane({"run", "hmc.toml", "--json", "--set", "hasenbusch.1.steps=-1"}), {"hasenbusch", "steps"});
}

TEST_F(HmcMeasured, SolvesOfForcesHaveTheirKeys) {
    quark_file();
    const std::vector<std::string> brief{"hmc.trajectories=1", "hmc.thermalisation=0", "hmc.accept_first=0"};
    const auto last = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.end(), brief.begin(), brief.end());
        run_to_end(name, more);
        return std::pair(rows(name).back().dH, record(name)["terms"][1]["force_iterations"].get<double>());
    };
    const auto base = last("base", {"quarks.chronological=0"});
    const auto guessed = last("guessed", {"quarks.chronological=4"});
    EXPECT_NE(guessed.first, base.first);
    EXPECT_NEAR(guessed.first, base.first, 1e-4);
    EXPECT_LT(guessed.second, base.second);
    const auto half = last("half", {"quarks.chronological=0", "quarks.force_precision=half"});
    EXPECT_NE(half.first, base.first);
    EXPECT_NEAR(half.first, base.first, 1e-4);
    EXPECT_EQ(record("half")["quarks"]["force_precision"], "half");
    EXPECT_EQ(record("guessed")["quarks"]["chronological"], 4);
    EXPECT_NE(read_file(directory / "guessed/report.html").find("Brower"), std::string::npos);
    for (const std::string setting : {"quarks.chronological=21", "quarks.force_precision=quad"})
        test::expect_bad_input(kasane({"run", "hmc.toml", "--json", "--set", setting}), {setting.substr(0, setting.find('='))});
}

TEST_F(HmcMeasured, MemoryIsThatOfWhatIsMeasured) {
    quark_file("chronological = 0\n");
    const auto bytes = [&](std::vector<std::string> settings) {
        std::vector<std::string> arguments{"check", "hmc.toml"};
        for (auto& each : settings) arguments.insert(arguments.end(), {"--set", each});
        const auto text = kasane(arguments).out;
        const auto end = text.find(" bytes per site");
        EXPECT_NE(end, std::string::npos) << text;
        return std::stoi(text.substr(text.rfind(' ', end - 1)));
    };
    const int base = bytes({});
    EXPECT_EQ(bytes({"measure.reversibility_every=1"}), base + 576);        // a field of links
    EXPECT_EQ(bytes({"measure.flow_every=1"}), base + 2 * 576);             // two of them
    EXPECT_EQ(bytes({"quarks.chronological=4"}), base + 2 * (4 + 1) * 96);  // of each of two pseudofermion fields
    EXPECT_GT(bytes({"quarks.force_precision=half"}), base + 300);          // links, clover term and vectors
    test::expect_bad_input(kasane({"run", "hmc.toml", "--json", "--set", "lattice.extents=[64, 64, 64, 64]"}),
                           {"lattice.extents", "64x64x64x64 sites need", "GiB", "are free"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(HmcMeasured, BadKeysAreRefused) {
    quark_file();
    const auto refused = [&](const std::string& setting, const std::vector<std::string>& words) {
        test::expect_bad_input(kasane({"run", "hmc.toml", "--json", "--set", setting}), words);
    };
    refused("measure.reversibility_every=-1", {"measure.reversibility_every"});
    refused("measure.spectrum_every=-2", {"measure.spectrum_every"});
    refused("measure.flow_time=0", {"measure.flow_time", "above 0"});
    refused("measure.flow_step=0.2", {"measure.flow_step"});
    refused("measure.flow_time=1e6", {"measure.flow_time", "more than a million steps"});
    refused("measure.flow=3", {"measure.flow", "is not known"});
    refused("hmc.acceptance=1", {"hmc.acceptance"});
    refused("hmc.acceptance=0.8", {"hmc.acceptance", "0 of the trajectories of thermalisation have Metropolis's test", "needs 10"});
    refused("output.configuration=flow.csv", {"output.configuration"});
    hmc_file();
    refused("measure.spectrum_every=2", {"measure.spectrum_every", "no table [quarks]"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(HmcMeasured, AToleranceThatRoundingDoesNotReachIsReportedAtTheStart) {
    quark_file("boundary = 'periodic'\n");
    // On links of 1 the smallest eigenvalue falls to 0 at kappa = 1/8.
    for (const std::string key : {"quarks.action_rtol", "quarks.force_rtol"})
        test::expect_bad_input(kasane({"run", "hmc.toml", "--json", "--force", "--set", "start.kind=cold", "--set", "quarks.kappa=0.1245",
                                       "--set", "quarks.csw=0", "--set", key + "=1e-15"}),
                               {key, "is 1e-15", "links of the start", "Take at least"});
    EXPECT_TRUE(!fs::exists(directory / "out/measurements.csv") || rows("out").empty()) << "before the first trajectory";
}

// dH of the model <dH> = (a / steps^order)^2, Gaussian with variance 2 <dH>, so that <exp(-dH)> = 1.
TEST(StepTuner, FindsTheStepsOfAModel) {
    const auto at = [](std::uint64_t i) { return (static_cast<double>((i * 0x9E3779B97F4A7C15u) >> 11) + 0.5) / 9007199254740992.0; };
    for (const int order : {2, 4})
        for (const double wanted : {0.5, 0.8, 0.95}) {
            const double a = 40;
            const auto acceptance = [&](int steps) { return std::erfc(a / std::pow(steps, order) / 2); };
            int steps = 30;
            std::vector<run::TunedTrajectory> all;
            std::uint64_t number = 0;
            for (int block = 0; block < 40; ++block) {
                for (int i = 0; i < run::tuning_block; ++i, ++number) {
                    const double mean = std::pow(a / std::pow(steps, order), 2);
                    const double normal =
                        std::sqrt(-2 * std::log(at(2 * number + 1))) * std::cos(2 * std::numbers::pi * at(2 * number + 2));
                    all.push_back({steps, mean + std::sqrt(2 * mean) * normal});
                }
                const auto used = std::max<std::size_t>(run::tuning_block, all.size() / 2);
                const int next = run::tuned_steps({all.end() - static_cast<std::ptrdiff_t>(used), all.end()}, wanted, order);
                EXPECT_GE(2 * next, steps);
                EXPECT_LE(next, 2 * steps);
                steps = next;
            }
            // 200 trajectories determine the acceptance to 0.02; one step more or less changes it too.
            EXPECT_GT(acceptance(steps + 1), wanted - 0.06) << order << ' ' << wanted << ' ' << steps;
            EXPECT_LT(acceptance(std::max(1, steps - 1)), wanted + 0.06) << order << ' ' << wanted << ' ' << steps;
        }
}

TEST(StepTuner, OfExtremes) {
    const auto many = [](double dH, int steps) { return std::vector<run::TunedTrajectory>(10, {steps, dH}); };
    EXPECT_EQ(run::tuned_steps(many(-1, 8), 0.8, 2), 4);  // all accepted: as much shorter as one block may
    EXPECT_EQ(run::tuned_steps(many(-1, 1), 0.8, 2), 1);
    EXPECT_EQ(run::tuned_steps(many(1e9, 8), 0.8, 2), 16);
    EXPECT_EQ(run::tuned_steps(many(std::numeric_limits<double>::quiet_NaN(), 8), 0.8, 2), 16);
    // Exactly the wanted acceptance at these steps.
    EXPECT_EQ(run::tuned_steps(many(-std::log(0.8), 7), 0.8, 2), 7);
}

class TunedHmc : public HmcMeasured {
   protected:
    const std::vector<std::string> tuned{"hmc.trajectories=80", "hmc.thermalisation=50", "hmc.accept_first=5",
                                         "hmc.steps=1",         "hmc.acceptance=0.7",    "lattice.extents=[4, 4, 4, 4]"};
};

TEST_F(TunedHmc, ReachesTheAcceptanceAndThenKeepsItsSteps) {
    hmc_file();
    const auto result = run_to_end("out", tuned).json();
    const auto steps = table("out", "dynamics").column("steps");
    ASSERT_EQ(steps.size(), 80U);
    for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(steps[i], 1) << i;  // 5 without a test, and one block
    EXPECT_EQ(steps[15], 2) << "at most twice as many";
    for (std::size_t i = 50; i < 80; ++i) EXPECT_EQ(steps[i], steps[50]) << i;
    EXPECT_GT(steps[50], 2);
    EXPECT_NEAR(result["acceptance"]["mean"].get<double>(), 0.7, 0.25);  // 30 trajectories: 0.09
    const auto found = record("out");
    EXPECT_EQ(found["steps"], 1);
    EXPECT_EQ(found["tuning"], (json{{"acceptance", 0.7}, {"steps", static_cast<int>(steps[50])}, {"done", true}}));
    EXPECT_NE(read_file(directory / "out/log.txt").find("2 steps in place of 1, for an acceptance of 0.7"), std::string::npos);
    EXPECT_NE(read_file(directory / "out/report.html").find("for an acceptance of 0.7"), std::string::npos);
}

TEST_F(TunedHmc, ResumesInTheSameBits) {
    hmc_file("checkpoint_every = 0\n");
    run_to_end("whole", tuned);
    std::vector<std::string> arguments{"run", "hmc.toml", "-o", "stopped", "--json"};
    for (const auto& each : tuned) arguments.insert(arguments.end(), {"--set", each});
    auto process = start(arguments);
    // Stops after a checkpoint of the same process: before, a loaded machine may not have got to its handler of signals, and it is killed.
    const auto newest = [&] { return checkpoints("stopped").empty() ? fs::path() : checkpoints("stopped").back(); };
    for (int stops = 0; stops < 4; ++stops) {
        const auto before = newest();
        ASSERT_TRUE(wait_for([&] { return newest() != before || !process.running(); }));
        if (!process.running()) break;
        process.signal(SIGINT);
        const auto outcome = process.wait();
        ASSERT_TRUE(outcome.status == 130 || outcome.status == 0) << outcome.status << outcome.err;
        process = start({"resume", "stopped", "--quiet"});
    }
    ASSERT_EQ(process.wait().status, 0);
    EXPECT_GT(record("stopped")["segments"].size(), 1U);
    expect_same("whole", "stopped");
    EXPECT_EQ(read_file(directory / "whole/dynamics.csv"), read_file(directory / "stopped/dynamics.csv"));
    EXPECT_EQ(record("whole")["tuning"], record("stopped")["tuning"]);
}

}  // namespace
