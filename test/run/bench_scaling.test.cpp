// gravity.direct.scaling, run small on the CPU: the record has what the figures of [MTM13] need, and its efficiencies follow from its own
// times. Speeds are not tested.
#include "command.hpp"
#include "report/markup.hpp"

#include <kasane/core/base/types.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace kasane::test {
namespace {

using nlohmann::json;

class BenchScaling : public CommandTest {};

/// Rows of one label, by n.
std::map<index_t, json> rows_of(const json& record, const std::string& label) {
    std::map<index_t, json> rows;
    for (const auto& row : record["results"])
        if (row["case"] == "gravity.direct.scaling, " + label) rows[row["n"].get<index_t>()] = row;
    return rows;
}

std::vector<index_t> sizes_of(const std::map<index_t, json>& rows) {
    std::vector<index_t> sizes;
    for (const auto& [n, row] : rows) sizes.push_back(n);
    return sizes;
}

/// Share of the time of "message" spans that overlaps others, summed over the intervals between all ends.
double share_hidden(const json& spans) {
    std::vector<double> ends;
    for (const auto& span : spans) ends.insert(ends.end(), {span[1].get<double>(), span[2].get<double>()});
    std::sort(ends.begin(), ends.end());
    double under = 0, messages = 0;
    for (std::size_t k = 1; k < ends.size(); ++k) {
        const double middle = 0.5 * (ends[k - 1] + ends[k]), length = ends[k] - ends[k - 1];
        const auto now = [&](bool message) {
            return std::count_if(spans.begin(), spans.end(), [&](const json& span) {
                return (span[0] == "message") == message && span[1].get<double>() < middle && middle < span[2].get<double>();
            });
        };
        messages += length * static_cast<double>(now(true));
        if (now(false) > 0) under += length * static_cast<double>(now(true));
    }
    return messages == 0 ? 1 : under / messages;
}

TEST_F(BenchScaling, TheRecordHasWhatTheFiguresNeed) {
    const auto outcome = kasane({"bench", "gravity.direct.scaling", "--device", "cpu", "--threads", "1", "--members", "2", "--n",
                                 "512,1024", "--json", "r.json", "--page", "p.html"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto record = json::parse(read_file(directory / "r.json"));

    // Figure 7 and table 2.
    for (const int workers : {1, 2}) {
        const auto rows = rows_of(record, "sync, P " + std::to_string(workers));
        ASSERT_EQ(rows.size(), 1U);
        const auto& row = rows.begin()->second;
        EXPECT_EQ(row["members"], workers);
        EXPECT_EQ(row["paper_t_sync"], workers == 1 ? 2.97e-5 : 7.84e-5);
        EXPECT_TRUE(std::isfinite(row["t_sync"].get<double>()) && std::isfinite(row["t_kernel"].get<double>())) << row;
        EXPECT_GE(row["launches"].size(), 3U);
        EXPECT_EQ(row["launches"].size(), row["launch_seconds"].size());
    }

    // Figures 8 to 10: each size, and what it is compared with.
    const auto one = rows_of(record, "one-sided, P 1"), two = rows_of(record, "one-sided, copy, P 2");
    ASSERT_EQ(sizes_of(one), (std::vector<index_t>{256, 512, 1024}));
    ASSERT_EQ(sizes_of(two), (std::vector<index_t>{512, 1024}));
    for (const auto* rows : {&one, &two})
        for (const auto& [n, row] : *rows) {
            const double seconds = row["seconds"], raw = row["seconds_raw"], pairs = static_cast<double>(n) * static_cast<double>(n);
            ASSERT_GT(seconds, 0) << row;
            EXPECT_NEAR(seconds, raw - row["t_sync"].get<double>() / row["calls"].get<double>(), 1e-9 * raw) << "[MTM13] section 5";
            EXPECT_NEAR(row["rate"].get<double>(), pairs / seconds, 1e-9 * pairs / seconds);
            // Pairs in float, 6e-8 each; at 100 times less than the sum of the sizes of its terms an acceleration has lost two digits.
            EXPECT_LT(row["error"], 1e-5) << row;
            EXPECT_GT(row["error"], 0) << "compared with itself? " << row;
            EXPECT_FALSE(row["both_sides"] == 1) << "the CPU has one-sided sums alone";
        }
    for (const auto& [n, row] : two) {
        const double seconds = row["seconds"], alone = one.at(n)["seconds"], half = one.at(n / 2)["seconds"];
        EXPECT_NEAR(row["strong"].get<double>(), alone / (2 * seconds), 1e-9 * alone / seconds);
        EXPECT_NEAR(row["weak"].get<double>(), 2 * half / seconds, 2e-9 * half / seconds);
        EXPECT_DOUBLE_EQ(row["bound"].get<double>(), 2 * one.at(n)["bound"].get<double>());
        EXPECT_EQ(row["messages"], 1) << "log2 2";
        EXPECT_GE(row["bytes"].get<double>(), 16. * static_cast<double>(n) / 2) << "half of the particles come, four floats each";
        EXPECT_NE(row["note"].get<std::string>().find("share a processor"), std::string::npos) << row;

        // The overlap is reported as it was measured.
        const auto& timeline = row["timeline"];
        ASSERT_EQ(timeline.size(), 2U) << row;
        double worst = 1;
        for (const auto& spans : timeline) {
            const auto messages = std::count_if(spans.begin(), spans.end(), [](const json& span) { return span[0] == "message"; });
            EXPECT_EQ(messages, 1) << spans;
            EXPECT_GT(spans.size(), 1U) << "and work: " << spans;
            worst = std::min(worst, share_hidden(spans));
        }
        EXPECT_NEAR(row["hidden"].get<double>(), worst, 1e-6) << timeline;
    }

    const auto page = read_file(directory / "p.html");
    EXPECT_EQ(markup_problem(page, Dialect::html), "");
    for (const char* drawn : {"Figure 7", "Table 2", "Figure 8", "Figure 9", "Figure 10", "2 workers at N = 1,024"})
        EXPECT_NE(page.find(drawn), std::string::npos) << drawn;
}

// With few particles the host's launches and messages take longer than the pairs: no larger size is predicted to be faster than the
// smallest one was. The page has the model and the equations of the paper.
TEST_F(BenchScaling, TheModelKnowsTheTimeOfTheHost) {
    const auto outcome = kasane({"bench", "gravity.direct.scaling", "--device", "cpu", "--threads", "1", "--members", "2", "--n",
                                 "64,128,256,512,1024,2048", "--json", "r.json", "--page", "p.html"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto record = json::parse(read_file(directory / "r.json"));
    const auto two = rows_of(record, "one-sided, copy, P 2");
    ASSERT_EQ(two.size(), 6U);
    for (const auto& [n, row] : two) {
        ASSERT_TRUE(row.contains("model_seconds")) << "seven times of one worker determine it: " << row;
        if (n > 64) {
            EXPECT_GE(row["model_seconds"].get<double>(), two.at(64)["seconds"].get<double>() * (1 - 1e-9)) << row;
        }
    }
    const auto page = read_file(directory / "p.html");
    for (const char* words : {"Dotted: the equations of the paper; eq. 2, fitted to one worker", "eqs. 6 and 7"})
        EXPECT_NE(page.find(words), std::string::npos) << words;
}

TEST_F(BenchScaling, RefusesBadNumbersOfWorkers) {
    expect_bad_input(kasane({"bench", "gravity.direct.scaling", "--device", "cpu", "--members", "0", "--n", "512", "--json"}),
                     {"--members"});
    expect_bad_input(kasane({"bench", "gravity.direct.scaling", "--device", "cpu", "--members", "two", "--n", "512", "--json"}),
                     {"--members"});
}

}  // namespace
}  // namespace kasane::test
