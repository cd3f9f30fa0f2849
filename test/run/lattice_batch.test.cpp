// `kasane lattice measure` and `solve` with several configurations and kappas: the numbers of single commands, means and jackknife errors
// computed here once more, results that are used again, and files that fail.
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/solution_file.hpp>

#include <gtest/gtest.h>
#include <test/lattice/random_fields.hpp>
#include <test/run/ranks.hpp>

#include <cmath>
#include <numeric>

namespace {

using namespace kasane;
using json = nlohmann::json;
using test::count;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Mean, and jackknife error by its definition: with bins of one it is the standard deviation of the mean.
struct MeanAndError {
    double mean = 0, error = 0;
    explicit MeanAndError(const std::vector<double>& all) {
        const auto n = static_cast<double>(all.size());
        mean = std::accumulate(all.begin(), all.end(), 0.) / n;
        for (const double value : all) error += (value - mean) * (value - mean);
        error = std::sqrt(error / (n * (n - 1)));
    }
};

/// The files and commands of both fixtures.
template <class Base>
class BatchTest : public Base {
   protected:
    void put(const std::string& name, const lattice::Extents& extents, std::uint64_t seed, double epsilon = 0.3) {
        lattice::write_gauge(this->directory / name, lattice::test::random_gauge(extents, seed, epsilon), {});
    }
    /// cfg-1.lime, cfg-2.lime …
    Words put_several(int n, const lattice::Extents& extents = {{4, 4, 4, 8}}) {
        Words names;
        for (int i = 1; i <= n; ++i) {
            names.push_back("cfg-" + std::to_string(i) + ".lime");
            put(names.back(), extents, static_cast<std::uint64_t>(i));
        }
        return names;
    }
    static Words command(const std::string& verb, const Words& files, const Words& more) {
        Words words{"lattice", verb, "--device", "cpu", "--threads", "1"};
        words.insert(words.end(), files.begin(), files.end());
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    json result(const test::Outcome& outcome, int status = 0) {
        EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
        return outcome.json();
    }
    void spoil(const std::string& name) {
        auto bytes = test::read_file(this->directory / name);
        auto& last_bits = bytes[bytes.find("ildg-binary-data") + 128 + 40'000 + 7];
        last_bits = static_cast<char>(last_bits ^ 1);
        test::write_file(this->directory / name, bytes);
    }
};
using LatticeBatch = BatchTest<test::CommandTest>;
using ParallelLatticeBatch = BatchTest<test::RanksTest>;

const Words flow{"--flow-time", "0.1", "--flow-step", "0.05", "--json"};

TEST_F(LatticeBatch, MeasuresEachConfigurationAndTheMeans) {
    const auto files = put_several(4);
    const auto got = result(kasane(command("measure", files, flow)));
    ASSERT_EQ(got["configurations"].size(), 4U);
    EXPECT_EQ(got["failed"], json::array());
    std::vector<double> plaquettes, charges, t2E;
    for (std::size_t i = 0; i < 4; ++i) {
        auto one = result(kasane(command("measure", {files[i]}, flow))), same = got["configurations"][i];
        one.erase("seconds"), same.erase("seconds");
        EXPECT_EQ(one, same) << "as measured alone";
        plaquettes.push_back(one["plaquette"]), charges.push_back(one["topological_charge"]);
        t2E.push_back(one["flow"]["points"][1]["t2E"]);
    }
    const auto expect = [&](const json& mean, const std::vector<double>& all) {
        const MeanAndError expected(all);
        EXPECT_NEAR(mean["value"].get<double>(), expected.mean, 1e-13 * std::abs(expected.mean) + 1e-18);
        EXPECT_NEAR(mean["error"].get<double>(), expected.error, 1e-9 * expected.error);
        EXPECT_GT(expected.error, 0);
    };
    expect(got["means"]["plaquette"], plaquettes);
    expect(got["means"]["topological_charge"], charges);
    const auto& point = got["means"]["flow"][1];
    expect({{"value", point["t2E"]}, {"error", point["t2E_error"]}}, t2E);
    EXPECT_TRUE(got["means"]["t0"]["value"].is_null()) << "so short a flow does not reach 0.3";
    // Bins of two: the error of two means.
    auto binned = flow;
    binned.insert(binned.end(), {"--bin", "2"});
    const auto means = result(kasane(command("measure", files, binned)))["means"];
    expect(means["plaquette"], {(plaquettes[0] + plaquettes[1]) / 2, (plaquettes[2] + plaquettes[3]) / 2});
    fs::copy(directory / "cfg-2.lime", directory / "copy.lime");
    const auto copies = result(kasane(command("measure", {"cfg-1.lime", "cfg-2.lime", "copy.lime"}, {"--json"})));
    EXPECT_NE(copies["notes"].dump().find("cfg-2.lime and copy.lime have the same plaquette"), std::string::npos) << copies["notes"];
    EXPECT_EQ(got["notes"], json::array());
    const auto text = kasane(command("measure", files, {}));
    for (const char* words : {"cfg-3.lime", "mean of 4 of 4 configurations", "polyakov_modulus", "jackknife error"})
        EXPECT_NE(text.out.find(words), std::string::npos) << words << " in " << text.out;
}

TEST_F(LatticeBatch, NamesWhatFailsAndKeepsTheRest) {
    const auto files = put_several(4);
    spoil("cfg-2.lime");                                   // its checksum is wrong
    put("cfg-3.lime", {{4, 4, 4, 4}}, 3);                  // another lattice
    test::write_file(directory / "cfg-4.lime", "absent");  // no header
    const auto outcome = kasane(command("measure", {"cfg-1.lime", "cfg-2.lime", "cfg-3.lime", "cfg-4.lime", "none.lime"}, {"--json"}));
    const auto got = result(outcome, 2);
    ASSERT_EQ(got["configurations"].size(), 1U);
    EXPECT_EQ(got["configurations"][0]["file"], "cfg-1.lime");
    ASSERT_EQ(got["failed"].size(), 4U);
    const char* reasons[] = {"checksum", "lattice of 4x4x4x4, but cfg-1.lime has 4x4x4x8", "not a gauge configuration", "none.lime"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NE(got["failed"][i].dump().find(reasons[i]), std::string::npos) << got["failed"][i];
        EXPECT_EQ(count(outcome.err, "warning: " + got["failed"][i]["file"].get<std::string>()), 1) << outcome.err;
    }
    EXPECT_NE(outcome.err.find("4 of 5 results are missing: cfg-2.lime, cfg-3.lime, cfg-4.lime, none.lime"), std::string::npos)
        << outcome.err;
    EXPECT_TRUE(got["means"]["plaquette"]["error"].is_null()) << "of one configuration";
}

TEST_F(LatticeBatch, UsesResultsAgainIfTheirInputsAgree) {
    const auto files = put_several(3);
    auto words = command("measure", files, flow);
    words.insert(words.end(), {"-o", "m"});
    spoil("cfg-2.lime");
    EXPECT_EQ(result(kasane(words), 2)["kept"], 0);
    EXPECT_TRUE(fs::exists(directory / "m" / "cfg-1.lime.json"));
    EXPECT_FALSE(fs::exists(directory / "m" / "cfg-2.lime.json"));
    spoil("cfg-2.lime");  // the same bit again
    const auto whole = result(kasane(words));
    EXPECT_EQ(whole["kept"], 2);
    ASSERT_EQ(whole["configurations"].size(), 3U);
    EXPECT_EQ(whole["configurations"][1]["file"], "cfg-2.lime");
    const auto table = test::read_file(directory / "m" / "measurements.csv");
    EXPECT_EQ(count(table, "\n"), 4) << table;
    EXPECT_EQ(count(test::read_file(directory / "m" / "means.csv"), "\nplaquette,"), 1);
    EXPECT_EQ(count(test::read_file(directory / "m" / "flow.csv"), "\n"), 4);

    // A copy with another time has the same content.
    fs::last_write_time(directory / "cfg-1.lime", fs::file_time_type::clock::now() + std::chrono::hours(1));
    EXPECT_EQ(result(kasane(words))["kept"], 3);
    // Other links, another flow, another command, damage: each is refused, and nothing changes.
    const auto before = test::read_file(directory / "m" / "cfg-1.lime.json");
    put("cfg-1.lime", {{4, 4, 4, 8}}, 77);
    test::expect_bad_input(kasane(words), {"m/cfg-1.lime.json", "other links", "--force"});
    put("cfg-1.lime", {{4, 4, 4, 8}}, 1);
    auto other = words;
    other[std::find(other.begin(), other.end(), "0.05") - other.begin()] = "0.1";
    test::expect_bad_input(kasane(other), {"m/cfg-1.lime.json", "flow_step = 0.05", "this command has 0.1", "--force"});
    test::expect_bad_input(kasane(command("solve", files, {"--kappa", "0.12", "-o", "m/cfg-1.lime.json", "--json"})), {"-o", "directory"});
    test::write_file(directory / "m" / "cfg-3.lime.json", "{");
    test::expect_bad_input(kasane(words), {"m/cfg-3.lime.json", "not a result of `kasane lattice measure`"});
    test::write_file(directory / "m" / "cfg-3.lime.json", R"({"kasane": 5, "layout": "x", "inputs": {}, "result": {}})");
    test::expect_bad_input(kasane(words), {"m/cfg-3.lime.json", "not a result of `kasane lattice measure`"});
    EXPECT_EQ(test::read_file(directory / "m" / "cfg-1.lime.json"), before);
    words.emplace_back("--force");
    EXPECT_EQ(result(kasane(words))["kept"], 0);
}

TEST_F(LatticeBatch, SolvesForSeveralKappasAndConfigurations) {
    const auto files = put_several(3);
    const Words kappas{"--kappa", "0.12", "--kappa", "0.125", "--rtol", "1e-11", "--csw", "1", "--json"};
    auto words = command("solve", files, kappas);
    words.insert(words.end(), {"-o", "s", "--fields"});
    const auto got = result(kasane(words));
    ASSERT_EQ(got["solutions"].size(), 6U);
    ASSERT_EQ(got["means"].size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
        std::vector<std::vector<double>> pion;  // [configuration][t]
        for (std::size_t c = 0; c < 3; ++c) {
            const auto& solution = got["solutions"][2 * c + k];
            EXPECT_EQ(solution["file"], files[c]);
            EXPECT_EQ(solution["kappa"], k == 0 ? 0.12 : 0.125);
            const auto alone = result(
                kasane(command("solve", {files[c]}, {"--kappa", k == 0 ? "0.12" : "0.125", "--rtol", "1e-11", "--csw", "1", "--json"})));
            EXPECT_EQ(solution["pion"], alone["pion"]) << "the bits of a command of its own";
            pion.push_back(solution["pion"]);
        }
        const auto& mean = got["means"][k];
        EXPECT_EQ(mean["configurations"], 3);
        for (std::size_t t = 0; t < 8; ++t) {
            const MeanAndError expected({pion[0][t], pion[1][t], pion[2][t]});
            EXPECT_NEAR(mean["pion"][t].get<double>(), expected.mean, 1e-13 * expected.mean);
            EXPECT_NEAR(mean["pion_error"][t].get<double>(), expected.error, 1e-8 * expected.error);
        }
        // The effective mass at the middle of the lattice: C(3) / C(4) = cosh m. The mean of three values with one left out each time.
        std::vector<double> left_out;
        const auto mass = [&](auto use) {
            double c3 = 0, c4 = 0;
            for (std::size_t c = 0; c < 3; ++c)
                if (use(c)) c3 += pion[c][3], c4 += pion[c][4];
            return std::acosh(c3 / c4);
        };
        for (std::size_t out = 0; out < 3; ++out) left_out.push_back(mass([&](std::size_t c) { return c != out; }));
        const MeanAndError of(left_out);  // its error is that of a mean: the jackknife's is (n - 1) times larger
        EXPECT_NEAR(mean["pion_effective_mass"][3].get<double>(), mass([](std::size_t) { return true; }), 1e-9);
        EXPECT_NEAR(mean["pion_effective_mass_error"][3].get<double>(), 2 * of.error, 1e-7 * of.error + 1e-13);
    }
    EXPECT_GT(got["means"][0]["pion_effective_mass"][3], got["means"][1]["pion_effective_mass"][3]) << "the heavier quark";
    const auto file = lattice::read_solution(directory / "s" / "cfg-2.lime.kappa0.125.h5");
    EXPECT_EQ(file.facts.parameters.kappa, 0.125);
    EXPECT_EQ(file.facts.pion, got["solutions"][3]["pion"].get<std::vector<double>>());
    EXPECT_EQ(count(test::read_file(directory / "s" / "correlators.csv"), "\n"), 1 + 6 * 8);
    EXPECT_EQ(count(test::read_file(directory / "s" / "means.csv"), "\n"), 1 + 2 * 8);
    // Again: all are used; one without its fields is computed again.
    EXPECT_EQ(result(kasane(words))["kept"], 6);
    fs::remove(directory / "s" / "cfg-1.lime.kappa0.12.h5");
    EXPECT_EQ(result(kasane(words))["kept"], 5);
    EXPECT_TRUE(fs::exists(directory / "s" / "cfg-1.lime.kappa0.12.h5"));
    auto rotated = words;
    rotated.insert(rotated.end(), {"--basis", "ukqcd"});
    test::expect_bad_input(kasane(rotated), {"basis = ", "degrand-rossi", "ukqcd", "--force"});
    // By masses: kappa = 1 / (2 m + 8) = 0.125 for m = 0.
    const auto massless = result(kasane(command("solve", {files[0]}, {"--mass", "0", "--rtol", "1e-11", "--csw", "1", "--json"})));
    EXPECT_EQ(massless["pion"], got["solutions"][1]["pion"]);
}

TEST_F(LatticeBatch, ReportsTheSolveThatFails) {
    put_several(1, {{4, 4, 4, 4}});
    put("hot.lime", {{4, 4, 4, 4}}, 5, 2);
    // Sixty iterations are enough for heavy quarks on smooth links, and not for light ones on rough links.
    const auto outcome = kasane(command("solve", {"cfg-1.lime", "hot.lime"}, {"--kappa", "0.05,0.9", "--max-iterations", "60", "--json"}));
    const auto got = result(outcome, 1);
    EXPECT_GE(got["solutions"].size(), 1U);
    EXPECT_EQ(got["solutions"][0]["kappa"], 0.05);
    bool named = false;
    for (const auto& failed : got["failed"]) named |= failed["label"] == "hot.lime, kappa 0.9";
    EXPECT_TRUE(named) << got["failed"];
    EXPECT_NE(outcome.err.find("not solved"), std::string::npos) << outcome.err;
}

TEST_F(LatticeBatch, RefusesWrongInput) {
    const auto files = put_several(2);
    const auto refused = [&](const std::string& verb, const Words& named, Words more, const Words& words) {
        more.emplace_back("--json");
        test::expect_bad_input(kasane(command(verb, named, more)), words);
    };
    fs::create_symlink("cfg-1.lime", directory / "link.lime");
    fs::create_directory(directory / "sub");
    fs::copy(directory / "cfg-1.lime", directory / "sub" / "cfg-2.lime");
    refused("measure", {"cfg-1.lime", "cfg-1.lime"}, {}, {"cfg-1.lime", "twice"});
    refused("measure", {"cfg-1.lime", "link.lime"}, {}, {"link.lime", "same file as cfg-1.lime"});
    refused("measure", {"cfg-2.lime", "sub/cfg-2.lime"}, {"-o", "m"}, {"sub/cfg-2.lime", "same result file"});
    refused("measure", files, {"-o", "cfg-1.lime"}, {"cfg-1.lime", "-o", "directory"});
    refused("measure", files, {"--bin", "2"}, {"--bin", "at least two bins of the 2 configurations"});
    refused("measure", files, {"--bin", "0"}, {"--bin", "whole number from 1"});
    refused("measure", files, {"--force"}, {"--force", "no effect without -o"});
    refused("measure", {"none.lime", "absent.lime"}, {}, {"absent.lime"});
    refused("solve", files, {"--kappa", "0.12", "-o", "x.h5"}, {"x.h5", "-o", "2 solutions", "directory"});
    refused("solve", {"cfg-1.lime"}, {"--kappa", "0.12", "--kappa", "0.13", "-o", "x.h5"}, {"x.h5", "2 solutions", "directory"});
    refused("solve", files, {"--kappa", "0.12", "--kappa", "0.12"}, {"cfg-1.lime, kappa 0.12", "twice"});
    refused("solve", files, {"--kappa", "0.12", "--kappa", "1.3"}, {"--kappa", "is 1.3", "above 0 and below 1"});
    refused("solve", files, {"--kappa", "0.12", "--mass", "0.1"}, {"--mass", "together with --kappa"});
    refused("solve", files, {"--mass", "-4"}, {"--mass", "above -3.5"});
    refused("solve", files, {}, {"--kappa is required"});
    refused("solve", files, {"--kappa", "0.12", "--fields"}, {"--fields", "directory"});
    refused("solve", files, {"--kappa", "0.12", "--source", "point:0,4,0,0"}, {"--source", "y = 4 lies outside"});
    EXPECT_FALSE(fs::exists(directory / "x.h5"));
}

TEST_F(ParallelLatticeBatch, DividesTheConfigurationsAmongRanks) {
    const auto files = put_several(5);
    auto words = command("measure", files, flow);
    const auto one = result(kasane(words));
    for (const Words& more : {Words{}, Words{"--grid", "1,1,1,2"}}) {
        auto parallel = words;
        parallel.insert(parallel.end(), more.begin(), more.end());
        parallel.insert(parallel.end(), {"-o", more.empty() ? "each" : "grid"});
        const auto got = result(ranks(2, parallel));
        ASSERT_EQ(got["configurations"].size(), 5U);
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_EQ(got["configurations"][i]["file"], files[i]);
            EXPECT_EQ(got["configurations"][i]["grid"], more.empty() ? json({1, 1, 1, 1}) : json({1, 1, 1, 2}));
        }
        for (const auto& [name, mean] : one["means"].items()) {
            if (name == "flow" || name == "t0") continue;
            for (const char* part : {"value", "error"})
                EXPECT_NEAR(got["means"][name][part].get<double>(), mean[part].get<double>(), 1e-12) << name << " " << part;
        }
        EXPECT_EQ(result(ranks(2, parallel))["kept"], 5);
    }
    // One configuration that is damaged, and one result of another command, on two ranks.
    spoil("cfg-4.lime");
    const auto outcome = ranks(2, words);
    const auto got = result(outcome, 2);
    EXPECT_EQ(got["configurations"].size(), 4U);
    EXPECT_EQ(got["failed"][0]["file"], "cfg-4.lime");
    EXPECT_EQ(count(outcome.err, "warning: cfg-4.lime"), 1) << outcome.err;
}

TEST_F(ParallelLatticeBatch, DividesKappasAmongRanks) {
    const auto files = put_several(1);
    const auto words = command("solve", files, {"--kappa", "0.11", "--kappa", "0.12", "--kappa", "0.125", "--json"});
    const auto one = result(kasane(words)), many = result(ranks(2, words));
    ASSERT_EQ(many["solutions"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(many["solutions"][i]["pion"], one["solutions"][i]["pion"]);
    // A failure on another rank than the root rank, and all ranks end.
    auto failing = command("solve", files, {"--kappa", "0.11", "--kappa", "0.99", "--max-iterations", "100", "--json"});
    const auto outcome = ranks(2, failing);
    EXPECT_EQ(result(outcome, 1)["failed"][0]["label"], "cfg-1.lime, kappa 0.99");
}

TEST_F(LatticeBatch, ContinuesAfterAnInterrupt) {
    put("hot.lime", {{8, 8, 8, 16}}, 2, 2);
    // Solves for heavy quarks take few iterations; those for light quarks never reach this tolerance.
    const auto words = command("solve", {"hot.lime"},
                               {"--kappa", "0.05", "--kappa", "0.2", "--solver", "cg", "--inner", "double", "--rtol", "1e-14",
                                "--max-iterations", "1000000000", "--source", "z2:1", "-o", "s", "--json"});
    auto process = start(words);
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "s" / "hot.lime.kappa0.05.json"); }));
    process.signal(SIGINT);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_NE(outcome.out.find("results so far are in s"), std::string::npos) << outcome.out;
    EXPECT_FALSE(fs::exists(directory / "s" / "hot.lime.kappa0.2.json"));
    auto again = words;
    *std::find(again.begin(), again.end(), "1000000000") = "3";
    const auto got = result(kasane(again), 1);
    EXPECT_EQ(got["kept"], 1);
    EXPECT_EQ(got["failed"].size(), 1U);
}

}  // namespace
