// The page and the tables of a model, from numbers made by hand.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/model/model_tables.hpp>
#include <kasane/run/model/model_facts.hpp>
#include <test/run/gravity/fixture.hpp>
#include <test/report/markup.hpp>
#include "model_fixture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>

using namespace kasane;
using test::Dialect;
using test::Directory;
using test::hand_made;
using test::hand_made_report;
using test::markup_problem;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

std::string page_of(const run::ModelReport& report) { return run::model_page(report); }

TEST(ModelPage, IsOneWellFormedFileThatFetchesNothing) {
    const auto html = page_of(hand_made_report());
    EXPECT_EQ(markup_problem(html, Dialect::html), "");
    EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)=\"(?!data:)"))) << "something is fetched";
    EXPECT_EQ(html.find("@import"), std::string::npos);
    EXPECT_EQ(html.find("url("), std::string::npos);
    EXPECT_EQ(html.find("<script"), std::string::npos);
    // Words of text nodes, attributes and path data alike.
    EXPECT_FALSE(std::regex_search(html, std::regex("[^a-z](-?nan|-?inf)[^a-z]", std::regex::icase)));
}

TEST(ModelPage, EveryPlotIsXmlWithItsCurves) {
    const auto html = page_of(hand_made_report());
    std::vector<std::string> svgs;
    for (auto at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1))
        svgs.push_back(html.substr(at, html.find("</svg>", at) + 6 - at));
    ASSERT_EQ(svgs.size(), 11U) << "density, mass, potential, circular speed, dispersion, f(E), rotation, sigma, Q, Sigma, height";
    for (const auto& svg : svgs) {
        EXPECT_EQ(markup_problem(svg, Dialect::xml), "");
        EXPECT_NE(svg.find("class=\"label\""), std::string::npos) << "an axis without a label";
    }
    // A component keeps its colour: the bulge is s0, the disk s1, the black hole s2, everything s8.
    const auto& mass = svgs[1];
    for (const char* color : {"curve s0", "curve s1", "curve s2", "curve s8"}) EXPECT_EQ(count(mass, color), 1U) << color;
    EXPECT_EQ(count(svgs[0], "curve s2"), 0U) << "a black hole has no density";
    EXPECT_NE(svgs[0].find("[10¹⁰ M☉ / kpc³]"), std::string::npos);
    // Three dispersions of the disk: in its colour, and in two that no component has, each with a stroke of its own.
    for (const char* curve : {"class=\"curve s1\"", "class=\"curve s3 dashed\"", "class=\"curve s4 dotted\""})
        EXPECT_EQ(count(svgs[7], curve), 1U) << curve;
    EXPECT_NE(html.find("Velocity dispersions: disk"), std::string::npos);
}

TEST(ModelPage, HostileNamesStayText) {
    const std::string evil = "</svg><script>alert(1)</script>\"'&";
    auto report = hand_made_report(evil);
    report.title = report.file = report.command = report.tables = report.text = evil;
    report.papers = {evil};
    report.galaxies.push_back(hand_made(evil));
    report.galaxies[0].name = evil;
    for (auto& galaxy : report.galaxies) {
        galaxy.preview.groups = {{evil, {report::Rgb{0, 0, 0}, report::Rgb{255, 255, 255}}, 0.5}};
        galaxy.preview.png[0] = galaxy.preview.png[1] = {1, 2, 3};
        galaxy.preview.window = {{}, 20, 16, 600, 480};
        galaxy.preview.exposure = {1, 10};
    }
    const auto html = page_of(report);
    EXPECT_EQ(markup_problem(html, Dialect::html), "");
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(count(html, "data:image/png;base64,AQID"), 4U);
    auto units = gravity::user_units(1, 1, 1);
    units.length_name = units.mass_name = units.velocity_name = units.time_name = evil;
    report.units = units;
    EXPECT_EQ(page_of(report).find("<script"), std::string::npos);
}

TEST(ModelPage, SeveralGalaxiesAreSections) {
    auto report = hand_made_report();
    report.galaxies.push_back(hand_made());
    report.galaxies[1].name = "";
    const auto html = page_of(report);
    EXPECT_EQ(markup_problem(html, Dialect::html), "");
    EXPECT_NE(html.find("<h2 class=\"galaxy\">left</h2>"), std::string::npos);
    EXPECT_NE(html.find("<h2 class=\"galaxy\">Galaxy 2</h2>"), std::string::npos);
    EXPECT_NE(html.find("140,002 particles"), std::string::npos);
}

TEST(ModelPage, BlackHoleAloneAndUnitsWithoutNames) {
    run::ModelReport report;
    report.title = "hole";
    report.units = gravity::nbody_units();
    auto& part = report.galaxies.emplace_back();
    part.facts.count = 1, part.facts.mass = 1;
    part.facts.components.push_back({.label = "hole", .law = "black-hole", .count = 1, .mass = 1, .particle_mass = 1});
    part.tables.components.emplace_back().label = "hole";
    const auto html = page_of(report);
    EXPECT_EQ(markup_problem(html, Dialect::html), "");
    EXPECT_EQ(html.find("<svg"), std::string::npos);
    EXPECT_EQ(run::run_file_lines(part.facts, report.units), "");
    EXPECT_EQ(count(run::facts_text(part.facts, report.units), "\n"), 2U) << "head, the hole, all";
    const Directory directory;
    run::write_model_tables(directory / "hole.hdf5", report);
    const auto file = hdf5::File::open(directory / "hole.hdf5");
    EXPECT_FALSE(file.exists("/galaxy0/radius"));
    EXPECT_EQ(file.text_attribute("/galaxy0/component0", "name"), "hole");
}

TEST(ModelFacts, TextIsAlignedAndHasUnits) {
    const auto text = run::facts_text(hand_made().facts, gravity::galactic_units());
    std::istringstream lines(text);
    std::string head, row;
    std::getline(lines, head);
    for (const char* word : {"component", "law", "particles", "mass [1e10 Msun]", "half-mass radius [kpc]", "dispersion [km/s]", "Q min"})
        EXPECT_NE(head.find(word), std::string::npos) << word;
    std::getline(lines, row);
    const auto end = head.find("[kpc]") + 5;  // numbers end where the column's head does
    EXPECT_EQ(row.substr(0, end).substr(end - 5), "1.448") << text;
    EXPECT_NE(text.find("virial ratio 2K/|W| 1.0020"), std::string::npos) << text;
    EXPECT_NE(text.find("softening = 0.012 kpc, and steps of 1.7e-05 × 0.978 Gyr (16.6 kyr) for all"), std::string::npos) << text;
    EXPECT_NE(text.find("dt_max = 0.00048828125 × 0.978 Gyr (477 kyr)"), std::string::npos) << text;
    EXPECT_EQ(text.find("\u00a0"), std::string::npos);
}

TEST(ModelFacts, JsonOmitsMissingNumbers) {
    const auto json = run::facts_json(hand_made().facts, gravity::galactic_units());
    EXPECT_EQ(json["n"], 70'001);
    EXPECT_EQ(json["escape_speed"], 700.0);
    EXPECT_EQ(json["units"],
              nlohmann::ordered_json::parse(R"({"length": "kpc", "mass": "1e10 Msun", "velocity": "km/s", "time": "0.978 Gyr"})"));
    EXPECT_EQ(run::facts_json(hand_made().facts, gravity::nbody_units())["units"]["time"], nullptr);
    ASSERT_EQ(json["components"].size(), 3U);
    EXPECT_EQ(json["components"][1]["least_q"], 1.5);
    EXPECT_FALSE(json["components"][0].contains("least_q"));
    EXPECT_FALSE(json["components"][2].contains("half_mass_radius"));
}

TEST(ModelFacts, TimesChooseTheirUnit) {
    const auto units = gravity::galactic_units();  // 0.978 Gyr
    EXPECT_EQ(run::time_text(1.0 / 0.97779, units), "1.00\u00a0Gyr");
    EXPECT_EQ(run::time_text(0.03 / 0.97779, units), "30.0\u00a0Myr");
    EXPECT_EQ(run::time_text(1.7e-5 / 0.97779, units), "17.0\u00a0kyr");
    EXPECT_EQ(run::time_text(0.25, gravity::nbody_units()), "0.250");
}

TEST(ModelTables, ReadBackWithTheirUnits) {
    const Directory directory;
    const auto path = directory / "tables.hdf5";
    const auto report = hand_made_report();
    run::write_model_tables(path, report);
    const auto file = hdf5::File::open(path);
    const auto& t = report.galaxies[0].tables;
    EXPECT_EQ(file.text_attribute("/", "units"), "galactic");
    EXPECT_EQ(file.attribute<double>("/", "G"), 43007.1);
    EXPECT_EQ(file.read<double>("/galaxy0/radius"), t.radius);
    EXPECT_EQ(file.text_attribute("/galaxy0/radius", "unit"), "kpc");
    EXPECT_EQ(file.read<double>("/galaxy0/component0/distribution"), t.components[0].distribution);
    EXPECT_EQ(file.text_attribute("/galaxy0/component0/distribution", "unit"), "1e10 Msun/(kpc km/s)^3");
    EXPECT_EQ(file.text_attribute("/galaxy0/component0/density", "unit"), "1e10 Msun/kpc^3");
    EXPECT_EQ(file.text_attribute("/galaxy0/component1/surface_density", "unit"), "1e10 Msun/kpc^2");
    EXPECT_EQ(file.attribute<double>("/galaxy0/component1", "least_q"), 1.5);
    EXPECT_EQ(file.attribute<index_t>("/galaxy0", "n"), 70'001);
    EXPECT_FALSE(file.exists("/galaxy0/component0/surface_density")) << "a sphere has none";
    EXPECT_TRUE(std::isnan(file.read<double>("/galaxy0/component1/sigma_R").back())) << "no disk out there";
    for (const auto& galaxy : file.names_in("/"))
        for (const auto& name : file.names_in("/" + galaxy))
            if (const auto object = "/" + galaxy + "/" + name; file.is_dataset(object)) {
                EXPECT_TRUE(file.has_attribute(object, "unit")) << object;
                EXPECT_TRUE(file.has_attribute(object, "description")) << object;
            }
}

TEST(ModelTables, LeaveTheOldFileWhenTheyCannotBeWritten) {
    EXPECT_THROW(run::write_model_tables("/no such directory/tables.hdf5", hand_made_report()), InputError);
    EXPECT_THROW(run::write_model_report("/no such directory/page.html", hand_made_report()), InputError);
}

}  // namespace
