// Quenched runs from their run file to their output.
#include <test/run/quenched/quenched_fixture.hpp>

namespace {

using namespace kasane;
using test::read_file;
using json = nlohmann::json;
namespace fs = std::filesystem;

class Quenched : public test::QuenchedTest {};

TEST_F(Quenched, RunsAndWritesItsDirectory) {
    quenched_file();
    const auto result = run_to_end("out").json();
    EXPECT_EQ(result["directory"], "out");
    EXPECT_EQ(result["status"], "done");
    EXPECT_EQ(result["steps"], 12);
    EXPECT_EQ(result["measurements"], 9);
    EXPECT_EQ(result["configurations"], 3);
    EXPECT_GT(result["links_per_second"], 0);
    EXPECT_EQ(fs::path(result["configuration"].get<std::string>()), fs::canonical(directory / "out/conf.lime"));
    for (const char* name : {"run.toml", "log.txt", "record.json", "report.html", "measurements.csv", "conf.lime"})
        EXPECT_TRUE(fs::is_regular_file(directory / "out" / name)) << name;
    EXPECT_FALSE(fs::exists(directory / "out/snapshots"));
    EXPECT_EQ(checkpoints("out").size(), 1U);

    const auto rows = measurements("out");
    ASSERT_EQ(rows.size(), 13U);
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].sweep, static_cast<std::int64_t>(i));
        if (i > 3) sum += rows[i].plaquette();
    }
    EXPECT_NEAR(result["plaquette"]["mean"].get<double>(), sum / 9, 1e-14);
    EXPECT_GT(result["plaquette"]["error"], 0);

    // The configurations are those of the sweeps in their names: the links of a file have the plaquette that was measured at that sweep.
    for (const auto& [name, sweep] :
         {std::pair{"conf.lime", 12}, {"configurations/conf_000000000007.lime", 7}, {"configurations/conf_000000000011.lime", 11}}) {
        const auto read = lattice::read_gauge(directory / "out" / name);
        const auto& row = rows[static_cast<std::size_t>(sweep)];
        const auto plaquette = lattice::plaquette(read.field);
        EXPECT_EQ(read.facts.bits, 64);
        EXPECT_NEAR(plaquette.space, row.plaquette_space, 1e-13) << name;  // 288 plaquettes, each rounded to 1e-15
        EXPECT_NEAR(plaquette.time, row.plaquette_time, 1e-13) << name;
        EXPECT_LT(read.facts.worst_distance_from_su3, 1e-14);
    }

    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["problem"], "quenched");
    EXPECT_EQ(record["status"], "done");
    EXPECT_EQ(record["extents"], (json{2, 4, 6, 4}));
    EXPECT_EQ(record["boundary"], "periodic");
    EXPECT_EQ(record["start"]["kind"], "hot");
    EXPECT_EQ(record["configuration"]["written"].size(), 3U);
    EXPECT_EQ(record["means"]["plaquette"]["mean"], result["plaquette"]["mean"]);
    EXPECT_EQ(record["link_updates"], 12.0 * 3 * 4 * 192);
    EXPECT_EQ(record["segments"].size(), 1U);
    EXPECT_FALSE(record["papers"].empty());

    // A second run of the resolved file computes the same bits; so does another number of threads.
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "again", "--quiet"}).status, 0);
    expect_same("out", "again");
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "one", "--quiet", "--threads", "1"}).status, 0);
    expect_same("out", "one");
}

TEST_F(Quenched, GenerateIsTheSameRun) {
    quenched_file();
    run_to_end("a");
    EXPECT_EQ(run_to_end("b", {}, "generate").json()["status"], "done");
    expect_same("a", "b");
    small_run();  // of gravity
    test::expect_bad_input(kasane({"lattice", "generate", "small.toml", "--json"}), {"small.toml", "run.problem", "'quenched' is needed"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(Quenched, EachSeedChangesTheResult) {
    quenched_file();
    run_to_end("a", {"update.sweeps=2", "update.thermalisation=0"});
    run_to_end("b", {"update.sweeps=2", "update.thermalisation=0", "update.seed=2"});
    run_to_end("c", {"update.sweeps=2", "update.thermalisation=0", "start.seed=2"});
    const auto a = measurements("a"), b = measurements("b"), c = measurements("c");
    EXPECT_EQ(a[0], b[0]);
    EXPECT_NE(a[1], b[1]);
    EXPECT_NE(a[0], c[0]);
}

TEST_F(Quenched, StartsColdWeakAndFromAFile) {
    quenched_file();
    const std::vector<std::string> short_run{"update.sweeps=2", "update.thermalisation=0"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), short_run.begin(), short_run.end());
        return more;
    };
    run_to_end("cold", with({"start.kind=cold"}));
    EXPECT_EQ(measurements("cold")[0], (run::Measurement{0, 1, 1, 1, 0}));
    run_to_end("weak", with({"start.kind=weak:0.001"}));
    // Four links of Gaussian algebra each: 1 - Re tr U / 3 is 8/3 epsilon^2 in the mean of 8 * 4 * 6 generators a link, 1152 plaquettes
    // that share them; a tenth is four times the spread.
    EXPECT_NEAR(1 - measurements("weak")[0].plaquette(), 8.0 / 3 * 1e-6, 0.1 * 8.0 / 3 * 1e-6);
    // From the last configuration of the cold run: nothing is lost in the file, so the start is where that run ended.
    run_to_end("file", with({"start.kind=file", "start.file=cold/conf.lime"}));
    auto end = measurements("cold").back();
    end.sweep = 0;
    EXPECT_EQ(measurements("file")[0], end);
    const auto record = json::parse(read_file(directory / "file/record.json"));
    EXPECT_EQ(record["start"]["kind"], "file");
    EXPECT_EQ(fs::path(record["start"]["file"].get<std::string>()).filename(), "conf.lime");
}

TEST_F(Quenched, WritesOtherFormats) {
    quenched_file();
    const std::vector<std::string> settings{"update.sweeps=4", "update.thermalisation=1", "output.every=0"};
    const auto reference = [&] {
        run_to_end("reference", settings);
        return field("reference/conf.lime");
    }();
    for (const auto& [format, file] : {std::pair{"nersc", "conf.nersc"}, {"openqcd", "conf.openqcd"}}) {
        auto more = settings;
        more.insert(more.end(), {std::string("output.format=") + format, std::string("output.configuration=") + file});
        run_to_end(format, more);
        const auto read = lattice::read_gauge(directory / format / file);
        EXPECT_EQ(lattice::name(read.facts.format), std::string(format));
        EXPECT_EQ(read.field.links, reference.links) << format;
    }
    auto more = settings;
    more.emplace_back("output.bits=32");
    run_to_end("single", more);
    EXPECT_EQ(lattice::read_gauge(directory / "single/conf.lime").facts.bits, 32);
    EXPECT_NEAR(lattice::plaquette(field("single/conf.lime")).mean(), lattice::plaquette(reference).mean(), 1e-7);  // float's rounding
}

TEST_F(Quenched, MeasuresAtIntervals) {
    quenched_file();
    const auto result = run_to_end("out", {"output.measure_every=5", "output.report=false"}).json();
    const auto rows = measurements("out");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[2].sweep, 10);
    EXPECT_EQ(result["measurements"], 2);
    EXPECT_TRUE(result["report"].is_null());
    EXPECT_FALSE(fs::exists(directory / "out/report.html"));
    // A run without measurements after thermalisation is valid; its means are unknown.
    const auto none = run_to_end("none", {"output.measure_every=50"}).json();
    EXPECT_EQ(none["measurements"], 0);
    EXPECT_TRUE(none["plaquette"]["mean"].is_null());
}

TEST_F(Quenched, HotAndColdMeet) {
    quenched_file();
    const std::vector<std::string> settings{"lattice.extents=[4,4,4,4]", "update.sweeps=500", "update.thermalisation=50", "output.every=0",
                                            "update.overrelaxation=3"};
    std::vector<json> plaquette;
    for (const char* kind : {"hot", "cold"}) {
        auto more = settings;
        more.push_back(std::string("start.kind=") + kind);
        more.push_back(std::string("update.seed=") + (kind[0] == 'h' ? "1" : "2"));
        plaquette.push_back(run_to_end(kind, more).json()["plaquette"]);
    }
    const double a = plaquette[0]["mean"], b = plaquette[1]["mean"], ea = plaquette[0]["error"], eb = plaquette[1]["error"];
    EXPECT_NEAR(a, b, 4 * std::hypot(ea, eb));
    // So small a lattice has 0.5597(2) at beta = 5.7 (docs/lattice-generate.md), not the 0.5495 of large ones.
    EXPECT_NEAR((a + b) / 2, 0.5597, 4 * std::hypot(ea, eb) / 2);
    EXPECT_LT(std::hypot(ea, eb) / 2, 0.002);  // a fifth of the difference between the two
}

TEST_F(Quenched, CheckReportsTheResolvedFileAndMemory) {
    quenched_file();
    const auto check = kasane({"check", "quenched.toml", "--json"});
    ASSERT_EQ(check.status, 0) << check.err;
    const auto reported = check.json();
    EXPECT_EQ(reported["problem"], "quenched");
    EXPECT_EQ(reported["extents"], (json{2, 4, 6, 4}));
    EXPECT_EQ(reported["memory"]["host_bytes"], 192 * 3 * 576);
    EXPECT_TRUE(reported["unused_keys"].empty());
    EXPECT_FALSE(fs::exists(directory / "out"));
    test::write_file(directory / "resolved.toml", reported["resolved"]);
    const auto again = kasane({"check", "resolved.toml", "--json"});
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(again.json()["resolved"], reported["resolved"]);
    EXPECT_NE(kasane({"check", "quenched.toml"}).out.find("1728 bytes per site"), std::string::npos);
    // The run logs it before it starts.
    const auto run = kasane({"run", "quenched.toml"});
    EXPECT_NE(run.err.find("memory: 0.316 MiB, 1728 bytes per site"), std::string::npos) << run.err;
}

TEST_F(Quenched, ForceReplacesARunAndNothingElse) {
    quenched_file();
    run_to_end("out", {"output.configuration=old.lime"});
    test::write_file(directory / "out/notes.txt", "mine");
    test::write_file(directory / "out/configurations/mine.lime", "mine too");
    test::expect_bad_input(kasane({"run", "quenched.toml", "--json"}), {"output.directory", "exists already"});
    const auto outcome = kasane({"run", "quenched.toml", "--force", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "out/old.lime"));
    EXPECT_FALSE(fs::exists(directory / "out/configurations/old_000000000007.lime"));
    EXPECT_TRUE(fs::exists(directory / "out/conf.lime"));
    EXPECT_EQ(read_file(directory / "out/notes.txt"), "mine");
    EXPECT_EQ(read_file(directory / "out/configurations/mine.lime"), "mine too");
}

}  // namespace
