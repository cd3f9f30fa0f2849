// Runs of hybrid Monte Carlo with quarks of one flavour: the range of the rational approximation, its comparison with the spectrum, record,
// page and resumption, and what is refused.
#include <kasane/run/hmc/hmc_record.hpp>

#include <test/run/hmc/hmc_fixture.hpp>

namespace {

using namespace kasane;
namespace fs = std::filesystem;
using test::read_file;
using json = nlohmann::json;

class HmcWithOneFlavour : public test::HmcTest {
   protected:
    /// @param quarks  keys of [quarks] but kappa, and tables after it
    void flavour_file(const std::string& quarks, const std::string& start = "kind = 'hot'\n") {
        test::write_file(directory / "hmc.toml",
                         "[run]\nproblem = 'hmc'\ntitle = 'flavours'\ndevice = 'cpu'\nthreads = 2\n[lattice]\nextents = [2, 4, 2, 4]\n"
                         "[start]\n" +
                             start + "[gauge]\nbeta = 5.6\n[quarks]\nkappa = 0.13\n" + quarks +
                             "[hmc]\ntrajectories = 6\nthermalisation = 3\naccept_first = 2\nsteps = 4\nlength = 0.5\n"
                             "[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\ncheckpoint_every = 0\n");
    }
    json flavours(const std::string& name) { return json::parse(read_file(directory / name / "record.json"))["quarks"]["one_flavour"]; }
};

TEST_F(HmcWithOneFlavour, RunAndWriteTheRangeThatTheyMeasured) {
    flavour_file("flavours = 1\ncsw = 1.2\n");
    EXPECT_EQ(run_to_end("out").json()["status"], "done");
    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["quarks"]["flavours"], 1);
    const auto one = flavours("out").at(0);
    EXPECT_EQ(one["kappa"], 0.13);
    EXPECT_EQ(one["range"], "measured");
    EXPECT_LT(one["least"].get<double>(), one["smallest_eigenvalue"].get<double>());
    EXPECT_GT(one["most"].get<double>(), one["largest_eigenvalue"].get<double>());
    EXPECT_LE(one["weight_error"].get<double>(), 1e-4);
    EXPECT_LE(one["error"].get<double>() * 6 * 64, 1e-4);
    EXPECT_GT(one["poles"], 2);
    EXPECT_EQ(one["measured_after"], 3);  // the end of thermalisation; every 10 trajectories otherwise
    for (const char* part : {"force, quark 1", "force, clover determinant, quark 1", "heat bath, quark 1", "spectrum"})
        EXPECT_TRUE(record["timers"].contains(part)) << part;
    const auto page = read_file(directory / "out/report.html");
    for (const char* words : {"one flavour, κ = 0.13, c_sw = 1.2, antiperiodic in time", "relative error", "Clark", "eigenvalues of"})
        EXPECT_NE(page.find(words), std::string::npos) << words;

    // The resolved file runs again, to the same bits, with another number of threads.
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "one", "--quiet", "--threads", "1"}).status, 0);
    expect_same("out", "one");
}

TEST_F(HmcWithOneFlavour, StandBesideTwo) {
    flavour_file(
        "[[hasenbusch]]\nmass = 0.4\n[[flavour]]\nkappa = 0.12\n[[flavour]]\nkappa = 0.11\nspectrum_least = 0.01\nspectrum_most = 4\n");
    const std::vector<std::string> brief{"hmc.trajectories=1", "hmc.thermalisation=0", "hmc.accept_first=0"};
    const auto last = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.end(), brief.begin(), brief.end());
        run_to_end(name, more);
        return rows(name).back().dH;
    };
    const double base = last("base", {});
    const auto all = flavours("base");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]["range"], "measured");
    EXPECT_EQ(all[1]["range"], "given");
    EXPECT_EQ(all[1]["least"], 0.01);
    const auto page = read_file(directory / "base/report.html");
    for (const char* words : {"two flavours, κ = 0.13", "one further flavour with κ = 0.12, one further flavour with κ = 0.11"})
        EXPECT_NE(page.find(words), std::string::npos) << words;
    EXPECT_TRUE(json::parse(read_file(directory / "base/record.json"))["timers"].contains("force, quark 4"));
    int number = 0;
    for (const char* key : {"flavour.0.kappa=0.115", "flavour.1.kappa=0.115", "quarks.csw=1", "quarks.weight_error=0.1"})
        EXPECT_GT(std::abs(last("other" + std::to_string(++number), {key}) - base), 1e-9) << key;
    EXPECT_LT(flavours("other4")[1]["poles"], all[1]["poles"]);
}

TEST_F(HmcWithOneFlavour, AResumedRunEndsInTheSameBits) {
    flavour_file("flavours = 1\nspectrum_every = 1\n[[flavour]]\nkappa = 0.01\nspectrum_least = 0.5\nspectrum_most = 2\n",
                 "kind = 'weak:0.01'\n");
    const std::vector<std::string> rough{"quarks.kappa=0.165", "hmc.length=1", "hmc.steps=6"};
    const auto run = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.end(), rough.begin(), rough.end());
        run_to_end(name, more);
    };
    run("whole", {"hmc.thermalisation=5"});
    // Stopped where the measured range still follows the spectrum: it changes after trajectory 4.
    run("part", {"hmc.trajectories=3", "hmc.thermalisation=2"});
    EXPECT_NE(flavours("whole")[0]["least"], flavours("part")[0]["least"]) << "the test needs a range that changes";
    change("trajectories = 3", "trajectories = 6");
    change("thermalisation = 2", "thermalisation = 5");
    ASSERT_EQ(kasane({"resume", "part", "--quiet"}).status, 0);
    expect_same("whole", "part");
    EXPECT_EQ(flavours("whole"), flavours("part"));
    change("trajectories = 6", "trajectories = 7");
    for (const auto& [from, to] : {std::pair{"flavours = 1", "flavours = 2"}, {"kappa = 0.01", "kappa = 0.011"}}) {
        change(from, to);
        const auto refused = kasane({"resume", "part"});
        EXPECT_EQ(refused.status, 2) << from;
        EXPECT_NE(refused.err.find("checkpoint"), std::string::npos) << refused.err;
        change(to, from);
    }
    // Another range is another approximation of the same determinant.
    change("spectrum_least = 0.5", "spectrum_least = 0.25");
    ASSERT_EQ(kasane({"resume", "part", "--quiet"}).status, 0);
    EXPECT_EQ(flavours("part")[1]["least"], 0.25);
}

TEST_F(HmcWithOneFlavour, ASpectrumOutsideTheRangeEndsTheRun) {
    flavour_file("flavours = 1\nspectrum_least = 1\nspectrum_most = 2\n");
    const auto outcome = run_to_end("start", {}, 1);
    for (const char* words : {"after trajectory 0", "outside the range 1 to 2", "quark 1 (kappa = 0.13)", "spectrum_least", "[quarks]"})
        EXPECT_NE(outcome.err.find(words), std::string::npos) << words << outcome.err;
    EXPECT_EQ(json::parse(read_file(directory / "start/record.json"))["status"], "failed");

    // A range that holds for the first links, which are near 1, and not for later ones.
    flavour_file("flavours = 1\nspectrum_every = 1\n", "kind = 'weak:0.01'\n");
    run_to_end("first", {"hmc.trajectories=1", "hmc.thermalisation=0", "hmc.accept_first=0", "quarks.spectrum_every=100"});
    const auto one = flavours("first").at(0);
    ASSERT_EQ(one["measured_after"], 0);
    const auto tight = [&](const char* key, double factor) { return std::to_string(one[key].get<double>() * factor); };
    const auto least = tight("smallest_eigenvalue", 0.999), most = tight("largest_eigenvalue", 1.001);
    const auto failed = run_to_end("part", {"quarks.spectrum_least=" + least, "quarks.spectrum_most=" + most}, 1);
    EXPECT_NE(failed.err.find("Give a wider range"), std::string::npos) << failed.err;
    EXPECT_EQ(failed.err.find("after trajectory 0"), std::string::npos) << failed.err;

    // The remedy: a wider range, and the run continues from its checkpoint, if there is one, or begins.
    flavour_file("flavours = 1\nspectrum_every = 4\nspectrum_least = " + least + "\nspectrum_most = " + most + "\n",
                 "kind = 'weak:0.01'\n");
    fs::remove_all(directory / "part");
    run_to_end("part", {"hmc.thermalisation=5"}, 1);
    EXPECT_EQ(json::parse(read_file(directory / "part/record.json"))["trajectories_done"], 4);
    ASSERT_EQ(checkpoints("part").empty(), false);
    change("spectrum_least = ", "spectrum_least = 0.001 # ");
    change("spectrum_most = ", "spectrum_most = 20 # ");
    const auto resumed = kasane({"resume", "part", "--quiet"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(rows("part").size(), 6u);
    EXPECT_EQ(flavours("part")[0]["most"], 20);
}

TEST_F(HmcWithOneFlavour, AnEigenvalueOfZeroEndsTheRun) {
    // Free quarks at their critical kappa: the constant field is a zero mode.
    flavour_file("flavours = 1\nboundary = 'periodic'\n", "kind = 'cold'\n");
    const auto outcome = run_to_end("out", {"quarks.kappa=0.125"}, 1);
    EXPECT_NE(outcome.err.find("Take a smaller kappa"), std::string::npos) << outcome.err;
}

TEST_F(HmcWithOneFlavour, BadKeysAreReported) {
    const auto refused = [&](const std::string& quarks, std::initializer_list<const char*> words) {
        flavour_file(quarks);
        const auto outcome = kasane({"run", "hmc.toml"});
        EXPECT_EQ(outcome.status, 2) << quarks;
        for (const char* word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << outcome.err;
    };
    refused("flavours = 3\n", {"flavours"});
    refused("flavour = 1\n", {"quarks.flavour", "flavours"});
    refused("flavours = 1\nspectrum_least = 0.1\n", {"needs spectrum_most"});
    refused("flavours = 1\nspectrum_least = 2\nspectrum_most = 1\n", {"2 to 1"});
    refused("flavours = 1\nspectrum_least = -1\nspectrum_most = 1\nweight_error = 2\nspectrum_every = 0\n",
            {"spectrum_least", "weight_error", "spectrum_every"});
    refused("flavours = 1\nspectrum_least = 1e-60\nspectrum_most = 1\n", {"poles", "shorter range"});
    refused("flavours = 1\ntwisted_mass = 0.1\n", {"complex"});
    refused("flavours = 1\n[[hasenbusch]]\nmass = 0.4\n", {"flavours", "hasenbusch"});
    refused("[[flavour]]\nspectrum_least = 0.1\nspectrum_most = 1\n", {"kappa"});
    refused("[[flavour]]\nkapa = 0.1\n", {"kapa", "kappa"});
    refused("spectrum_least = 0.1\nweight_error = 1\nspectrum_every = 3\n",
            {"spectrum_least: has no effect with flavours = 2", "weight_error: has no effect", "spectrum_every: has no effect"});
    refused("spectrum_most = 1\n[[flavour]]\nkappa = 0.1\n", {"spectrum_most: has no effect with flavours = 2", "[[flavour]]"});
    for (const char* table : {"[[flavour]]\nkappa = 0.1\n", "[[hasenbusch]]\nmass = 0.3\n"}) {
        hmc_file(table);
        const auto alone = kasane({"run", "hmc.toml"});
        EXPECT_EQ(alone.status, 2);
        EXPECT_NE(alone.err.find("needs [quarks]"), std::string::npos) << alone.err;
        EXPECT_EQ(alone.err.find("is not known"), std::string::npos) << alone.err;
    }
}

TEST_F(HmcWithOneFlavour, RecordsOfEarlierVersionsAreRead) {
    flavour_file("[[hasenbusch]]\nmass = 0.4\n");
    run_to_end("out", {"hmc.trajectories=1", "hmc.thermalisation=0", "hmc.accept_first=0"});
    auto record = json::parse(read_file(directory / "out/record.json"));
    for (const char* key : {"flavours", "weight_error", "spectrum_every", "one_flavour"}) ASSERT_EQ(record["quarks"].erase(key), 1u) << key;
    const auto read = run::hmc_record_from_json(record.dump(), "record.json");
    ASSERT_TRUE(read.quarks);
    EXPECT_EQ(read.quarks->flavours, 2);
    EXPECT_TRUE(read.flavours.empty());
    EXPECT_EQ(read.quarks->terms(), 2);
}

}  // namespace
