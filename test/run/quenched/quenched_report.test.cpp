// The page of a quenched run, from run directories good and bad.
#include <kasane/core/base/error.hpp>
#include <kasane/run/quenched/measurements.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/kinds.hpp>

#include <test/run/quenched/quenched_fixture.hpp>
#include <test/report/markup.hpp>

#include <limits>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class QuenchedReport : public test::QuenchedTest {
   protected:
    std::string page(const std::string& name) {
        EXPECT_EQ(run::write_report(run::kinds(), directory / name), directory / name / "report.html");
        const auto html = test::read_file(directory / name / "report.html");
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

TEST_F(QuenchedReport, ShowsTheRun) {
    quenched_file();
    const auto result = run_to_end("out", {"update.sweeps=40"}).json();
    EXPECT_EQ(fs::path(result["report"].get<std::string>()), fs::canonical(directory / "out/report.html"));
    const auto html = page("out");
    EXPECT_EQ(plots(html), 4U);
    for (const char* words :
         {"small &lt;one&gt;", "2 × 4 × 6 × 4", "β = 5.7", "40 sweeps", "Cabibbo", "Wolff", "kasane lattice measure", "hot start"})
        EXPECT_NE(html.find(words), std::string::npos) << words;
    const auto plaquette = nlohmann::json::parse(test::read_file(directory / "out/record.json"))["means"]["plaquette"];
    EXPECT_NE(html.find(run::text(plaquette["mean"].get<double>(), plaquette["error"].get<double>())), std::string::npos);
    EXPECT_EQ(plaquette["mean"], result["plaquette"]["mean"]);
    const auto again = kasane({"report", "out", "--json"});
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_NE(test::read_file(directory / "out/report.html").find("Polyakov loop in the complex plane"), std::string::npos);
}

TEST_F(QuenchedReport, OfIncompleteRuns) {
    quenched_file();
    run_to_end("out");
    test::write_file(directory / "out/measurements.csv", "sweep,plaquette\n1,2\n");
    EXPECT_NE(page("out").find("measurements.csv cannot be shown"), std::string::npos);
    fs::remove(directory / "out/measurements.csv");
    EXPECT_EQ(plots(page("out")), 0U);
    test::write_file(directory / "out/record.json", "{");
    EXPECT_NE(page("out").find("The record cannot be read"), std::string::npos);
    fs::remove(directory / "out/record.json");
    EXPECT_NE(page("out").find("run.toml") == std::string::npos, true);
    EXPECT_NE(page("out").find("status unknown"), std::string::npos);
    run_to_end("none", {"output.measure_every=100"});
    page("none");
}

}  // namespace
