// `kasane sample --report`: the page, its tables, and the printed facts.
#include <kasane/core/io/hdf5.hpp>
#include "../command.hpp"
#include <test/report/markup.hpp>

#include <cmath>
#include <regex>

using namespace kasane;

namespace {

constexpr const char* two_components = R"(title = "Core & halo"
units = "nbody"
count = 3000
[[component]]
name = "core <1>"
model = "plummer"
mass = 1
scale = 1
[[component]]
name = "halo"
model = "hernquist"
mass = 4
scale = 5
truncation = { radius = 60, width = 10 }
)";

class SampleReport : public test::CommandTest {
   protected:
    void SetUp() override {
        CommandTest::SetUp();
        test::write_file(directory / "model.toml", two_components);
    }
};

TEST_F(SampleReport, WritesPageTablesAndFacts) {
    const auto outcome = kasane({"sample", "model.toml", "-o", "s.hdf5", "--report", "page.html", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["report"], "page.html");
    EXPECT_EQ(json["tables"], "page.tables.hdf5");
    const auto& galaxy = json["galaxies"].at(0);
    EXPECT_EQ(galaxy["n"], 3000);
    EXPECT_NEAR(galaxy["virial_ratio"].get<double>(), 1, 1e-3);
    EXPECT_NEAR(galaxy["components"][0]["half_mass_radius"].get<double>(), 1.3048, 1e-4);

    const auto html = test::read_file(directory / "page.html");
    EXPECT_EQ(test::markup_problem(html, test::Dialect::html), "");
    EXPECT_NE(html.find("Core &amp; halo"), std::string::npos);
    EXPECT_NE(html.find("core &lt;1&gt;"), std::string::npos);
    EXPECT_NE(html.find("kasane sample model.toml -o s.hdf5 --report page.html"), std::string::npos);
    EXPECT_NE(html.find("data:image/png;base64,"), std::string::npos) << "no picture";
    EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)=\"(?!data:)"))) << "something is fetched";

    const auto file = hdf5::File::open(directory / "page.tables.hdf5");
    const auto r = file.read<double>("/galaxy0/radius"), rho = file.read<double>("/galaxy0/component0/density");
    ASSERT_EQ(r.size(), rho.size());
    for (std::size_t i = 0; i < r.size(); i += 16) {
        const double exact = 3 / (4 * M_PI) * std::pow(1 + r[i] * r[i], -2.5);
        EXPECT_NEAR(rho[i], exact, 1e-7 * exact) << r[i];
    }
}

TEST_F(SampleReport, PrintsTheFacts) {
    const auto outcome = kasane({"sample", "model.toml", "-o", "s.hdf5"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const char* words : {"component", "core <1>", "half-mass radius", "virial ratio 2K/|W| 1.00", "for a run: softening = "})
        EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " in " << outcome.out;
}

TEST_F(SampleReport, IsTheSameOnAnyNumberOfThreads) {
    for (const char* threads : {"1", "3"}) {
        const auto name = std::string(threads) + ".hdf5";
        ASSERT_EQ(kasane({"sample", "model.toml", "-o", name, "--report", std::string(threads) + ".html", "--threads", threads}).status, 0);
    }
    auto first = test::read_file(directory / "1.html"), second = test::read_file(directory / "3.html");
    EXPECT_EQ(std::regex_replace(first, std::regex("1\\.(html|hdf5|tables)"), "3.$1"), second);
}

TEST_F(SampleReport, OverwritesNothingUnlessForced) {
    for (const char* taken : {"page.html", "page.tables.hdf5"}) {
        test::write_file(directory / taken, "mine");
        test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--report", "page.html", "--json"}), {taken, "--force"});
        EXPECT_EQ(test::read_file(directory / taken), "mine");
        EXPECT_FALSE(std::filesystem::exists(directory / "s.hdf5")) << "refused before anything is made";
        std::filesystem::remove(directory / taken);
    }
    test::write_file(directory / "page.html", "mine");
    EXPECT_EQ(kasane({"sample", "model.toml", "-o", "s.hdf5", "--report", "page.html", "--force"}).status, 0);
    EXPECT_NE(test::read_file(directory / "page.html"), "mine");
}

TEST_F(SampleReport, RefusesWhatCannotBeWritten) {
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--report", "nowhere/page.html", "--json"}), {"nowhere"});
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--report", "s.hdf5", "--json"}), {"twice"});
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "p.tables.hdf5", "--report", "p.html", "--json"}), {"twice"});
    EXPECT_FALSE(std::filesystem::exists(directory / "s.hdf5"));
    test::write_file(directory / "ball.toml", "units = \"nbody\"\nmodel = \"cold\"\ncount = 10\nscale = 1\n");
    test::expect_bad_input(kasane({"sample", "ball.toml", "-o", "s.hdf5", "--report", "page.html", "--json"}), {"--report", "galaxies"});
}

TEST_F(SampleReport, LeavesNoTablesWithoutTheirPage) {
    auto process = Process(directory, {"sample", "model.toml", "-o", "s.hdf5", "--report", "page.html"}, [] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{250'000, 250'000};  // bytes: more than snapshot and tables, less than the page
        setrlimit(RLIMIT_FSIZE, &limit);
    });
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_NE(outcome.err.find("page.html"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(directory / "page.html"));
    EXPECT_FALSE(std::filesystem::exists(directory / "page.tables.hdf5"));
}

TEST_F(SampleReport, OneSectionForEachGalaxy) {
    test::write_file(directory / "pair.toml",
                     "units = \"nbody\"\n[orbit]\nseparation = 40\npericentre = 3\n[[object]]\nname = \"big\"\nmodel = \"model.toml\"\n"
                     "[[object]]\nmodel = \"plummer\"\ncount = 500\nmass = 1\nscale = 1\n");
    const auto outcome = kasane({"sample", "pair.toml", "-o", "s.hdf5", "--report", "page.html", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    ASSERT_EQ(outcome.json()["galaxies"].size(), 2U);
    EXPECT_EQ(outcome.json()["galaxies"][0]["name"], "big");
    const auto html = test::read_file(directory / "page.html");
    EXPECT_NE(html.find("<h2 class=\"galaxy\">big</h2>"), std::string::npos);
    EXPECT_NE(html.find("<h2 class=\"galaxy\">Galaxy 2</h2>"), std::string::npos);
    EXPECT_TRUE(hdf5::File::open(directory / "page.tables.hdf5").is_group("/galaxy1/component0"));
}

}  // namespace
