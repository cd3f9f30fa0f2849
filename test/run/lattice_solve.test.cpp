// `kasane lattice solve`: correlators on standard output, fields in the file, and every way in which it refuses or fails.
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/solution_file.hpp>
#include <kasane/lattice/observe/sources.hpp>

#include <gtest/gtest.h>
#include <test/lattice/random_fields.hpp>
#include <test/reference/free_quark.hpp>
#include <test/run/command.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace kasane;
namespace fs = std::filesystem;
using lattice::SpinorField;

class LatticeSolve : public test::CommandTest {
   protected:
    test::Outcome solve(std::vector<std::string> arguments) { return start_solve(std::move(arguments)).wait(); }
    Process start_solve(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"lattice", "solve", "--device", "cpu", "--threads", "2"});
        return start(arguments);
    }
    lattice::GaugeField put(const std::string& name, const lattice::Extents& extents, double epsilon = 0.3) {
        const auto links = epsilon > 0 ? lattice::test::random_gauge(extents, 7, epsilon) : lattice::test::unit_gauge(extents);
        lattice::write_gauge(directory / name, links, {});
        return links;
    }
    /// | (D / 2 kappa) x - b | / |b| by the oracle.
    static double residual(const reference::WilsonClover& D, double kappa, const SpinorField& x, const SpinorField& b) {
        const auto r = reference::combination(1 / (2 * kappa), D.apply(x), -1, b);
        return reference::norm(r) / reference::norm(b);
    }
    /// Refused with these words, and nothing written.
    void expect_refused(std::vector<std::string> arguments, const std::vector<std::string>& words) {
        if (std::find(arguments.begin(), arguments.end(), "-o") == arguments.end()) arguments.insert(arguments.end(), {"-o", "x.h5"});
        arguments.push_back("--json");
        test::expect_bad_input(solve(arguments), words);
        EXPECT_FALSE(fs::exists(directory / "x.h5"));
        EXPECT_FALSE(fs::exists(directory / "x.html"));
    }
};

TEST_F(LatticeSolve, FreePion) {
    put("free.lime", {{4, 4, 4, 8}}, 0);
    for (const std::string solver : {"nested-bicgstab", ""})  // "": the default
        for (const char* inner : {"half", "single", "double"}) {
            const bool nested = !solver.empty();
            std::vector<std::string> what = {"free.lime", "--kappa", "0.12",    "--source", "point:1,2,3,5",
                                             "--rtol",    "1e-12",   "--inner", inner,      "--json"};
            if (nested) what.insert(what.end(), {"--solver", solver});
            const auto outcome = solve(what);
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            const auto object = outcome.json();
            EXPECT_EQ(object["converged"], true);
            EXPECT_LE(object["relative_residual"].get<double>(), 1e-12);
            EXPECT_EQ(object["solver"], nested ? "nested-bicgstab" : "bicgstab");
            // 12 columns of nested BiCGStab: each iteration of the outer one runs the inner one, several times as long.
            EXPECT_GE(object["iterations"], 12);
            if (nested)
                EXPECT_GE(object["inner_iterations"], 3 * object["iterations"].get<int>());
            else
                EXPECT_EQ(object["inner_iterations"], 0);
            int outer_sum = 0, inner_sum = 0;
            for (const auto& column : object["columns"]) {
                outer_sum += column["iterations"].get<int>();
                inner_sum += column["inner_iterations"].get<int>();
            }
            EXPECT_EQ(object["iterations"], outer_sum);
            EXPECT_EQ(object["inner_iterations"], inner_sum);
            EXPECT_GT(object["seconds"], 0);
            EXPECT_GT(object["gflops"], 0);
            for (const char* part : {"reading", "setup", "solving", "output"}) EXPECT_GT(object["wall_seconds"][part], 0) << part;
            EXPECT_EQ(object["columns"].size(), 12U);
            EXPECT_EQ(object["extents"], (std::vector{4, 4, 4, 8}));
            EXPECT_GT(object["bytes_per_site"]["device"], 0);
            ASSERT_EQ(object["pion"].size(), 8U);
            for (std::size_t t = 0; t < 5; ++t) {
                const double expected = reference::pion_4x4x4x8_antiperiodic[t];
                EXPECT_NEAR(object["pion"][t], expected, 1e-10 * expected) << inner << t;
                EXPECT_NEAR(object["pion"][(8 - t) % 8], expected, 1e-10 * expected) << inner << t;
            }
            EXPECT_EQ(object["vector"].size(), 8U);
            EXPECT_EQ(object["pion_effective_mass"].size(), 4U);
            EXPECT_NE(outcome.err.find("bytes per site"), std::string::npos) << outcome.err;
        }
}

TEST_F(LatticeSolve, WritesThePropagatorAndAPage) {
    const auto u = put("u.lime", {{2, 4, 6, 4}});
    const std::vector<std::string> what = {"u.lime",   "--kappa",       "0.13",   "--csw", "1.2", "--boundary", "periodic",
                                           "--source", "point:1,0,5,2", "--rtol", "1e-11", "-o",  "S.h5",       "--json"};
    const auto outcome = solve(what);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto object = outcome.json();
    EXPECT_EQ(object["solution"], "S.h5");
    EXPECT_EQ(object["page"], "S.html");
    const auto file = lattice::read_solution(directory / "S.h5");
    ASSERT_EQ(file.columns.size(), 12U);
    const reference::WilsonClover D(u, 0.13, 1.2, false);
    for (int c = 0; c < 12; ++c) {
        const auto b = lattice::point_source(u.extents, {{1, 0, 5, 2}}, c / 3, c % 3);
        EXPECT_LT(residual(D, 0.13, file.columns[static_cast<std::size_t>(c)], b), 1.1e-11) << c;
    }
    EXPECT_EQ(file.facts.pion, object["pion"].get<std::vector<double>>());
    EXPECT_EQ(file.facts.vector, object["vector"].get<std::vector<double>>());
    EXPECT_EQ(file.facts.source, "point:1,0,5,2");
    EXPECT_EQ(file.facts.gauge_file, "u.lime");
    EXPECT_EQ(file.facts.parameters.csw, 1.2);
    EXPECT_EQ(file.facts.relative_residuals.size(), 12U);
    const auto page = test::read_file(directory / "S.html");
    EXPECT_NE(page.find("<svg"), std::string::npos);
    EXPECT_EQ(page.find("http"), std::string::npos) << "the page must fetch nothing";

    // Again: refused, unless it is forced; then in another basis and by another way, and rotated back it is the same.
    EXPECT_EQ(solve({"u.lime", "--kappa", "0.13", "-o", "S.h5"}).status, 2);
    auto another = what;
    another.insert(another.end(), {"--force", "--basis", "dirac-pauli", "--solver", "cg", "--inner", "single", "--links", "8",
                                   "--inner-links", "8", "--half-links", "--schur", "asymmetric", "--temporal-gauge"});
    const auto again = solve(another);
    ASSERT_EQ(again.status, 0) << again.err;
    auto other = lattice::read_solution(directory / "S.h5");
    EXPECT_EQ(other.facts.basis, lattice::GammaBasis::dirac_pauli);
    other.columns = lattice::rotated(std::move(other.columns), other.facts.basis, lattice::GammaBasis::degrand_rossi);
    for (std::size_t c = 0; c < 12; ++c) EXPECT_LT(reference::relative_difference(other.columns[c], file.columns[c]), 1e-9) << c;
}

TEST_F(LatticeSolve, WallAndNoiseSources) {
    const auto u = put("u.lime", {{4, 2, 4, 6}});
    const reference::WilsonClover D(u, 0.12, 0, true);
    const auto wall = solve({"u.lime", "--kappa", "0.12", "--source", "wall:4", "-o", "w.hdf5"});
    ASSERT_EQ(wall.status, 0) << wall.err;
    for (const char* words : {"4x2x4x6 sites", "kappa 0.12", "antiperiodic in time", "bicgstab on cpu", "12 of 12 columns", "GFLOPS",
                              "pion mass", "propagator: w.hdf5", "correlators drawn: w.html"})
        EXPECT_NE(wall.out.find(words), std::string::npos) << "no '" << words << "' in " << wall.out;
    const auto file = lattice::read_solution(directory / "w.hdf5");
    EXPECT_LT(residual(D, 0.12, file.columns[7], lattice::wall_source(u.extents, 4, 2, 1)), 1.1e-10);
    for (const auto noise : {lattice::Noise::gaussian, lattice::Noise::z2}) {
        const std::string kind = noise == lattice::Noise::z2 ? "z2:5" : "random:5";
        const auto outcome = solve({"u.lime", "--kappa", "0.12", "--source", kind, "-o", "n.h5", "--force", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_FALSE(outcome.json().contains("pion"));
        EXPECT_EQ(outcome.json()["page"], nullptr);
        const auto single = lattice::read_solution(directory / "n.h5");
        ASSERT_EQ(single.columns.size(), 1U);
        EXPECT_LT(residual(D, 0.12, single.columns[0], lattice::random_source(u.extents, 5, noise)), 1.1e-10);
    }
    EXPECT_FALSE(fs::exists(directory / "n.html"));
}

TEST_F(LatticeSolve, ColumnsTogetherAreThoseAlone) {
    put("u.lime", {{4, 4, 2, 6}});
    std::vector<nlohmann::json> results;
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--columns", "12"}, {"--columns", "5"}, {"--columns", "1"}, {"--solver", "cg"}, {}}) {
        std::vector<std::string> what = {"u.lime", "--kappa", "0.13", "--csw", "1.2", "--json"};
        what.insert(what.end(), how.begin(), how.end());
        const auto outcome = solve(what);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        results.push_back(outcome.json());
        if (how.empty()) {
            EXPECT_NE(outcome.err.find("columns: 1 of 12 at once; on a CPU one after the other is faster"), std::string::npos)
                << outcome.err;
        } else if (how[1] == "12" || how[1] == "5") {
            EXPECT_NE(outcome.err.find("columns: " + how[1] + " of 12 at once"), std::string::npos) << outcome.err;
        }
        if (!how.empty() && how[1] == "cg") {
            EXPECT_NE(outcome.err.find("cg solves one after the other"), std::string::npos) << outcome.err;
        }
    }
    EXPECT_EQ(results[0]["columns_at_once"], 12);
    EXPECT_EQ(results[1]["columns_at_once"], 5);
    EXPECT_EQ(results[2]["columns_at_once"], 1);
    EXPECT_EQ(results[3]["columns_at_once"], 1);
    EXPECT_EQ(results[4]["columns_at_once"], 1);
    EXPECT_GT(results[0]["bytes_per_site"]["device"], results[2]["bytes_per_site"]["device"]);
    for (const auto& result : {results[0], results[1], results[4]}) {
        EXPECT_EQ(result["pion"], results[2]["pion"]);  // bit for bit
        EXPECT_EQ(result["vector"], results[2]["vector"]);
        ASSERT_EQ(result["columns"].size(), 12U);
        for (std::size_t c = 0; c < 12; ++c)
            for (const char* key : {"iterations", "inner_iterations", "relative_residual"})
                EXPECT_EQ(result["columns"][c][key], results[2]["columns"][c][key]) << c << key;
    }
    expect_refused({"u.lime", "--kappa", "0.12", "--columns", "13"}, {"--columns", "whole number from 1"});
}

TEST_F(LatticeSolve, CoherentDeflationGivesTheSameSolution) {
    const auto links = put("u.lime", {{4, 4, 4, 8}});
    const auto outcome = solve({"u.lime", "--kappa", "0.12", "--csw", "1", "--source", "random:5", "-o", "x.h5", "--deflate", "6",
                                "--deflation", "coherent", "--deflation-block", "4,2,4,4", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto object = outcome.json();
    EXPECT_EQ(object["solver"], "gcr");
    EXPECT_EQ(object["coherent"]["vectors"], 6);
    EXPECT_EQ(object["coherent"]["block"], (std::vector{4, 2, 4, 4}));
    EXPECT_EQ(object["coherent"]["blocks"], 4);
    EXPECT_EQ(object["coherent"]["dimension"], 48);
    EXPECT_GT(object["coherent"]["setup_seconds"], 0);
    EXPECT_GT(object["coherent"]["bytes"], 0);
    EXPECT_NE(outcome.err.find("near-null vectors"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("bytes per site"), std::string::npos) << outcome.err;
    const auto solution = lattice::read_solution(directory / "x.h5");
    const reference::WilsonClover D(links, 0.12, 1, true);
    EXPECT_LT(residual(D, 0.12, solution.columns.front(), lattice::random_source(links.extents, 5)), 1.01e-10);
    // Without deflation there is no report.
    EXPECT_TRUE(solve({"u.lime", "--kappa", "0.12", "--source", "random:5", "--json"}).json()["coherent"].is_null());
}

TEST_F(LatticeSolve, ConfigurationsOfOtherCodes) {
    const auto* given = std::getenv("KASANE_DATA");
    const auto data = given ? fs::path(given) : fs::path(KASANE_SOURCE_DIR) / ".." / "shared" / "data";
    std::vector<std::vector<double>> pions;
    for (const char* name : {"milc_l4444.ildg", "milc_l4444.v5", "qdpxx_t_nersc.cfg"}) {
        if (!fs::exists(data / name)) GTEST_SKIP() << data / name << " is absent: set KASANE_DATA to the folder with this file";
        const auto outcome = solve({(data / name).string(), "--kappa", "0.12", "--csw", "1", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        pions.push_back(outcome.json()["pion"].get<std::vector<double>>());
    }
    for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(pions[0][t], pions[1][t], 1e-9 * pions[0][t]);  // the same field in two formats
    for (std::size_t t = 0; t < 4; ++t) EXPECT_GT(pions[2][t], 0);
}

TEST_F(LatticeSolve, TheSameFieldInEveryFormatHasTheSameCorrelator) {
    using enum lattice::GaugeFormat;
    const auto links = put("u.lime", {{4, 4, 4, 4}});
    // A MILC file has links that are rounded to single precision, and a NERSC file here two rows of each.
    lattice::write_gauge(directory / "u.milc", links, {.format = milc, .bits = 32});
    lattice::write_gauge(directory / "u.nersc", links, {.format = nersc, .bits = 64, .rows = 2});
    std::vector<std::vector<double>> pions;
    for (const char* name : {"u.lime", "u.milc", "u.nersc"}) {
        const auto outcome = solve({name, "--kappa", "0.12", "--csw", "1", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        pions.push_back(outcome.json()["pion"].get<std::vector<double>>());
    }
    for (std::size_t t = 0; t < 4; ++t) {
        EXPECT_NEAR(pions[1][t], pions[0][t], 1e-5 * pions[0][t]) << "links with errors of 2^-25, through about 10 hops";
        EXPECT_NEAR(pions[2][t], pions[0][t], 1e-9 * pions[0][t]);
    }
}

TEST_F(LatticeSolve, ReportsTheFailure) {
    put("hot.lime", {{4, 4, 4, 4}}, 2);
    for (const std::vector<std::string>& hopeless :
         {std::vector<std::string>{"hot.lime", "--kappa", "0.13", "--max-iterations", "2", "-o", "x.h5"},
          {"hot.lime", "--kappa", "0.9", "--max-iterations", "300", "-o", "x.h5"}}) {  // far beyond the critical kappa
        const auto outcome = solve(hopeless);
        EXPECT_EQ(outcome.status, 1) << outcome.err;
        EXPECT_NE(outcome.err.find("not solved"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find("nothing was written"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.out.find("of 12 columns"), std::string::npos) << outcome.out;
        EXPECT_FALSE(fs::exists(directory / "x.h5"));
        EXPECT_FALSE(fs::exists(directory / "x.html"));
    }
    const auto outcome = solve({"hot.lime", "--kappa", "0.13", "--max-iterations", "3", "--source", "random:1", "--json"});
    EXPECT_EQ(outcome.status, 1);
    const auto object = outcome.json();
    EXPECT_EQ(object["converged"], false);
    EXPECT_FALSE(object.contains("pion"));
    EXPECT_GE(object["history"].size(), 2U);
}

TEST_F(LatticeSolve, RandomSourcesHaveNoMeans) {
    put("one.lime", {{2, 2, 2, 4}});
    put("two.lime", {{2, 2, 2, 4}}, 2);
    const auto outcome = solve({"one.lime", "two.lime", "--kappa", "0.1", "--source", "z2:1"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("no means: a random source has one column"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("mean of"), std::string::npos) << outcome.out;
    const auto object = solve({"one.lime", "two.lime", "--kappa", "0.1", "--source", "z2:1", "--json"}).json();
    EXPECT_EQ(object["solutions"].size(), 2U);
    EXPECT_TRUE(object["means"].empty()) << object["means"];
}

TEST_F(LatticeSolve, RefusesWrongInput) {
    put("u.lime", {{4, 2, 4, 6}});
    expect_refused({"u.lime"}, {"--kappa is required"});
    expect_refused({"u.lime", "--kappa", "0"}, {"--kappa", "above 0 and below 1"});
    expect_refused({"u.lime", "--kappa", "nan"}, {"--kappa", "above 0 and below 1"});
    expect_refused({"u.lime", "--kappa", "0.12", "--csw", "-1"}, {"--csw", "from 0"});
    expect_refused({"u.lime", "--kappa", "0.12", "--rtol", "2"}, {"--rtol", "below 1"});
    expect_refused({"u.lime", "--kappa", "0.12", "--rtol", "0"}, {"--rtol", "at least 1e-15"});
    expect_refused({"u.lime", "--kappa", "0.12", "--max-iterations", "0"}, {"--max-iterations", "whole number from 1"});
    expect_refused({"u.lime", "--kappa", "0.12", "--boundary", "open"}, {"--boundary", "antiperiodic"});
    expect_refused({"u.lime", "--kappa", "0.12", "--solver", "bicg"}, {"--solver", "nested-bicgstab"});
    expect_refused({"u.lime", "--kappa", "0.12", "--inner", "quarter"}, {"--inner", "half"});
    expect_refused({"u.lime", "--kappa", "0.12", "--links", "10"}, {"--links", "18"});
    expect_refused({"u.lime", "--kappa", "0.12", "--half-links"}, {"--half-links", "--inner single", "leave it out"});
    expect_refused({"u.lime", "--kappa", "0.12", "--inner", "double", "--half-links"}, {"--half-links", "--inner single"});
    for (const char* source : {"point", "point:", "point:1,2,3", "point:1,2,3,4,5", "point:1,2,x,4", "point:-1,0,0,0", "wall:1,2",
                               "wall:", "random", "random:x", "noise:1", "1,2,3,4", "random:99999999999999999999", "wall:1 "})
        expect_refused({"u.lime", "--kappa", "0.12", "--source", source}, {"--source", "point:x,y,z,t, wall:t, random:seed or z2:seed"});
    expect_refused({"u.lime", "--kappa", "0.12", "--source", ""}, {"--source", "is empty"});
    expect_refused({"u.lime", "--kappa", "0.12", "--source", "point:0,2,0,0"}, {"--source", "y = 2 lies outside", "4x2x4x6", "below 2"});
    expect_refused({"u.lime", "--kappa", "0.12", "--source", "wall:6"}, {"--source", "t = 6 lies outside"});
    expect_refused({"u.lime", "--kappa", "0.12", "-o", "x.txt"}, {"x.txt", "-o", ".h5 or .hdf5"});
    expect_refused({"u.lime", "--kappa", "0.12", "-o", "nowhere/x.h5"}, {"nowhere"});
    expect_refused({"none.lime", "--kappa", "0.12"}, {"none.lime"});
    put("hot.lime", {{4, 4, 4, 4}}, 2);
    expect_refused({"hot.lime", "--kappa", "0.5", "--csw", "9"}, {"hot.lime", "clover term is not positive definite"});
    test::write_file(directory / "text.lime", "no configuration");
    expect_refused({"text.lime", "--kappa", "0.12"}, {"text.lime"});
    fs::copy(directory / "u.lime", directory / "u.h5");
    test::expect_bad_input(solve({"u.h5", "--kappa", "0.12", "-o", "u.h5", "--force", "--json"}), {"u.h5", "is the gauge configuration"});
    test::write_file(directory / "y.html", "mine");
    test::expect_bad_input(solve({"u.lime", "--kappa", "0.12", "-o", "y.h5", "--json"}), {"y.html", "exists already"});
    EXPECT_EQ(test::read_file(directory / "y.html"), "mine");
    const auto refused_deflation = [&](std::vector<std::string> arguments, const std::vector<std::string>& words) {
        arguments.insert(arguments.begin(), {"u.lime", "--kappa", "0.12"});
        expect_refused(arguments, words);
    };
    refused_deflation({"--deflation", "coherent"}, {"--deflation", "without --deflate N"});
    refused_deflation({"--deflate", "0", "--deflation", "coherent"}, {"--deflate", "whole number from 1"});
    refused_deflation({"--deflate", "4", "--deflation", "inexact"}, {"--deflation", "coherent"});
    refused_deflation({"--deflate", "4", "--deflation-block", "2,2,2,2"}, {"--deflation-block", "--deflation coherent"});
    refused_deflation({"--deflate", "4", "--deflation", "coherent", "--solver", "cg"}, {"--deflation coherent", "gcr, fgmres"});
    refused_deflation({"--deflate", "4", "--deflation", "coherent", "--modes", "m.h5"}, {"--modes", "exact modes"});
    refused_deflation({"--deflate", "4", "--deflation", "coherent", "--deflation-block", "4,2,4,4"},
                      {"--deflation coherent", "4,2,4,4", "x: 2 4; y: 2; z: 2 4; t: 2 6"});
    refused_deflation({"--deflate", "97", "--deflation", "coherent", "--deflation-block", "2,2,2,2"},
                      {"--deflation coherent", "at most 96"});
    for (const auto& [solution, modes, word] : {std::tuple("m.h5", "./m.h5", "--modes"), std::tuple("x.h5", "absent/m.h5", "absent")})
        test::expect_bad_input(solve({"u.lime", "--kappa", "0.12", "--deflate", "4", "-o", solution, "--modes", modes, "--json"}), {word});
    EXPECT_FALSE(fs::exists(directory / "m.h5"));
    const auto refused = refused_deflation;
    refused({"--krylov-length", "4"}, {"--krylov-length", "has no effect with --solver bicgstab"});
    refused({"--solver", "gcr", "--krylov-length", "1"}, {"--krylov-length: is 1", "from 2 to 1000"});
    refused({"--source", "z2:1", "--columns", "5"}, {"--columns", "has one column"});
    test::expect_bad_input(solve({"u.lime", "--kappa", "0.12", "--basis", "chiral", "--json"}), {"--basis", "has no effect without -o"});
    refused({"--precondition", "sap", "--block", "4,4,4"}, {"--block", "has 3 numbers, and needs four extents"});
    refused({"--precondition", "sap", "--block", "4,4,4,x"}, {"--block: is x", "whole number"});
    expect_refused({"u.lime", "--mass", "1e308"}, {"--mass", "kappa = 1 / (2 m + 8) is then 0"});
    refused({"--grid", "2,1,1,1"}, {"is not a grid of 1 worker: "});
    const auto measured = [&](const std::string& time, const std::string& step) {
        return kasane({"lattice", "measure", "u.lime", "--flow-time", time, "--flow-step", step, "--json"}).json()["problems"];
    };
    for (const auto& problems : {measured("1", "0"), measured("1", "nan"), measured("inf", "0.01")})
        EXPECT_EQ(problems.size(), 1U) << problems;
    EXPECT_EQ(measured("inf", "0.01")[0]["message"], "is inf: it must be finite, and 0 or above");
    // All that is wrong at once.
    const auto several = solve({"u.lime", "--kappa", "7", "--rtol", "2", "--source", "x", "--json"});
    EXPECT_EQ(several.status, 2);
    EXPECT_EQ(several.json()["problems"].size(), 3U);
}

TEST_F(LatticeSolve, InterruptLeavesNothing) {
    put("hot.lime", {{8, 8, 8, 16}}, 2);
    auto process = start_solve({"hot.lime", "--kappa", "0.2", "--solver", "cg", "--inner", "double", "--rtol", "1e-14", "--max-iterations",
                                "1000000000", "-o", "x.h5"});
    ASSERT_TRUE(wait_for([&] { return test::read_file(directory / ".err").find("bytes per site") != std::string::npos; }));
    process.signal(SIGINT);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_NE(outcome.err.find("nothing was written"), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "x.h5"));
}

}  // namespace
