// Studies of the tree code, run small on the CPU, and the script that adds the counters of a profiler to their record. Speeds are not
// tested.
#include "command.hpp"
#include "report/markup.hpp"

#include <cmath>
#include <map>

namespace kasane::test {
namespace {

using nlohmann::json;

class BenchTree : public CommandTest {
   protected:
    json record_of(const std::string& file) { return json::parse(read_file(directory / file)); }

    /// Runs bench/gravity/l1_hit_rate.py.
    Outcome l1_hit_rate(std::vector<std::string> arguments) {
        const auto script = (fs::path(KASANE_SOURCE_DIR) / "bench" / "gravity" / "l1_hit_rate.py").string();
        return Process(directory, std::move(arguments), {}, {"/usr/bin/python3", script}).wait();
    }

    /// A table as ncu prints it, with the units in its second line and its own messages before.
    void write_table(const std::vector<double>& hit_rates, const std::string& kernel = "void walk<(int)4, 0, 0, 0>(WalkJob)") {
        std::string text =
            "==PROF== Connected to process 7\n"
            "\"ID\",\"Kernel Name\",\"l1tex__t_sector_hit_rate.pct\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum\","
            "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum\","
            "\"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum\",\"l1tex__t_sectors.sum\",\"lts__t_sector_hit_rate.pct\","
            "\"launch__registers_per_thread\",\"sm__warps_active.avg.pct_of_peak_sustained_active\"\n"
            "\"\",\"\",\"%\",\"sector\",\"sector\",\"sector\",\"sector\",\"sector\",\"%\",\"register/thread\",\"%\"\n";
        for (const double rate : hit_rates)
            text += "\"0\",\"" + kernel + "\",\"" + std::to_string(rate) +
                    "\",\"3,000\",\"4,000\",\"300\",\"200\",\"5,000\",\"80\",\"61\",\"33.3\"\n";
        write_file(directory / "ncu.csv", text);
    }
};

TEST_F(BenchTree, AnErrorThatIsNotMeasuredIsNotZero) {
    const auto outcome =
        kasane({"bench", "gravity.tree.cube", "--device", "cpu", "--threads", "1", "--n", "1000", "--json", "r.json", "--page", "p.html"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find("0.0e+00"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("–"), std::string::npos) << outcome.out;
    for (const auto& row : record_of("r.json")["results"]) {
        const auto name = row["case"].get<std::string>();
        if (name.ends_with("moments") || name.ends_with("active")) {
            EXPECT_TRUE(row["error"].is_null()) << row;
        } else {
            EXPECT_GT(row["error"], 0) << row;
        }
    }
    EXPECT_NE(read_file(directory / "p.html").find("<td>–</td>"), std::string::npos);
}

TEST_F(BenchTree, M31FollowsDelta) {
    const auto outcome =
        kasane({"bench", "gravity.tree.m31", "--device", "cpu", "--threads", "1", "--quick", "--json", "r.json", "--page", "p.html"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = record_of("r.json")["results"];
    ASSERT_EQ(rows.size(), 10U) << "five values, two orders";
    std::map<std::string, double> last;
    for (const auto& row : rows) {
        const auto name = row["case"].get<std::string>();
        const auto order = name.substr(18, name.find(", delta") - 18);
        const double median = row["median_error"], steps = row["block_steps"], n = row["n"];
        EXPECT_GT(median, 0) << "compared with itself? " << row;
        if (last.contains(order)) {
            EXPECT_LT(median, last[order]) << "2^-5 of the error allowed for a cell: " << row;
        }
        last[order] = median;
        EXPECT_LT(median, row["p99_error"]) << row;
        EXPECT_NEAR(row["seconds"].get<double>() * steps, row["total_seconds"].get<double>(), 1e-9 * row["total_seconds"].get<double>());
        EXPECT_GT(steps, 8) << "the fastest particles of M31 take many steps in a longest one: " << row;
        EXPECT_LT(row["updates"], n) << "not all particles are due at every step: " << row;
        EXPECT_GE(row["updates"].get<double>() * steps, n) << "and each at least once";
        double levels = 0;
        for (const auto& [key, value] : row.items())
            if (key.starts_with("level_")) levels += value.get<double>();
        EXPECT_NEAR(levels, 1, 1e-12) << row;
    }
    EXPECT_LT(last["monopole"], 1e-6) << "2^-20 of 1: float has 6e-8";
    EXPECT_LT(last["quadrupole"], 1e-6);
    // Disk and bulge beside the halo: the particles have the softening of models/m31.toml.
    EXPECT_EQ(rows[0]["softening"], 1. / 64);
    const auto page = read_file(directory / "p.html");
    EXPECT_EQ(markup_problem(page, Dialect::html), "");
    for (const char* words : {"Figure 4", "against the force error", "Force errors"})
        EXPECT_NE(page.find(words), std::string::npos) << words;
    EXPECT_EQ(page.find("GOTHIC, V100"), std::string::npos) << "its time is that of 8,388,608 particles";
}

TEST_F(BenchTree, ScalingComparesNumbersOfWorkers) {
    const auto outcome = kasane({"bench", "gravity.tree.scaling", "--device", "cpu", "--threads", "1", "--members", "2", "--n", "1024",
                                 "--quick", "--json", "r.json", "--page", "p.html"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto page = read_file(directory / "p.html");
    for (const char* figure : {"Parts of steps of all particles, 1,024 particles for each worker", "Parts of block steps, 2,048 particles"})
        EXPECT_NE(page.find(figure), std::string::npos) << figure;
    std::map<std::string, std::map<int, json>> rows;  // by name and n
    const auto results = record_of("r.json")["results"];
    for (const auto& row : results) rows[row["case"].get<std::string>()][row["n"].get<int>()] = row;
    ASSERT_EQ(rows.size(), 4U) << "two methods, 1 and 2 workers";
    for (const std::string method : {"all", "block"}) {
        auto& one = rows["gravity.tree.scaling, " + method + ", P 1"];
        auto& two = rows["gravity.tree.scaling, " + method + ", P 2"];
        ASSERT_EQ(one.size(), 2U);
        ASSERT_EQ(two.size(), 1U) << "twice 1024 is the size of both comparisons";
        const double seconds = two[2048]["seconds"];
        EXPECT_NEAR(two[2048]["strong"], one[2048]["seconds"].get<double>() / (2 * seconds), 1e-9);
        EXPECT_NEAR(two[2048]["weak"], one[1024]["seconds"].get<double>() / seconds, 1e-9);
        for (const auto& row : {one[1024], one[2048], two[2048]}) {
            EXPECT_GT(row["block_steps"], method == "all" ? 1 : 3) << row;
            EXPECT_GT(row["median_error"], 0) << row;
            EXPECT_LT(row["median_error"], 1e-3) << row;
            EXPECT_GE(row["imbalance"], 1) << row;
            EXPECT_LE(row["updates"], 1) << row;
        }
        EXPECT_EQ(one[2048]["received_bytes"], 0);
        EXPECT_GT(two[2048]["received_bytes"], 0);
        EXPECT_LT(two[2048]["imbalance"], 1.3);
    }
}

TEST_F(BenchTree, AStoppedBenchmarkLeavesItsRows) {
    auto process = start({"bench", "gravity.tree.m31", "--device", "cpu", "--threads", "1", "--n", "2048,4096", "--json", "r.json"});
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "r.json"); }));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().status, 1000 + SIGKILL);
    const auto record = record_of("r.json");
    EXPECT_GE(record["results"].size(), 1U);
    EXPECT_LT(record["results"].size(), 84U) << "it was stopped before its end";
    EXPECT_EQ(record["results"][0]["case"], "gravity.tree.m31, monopole, delta 2^0");
}

TEST_F(BenchTree, OrderOfTargetsChangesNoForce) {
    const auto outcome = kasane(
        {"bench", "gravity.tree.order", "gravity.tree.links", "--device", "cpu", "--threads", "1", "--n", "2000", "--json", "r.json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::map<std::string, json> rows;
    const auto record = record_of("r.json");
    for (const auto& row : record["results"]) rows[row["case"].get<std::string>()] = row;
    EXPECT_EQ(rows.size(), 4U + 34U);
    for (const std::string leaf : {"leaf 1", "leaf 32"}) {
        const auto sorted = rows.at("gravity.tree.order, sorted, " + leaf), shuffled = rows.at("gravity.tree.order, random, " + leaf);
        for (const char* key : {"interactions", "tests", "median_error", "p99_error"}) EXPECT_EQ(sorted[key], shuffled[key]) << key;
    }
    // Cells are divided down to one particle: a target has itself alone as a body.
    EXPECT_EQ(rows.at("gravity.tree.links, leaf 1, V 1, G 1")["bodies"], 1);
    EXPECT_GT(rows.at("gravity.tree.links, V 1, G 1")["bodies"], 32);
}

TEST_F(BenchTree, CountersOfAProfilerJoinTheRecord) {
    if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "/usr/bin/python3 is not there: apt-get install python3";
    ASSERT_EQ(kasane({"bench", "gravity.tree.order", "--device", "cpu", "--threads", "1", "--n", "300", "--json", "r.json"}).status, 0);
    std::vector<double> rates;
    for (int k = 0; k < 4; ++k) rates.push_back(70 + k);
    write_table(rates);
    const auto outcome = l1_hit_rate({"--profile", "ncu.csv", "--record", "r.json", "-o", "l1.json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = record_of("l1.json")["results"], before = record_of("r.json")["results"];
    ASSERT_EQ(rows.size(), before.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        EXPECT_NEAR(rows[k]["l1_hit_rate"].get<double>(), 0.7 + 0.01 * static_cast<double>(k), 1e-9);
        EXPECT_EQ(rows[k]["l1_global_hit_rate"], 0.75);
        EXPECT_EQ(rows[k]["l1_local_share"], 0.1);
        EXPECT_EQ(rows[k]["registers"], 61);
        for (const auto& [key, value] : before[k].items()) EXPECT_EQ(rows[k][key], value) << key;
    }
    ASSERT_EQ(kasane({"bench", "--from", "l1.json", "--page", "p.html"}).status, 0);
    const auto page = read_file(directory / "p.html");
    EXPECT_EQ(markup_problem(page, Dialect::html), "");
    EXPECT_NE(page.find("The L1 cache answers 70% to 73% of the requests"), std::string::npos) << page;

    // A table of another run, other kernels, no ncu: said, and nothing is written.
    fs::remove(directory / "l1.json");
    const auto refused = [&](const std::vector<std::string>& arguments, const std::string& words) {
        const auto bad = l1_hit_rate(arguments);
        EXPECT_EQ(bad.status, 2) << bad.err;
        EXPECT_NE(bad.err.find(words), std::string::npos) << bad.err;
        EXPECT_FALSE(fs::exists(directory / "l1.json"));
    };
    const std::vector<std::string> read{"--profile", "ncu.csv", "--record", "r.json", "-o", "l1.json"};
    write_table({70, 71});
    refused(read, "recorded 2 walks and the record has 4 rows");
    write_table(rates, "void place(Body*)");
    refused(read, "a walk was expected");
    write_file(directory / "ncu.csv", "==PROF== Disconnected\n");
    refused(read, "no kernel was recorded");
    refused({"--profile", "ncu.csv", "-o", "l1.json"}, "--record");
    refused({KASANE_COMMAND, "--ncu", "no/such/ncu", "-o", "l1.json"}, "no/such/ncu was not found");
    refused({KASANE_COMMAND, "--ncu", "/bin/false", "-o", "l1.json"}, "ncu ended with status 1");
}

}  // namespace
}  // namespace kasane::test
