// `kasane predict` and `kasane calibrate`: numbers from a calibration that was made by hand, so that the answer can be, and what they
// refuse.
#include <kasane/perf/calibration.hpp>
#include <kasane/version.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace kasane;

class Predict : public test::CommandTest {
   protected:
    /// Reads and keeps calibrations in the test's directory.
    test::Outcome command(std::vector<std::string> arguments) {
        const auto cache = directory / "cache";
        return kasane(std::move(arguments), [cache] { setenv("XDG_CACHE_HOME", cache.c_str(), 1); });
    }
    std::filesystem::path calibration() const { return directory / "cache" / "kasane" / "calibration.json"; }

    static std::map<std::string, double> numbers(bool cuda, int units) {
        return {{"cuda", cuda ? 1. : 0.}, {"units", units}, {"launch", 0}, {"particle", 0}, {"step", 0},       {"load", 0},
                {"addition", 0},          {"draw", 0},      {"hiding", 1}, {"scatter", 0},  {"largest", 0.01}, {"fewest", 1024},
                {"most", 1048576}};
    }
    /// A processor of 4 threads that takes 1 ns for an interaction, and nothing else.
    void processor(const std::string& name = "A processor, 4 threads") const {
        auto known = numbers(false, 4);
        known["step"] = 1e-9;
        ASSERT_EQ(keep_calibration(calibration(), {{{"force", name, "single, one-sided, equal masses"}, known, ""}}), "");
    }
    void channel(int ranks, int workers, double latency, double bytes_per_second,
                 const std::string& name = "A processor, 4 threads") const {
        ASSERT_EQ(keep_calibration(
                      calibration(),
                      {{{"channel", name, std::to_string(ranks * workers)},
                        {{"ranks", ranks}, {"members", ranks * workers}, {"latency", latency}, {"bytes_per_second", bytes_per_second}},
                        ""}}),
                  "");
    }
    /// What it takes for so many targets and sources: each target adds up grains of 1024, which take 40 interactions more.
    static double processor_seconds(double targets, double sources) {
        return targets / 4 * (sources + 40 * std::ceil(sources / 1024)) * 1e-9;
    }
    /// n particles and 100 steps, on a CPU.
    std::string run_file(int n, const std::string& step = "dt = 0.01") {
        test::write_file(directory / "run.toml",
                         "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nuntil = 1.0\n"
                         "[initial]\nmodel = \"plummer\"\ncount = " +
                             std::to_string(n) + "\n[force]\nsoftening = 0.05\n[step]\n" + step + "\n[output]\ndirectory = \"out\"\n");
        return "run.toml";
    }
};

TEST_F(Predict, OneProcessor) {
    processor();
    const auto outcome = command({"predict", run_file(40000), "--json", "--on", "A processor, 4 threads"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto p = outcome.json();
    const double step = processor_seconds(40000, 40000);
    EXPECT_NEAR(p["seconds_per_step"]["expected"], step, 1e-9);
    EXPECT_NEAR(p["seconds_per_step"]["low"], 0.98 * step, 1e-9);  // 2% is the least that is admitted
    EXPECT_NEAR(p["seconds_per_step"]["high"], 1.02 * step, 1e-9);
    EXPECT_EQ(p["steps"], 100);
    EXPECT_NEAR(p["seconds"]["expected"], 100 * step, 1e-7);
    EXPECT_NEAR(p["interactions_per_second"], 1.6e9 / step, 1);
    EXPECT_EQ(p["members"], 1);
    EXPECT_EQ(p["messages_per_step"], 0);
    EXPECT_NE(p["bound"].get<std::string>().find("arithmetic"), std::string::npos);
    EXPECT_GT(p["memory"]["host_bytes"], 40000 * 150);
    EXPECT_EQ(p["memory"]["device_bytes"], 0);
    // The memory of a run with its report, as `check` states it, and without.
    for (const char* report : {"output.report=true", "output.report=false"}) {
        const auto predicted = command({"predict", "run.toml", "--json", "--on", "A processor, 4 threads", "--set", report}).json();
        const auto checked = command({"check", "run.toml", "--json", "--set", report}).json();
        EXPECT_EQ(predicted["memory"]["host_bytes"], checked["memory"]["host_bytes"]) << report;
    }
    // The only device that is known is taken, with a word on that.
    const auto other = command({"predict", "run.toml"});
    ASSERT_EQ(other.status, 0) << other.err;
    EXPECT_NE(other.out.find("A processor, 4 threads"), std::string::npos);
    EXPECT_NE(other.out.find("a step           416 ms (408 ms to 424 ms)"), std::string::npos) << other.out;
    EXPECT_NE(other.out.find("not for this machine's"), std::string::npos);
}

TEST_F(Predict, FourRanks) {
    // Accumulation in two messages, of 8192 particles and of twice as many, 16 bytes each; a processor carries them between its kernels.
    // 4 latencies of 2 ms would be of the ring.
    processor();
    channel(4, 1, 2e-3, 1e8);
    const auto outcome = command({"predict", run_file(32768), "--json", "--ranks", "4"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto p = outcome.json();
    const double pairs = processor_seconds(8192, 32768), messages = 2 * 2e-3 + 3 * 8192 * 16 / 1e8;
    EXPECT_NEAR(p["seconds_per_step"]["expected"], pairs + messages, 1e-7);
    EXPECT_NEAR(p["seconds_of_messages_that_show"], messages, 1e-7);
    EXPECT_EQ(p["messages_per_step"], 2);
    EXPECT_EQ(p["bytes_per_step"], 3 * 8192 * 16);
    EXPECT_NEAR(p["strong_efficiency"], pairs / (pairs + messages), 1e-5);
    // Alone with 8192 particles, grains are of 512.
    EXPECT_NEAR(p["weak_efficiency"], 4 * 8192 / 4 * (8192 + 40 * 16) * 1e-9 / (pairs + messages), 1e-5);
    EXPECT_NEAR(p["seconds_per_step"]["high"], 1.02 * (pairs + 1.2 * messages), 1e-7);
    // Twice as many ranks were not measured: the range is wider, with the reason.
    const auto eight = command({"predict", "run.toml", "--json", "--ranks", "8"}).json();
    EXPECT_GT(eight["seconds_per_step"]["high"].get<double>() / eight["seconds_per_step"]["expected"].get<double>(), 1.2);
    EXPECT_NE(eight["doubts"].dump().find("measured between 4 workers"), std::string::npos) << eight["doubts"];
    EXPECT_EQ(eight["messages_per_step"], 3);
}

TEST_F(Predict, ManyDevices) {
    // The example of the issue: 256 ranks with 4 GPUs each. Pairs alone cost something, so that efficiency is the schedule's.
    auto known = numbers(true, 132);
    known["step"] = 1e-8;
    for (const auto* form : {"one-sided", "both sides"})
        for (const auto* masses : {"equal", "unequal"})
            ASSERT_EQ(keep_calibration(calibration(),
                                       {{{"force", "NVIDIA H200", std::string("single, ") + form + ", " + masses + " masses"}, known, ""}}),
                      "");
    channel(1, 4, 1e-5, 3.7e11, "NVIDIA H200");
    const auto outcome = command({"predict", run_file(67108864), "--json", "--ranks", "256", "--gpus-per-rank", "4"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto p = outcome.json();
    EXPECT_EQ(p["members"], 1024);
    EXPECT_EQ(p["form"], "both sides");
    // A lane has a pair in 1e-8 s over 4 schedulers of 32 lanes: at most 2 132 128 / 1e-8 interactions per second and device.
    const double most = 1024 * 2 * 132 * 128 / 1e-8;
    EXPECT_LT(p["interactions_per_second"], most);
    EXPECT_GT(p["interactions_per_second"], 0.8 * most);
    EXPECT_GT(p["strong_efficiency"], 0.8);
    EXPECT_LT(p["strong_efficiency"], 1.001);
    EXPECT_GT(p["memory"]["device_bytes"], 4.0 * 65536 * 100);
    EXPECT_GT(p["memory"]["host_bytes"], 67108864.0 / 256 * 200) << "the slab of the rank";
    EXPECT_NE(p["doubts"].dump().find("not between 1024 on 256"), std::string::npos) << p["doubts"];
}

TEST_F(Predict, Refuses) {
    const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string>& words) {
        const auto outcome = command(arguments);
        EXPECT_EQ(outcome.status, 2) << outcome.out;
        for (const auto& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << "\n" << outcome.err;
    };
    refused({"predict", run_file(1000)}, {"kasane calibrate"});
    test::write_file(directory / "bad.json", "no JSON");
    refused({"predict", "run.toml", "--calibration", "bad.json"}, {"bad.json", "not JSON", "kasane calibrate"});
    processor();
    refused({"predict", "run.toml", "--ranks", "2"}, {"mpirun -n 2 kasane calibrate"});
    refused({"predict", "run.toml", "--on", "Another"}, {"Another", "A processor, 4 threads"});
    refused({"predict", "run.toml", "--set", "force.method=\"tree\"", "--on", "Another"}, {"Another", "on the machine that is to compute"});
    refused({"predict", "run.toml", "--set", "force.method=\"tree\"", "--ranks", "2"}, {"mpirun -n 2 kasane calibrate"});
    refused({"predict", "run.toml", "--set", "force.precision=\"double\""}, {"kasane calibrate --precision double"});
    for (const char* option : {"--latency", "--bandwidth"})
        refused({"predict", "run.toml", option, "3"}, {option, "has no effect without --record"});
    refused({"predict", "run.toml", "--ranks", "0"}, {"--ranks"});
    refused({"predict", "run.toml", "--ranks", "4097"}, {"4096"});
    refused({"predict", run_file(1000, "method = \"block\"\ndt_max = 0.01")}, {"constant steps"});
    run_file(1000);
    processor("Another, 2 threads");
    refused({"predict", "run.toml"}, {"Another, 2 threads", "--on"});
}

// The counts of the run itself, whose particles are all in the larger small system. A longest step has 4 or 8 block steps from time to
// time.
TEST_F(Predict, ATreeWithBlockSteps) {
    const std::vector<std::string> run{"--set", "force.method=\"tree\"", "--set",     "step.method=\"block\"",
                                       "--set", "run.until=2.0",         "--threads", "2"};
    run_file(5000, "dt_max = 0.0625");
    const auto with = [&](std::vector<std::string> words) {
        words.insert(words.end(), run.begin(), run.end());
        return command(words);
    };
    const auto outcome = with({"predict", "run.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto p = outcome.json();
    EXPECT_EQ(p["form"], "tree");
    EXPECT_EQ(p["steps"], 32);
    EXPECT_EQ(p["messages_per_step"], 0);
    EXPECT_GT(p["seconds_per_step"]["expected"], 0);
    EXPECT_LT(p["seconds_per_step"]["low"], p["seconds_per_step"]["expected"]);
    EXPECT_GT(p["memory"]["host_bytes"], 5000 * 150);
    EXPECT_EQ(p["memory"]["host_bytes"], with({"check", "run.toml", "--json"}).json()["memory"]["host_bytes"]);
    const auto measured = with({"run", "run.toml", "--json"});
    ASSERT_EQ(measured.status, 0) << measured.err;
    EXPECT_NEAR(32 * p["parts"]["block steps"].get<double>() / measured.json()["block_steps"].get<double>(), 1, 0.3);
    const auto text = with({"predict", "run.toml"});
    EXPECT_NE(text.out.find(" block steps; walk "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("bounded by       walks: "), std::string::npos) << text.out;
}

TEST_F(Predict, ATreeOnRanks) {
    // The device of this machine, as a prediction without a calibration names it.
    const std::vector<std::string> tree{"--set", "force.method=\"tree\"", "--set", "output.report=false", "--threads", "1", "--json"};
    const auto with = [&](std::vector<std::string> words) {
        words.insert(words.end(), tree.begin(), tree.end());
        return command(words);
    };
    const auto one = with({"predict", run_file(8192)});
    ASSERT_EQ(one.status, 0) << one.err;
    channel(4, 1, 1e-3, 1e9, one.json()["device"]);
    const auto outcome = with({"predict", "run.toml", "--ranks", "4"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto p = outcome.json();
    EXPECT_EQ(p["messages_per_step"], 3);
    // A message and two stages of a reduction, and the LETs: about 60 n^(2/3) bodies (docs/tree-on-ranks.md).
    const double lets = p["bytes_per_step"];
    EXPECT_NEAR(p["parts"]["messages"], 3e-3 + lets / 1e9, 1e-12);
    EXPECT_GT(lets, 100 * std::pow(2048, 2. / 3));
    EXPECT_LT(lets, 10000 * std::pow(2048, 2. / 3));
    EXPECT_LT(p["strong_efficiency"], 1);
    EXPECT_LT(p["memory"]["host_bytes"], one.json()["memory"]["host_bytes"]) << "no rank has all particles";
    EXPECT_GT(4 * p["memory"]["host_bytes"].get<double>(), one.json()["memory"]["host_bytes"].get<double>());
}

TEST_F(Predict, AfterCalibrate) {
    const auto measured = command({"calibrate", "--device", "cpu", "--threads", "1", "--seconds", "0.1", "--json"});
    ASSERT_EQ(measured.status, 0) << measured.err;
    EXPECT_EQ(measured.json()["file"], calibration().string());
    EXPECT_EQ(measured.json()["measured"].size(), 2u);  // a force and a synchronisation
    const auto p = command({"predict", run_file(4096), "--json", "--threads", "1"});
    ASSERT_EQ(p.status, 0) << p.err;
    EXPECT_EQ(p.json()["device"], measured.json()["device"]);
    EXPECT_GT(p.json()["seconds_per_step"]["expected"], 0);
    // Another number of threads of the same processor: with a wider range.
    const auto more = command({"predict", "run.toml", "--json", "--threads", "2"}).json();
    const auto width = [](const auto& step) { return step["high"].template get<double>() / step["expected"].template get<double>(); };
    EXPECT_GT(width(more["seconds_per_step"]), width(p.json()["seconds_per_step"]) + 0.1);
    // A run prints both.
    const auto run = command({"run", "run.toml", "--threads", "1", "--set", "initial.count=500", "--set", "run.until=0.05"});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("ms a step, measured"), std::string::npos) << run.out;
    // A file of one's own, beside which nothing is touched.
    const auto before = test::read_file(calibration());
    ASSERT_EQ(command({"calibrate", "--device", "cpu", "--threads", "1", "--seconds", "0.1", "--file", "own.json", "--quiet"}).status, 0);
    EXPECT_EQ(test::read_file(calibration()), before);
    EXPECT_TRUE(std::filesystem::exists(directory / "own.json"));
}

/// A record with the parts of steps of a model: `walk` ns for a particle of a device, LETs with 2 us for each other device.
class PredictFromARecord : public Predict {
   protected:
    static nlohmann::json row(double n, int devices) {
        const double own = n / devices, others = devices - 1, log = std::log2(devices);
        return {{"case", "gravity.tree.scaling, all, P " + std::to_string(devices)},
                {"n", n},
                {"members", devices},
                {"walk_seconds", 1e-3 + 1e-9 * own},
                {"moments_seconds", 1e-10 * own},
                {"tree_seconds", 2e-10 * own},
                {"step_seconds", 1e-10 * own},
                {"domains_seconds", devices > 1 ? 1e-4 * log : 0},
                {"lets_seconds", devices > 1 ? 1e-11 * own + 2e-6 * others : 0},
                {"messages_seconds", devices > 1 ? 1e-12 * own * (5 + 2 * (log - 1)) + 3e-6 * others : 0},
                {"received_bytes", devices > 1 ? own * (5 + 2 * (log - 1)) : 0}};
    }
    void record(const std::vector<nlohmann::json>& rows) const {
        test::write_file(directory / "record.json", nlohmann::json{{"machine", "here"}, {"results", rows}}.dump());
    }
    void tree(double n) const {
        test::write_file(directory / "tree.toml",
                         "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nuntil = 1.0\n"
                         "[initial]\nmodel = \"plummer\"\ncount = " +
                             std::to_string(static_cast<std::int64_t>(n)) +
                             "\n[force]\nmethod = \"tree\"\nsoftening = 0.05\n[step]\ndt = 0.01\n[output]\ndirectory = \"out\"\n");
    }
    nlohmann::json predicted(const std::vector<std::string>& more) {
        std::vector<std::string> words{"predict", "tree.toml", "--json", "--record", "record.json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = command(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.json();
    }
};

TEST_F(PredictFromARecord, HasTheTimesOfItsModel) {
    record({row(1 << 20, 1), row(1 << 22, 1), row(1 << 21, 2), row(1 << 22, 2), row(1 << 22, 4)});
    tree(1 << 23);
    const auto one_host = predicted({"--ranks", "1", "--gpus-per-rank", "8"});
    const double own = 1 << 20;
    EXPECT_NEAR(one_host["parts"]["walk"], 1e-3 + 1e-9 * own, 1e-9);
    EXPECT_NEAR(one_host["parts"]["LETs"], 1e-11 * own + 2e-6 * 7, 1e-9);
    EXPECT_NEAR(one_host["parts"]["domains"], 3e-4, 1e-9);
    EXPECT_NEAR(one_host["bytes_per_step"], own * 8, 1) << "half of the growth from four to eight devices";
    const double alone = 1e-3 + 1.4e-9 * own;
    EXPECT_NEAR(one_host["weak_efficiency"], alone / one_host["seconds_per_step"]["expected"].get<double>(), 1e-9);

    const auto ranks = predicted({"--ranks", "4", "--gpus-per-rank", "2", "--latency", "10", "--bandwidth", "1"});
    const double sent = own * 8 / 1e9 + 7 * 10e-6, walk = 1e-3 + 1e-9 * own;
    EXPECT_NEAR(ranks["parts"]["messages"], sent - walk + 4 * 3 * 10e-6, 1e-9);
    EXPECT_NEAR(ranks["parts"]["walk"], 1.45 * walk, 1e-9);
    EXPECT_LT(ranks["seconds_per_step"]["low"], ranks["seconds_per_step"]["expected"]);
    EXPECT_GT(ranks["seconds_per_step"]["high"], ranks["seconds_per_step"]["expected"]);
    EXPECT_NE(ranks["doubts"].dump().find("at most 4 devices"), std::string::npos);
}

/// LETs for many workers that were measured on one device: they take a time for all and one for each byte, not for each other worker.
TEST_F(PredictFromARecord, TakesTheTimesOfLetsForManyWorkers) {
    const auto lets = [](int domains, double bytes) {
        const double merging = 1e-12 * bytes;
        return nlohmann::json{{"case", "gravity.tree.lets, " + std::to_string(domains) + " domains"},
                              {"n", 1 << 18},
                              {"seconds", 1e-4 + 3e-12 * bytes},
                              {"merge_seconds", merging},
                              {"bytes", bytes}};
    };
    std::vector<nlohmann::json> rows{row(1 << 20, 1), row(1 << 22, 1), row(1 << 21, 2), row(1 << 22, 2)};
    for (auto& each : rows)
        if (each["members"] > 1)
            each["lets_seconds"] = 2e-11 * each["n"].get<double>() / 2 + 1e-4 + 4e-12 * each["received_bytes"].get<double>();
    rows.push_back(lets(2, 5e6)), rows.push_back(lets(256, 4e8));
    record(rows);
    tree(1 << 26);
    const auto many = predicted({"--ranks", "16", "--gpus-per-rank", "4"});
    EXPECT_NEAR(many["parts"]["LETs"], 2e-11 * (1 << 20) + 1e-4 + 4e-12 * many["bytes_per_step"].get<double>(), 1e-9);
}

TEST_F(PredictFromARecord, RefusesWhatItDoesNotPredict) {
    tree(1 << 20);
    const auto refused = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"predict", "tree.toml", "--json", "--record", "record.json"};
        words.insert(words.end(), more.begin(), more.end());
        return command(words);
    };
    test::expect_bad_input(refused({}), {"record.json", "gravity.tree.scaling"});
    record({row(1 << 20, 1), row(1 << 21, 2)});
    test::expect_bad_input(refused({}), {"record.json", "several"});
    test::write_file(directory / "record.json", "{\"results\": [{\"case\": \"gravity.tree.scaling, all, P 1\"}]}");
    test::expect_bad_input(refused({}), {"record.json", "is not a record"});
    record({row(1 << 20, 1), row(1 << 21, 2), row(1 << 22, 4)});
    EXPECT_EQ(refused({}).status, 0);
    test::expect_bad_input(refused({"--bandwidth", "0"}), {"--bandwidth"});
    test::expect_bad_input(refused({"--set", "force.method=direct"}), {"force.method", "trees"});
}

}  // namespace
