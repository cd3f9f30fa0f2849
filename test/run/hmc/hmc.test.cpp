// Runs of hybrid Monte Carlo from their run file to their output and page, stopped, killed and resumed.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/hmc/hmc_checkpoint.hpp>
#include <kasane/run/kinds.hpp>

#include <test/report/markup.hpp>
#include <test/run/hmc/hmc_fixture.hpp>

namespace {

using namespace kasane;
using test::read_file;
using json = nlohmann::json;
namespace fs = std::filesystem;

class Hmc : public test::HmcTest {
   protected:
    std::string page(const std::string& name) {
        EXPECT_EQ(run::write_report(run::kinds(), directory / name), directory / name / "report.html");
        const auto html = read_file(directory / name / "report.html");
        EXPECT_EQ(test::markup_problem(html, test::Dialect::html), "");
        for (const char* bad : {">nan<", ">inf<", "\"nan", "NaN", "nan(", " nan"}) EXPECT_EQ(html.find(bad), std::string::npos) << bad;
        return html;
    }
    static std::size_t plots(const std::string& html) {
        std::size_t n = 0;
        for (auto at = html.find("<svg class=\"plot\""); at != std::string::npos; at = html.find("<svg class=\"plot\"", at + 1)) ++n;
        return n;
    }
};

TEST_F(Hmc, RunsAndWritesItsDirectory) {
    hmc_file();
    const auto result = run_to_end("out").json();
    EXPECT_EQ(result["status"], "done");
    EXPECT_EQ(result["steps"], 12);
    EXPECT_EQ(result["measurements"], 9);
    EXPECT_EQ(result["configurations"], 3);
    EXPECT_GT(result["seconds_per_trajectory"], 0);
    for (const char* name : {"run.toml", "log.txt", "record.json", "report.html", "measurements.csv", "conf.lime"})
        EXPECT_TRUE(fs::is_regular_file(directory / "out" / name)) << name;
    EXPECT_EQ(checkpoints("out").size(), 1U);

    const auto all = rows("out");
    ASSERT_EQ(all.size(), 12U);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].trajectory, static_cast<std::int64_t>(i) + 1);
        EXPECT_TRUE(all[i].accepted == 0 || all[i].accepted == 1);
        if (i > 0) {
            EXPECT_EQ(all[i].accepted == 0, all[i].plaquette == all[i - 1].plaquette) << i;  // a rejected one has the links of before
        }
        if (i >= 3) sum += all[i].plaquette;
    }
    EXPECT_NEAR(result["plaquette"]["mean"].get<double>(), sum / 9, 1e-14);

    // The configurations have the loops of the trajectories in their names.
    for (const auto& [name, trajectory] :
         {std::pair{"conf.lime", 12}, {"configurations/conf_000000000007.lime", 7}, {"configurations/conf_000000000011.lime", 11}}) {
        const auto loops = lattice::loop_means(lattice::links_on(Cpu{}, field(std::string("out/") + name)));
        const auto& row = all[static_cast<std::size_t>(trajectory) - 1];
        EXPECT_NEAR(loops.plaquette, row.plaquette, 1e-13) << name;
        EXPECT_NEAR(loops.rectangle, row.rectangle, 1e-13) << name;
    }

    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["problem"], "hmc");
    EXPECT_EQ(record["extents"], (json{2, 4, 2, 4}));
    EXPECT_EQ(record["gauge"]["action"], "symanzik");
    EXPECT_EQ(record["gauge"]["c1"], -1. / 12);
    EXPECT_EQ(record["integrator"], "omelyan2");
    EXPECT_EQ(record["means"]["plaquette"]["mean"], result["plaquette"]["mean"]);
    EXPECT_EQ(record["segments"][0]["last_trajectory"], 12);
    for (const char* part : {"force, gauge", "links", "momenta", "action", "measurements"})
        EXPECT_TRUE(record["timers"].contains(part)) << part;

    // The resolved file runs again, to the same bits, with another number of threads too.
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "again", "--quiet"}).status, 0);
    expect_same("out", "again");
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "one", "--quiet", "--threads", "1"}).status, 0);
    expect_same("out", "one");

    const auto html = page("out");
    EXPECT_EQ(plots(html), 4U);  // the last one of forces; nine rows are too few for an autocorrelation function
    for (const char* words : {"small &lt;one&gt;", "2 × 4 × 2 × 4", "symanzik, β = 4.5", "omelyan2", "12 trajectories", "Omelyan", "Wolff",
                              "kasane lattice measure", "acceptance"})
        EXPECT_NE(html.find(words), std::string::npos) << words;
}

TEST_F(Hmc, EveryKeyOfTheDynamicsMatters) {
    hmc_file();
    const std::vector<std::string> brief{"hmc.trajectories=2", "hmc.thermalisation=0"};
    const auto last = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.end(), brief.begin(), brief.end());
        run_to_end(name, more);
        return rows(name).back();
    };
    const auto base = last("base", {});
    int number = 0;
    for (const char* key :
         {"hmc.seed=2", "start.seed=2", "hmc.length=0.7", "hmc.steps=5", "hmc.integrator=omelyan4", "hmc.integrator=leapfrog",
          "hmc.integrator=force_gradient", "gauge.beta=4.6", "gauge.action=iwasaki", "start.kind=cold", "start.kind=weak:0.3"})
        EXPECT_NE(last("other" + std::to_string(++number), {key}), base) << key;
}

TEST_F(Hmc, AWeightOfTheRectanglesReplacesTheName) {
    hmc_file();
    auto text = read_file(directory / "hmc.toml");
    run_to_end("named", {"gauge.action=iwasaki"});
    text.replace(text.find("action = 'symanzik'"), 19, "c1 = -0.331");
    test::write_file(directory / "hmc.toml", text);
    run_to_end("number");
    expect_same("named", "number");
    EXPECT_EQ(json::parse(read_file(directory / "number/record.json"))["gauge"]["action"], "c1");
}

TEST_F(Hmc, StartsFromAFile) {
    hmc_file();
    run_to_end("first");
    run_to_end("second", {"start.kind=file", "start.file=first/conf.lime", "hmc.integrator=omelyan4", "hmc.steps=6"});
    EXPECT_NEAR(rows("second").front().plaquette, rows("first").back().plaquette, 0.1);
    EXPECT_EQ(json::parse(read_file(directory / "second/record.json"))["start"]["kind"], "file");
}

TEST_F(Hmc, TrajectoriesWithoutATestAreAccepted) {
    hmc_file();
    const std::vector<std::string> coarse{"hmc.steps=1", "hmc.length=2", "hmc.trajectories=6"};
    auto all = coarse;
    all.insert(all.end(), {"hmc.thermalisation=5", "hmc.accept_first=5", "start.kind=cold"});
    run_to_end("out", all);
    const auto done = rows("out");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)].accepted, 1) << i;
    EXPECT_GT(done[0].dH, 10);  // Metropolis's test would have rejected it
}

TEST_F(Hmc, StepsThatAreTooLongEndTheRun) {
    hmc_file("checkpoint_every = 0\n");
    const auto outcome = run_to_end("out", {"hmc.steps=1", "hmc.length=3", "hmc.trajectories=50", "start.kind=cold"}, 1);
    for (const char* words : {"20 trajectories in a row were rejected", "dH = ", "too long", "hmc.steps = 1"})
        EXPECT_NE(outcome.err.find(words), std::string::npos) << words << outcome.err;
    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["status"], "failed");
    EXPECT_EQ(record["trajectories_done"], 20);
    EXPECT_EQ(rows("out").size(), 20U);
    EXPECT_NE(page("out").find("20 trajectories in a row"), std::string::npos);
    // As the message says: more steps, and the run continues.
    auto text = read_file(directory / "out/run.toml");
    const auto at = text.find("steps = 1");
    ASSERT_NE(at, std::string::npos) << text;
    test::write_file(directory / "out/run.toml", text.replace(at, 9, "steps = 40"));
    const auto resumed = kasane({"resume", "out", "--json"});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(resumed.json()["steps"], 50);
}

class ResumeHmc : public Hmc {
   protected:
    const std::vector<std::string> many{"hmc.trajectories=40", "hmc.steps=12", "lattice.extents=[4, 4, 4, 4]"};
    Process start_many(const std::string& name) {
        std::vector<std::string> arguments{"run", "hmc.toml", "-o", name, "--json"};
        for (const auto& each : many) arguments.insert(arguments.end(), {"--set", each});
        return start(arguments);
    }
};

TEST_F(ResumeHmc, AfterAnInterruptTheRunEndsInTheSameBits) {
    hmc_file("checkpoint_every = 0\n");
    run_to_end("whole", many);
    auto process = start_many("stopped");
    ASSERT_TRUE(wait_for([&] { return checkpoints("stopped").size() == 2 || !process.running(); }));
    process.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // timeout(1) signals the process, and then its group
    process.signal(SIGINT);
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 130) << outcome.err;
    const auto stopped = outcome.json();
    EXPECT_EQ(stopped["status"], "interrupted");
    const int done = stopped["steps"];
    EXPECT_GT(done, 0);
    EXPECT_LT(done, 40);
    EXPECT_EQ(rows("stopped").back().trajectory, done);
    const auto resumed = kasane({"resume", "stopped", "--json"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(resumed.json()["steps"], 40);
    expect_same("whole", "stopped");
    const auto record = json::parse(read_file(directory / "stopped/record.json"));
    ASSERT_EQ(record["segments"].size(), 2U);
    EXPECT_EQ(record["segments"][1]["first_trajectory"], done);
}

// Also inside trajectories, which are run again.
TEST_F(ResumeHmc, AfterKillsAtAnyMomentTheRunEndsInTheSameBits) {
    hmc_file("checkpoint_every = 0\n");
    run_to_end("whole", many);
    auto process = start_many("killed");
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "killed/run.toml") && fs::exists(directory / "killed/checkpoints"); }));
    const int kills = kill_and_resume(process, "killed", {140, 211, 120, 249, 177});
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_GT(kills, 0);
    expect_same("whole", "killed");
}

TEST_F(ResumeHmc, KeepsWhatDeterminesTheChain) {
    hmc_file();
    run_to_end("out");
    const auto text = read_file(directory / "out/run.toml");
    const auto refused = [&](const std::string& from, const std::string& to, const std::string& key) {
        auto changed = text;
        const auto at = changed.find(from);
        ASSERT_NE(at, std::string::npos) << from << " in " << changed;
        changed.replace(at, from.size(), to);
        const auto more = changed.find("trajectories = 12");
        if (more != std::string::npos) changed.replace(more, 17, "trajectories = 14");
        test::write_file(directory / "out/run.toml", changed);
        const auto outcome = kasane({"resume", "out", "--json"});
        test::expect_bad_input(outcome, {key});
    };
    refused("beta = 4.5", "beta = 4.6", "gauge.beta");
    refused("action = \"symanzik\"", "action = \"dbw2\"", "gauge.c1");
    refused("length = 0.8", "length = 0.9", "hmc.length");
    refused("trajectories = 12", "trajectories = 7", "hmc.trajectories");
    // More trajectories, as if there had been as many from the beginning.
    auto longer = text;
    longer.replace(longer.find("trajectories = 12"), 17, "trajectories = 16");
    test::write_file(directory / "out/run.toml", longer);
    ASSERT_EQ(kasane({"resume", "out", "--json"}).status, 0);
    run_to_end("whole", {"hmc.trajectories=16"});
    expect_same("whole", "out");
}

TEST_F(ResumeHmc, EveryFlippedByteOfACheckpointIsDetected) {
    hmc_file();
    run_to_end("out", {"hmc.trajectories=2", "hmc.thermalisation=0"});
    const auto path = checkpoints("out").back();
    const auto good = run::read_hmc_checkpoint(path);
    EXPECT_EQ(good.trajectory, 2);
    EXPECT_EQ(good.rows, rows("out"));
    EXPECT_EQ(good.field.links, field("out/conf.lime").links);
    const auto bytes = read_file(path);
    int refused = 0, harmless = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 499) {
        auto damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        test::write_file(directory / "damaged.hdf5", damaged);
        try {  // bytes of HDF5 that are not read may flip; what is read must equal what was written
            const auto read = run::read_hmc_checkpoint(directory / "damaged.hdf5");
            EXPECT_EQ(read.field.links, good.field.links) << i;
            EXPECT_EQ(read.rows, good.rows) << i;
            EXPECT_EQ(read.record, good.record) << i;
            ++harmless;
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, harmless) << "most of the file is links";
}

class BadHmc : public test::HmcTest {
   protected:
    void expect_refused(const std::vector<std::string>& settings, const std::vector<std::string>& words) {
        hmc_file();
        for (const char* verb : {"run", "check"}) {
            std::vector<std::string> arguments{verb, "hmc.toml", "--json"};
            for (const auto& each : settings) arguments.insert(arguments.end(), {"--set", each});
            test::expect_bad_input(kasane(arguments), words);
        }
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
};

TEST_F(BadHmc, Trajectories) {
    expect_refused({"hmc.trajectories=0"}, {"hmc.trajectories", "is 0"});
    expect_refused({"hmc.trajectories=-3"}, {"hmc.trajectories"});
    expect_refused({"hmc.steps=0"}, {"hmc.steps", "is 0"});
    expect_refused({"hmc.length=0"}, {"hmc.length", "above 0"});
    expect_refused({"hmc.length=nan"}, {"hmc.length"});
    expect_refused({"hmc.thermalisation=12"}, {"hmc.thermalisation", "is 12 of 12 trajectories"});
    expect_refused({"hmc.accept_first=4"}, {"hmc.accept_first", "is 4", "thermalisation is 3"});
    expect_refused({"hmc.seed=-1"}, {"hmc.seed"});
    expect_refused({"hmc.sweeps=3"}, {"hmc.sweeps", "is not known"});
}

TEST_F(BadHmc, IntegratorsAndActions) {
    expect_refused({"hmc.integrator=omelyan3"}, {"hmc.integrator", "'omelyan3' is not known", "Did you mean 'omelyan"});
    expect_refused({"hmc.integrator=leapfrogg"}, {"hmc.integrator", "Did you mean 'leapfrog'"});
    expect_refused({"gauge.action=iwasakii"}, {"gauge.action", "Did you mean 'iwasaki'"});
    expect_refused({"gauge.c1=-0.2"}, {"gauge.action", "beside c1"});
    expect_refused({"gauge.beta=0"}, {"gauge.beta", "above 0"});
    hmc_file();
    auto text = read_file(directory / "hmc.toml");
    text.replace(text.find("action = 'symanzik'"), 19, "c1 = 0.2");
    test::write_file(directory / "bad.toml", text);
    test::expect_bad_input(kasane({"run", "bad.toml", "--json"}), {"gauge.c1"});
}

TEST_F(BadHmc, LatticesAndStarts) {
    expect_refused({"lattice.extents=[4, 5, 4, 4]"}, {"lattice.extents", "4x5x4x4", "even"});
    expect_refused({"lattice.extents=[250, 250, 250, 250]"}, {"lattice.extents", "250x250x250x250 sites need", "GiB", "are free"});
    lattice::GaugeField other(lattice::Extents{{2, 2, 2, 2}});
    for (auto& link : other.links) link = lattice::Su3<double>::unit();
    lattice::write_gauge(directory / "other.lime", other, {});
    expect_refused({"start.kind=file", "start.file=other.lime"}, {"start.file", "2x2x2x2", "2x4x2x4"});
    expect_refused({"start.kind=warm"}, {"start.kind", "'warm' is not known"});
    hmc_file();
    const auto outcome = kasane({"run", "hmc.toml", "--set", "run.problem=hmcc"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("Did you mean 'hmc'"), std::string::npos) << outcome.err;
}

}  // namespace
