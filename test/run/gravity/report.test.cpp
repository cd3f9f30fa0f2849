// The whole page, from run directories good and bad.
#include <kasane/core/base/error.hpp>
#include <kasane/run/gravity/film.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/kinds.hpp>
#include "fixture.hpp"
#include <test/report/markup.hpp>

#include <algorithm>
#include <limits>
#include <regex>

using namespace kasane;
using test::Directory;
using test::write_file;

namespace {

/// Base64 may spell anything.
std::string without_pictures(std::string html) {
    for (const auto& [from, to] : {std::pair{"base64,", "\""}, {"id=\"film-data\">", "</script>"}})
        for (auto at = html.find(from); at != std::string::npos; at = html.find(from, at + 1))
            html.erase(at + std::string(from).size(), html.find(to, at + std::string(from).size()) - at - std::string(from).size());
    return html;
}

std::string report_of(const std::filesystem::path& directory) {
    const auto path = run::write_report(run::kinds(), directory);
    EXPECT_EQ(path, directory / "report.html");
    const auto html = test::read_file(path);
    EXPECT_EQ(test::markup_problem(html, test::Dialect::html), "");
    for (const char* bad : {">nan<", ">inf<", "\"nan", "NaN"}) EXPECT_EQ(without_pictures(html).find(bad), std::string::npos) << bad;
    return html;
}

bool contains(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

TEST(Report, ShowsTheRun) {
    Directory d;
    test::fill_run(d, 4);
    const auto html = report_of(d);
    EXPECT_TRUE(contains(html, "<h1>Two clumps</h1>"));
    EXPECT_TRUE(contains(html, "finished"));
    EXPECT_TRUE(contains(html, "400 particles"));
    EXPECT_TRUE(contains(html, "978\u00a0Myr") || contains(html, "0.978\u00a0Gyr"));
    EXPECT_TRUE(contains(html, "1.5\u00a0×\u00a010⁻⁴"));
    EXPECT_TRUE(contains(html, "2 threads of Test CPU"));
    EXPECT_TRUE(contains(html, "<strong>50%</strong>"));
    EXPECT_TRUE(contains(html, "52.0 GFLOPS"));  // 2e9 interactions/s at 26
    EXPECT_TRUE(contains(html, "a &lt;bound&gt; &amp; its reason"));
    EXPECT_TRUE(contains(html, "problem = &quot;gravity&quot;  # &lt;&amp;&gt;"));
    EXPECT_TRUE(contains(html, "first galaxy"));
    EXPECT_EQ(count(html, "<svg class=\"plot\""), 5U);  // error, energies, radii, virial ratio, separation
    EXPECT_EQ(count(html, "data-frame="), 4U);
    EXPECT_FALSE(contains(html, "<aside"));
    EXPECT_FALSE(contains(html, "kasane resume"));
}

/// What a run by the tree code with block steps adds to the record.
std::string tree_record(const std::string& levels) {
    return R"(, "dt": 0.5, "force": {"method": "tree", "variant": "lists", "mac": {"name": "geometric", "theta": 0.6}, "multipole": "monopole",
 "leaf_size": 16, "curve": "hilbert"}, "step": {"method": "block", "dt_max": 0.5, "eta": 0.25, "criterion": "acceleration"},
 "step_counts": {"block_steps": 1600, "updates": 160000, "active_fraction": 0.25, "rebuilds": 7, "levels": )" +
           levels + R"(},
 "timers": {"walk": {"seconds": 3, "calls": 2}, "moments": {"seconds": 2, "calls": 2}, "tree": {"seconds": 1, "calls": 2}})";
}

TEST(Report, ShowsTimeStepsAndForceErrors) {
    Directory d;
    test::fill_run(d, 0);
    write_file(d / "record.json", test::record("Tree", "done", tree_record("[100, 0, 280, 20, 0]")));
    write_file(d / "energy.csv",
               "time,step,force_error_median,force_error_p99,force_error_max\n"
               "0,0,1e-4,1e-3,2e-3\n0.5,1,3e-4,2e-3,4e-3\n1,2,2e-4,1e-3,3e-3\n");
    const auto html = report_of(d);
    EXPECT_TRUE(contains(html, "<h3>Force error</h3>"));
    EXPECT_TRUE(contains(html, "relative force error was at most <strong>3.0\u00a0×\u00a010⁻⁴</strong>"));
    EXPECT_TRUE(contains(html, "1,600 block steps"));
    EXPECT_TRUE(contains(html, "<strong>25.0%</strong> of the particles"));
    // The shortest step in use is 0.5 / 8: 100 dt_max of 8 such steps for 400 particles each, against 160,000.
    EXPECT_TRUE(contains(html, "2.0 times as often"));
    const auto steps = html.substr(html.find("<h2>Time steps</h2>"), html.find("<h2>Speed</h2>") - html.find("<h2>Time steps</h2>"));
    EXPECT_EQ(count(steps, "<li>"), 4U) << "from the longest to the shortest in use, the empty one between too";
    EXPECT_TRUE(contains(steps, "280 · 70.0%"));
    EXPECT_TRUE(contains(html, "walk: forces from the tree"));
    EXPECT_TRUE(contains(html, "geometric criterion, theta = 0.6"));
    EXPECT_TRUE(contains(html, "Trees built"));
}

TEST(Report, ShowsTheWorkOfEachWorker) {
    const auto with = [](const std::string& loads) {
        Directory d;
        test::fill_run(d, 0);
        write_file(d / "record.json", test::record("Tree", "done", tree_record("[100, 300]") + ", \"worker_loads\": " + loads));
        return report_of(d);
    };
    const auto html = with(R"([{"particles": 150, "interactions": 3e6, "received_bytes": 2048},
                              {"particles": 250, "interactions": 1e6, "received_bytes": 1}])");
    EXPECT_TRUE(contains(html, "Work of the 2 workers"));
    EXPECT_TRUE(contains(html, "<strong>1.50</strong> times"));
    EXPECT_TRUE(contains(html, "150 particles · 2 KiB"));
    EXPECT_TRUE(contains(html, "width:33.33%"));
    for (const char* none : {"[]", "null", "[{\"particles\": 400, \"interactions\": 4e6, \"received_bytes\": 0}]", "[{}, {}]"})
        EXPECT_FALSE(contains(with(none), "Work of the")) << none;
}

TEST(Report, NoTimeStepsWithoutLevels) {
    for (const char* levels : {"[]", "[0, 0]", "[-3, 5]", "null", "[\"x\"]", "7"}) {
        Directory d;
        test::fill_run(d, 0);
        write_file(d / "record.json", test::record("Tree", "done", tree_record(levels)));
        EXPECT_FALSE(contains(report_of(d), "<h2>Time steps</h2>")) << levels;
    }
    Directory d;
    test::fill_run(d, 0);  // direct summation with a constant step, and a table without force errors
    const auto html = report_of(d);
    EXPECT_FALSE(contains(html, "<h2>Time steps</h2>"));
    EXPECT_FALSE(contains(html, "Force error"));
}

TEST(Report, FetchesNothing) {
    Directory d;
    test::fill_run(d, 2);
    const auto html = report_of(d);
    const std::regex reference(R"re((src|href|srcset|action|poster|data)\s*=\s*"([^"]{0,40}))re");
    for (auto at = std::sregex_iterator(html.begin(), html.end(), reference); at != std::sregex_iterator(); ++at)
        EXPECT_TRUE((*at)[2].str().starts_with("data:image/png;base64,")) << at->str();
    for (const char* bad : {"<link", "<iframe", "<object", "@import", "url(", "fetch(", "XMLHttpRequest", "import(", "file:"})
        EXPECT_FALSE(contains(html, bad)) << bad;
    // Addresses occur as text alone: the one of the paper.
    EXPECT_EQ(count(html, "://"), 1U);
}

TEST(Report, EscapesTitles) {
    Directory d;
    write_file(d / "record.json", test::record(R"(<script>alert(\"x\")</script> & 'more')", "failed", R"(, "message": "<b>blown</b> up")"));
    const auto html = report_of(d);
    EXPECT_FALSE(contains(html, "<script>alert"));
    EXPECT_FALSE(contains(html, "<b>blown"));
    EXPECT_TRUE(contains(html, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39;"));
    EXPECT_TRUE(contains(html, "&lt;b&gt;blown&lt;/b&gt; up"));
}

TEST(Report, ShowsThatTheRunIsNotFinished) {
    for (const char* status : {"running", "interrupted"}) {
        Directory d;
        test::fill_run(d, 2, status);
        const auto html = report_of(d);
        EXPECT_TRUE(contains(html, "<aside")) << status;
        EXPECT_TRUE(contains(html, "kasane resume &#39;")) << status;  // the directory's name has a space
    }
}

TEST(Report, OneSnapshot) {
    Directory d;
    test::fill_run(d, 1);
    const auto html = report_of(d);
    EXPECT_TRUE(contains(html, "<canvas "));
    EXPECT_FALSE(contains(html, "id=\"play\""));
    EXPECT_FALSE(contains(html, "class=\"stills\""));
}

TEST(Report, NoSnapshots) {
    Directory d;
    test::fill_run(d, 0);
    const auto html = report_of(d);
    EXPECT_FALSE(contains(html, "<canvas "));
    EXPECT_TRUE(contains(html, "There are no snapshots to show"));
    EXPECT_EQ(count(html, "<svg class=\"plot\""), 4U);
}

TEST(Report, NamesSnapshotsThatCannotBeRead) {
    Directory d;
    test::fill_run(d, 4);
    write_file(d / "snapshots/snapshot_0000.hdf5", "no snapshot");
    const auto cut = test::read_file(d / "snapshots/snapshot_0002.hdf5");
    write_file(d / "snapshots/snapshot_0002.hdf5", cut.substr(0, cut.size() / 2));
    const auto html = report_of(d);
    EXPECT_EQ(count(html, "<li>snapshot_0000.hdf5 is left out: "), 1U);
    EXPECT_EQ(count(html, "<li>snapshot_0002.hdf5 is left out: "), 1U);
    EXPECT_EQ(count(html, "data-frame="), 2U);
}

TEST(Report, NoSnapshotThatCanBeRead) {
    Directory d;
    test::fill_run(d, 0);
    write_file(d / "snapshots/snapshot_0000.hdf5", "no snapshot");
    EXPECT_TRUE(contains(report_of(d), "None of the snapshots could be read"));
}

TEST(Report, BarestDirectory) {
    Directory d;
    write_file(d / "run.toml", "");
    const auto html = report_of(d);
    EXPECT_TRUE(contains(html, "status unknown"));
    EXPECT_TRUE(contains(html, "There are no curves to draw"));
}

TEST(Report, NotANumberInTheTable) {
    Directory d;
    test::fill_run(d, 2);
    write_file(d / "energy.csv",
               "time,step,kinetic,potential,energy,relative_energy_error,virial_ratio,r10,r25,r50,r75,r90\n"
               "0,0,1,-2,-1,0,1,1,2,3,4,5\n0.1,1,nan,nan,nan,nan,nan,nan,nan,nan,nan,nan\n0.2,2,1,-2,-1,1e-3,1,1,2,3,4,5\n0.3,3,1");
    const auto html = report_of(d);
    EXPECT_TRUE(contains(html, "energy.csv has 1 row of the wrong length"));
    EXPECT_EQ(count(html, "<svg class=\"plot\""), 5U);
}

TEST(Report, ReplacesAnOldReportAndLeavesNothingElse) {
    Directory d;
    test::fill_run(d, 1);
    write_file(d / "report.html", "old");
    EXPECT_FALSE(contains(report_of(d), "old</"));
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(d)) ++entries;
    EXPECT_EQ(entries, 5U);  // record.json, run.toml, energy.csv, snapshots, report.html
}

TEST(Report, NotARunDirectory) {
    Directory d;
    EXPECT_THROW(run::write_report(run::kinds(), d), InputError);
    EXPECT_THROW(run::write_report(run::kinds(), d / "absent"), InputError);
    EXPECT_FALSE(std::filesystem::exists(d / "report.html"));
}

TEST(ReportFilm, WindowAndScaleFitTheRun) {
    Directory d;
    test::fill_run(d, 5);
    const auto film = run::make_film(run::read_history(d));
    ASSERT_EQ(film.frames.size(), 5U);
    // Clumps at x = -6 and 6, then -2 and 2, each about 1 wide.
    EXPECT_NEAR(film.window.center.x, 0, 0.3);
    EXPECT_GT(film.window.width, 12);
    EXPECT_LT(film.window.width, 25);
    EXPECT_DOUBLE_EQ(film.window.width / film.window.columns, film.window.height / film.window.rows);
    EXPECT_GT(film.exposure.brightest, 50 * film.exposure.faintest);
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_DOUBLE_EQ(film.frames[k].time, static_cast<double>(k) / 4);
        EXPECT_NEAR(film.separation[k], 12 - 2.0 * static_cast<double>(k), 0.5);
    }
    EXPECT_EQ(film.stills.size(), 5U);
}

/// Two clumps in the plane z = 0 with a wide halo of type 1 about each of them.
gravity::Snapshot clumps_with_haloes(double halo_width) {
    auto s = test::two_clumps(200, 12, 0);
    const auto halo = test::two_clumps(200, 12, 0, 1);
    for (std::size_t i = 0; i < halo.particles.id.size(); ++i) {
        const auto& r = halo.particles.position[i];
        const double centre = i < 200 ? -6 : 6;
        s.particles.position.push_back({centre + halo_width * (r.x - centre), halo_width * r.y, halo_width * r.z});
        s.particles.velocity.push_back({});
        s.particles.mass.push_back(20 * halo.particles.mass[i]);
        s.particles.id.push_back(401 + i);
        s.particles.type.push_back(1);
    }
    return s;
}

TEST(ReportFilm, StarsAlone) {
    const auto film_of = [](const std::string& run_file) {
        Directory d;
        test::fill_run(d, 0);
        write_file(d / "run.toml", run_file);
        gravity::write_snapshot(d / "snapshots/snapshot_0000.hdf5", clumps_with_haloes(20));
        EXPECT_TRUE(contains(report_of(d), "not drawn: 400 particles of the haloes") == (run_file != "")) << run_file;
        return run::make_film(run::read_history(d));
    };
    const auto all = film_of(""), stars = film_of("[output]\nfilm = \"stars\"\n");
    ASSERT_EQ(all.groups.group.size(), 3U);
    EXPECT_TRUE(all.groups.group.back().dark);
    ASSERT_EQ(stars.groups.group.size(), 2U);
    EXPECT_EQ(stars.groups.group[0].name, "disk of the first galaxy");
    for (const auto& g : stars.groups.group) EXPECT_EQ(g.count, 200);
    EXPECT_EQ(stars.groups.hidden_count, 400);
    EXPECT_LT(stars.window.width, 25) << "the window is that of the stars";
    EXPECT_GT(all.window.width, 1.2 * stars.window.width) << "and here that of the haloes";
}

TEST(ReportFilm, TwoViewsOfOneScale) {
    Directory d;
    test::fill_run(d, 3);
    const auto film = run::make_film(run::read_history(d));
    // The clumps move along x; they are about 1 wide in y and in z.
    EXPECT_EQ(film.side.columns, film.window.columns);
    EXPECT_DOUBLE_EQ(film.side.pixel(), film.window.pixel());
    EXPECT_LT(film.side.rows, 0.6 * film.window.rows) << "no higher than it must be";
    EXPECT_GT(film.side.height, 3);
    for (const auto& still : film.stills) {
        EXPECT_EQ(still.rows[0], film.window.rows / 2);
        EXPECT_EQ(still.rows[1], film.side.rows / 2);
        for (const auto& png : still.png) EXPECT_FALSE(png.empty());
    }
    const auto html = report_of(d);
    EXPECT_EQ(count(html, "<canvas "), 2U);
    EXPECT_FALSE(contains(html, "screens beside")) << "a low view lies below the other one";
    EXPECT_EQ(count(html, "<span class=\"bar\""), 2U);
    EXPECT_FALSE(contains(html, "face-on")) << "without an orbit the plane has no name";
}

TEST(ReportFilm, AnOrbitNamesTheViews) {
    Directory d;
    test::fill_run(d, 2);
    write_file(d / "run.toml", "[orbit]\nseparation = 12\npericentre = 1\n");
    const auto html = report_of(d);
    EXPECT_TRUE(contains(html, "face-on to the orbit, x–y"));
    EXPECT_TRUE(contains(html, "edge-on, x–z"));
}

TEST(ReportFilm, KeepsToItsBytes) {
    Directory d;
    test::fill_run(d, 5);
    report::FilmOptions options;
    options.most_bytes = 60'000;
    const auto film = run::make_film(run::read_history(d), options);
    std::size_t bytes = 0;
    for (const auto& frame : film.frames)
        for (const auto& picture : frame.picture) bytes += picture.light.size() + picture.tint.size();
    EXPECT_GT(bytes, 20'000U);
    EXPECT_LT(bytes, 80'000U);  // an estimate from one picture: others may be richer by a third
}

TEST(ReportFilm, TakesEvenlyFromManySnapshots) {
    Directory d;
    test::fill_run(d, 7);
    report::FilmOptions options;
    options.most_frames = 3;
    const auto film = run::make_film(run::read_history(d), options);
    ASSERT_EQ(film.frames.size(), 3U);
    EXPECT_DOUBLE_EQ(film.frames[0].time, 0);
    EXPECT_DOUBLE_EQ(film.frames[1].time, 0.5);
    EXPECT_DOUBLE_EQ(film.frames[2].time, 1);
}

TEST(ReportFilm, OneParticleAndMasslessOnes) {
    for (const double mass : {1.0, 0.0}) {
        Directory d;
        test::fill_run(d, 0);
        auto s = test::two_clumps(1, 3, 0);
        if (mass > 0) s.particles.resize(1);
        for (auto& m : s.particles.mass) m = mass;
        gravity::write_snapshot(d / "snapshots/snapshot_0000.hdf5", s);
        EXPECT_TRUE(contains(report_of(d), "<canvas "));
    }
}

}  // namespace
