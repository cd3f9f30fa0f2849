// `kasane lattice measure`: on configurations that kasane wrote, on those of other codes, and with wrong input.
#include <test/run/quenched/quenched_fixture.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace kasane;
using json = nlohmann::json;
namespace fs = std::filesystem;

class Measure : public test::QuenchedTest {
   protected:
    json measure(const std::string& file, const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments{"lattice", "measure", file, "--json", "--device", "cpu", "--threads", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto outcome = kasane(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        return outcome.json();
    }
    fs::path outside(const char* name) {
        const auto* given = std::getenv("KASANE_DATA");
        return (given ? fs::path(given) : fs::path(KASANE_SOURCE_DIR) / ".." / "shared" / "data") / name;
    }
};

TEST_F(Measure, ReproducesTheMeasurementsOfTheRun) {
    quenched_file();
    run_to_end("out");
    const auto m = measure("out/conf.lime");
    const auto row = measurements("out").back();
    EXPECT_EQ(m["extents"], (json{2, 4, 6, 4}));
    EXPECT_EQ(m["format"], "ildg");
    EXPECT_NEAR(m["plaquette"].get<double>(), row.plaquette(), 1e-13);
    EXPECT_NEAR(m["plaquette_space"].get<double>(), row.plaquette_space, 1e-13);
    EXPECT_NEAR(m["plaquette_time"].get<double>(), row.plaquette_time, 1e-13);
    EXPECT_NEAR(m["polyakov_loop"][0].get<double>(), row.polyakov_re, 1e-13);
    EXPECT_NEAR(m["polyakov_loop"][1].get<double>(), row.polyakov_im, 1e-13);
    EXPECT_TRUE(std::isfinite(m["topological_charge"].get<double>()));
    EXPECT_FALSE(m.contains("flow"));
}

TEST_F(Measure, AlongTheFlow) {
    quenched_file();
    run_to_end("out");
    const auto flow = measure("out/conf.lime", {"--flow-time", "0.5", "--flow-step", "0.05"})["flow"];
    const auto& points = flow["points"];
    ASSERT_EQ(points.size(), 11U);
    EXPECT_EQ(points[0]["t"], 0);
    EXPECT_EQ(points[0]["t2E"], 0);
    double before = INFINITY;
    for (std::size_t i = 1; i < points.size(); ++i) {
        const double t = points[i]["t"], energy = points[i]["t2E_plaquette"].get<double>() / (t * t);
        EXPECT_NEAR(t, 0.05 * static_cast<double>(i), 1e-12);
        EXPECT_LT(energy, before) << "the flow is the steepest descent of this energy";
        EXPECT_GT(points[i]["t2E"], 0);
        before = energy;
    }
    EXPECT_TRUE(flow["t0"].is_null()) << "so short a flow does not reach 0.3";
    const auto text = kasane({"lattice", "measure", "out/conf.lime", "--flow-time", "0.2", "--flow-step", "0.1", "--device", "cpu"});
    EXPECT_EQ(text.status, 0) << text.err;
    for (const char* words : {"plaquette 0.", "link trace", "topological charge", "Wilson flow", "t0 is not reached"})
        EXPECT_NE(text.out.find(words), std::string::npos) << words;
}

TEST_F(Measure, TheVacuum) {
    lattice::GaugeField unit(lattice::Extents{{4, 2, 2, 6}});
    for (auto& link : unit.links) link = lattice::Su3<double>::unit();
    lattice::write_gauge(directory / "unit.nersc", unit, {.format = lattice::GaugeFormat::nersc});
    const auto m = measure("unit.nersc", {"--flow-time", "0.02"});
    EXPECT_EQ(m["format"], "nersc");
    for (const char* one : {"plaquette", "plaquette_space", "plaquette_time", "link_trace"})
        EXPECT_NEAR(m[one].get<double>(), 1, 1e-14) << one;
    EXPECT_NEAR(m["polyakov_loop"][0].get<double>(), 1, 1e-14);
    EXPECT_NEAR(m["topological_charge"].get<double>(), 0, 1e-14);
    ASSERT_EQ(m["flow"]["points"].size(), 3U) << "in steps of 0.01";
    for (const auto& point : m["flow"]["points"]) EXPECT_NEAR(point["t2E"].get<double>(), 0, 1e-14);
}

TEST_F(Measure, ConfigurationsOfOtherCodes) {
    struct Known {
        const char* file;
        double plaquette, link_trace;
    };
    for (const auto& known : {Known{"qdpxx_t_nersc.cfg", 0.0382422893, 0.4630322094},
                              {"milc_l4444.ildg", 0.594850158947, 0.646758737},
                              {"milc_l4444.v5", 0.594850158947, 0.646758737}}) {
        const auto path = outside(known.file);
        if (!fs::exists(path)) GTEST_SKIP() << path << " is absent: set KASANE_DATA to the folder with this file";
        const auto m = measure(path.string());
        EXPECT_NEAR(m["plaquette"].get<double>(), known.plaquette, 1e-7) << known.file;  // stored in 32 bits
        EXPECT_NEAR(m["link_trace"].get<double>(), known.link_trace, 1e-7) << known.file;
    }
}

TEST_F(Measure, TheSameFieldInEveryFormat) {
    using enum lattice::GaugeFormat;
    quenched_file();
    run_to_end("out");
    const auto links = lattice::read_gauge(directory / "out/conf.lime").field;
    const auto expected = measure("out/conf.lime");
    lattice::write_gauge(directory / "two.nersc", links, {.format = nersc, .bits = 32, .rows = 2, .big_endian = true});
    lattice::write_gauge(directory / "one.milc", links, {.format = milc, .bits = 32, .big_endian = false});
    for (const char* name : {"two.nersc", "one.milc"}) {
        const auto m = measure(name);
        for (const char* each : {"plaquette", "link_trace"})
            EXPECT_NEAR(m[each].get<double>(), expected[each].get<double>(), 1e-7) << name;  // stored in 32 bits
    }
}

TEST_F(Measure, WrongInput) {
    const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string>& words) {
        arguments.insert(arguments.begin(), {"lattice", "measure"});
        arguments.emplace_back("--json");
        test::expect_bad_input(kasane(arguments), words);
    };
    test::write_file(directory / "noise", std::string(3000, 'x'));
    refused({"absent.lime"}, {"absent.lime"});
    refused({"noise"}, {"noise"});
    refused({"."}, {"."});
    refused({"noise", "--flow-time", "-1"}, {"--flow-time", "0 or above"});
    refused({"noise", "--flow-time", "1", "--flow-step", "0"}, {"--flow-step", "above 0"});
    refused({"noise", "--flow-time", "1", "--flow-step", "0.5"}, {"--flow-step", "0.1"});
    refused({"noise", "--flow-step", "0.01"}, {"--flow-step", "no effect without --flow-time"});
    refused({"noise", "--flow-time", "nan"}, {"--flow-time"});
    refused({"noise", "--device", "gpu"}, {"gpu"});
    refused({}, {"CONFIG"});
}

}  // namespace
