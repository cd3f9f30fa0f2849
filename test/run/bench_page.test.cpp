// The page of a record of benchmarks: every study has its section, its sentences agree with the numbers, and records that are
// damaged or incomplete are reported, or drawn where possible. The records are written here, so that every answer is known.
#include "command.hpp"
#include "report/markup.hpp"

namespace kasane::test {
namespace {

using nlohmann::ordered_json;

ordered_json row(const std::string& name, double n, double seconds, const ordered_json& more) {
    ordered_json r{
        {"case", name}, {"n", n},     {"seconds", seconds},  {"spread", 0.01},     {"rate", 1 / seconds}, {"unit", "interactions/s"},
        {"tflops", 0},  {"bound", 0}, {"bound_fraction", 0}, {"bound_reason", ""}, {"error", 1e-3}};
    r.update(more);
    return r;
}

/// A record with every study; (V, G) = (4, 2) is the fastest, 2.5 times (1, 1).
ordered_json full_record() {
    auto rows = ordered_json::array();
    for (const int v : {1, 2, 4, 8})
        for (const int g : {1, 2, 4, 8}) {
            const double seconds = v == 4 && g == 2 ? 0.2 : v == 1 && g == 1 ? 0.5 : 0.3 + 0.001 * v + 0.002 * g;
            rows.push_back(row("gravity.tree.links, V " + std::to_string(v) + ", G " + std::to_string(g), 1048576, seconds,
                               {{"interactions", 1000 + 10 * v * g}, {"speedup", 0.5 / seconds}, {"V", v}, {"G", g}}));
        }
    rows.push_back(row("gravity.tree.links, lists", 1048576, 0.05, {{"interactions", 2000}, {"speedup", 10}}));
    for (int k = 17; k <= 23; ++k)
        for (const std::string walk : {"links", "lists"})
            for (const std::string curve : {"morton", "hilbert"})
                rows.push_back(row("gravity.tree.curve, " + walk + ", " + curve, std::exp2(k), 1e-9 * std::exp2(k),
                                   {{"interactions", 100 * k}, {"speedup", curve == "hilbert" ? 1 + 0.01 * k : 1}}));
    for (const std::string multipole : {"monopole", "quadrupole"})
        for (int k = 3; k <= 13; ++k) {
            const double order = multipole == "monopole" ? 1 : 2, seconds = 0.01 * std::exp2(0.5 * k / order);
            rows.push_back(row("gravity.tree.accuracy, " + multipole + ", delta 2^-" + std::to_string(k), 8388608, seconds,
                               {{"delta", std::exp2(-k)},
                                {"median_error", 0.01 * std::exp2(-k)},
                                {"p99_error", 0.1 * std::exp2(-k)},
                                {"interactions", 100 * k}}));
        }
    for (const std::string multipole : {"monopole", "quadrupole"})
        for (int k = 0; k <= 20; ++k)  // at one error monopoles take 2^(0.1 k / 2) times as long
            rows.push_back(row("gravity.tree.m31, " + multipole + ", delta 2^-" + std::to_string(k), 8388608,
                               (multipole == "monopole" ? 0.004 : 0.005) * std::exp2((multipole == "monopole" ? 0.25 : 0.125) * k),
                               {{"delta", std::exp2(-k)},
                                {"median_error", 0.01 * std::exp2(-k)},
                                {"p99_error", 0.1 * std::exp2(-k)},
                                {"block_steps", 512},
                                {"updates", 2097152},
                                {"softening", 0.015625},
                                {"eta", 0.5},
                                {"dt_max", 1. / 1024}}));
    for (const std::string order : {"random", "sorted"})
        rows.push_back(row("gravity.tree.order, " + order + ", leaf 1", 1048576, order == "random" ? 0.5 : 0.2,
                           {{"speedup", order == "random" ? 1 : 2.5}, {"leaf_size", 1}}));
    rows.push_back(row("gravity.tree.steps, block, the span of shared", 8388608, 0.006,
                       {{"total_seconds", 3}, {"block_steps", 500}, {"updates", 1e6}, {"energy_error", 2e-7}}));
    rows.push_back(row("gravity.tree.steps, block", 8388608, 0.00625,
                       {{"total_seconds", 25.6},
                        {"block_steps", 4096},
                        {"updates", 838860.8},
                        {"energy_error", 3e-7},
                        {"walk_seconds", 0.005},
                        {"tree_seconds", 0.001},
                        {"level_3", 0.25},
                        {"level_5", 0.75}}));
    rows.push_back(row("gravity.tree.steps, shared", 8388608, 0.02,
                       {{"total_seconds", 12}, {"block_steps", 512}, {"updates", 8388608}, {"energy_error", 1e-7}}));
    for (const std::string name : {"as chosen", "async copy", "reduction by shuffles", "L2 30 MiB", "lanes <4> & more"})
        rows.push_back(row("gravity.tree.techniques, " + name, 8388608, name == "L2 30 MiB" ? 0.020 : 0.025,
                           {{"speedup", name == "L2 30 MiB" ? 1.25 : 1}, {"seconds_few", 1e-4}, {"speedup_few", 1}}));
    for (const double fraction : {1.0, 0.1, 0.01, 0.001})
        rows.push_back(row("gravity.tree.active, some", 8388608, 0.04 * (fraction + 0.02),
                           {{"fraction", fraction},
                            {"share_of_full", (fraction + 0.02) / 1.02},
                            {"walk_seconds", 0.04 * fraction},
                            {"refresh_seconds", 4e-4},
                            {"predict_seconds", 4e-4}}));
    for (int k = 17; k <= 27; ++k)
        rows.push_back(row("gravity.tree.scale", std::exp2(k), 4e-9 * std::exp2(k),
                           {{"sort_seconds", 1e-9 * std::exp2(k)},
                            {"build_seconds", 1e-10 * std::exp2(k)},
                            {"place_seconds", 1e-10 * std::exp2(k)},
                            {"moments_seconds", 3e-10 * std::exp2(k)},
                            {"walk_seconds", 2.5e-9 * std::exp2(k)},
                            {"tree_bytes", 90},
                            {"bytes", 150}}));
    for (const std::string name : {"triad, 1 thread", "read, 1 thread", "triad, 2 threads", "read, 2 threads"})
        rows.push_back(row("sparse.triad, " + name, 1e8, 0.1,
                           {{"rate", name.ends_with("s") ? 3.2e10 : 2e10}, {"gain", name.ends_with("s") ? 1.6 : 1}}));
    for (const double n : {64. * 64 * 64, 128. * 128 * 128})
        for (const std::string name : {"auto, 1 thread", "auto, 2 threads", "cm-rcm:8, plain, 1 thread", "from a device CSR, by rule"})
            rows.push_back(row("sparse.solve, " + name, n, name == "auto, 2 threads" ? 1.25 : 2,
                               {{"iterations", 430},
                                {"bound_fraction", 0.875},
                                {"setup_seconds", 0.5},
                                {"setup_order_seconds", 0.3},
                                {"setup_factor_seconds", 0.2},
                                {"gain", name == "auto, 2 threads" ? ordered_json(1.5) : ordered_json()},
                                {"gain_over_triad", name == "auto, 2 threads" ? ordered_json(0.95) : ordered_json()},
                                {"note", "cm-rcm:2, <reduced>"}}));
    rows.push_back(row("sparse.solve.peer.eigen, AMD order, 2 threads", 2097152, 20,
                       {{"iterations", 266}, {"times_ours", 16}, {"note", "Eigen 3.4.0"}}));
    rows.push_back(row("sparse.solve.peer.cusparse", 2097152, 1, {{"seconds", nullptr}, {"error", nullptr}, {"note", "no module"}}));
    for (int k = 2; k <= 20; ++k)
        for (const std::string name : {"c-CRS", "c-Sliced-ELL", "c-SELL", "s-CRS", "s-Sliced-ELL", "s-SELL", "Eisenstat, c-SELL"})
            rows.push_back(row("sparse.colors, " + name + ", k " + std::to_string(k), 2097152, 0.1 + 0.001 * k,
                               {{"k", k}, {"iterations", 430 - k}, {"seconds_per_iteration", 2e-4}}));
    rows.push_back(
        row("sparse.colors, table 3, plain iteration", 2097152, 0.075, {{"speed_over_bandwidth", 0.625}, {"note", "c-SELL, k 5"}}));
    for (const std::string format : {"csr", "ell", "sliced-ell"})
        rows.push_back(row("sparse.formats, format " + format, 2097152, 2e-4, ordered_json::object()));
    for (int C = 4; C <= 256; C *= 2)
        rows.push_back(row("sparse.formats, C " + std::to_string(C), 2097152, C == 32 ? 1e-4 : 1.5e-4, {{"C", C}}));
    for (const int sigma : {1, 32, 1024})
        for (const std::string name : {"jacobi", "ic0"})
            rows.push_back(row("sparse.formats, uneven rows, " + name + ", sigma " + std::to_string(sigma), 2097152,
                               4e-4 / (1 + 0.001 * (sigma - 1)), {{"sigma", sigma}, {"stored_over_needed", 1 + 1. / sigma}}));
    for (const std::string way : {"cm-rcm:2, reduced, graph", "cm-rcm:8, plain, cooperative"})
        rows.push_back(row("sparse.formats, way: " + way, 2097152, way.ends_with("graph") ? 6e-5 : 2e-4, {{"bound_fraction", 0.75}}));
    for (const std::string hop : {"wilson", "clover"})
        for (const std::string storage : {"double-18", "single-12", "half-12", "single-12, half links", "half-12, temporal gauge"})
            rows.push_back(row("lattice.dslash, " + hop + ", " + storage, 2097152, 1e-4,
                               {{"gflops", storage == "half-12" ? 13500 : 8000}, {"bound_fraction", 0.625}}));
    for (const int edge : {8, 16, 32})
        for (const std::string storage : {"double-18", "single-12"})
            rows.push_back(row("lattice.dslash, by volume, clover, " + storage, std::pow(edge, 4), 1e-5 * edge,
                               {{"gflops", 100 * edge}, {"L", edge}}));
    for (const std::string name :
         {"bicgstab, all double", "nested-bicgstab, inner half-12", "acceleration: nested-bicgstab, inner single-18",
          "beta 6.0, kappa 0.1348: bicgstab, all double", "beta 6.0, kappa 0.1348: cg, inner half-12"})
        rows.push_back(row("lattice.solver, " + name, 2097152, name.find("half") == std::string::npos ? 0.25 : 0.0625,
                           {{"iterations", 60}, {"gflops", 5000}, {"speedup", name.find("half") == std::string::npos ? 1 : 4}}));
    for (const int edge : {8, 16, 32}) {
        rows.push_back(row("lattice.solver, by volume, CPU, bicgstab, all double", std::pow(edge, 4), 0.1 * edge, {{"gflops", 20}}));
        rows.push_back(row("lattice.solver, by volume, nested-bicgstab, inner half-12", std::pow(edge, 4), 0.01 * edge,
                           {{"gflops", 100 * edge}, {"speedup", edge / 2.}}));
    }
    rows.push_back(
        row("lattice.solver.light, beta 6.0, kappa 0.1348: auto, inner half-12", 2097152, 0.07, {{"speedup", 3.5}, {"over_best", 1.125}}));
    for (const int workers : {1, 2})
        rows.push_back(row("lattice.scaling, hop, half-12, 24x24x24x48, P " + std::to_string(workers), 663552, 4e-5,
                           {{"members", workers}, {"strong", workers == 2 ? 0.5 : NAN}, {"weak", NAN}}));
    for (const int workers : {1, 2, 4}) {
        rows.push_back(row("gravity.direct.scaling, sync, P " + std::to_string(workers), 4, 2e-6 * workers,
                           {{"members", workers},
                            {"t_sync", 2e-6 * workers},
                            {"t_kernel", 1e-6},
                            {"paper_t_sync", 2.97e-5},
                            {"launches", {1, 2, 4}},
                            {"launch_seconds", {1e-6 + 2e-6 * workers, 2e-6 + 2e-6 * workers, 4e-6 + 2e-6 * workers}}}));
        for (int k = 10; k <= 12; ++k) {
            // Two workers have 80% strong efficiency everywhere, so 80% weak efficiency; four have 50%.
            const double n = std::exp2(k) * workers, efficiency = workers == 1 ? 1 : workers == 2 ? 0.8 : 0.5;
            for (const double size : workers == 1 ? std::vector<double>{n, 2 * n, 4 * n} : std::vector<double>{n}) {
                const double seconds = 1e-9 * size * size / workers / efficiency;
                ordered_json more{{"members", workers}, {"model_seconds", 1.0625 * seconds}, {"seconds_raw", seconds}};
                if (workers > 1) more.update({{"strong", efficiency}, {"weak", efficiency}, {"hidden", 0.75}});
                if (workers == 2 && k == 12)
                    more["timeline"] = {{{"own", 0, 2e-3}, {"message", 1e-3, 3e-3}}, {{"own", 0, 1e-3}, {"message", 5e-4, 2e-3}}};
                rows.push_back(row(
                    std::string("gravity.direct.scaling, one-sided") + (workers == 1 ? "" : ", copy") + ", P " + std::to_string(workers),
                    size, seconds, more));
            }
        }
    }
    rows.back()["rate"] = 2e9;
    rows.push_back(row("gravity.direct.scaling, model, one-sided", 1, 1, {{"note", "fitted <here>"}}));
    rows.push_back(row("gravity.direct.simd, single, equal masses", 1024, 1e-4, ordered_json::object()));
    rows.push_back(row("unheard.of, a <b>", 7, 1e-4, {{"some_number", 3}}));
    return {{"machine", {{"name", "A & B"}, {"kind", "cuda"}, {"capability", "9.0"}}},
            {"date", "2026-11-21"},
            {"version", "0.1.0"},
            {"commit", "abc"},
            {"build", {{"compiler", "c"}, {"cuda", "13"}}},
            {"results", rows}};
}

class BenchPage : public CommandTest {
   protected:
    std::string page_of(const ordered_json& record) {
        write_file(directory / "record.json", record.dump());
        const auto outcome = kasane({"bench", "--from", "record.json", "--page", "page.html"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const auto page = read_file(directory / "page.html");
        EXPECT_EQ(markup_problem(page, Dialect::html), "");
        for (const char* word : {"nan", "unknown", "infinite"}) EXPECT_EQ(page.find(word), std::string::npos) << word << " in " << page;
        return page;
    }
};

/// From a section's start to its end.
std::string section(const std::string& page, const std::string& name) {
    const auto first = page.find("<section id=\"" + name + "\">");
    EXPECT_NE(first, std::string::npos) << name;
    return first == std::string::npos ? "" : page.substr(first, page.find("</section>", first) - first);
}

TEST_F(BenchPage, EveryStudyHasItsSection) {
    const auto page = page_of(full_record());
    struct Expected {
        const char* name;
        std::size_t plots;
        std::vector<const char*> words;
    };
    const std::vector<Expected> expected = {
        {"gravity.tree.links", 2, {"(V, G) = (4, 2)", "2.50 times", "4.00 times as fast", "1,080", "1,010", "<code>speedup</code>"}},
        {"gravity.tree.curve", 2, {"1.17", "1.23"}},
        {"gravity.tree.accuracy", 4, {"2⁻⁹", "47.6", "1.0\u00a0×\u00a010⁻³"}},  // 10 ms 2^(9/4)
        {"gravity.tree.m31",
         3,
         {"Figure 4", "19.0\u00a0ms", "10.9\u00a0ms", "25%", "GOTHIC, V100, delta 2⁻⁹", "33.0\u00a0ms", "20.6\u00a0ms or more", "0.500",
          "At a median error of 1.0\u00a0×\u00a010⁻³ quadrupoles need 6.67\u00a0ms, monopoles 7.11\u00a0ms"}},  // 4 ms 2^(9/4), 5 ms
                                                                                                                // 2^(9/8)
        {"gravity.tree.order", 0, {"<strong>2.50 times</strong> with leaves of 1"}},
        {"gravity.tree.steps", 0, {"6.25", "4,096", "10%", "25%", "the longest over 32", "75.0%"}},
        {"gravity.tree.techniques", 0, {"L2 30 MiB", "1.25", "lanes &lt;4&gt; &amp; more"}},
        {"gravity.tree.active", 2, {"2.1%"}},
        {"gravity.tree.scale", 2, {"134,217,728", "N^1.00", "150"}},
        {"sparse.triad", 0, {"32.0\u00a0GB/s", "1.60 times"}},
        {"sparse.solve",
         0,
         {"128³ cells", "1.25\u00a0s", "430 iterations", "88%", "1.50 times over one, 95%", "cm-rcm:2, &lt;reduced&gt;", "factor"}},
        {"sparse.solve.peer.eigen", 0, {"266 iterations", "16.0 times"}},
        {"sparse.solve.peer.cusparse", 0, {"no module"}},
        {"sparse.colors", 3, {"c-SELL, k 5", "75.0\u00a0ms", "0.625 times", "P100"}},
        {"sparse.formats", 3, {"C = <strong>32", "2.02 times", "cm-rcm:2, reduced, graph", "75%"}},
        {"lattice.dslash", 1, {"wilson, half-12: <strong>13,500", "62%", "clover, double-18"}},
        {"lattice.solver",
         3,
         {"nested-bicgstab, inner half-12</strong>: 62.5\u00a0ms", "4.00 times as fast as BiCGStab", "cg, inner half-12 takes",
          "reaches 16.0 times, at 1,048,576 sites"}},
        {"lattice.solver.light", 0, {"Time to 1e-10, thermalised", "takes at most 1.12 times as long as the fastest"}},
        {"lattice.scaling", 0, {"24x24x24x48, P 2: strong scaling <strong>0.500</strong>. "}},
        {"gravity.direct.scaling",
         5,
         {"Figure 7", "Table 2", "29.7\u00a0µs", "Figure 8", "Figure 9", "Figure 10", "<strong>2 workers at N = 8,192</strong>",
          "75% of the messages hidden", "4 workers (one-sided, copy) at N = 16,384", "N = 16,384: <strong>0.500</strong>",
          "N/P = 4,096: <strong>0.500</strong>, with 75% of the messages hidden",
          "The model of it is within 6.2% for one worker, within 6.2% for more", "The model of one-sided: fitted &lt;here&gt;"}},
        {"gravity.direct.simd", 0, {"single, equal masses"}},
        {"unheard.of", 0, {"a &lt;b&gt;", "some number"}},
    };
    for (const auto& [name, plots, words] : expected) {
        const auto text = section(page, name);
        std::size_t drawn = 0;
        for (auto at = text.find("<svg"); at != std::string::npos; at = text.find("<svg", at + 1)) ++drawn;
        EXPECT_EQ(drawn, plots) << name;
        for (const auto* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
        EXPECT_NE(text.find("<table>"), std::string::npos) << name;
    }
    EXPECT_EQ(page.find("http"), std::string::npos) << "a page fetches nothing";
}

TEST_F(BenchPage, ScalingFollowsFromTimes) {
    const auto text = section(page_of(full_record()), "gravity.direct.scaling");
    // The marks show their values: 2 workers at N = 2048, 4 workers at N/P = 1024, one worker at N = 1024 in TFLOPS of 26 flops.
    for (const char* words : {"2 workers: 0.800 at N 2,048", "4 workers: 0.500 at N / P 1,024", "1 worker: 0.0260 at N 1,024",
                              "2 workers: 5.00\u00a0×\u00a010⁻⁶ at launches 1<", "message: 1.00 to 3.00 ms", "own: 0 to 2.00 ms"})
        EXPECT_NE(text.find(words), std::string::npos) << words << " in " << text;
    // Measured marks have no line of their own where there is a model; 3 + 2 + 2 + 3 lines of the model, 3 + 2 + 2 of the paper's
    // equations.
    std::size_t lines = 0;
    for (auto at = text.find("class=\"curve"); at != std::string::npos; at = text.find("class=\"curve", at + 1)) ++lines;
    EXPECT_EQ(lines, 17U);
    // The times of one worker are 1 ns N^2: eq. 2 with one target at a time and without launches.
    EXPECT_NE(text.find("ceil(N/1) (N 1.00\u00a0ns + 0\u00a0µs), within 0.0%"), std::string::npos) << text;
    EXPECT_NE(text.find("not filled: 1.00 for 2 workers, 1.00 to 2.00 for 4 workers"), std::string::npos) << text;
}

TEST_F(BenchPage, SuperlinearWeakScalingIsNamed) {
    auto record = full_record();
    EXPECT_EQ(section(page_of(record), "gravity.direct.scaling").find("superlinear"), std::string::npos);
    for (auto& r : record["results"])
        if (r["case"] == "gravity.direct.scaling, one-sided, copy, P 4" && r["n"] == 8192) r["weak"] = 1.125;
    EXPECT_NE(section(page_of(record), "gravity.direct.scaling")
                  .find("Weak efficiency is above 1 at N/P = 2,048 (1.12, one-sided, copy, 4 workers), the superlinear region"),
              std::string::npos);
}

TEST_F(BenchPage, CountersAreDrawnWhereTheyWereCounted) {
    auto record = full_record();
    for (auto& r : record["results"]) r["divergence"] = 3, r["l1_hit_rate"] = 0.875;
    const auto page = page_of(record);
    for (const char* study : {"gravity.tree.links", "gravity.tree.curve"}) {
        EXPECT_NE(section(page, study).find("<h3>Hit rate of the L1 cache</h3>"), std::string::npos) << study;
        EXPECT_NE(section(page, study).find("answers 88% to 88%"), std::string::npos) << study;
    }
    EXPECT_NE(section(page, "gravity.tree.links").find("<h3>Divergence</h3>"), std::string::npos);
    EXPECT_NE(section(page, "gravity.tree.curve").find("<h3>Divergence</h3>"), std::string::npos);
}

TEST_F(BenchPage, HalvesOfRecordsAreDrawnAsFarAsTheyGo) {
    // Each row alone, and each row without its numbers: nothing may fail, and unknown numbers are not shown.
    const auto whole = full_record();
    auto bare = whole;
    for (auto& r : bare["results"])
        for (auto& [key, value] : r.items())
            if (value.is_number() && key != "n") value = nullptr;
    page_of(bare);
    for (std::size_t i = 0; i < whole["results"].size(); i += 7) {
        auto one = whole;
        one["results"] = ordered_json::array({whole["results"][i]});
        page_of(one);
    }
    auto none = whole;
    none["results"] = ordered_json::array();
    page_of(none);
    page_of({{"results", ordered_json::array()}});
}

TEST_F(BenchPage, RefusesBadRecords) {
    for (const char* text : {"", "[1, 2]", "{\"results\": 3}", "{\"results\": [{\"n\": 3}]}", "{\"results\": [4]}", "\xff\xfe"}) {
        write_file(directory / "bad.json", text);
        expect_bad_input(kasane({"bench", "--from", "bad.json", "--page", "page.html", "--json"}), {"bad.json"});
        EXPECT_FALSE(fs::exists(directory / "page.html"));
    }
    expect_bad_input(kasane({"bench", "--from", "absent.json", "--page", "page.html", "--json"}), {"absent.json"});
    expect_bad_input(kasane({"bench", "--from", "bad.json", "--json"}), {"--page"});
    expect_bad_input(kasane({"bench", "gravity", "--from", "bad.json", "--page", "p.html", "--json"}), {"--from"});
}

TEST_F(BenchPage, AStudyMakesItsPage) {
    const auto outcome = kasane(
        {"bench", "gravity.tree.scale", "--device", "cpu", "--threads", "1", "--n", "1000,2000", "--json", "r.json", "--page", "p.html"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto page = read_file(directory / "p.html");
    EXPECT_EQ(markup_problem(page, Dialect::html), "");
    const auto text = section(page, "gravity.tree.scale");
    EXPECT_NE(text.find("2,000 particles"), std::string::npos) << text;
    EXPECT_NE(text.find("<svg"), std::string::npos);
    const auto record = nlohmann::json::parse(read_file(directory / "r.json"));
    ASSERT_EQ(record["results"].size(), 2U);
    for (const auto& r : record["results"]) {
        // delta 2^-9 bounds the error of one cell by 1/512 of the force; many cells' errors add up at random and stay below that.
        EXPECT_LT(r["p99_error"], 1. / 512) << r;
        EXPECT_GT(r["median_error"], 1e-9) << "a tree of 1000 particles accepts cells: " << r;
    }
}

}  // namespace
}  // namespace kasane::test
