// `kasane predict` of lattices from records of `kasane bench lattice.scaling`: a record with known rates, and rows of four devices from
// those of two.
#include <kasane/run/gauge/predict_lattice.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <cmath>

namespace {

using namespace kasane;

const std::filesystem::path lattice_results = KASANE_SOURCE_DIR "/bench/results";

/// A record with times of the model: sites of a local lattice, bytes of a face's site, sums.
class PredictALattice : public test::CommandTest {
   protected:
    static constexpr double start = 5e-6, site = 1e-10, latency = 3e-6, byte = 2e-12, face_site = 52;
    static constexpr double vector_start = 4e-5, vector_site = 2e-10, sums = 2e-5;

    static double faces(const std::array<int, 4>& n, const std::array<int, 4>& grid) {
        const double own = 1. * n[0] * n[1] * n[2] * n[3] / (1. * grid[0] * grid[1] * grid[2] * grid[3]);
        double found = 0;
        for (std::size_t mu = 0; mu < 4; ++mu)
            if (grid[mu] > 1) found += own / (1. * n[mu] / grid[mu]);  // two faces, half of their sites
        return found;
    }
    static double hop(const std::array<int, 4>& n, const std::array<int, 4>& grid) {
        const int devices = grid[0] * grid[1] * grid[2] * grid[3];
        const double own = 1. * n[0] * n[1] * n[2] * n[3] / devices;
        return start + site * own + (devices > 1 ? latency + byte * face_site * faces(n, grid) : 0);
    }
    static double iteration(const std::array<int, 4>& n, const std::array<int, 4>& grid) {
        const int devices = grid[0] * grid[1] * grid[2] * grid[3];
        return 4 * hop(n, grid) + vector_start + vector_site * n[0] * n[1] * n[2] * n[3] / devices + sums * std::log2(devices);
    }
    static std::string ends(const std::array<int, 4>& n, int devices) {
        return "half-12, " + std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]) + "x" + std::to_string(n[3]) +
               ", P " + std::to_string(devices);
    }
    static void add(nlohmann::json& rows, const std::array<int, 4>& n, int devices) {
        const std::array<int, 4> grid{1, 1, 1, devices};
        const std::array<int, 4> local{n[0], n[1], n[2], n[3] / devices};
        rows.push_back({{"case", "lattice.scaling, hop, " + ends(n, devices)},
                        {"seconds", hop(n, grid)},
                        {"alone_seconds", hop(local, {1, 1, 1, 1})},
                        {"members", devices},
                        {"face_bytes", face_site * faces(n, grid)},
                        {"in_kernels", devices > 1 ? 1 : 0}});
        rows.push_back({{"case", "lattice.scaling, solve, inner " + ends(n, devices)},
                        {"seconds", 60 * iteration(n, grid)},
                        {"members", devices},
                        {"inner_iterations", 60}});
    }
    void record(const nlohmann::json& rows) const {
        test::write_file(directory / "record.json", nlohmann::json{{"machine", {{"name", "A device"}}}, {"results", rows}}.dump());
    }
    void known_record() const {
        auto rows = nlohmann::json::array();
        add(rows, {16, 16, 16, 16}, 1);
        add(rows, {32, 32, 32, 32}, 1);
        add(rows, {16, 16, 16, 32}, 2);
        add(rows, {32, 32, 32, 32}, 2);
        add(rows, {32, 32, 32, 32}, 4);
        record(rows);
    }
    void run_file(const std::string& extents, const std::string& problem = "quenched") const {
        test::write_file(directory / "run.toml", "[run]\nproblem = \"" + problem + "\"\ndevice = \"cpu\"\n[lattice]\nextents = " + extents +
                                                     "\n[action]\nbeta = 6.0\n[update]\nsweeps = 10\n[output]\ndirectory = \"out\"\n");
    }
    test::Outcome predict(const std::vector<std::string>& more) {
        std::vector<std::string> words{"predict", "run.toml", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return kasane(words);
    }
};

TEST_F(PredictALattice, HasTheRatesOfItsRecord) {
    known_record();
    run_file("[16, 16, 32, 64]");
    const auto outcome = predict({"--record", "record.json", "--gpus-per-rank", "16"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto p = outcome.json();
    EXPECT_EQ(p["device"], "A device");
    ASSERT_EQ(p["predictions"].size(), 2u);
    const std::array<int, 4> n{16, 16, 32, 64};
    for (const auto& part : p["predictions"]) {
        const bool whole = part["what"] == "iteration";
        EXPECT_EQ(part["storage"], "half-12");
        EXPECT_LT(part["fit_deviation"], 1e-9);
        ASSERT_EQ(part["devices"].size(), 5u);
        double one = 0, shortest = 1;
        int strong_end = 1, fastest = 1;
        for (const auto& row : part["devices"]) {
            const auto grid = row["grid"].get<std::array<int, 4>>();
            const double expected = whole ? iteration(n, grid) : hop(n, grid);
            const int devices = row["members"];
            if (devices == 1) one = expected;
            if (one / (devices * expected) >= 0.5 && devices == 2 * strong_end) strong_end = devices;
            if (expected < shortest) shortest = expected, fastest = devices;
            EXPECT_NEAR(row["seconds"]["expected"].get<double>() / expected, 1, 1e-9) << row;
            EXPECT_NEAR(row["strong_efficiency"], one / (devices * expected), 1e-9);
            const std::array<int, 4> local = row["local_extents"];
            EXPECT_NEAR(row["weak_efficiency"], (whole ? iteration(local, {1, 1, 1, 1}) : hop(local, {1, 1, 1, 1})) / expected, 1e-9);
            EXPECT_LT(row["seconds"]["low"], expected);
            EXPECT_GT(row["seconds"]["high"], expected);
            double parts = 0;
            for (const auto& [name, value] : row["parts"].items()) parts += value.get<double>();
            EXPECT_NEAR(parts / expected, 1, 1e-9);
        }
        EXPECT_EQ(part["devices"][0]["limit"], "interior");
        EXPECT_EQ(part["devices"][4]["limit"], whole ? "sums" : "latency") << part["devices"][4];
        EXPECT_EQ(part["strong_end"], strong_end);
        EXPECT_EQ(part["strong_ends"], strong_end < 16);
        EXPECT_EQ(part["fastest"], fastest);
        if (whole) {
            EXPECT_NEAR(part["terms"]["sums"], sums, 1e-12);
        } else {
            EXPECT_NEAR(part["terms"]["latency"], latency, 1e-12);
            EXPECT_NEAR(part["terms"]["bytes_per_second"].get<double>() * byte, 1, 1e-6);
        }
    }
    EXPECT_NE(p["doubts"].dump().find("at most 4 devices were measured"), std::string::npos) << p["doubts"];
    const auto text = kasane({"predict", "run.toml", "--record", "record.json"});
    ASSERT_EQ(text.status, 0) << text.err;
    EXPECT_NE(text.out.find("\n     64  "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("strong efficiency is at least 0.5 up to "), std::string::npos) << text.out;
}

/// Relative deviations of a model's hops from those of a record; @param measured  of local lattices with at least these sites alone
double largest_hop_deviation(const run::LatticeRecord& from, const run::LatticeRecord& to, bool measured) {
    double largest = 0;
    for (const auto& [storage, rows] : to.hops) {
        const lattice::HopModel model(from.hops.at(storage));
        for (const auto& row : rows)
            if (!measured || static_cast<double>(row.grid.local().volume()) >= model.fewest_sites())
                largest = std::max(largest, std::abs(model.time(row.grid).total() / row.seconds - 1));
    }
    return largest;
}

// Measured: 7.9% for 32^3 x 128 on two devices in half, 15.8% for 24^3 x 48 on four, whose local lattices are half the smallest of two.
TEST_F(PredictALattice, HasTheTimesOfFourDevicesFromThoseOfTwo) {
    const auto two = run::read_lattice_record(lattice_results / "h200-x2/2026-11-26-lattice-scaling.json");
    const auto four = run::read_lattice_record(lattice_results / "h200-x4/2026-11-26-lattice-scaling.json");
    EXPECT_EQ(two.hops.size(), 3u);
    EXPECT_EQ(four.hops.size(), 3u);
    EXPECT_LT(largest_hop_deviation(two, two, false), 0.025);
    EXPECT_LT(largest_hop_deviation(four, four, false), 0.045);
    EXPECT_LT(largest_hop_deviation(two, four, true), 0.08);
    EXPECT_LT(largest_hop_deviation(two, four, false), 0.16);
    for (const auto& [storage, rows] : four.hops)
        for (const auto& row : rows) {
            const auto predicted = run::predict_lattice(row.grid.lattice(), two, row.grid.size());
            for (const auto& part : predicted.parts) {
                if (part.iteration || part.storage != storage) continue;
                EXPECT_EQ(part.times.back().grid.shape(), row.grid.shape());
                EXPECT_LT(part.times.back().low, row.seconds) << storage << " " << row.grid.text();
                EXPECT_GT(part.times.back().high, row.seconds) << storage << " " << row.grid.text();
            }
        }
}

// Measured: 9.2% in single, 6.8% in half.
TEST_F(PredictALattice, IsCloseToASolveOutsideTheFit) {
    const auto record = run::read_lattice_record(lattice_results / "h200-x2/2026-11-26-lattice-scaling.json");
    EXPECT_EQ(record.solves.size(), 2u);
    for (const auto& [storage, rows] : record.solves) {
        const lattice::HopModel hop(record.hops.at(storage));
        EXPECT_LT(lattice::IterationModel(hop, rows).largest(), 0.035) << storage;
        auto fitted = rows;
        std::erase_if(fitted, [](const auto& row) { return row.grid.size() == 2 && row.grid.lattice()[0] == 24; });
        ASSERT_EQ(fitted.size() + 1, rows.size());
        const lattice::IterationModel model(hop, fitted);
        for (const auto& row : rows) EXPECT_NEAR(model.time(row.grid).total() / row.seconds, 1, 0.1) << storage << " " << row.grid.text();
    }
}

TEST_F(PredictALattice, RefusesWhatItDoesNotPredict) {
    known_record();
    run_file("[8, 8, 8, 8]");
    test::expect_bad_input(predict({}), {"run.toml", "--record", "lattice.scaling"});
    test::expect_bad_input(predict({"--record", "absent.json"}), {"absent.json", "cannot be read"});
    test::expect_bad_input(predict({"--record", "record.json", "--gpus-per-rank", "3"}), {"lattice.extents", "3 workers", "1, 2, 4"});
    test::expect_bad_input(predict({"--record", "record.json", "--ranks", "2"}), {"--ranks", "--gpus-per-rank"});
    EXPECT_EQ(predict({"--record", "record.json", "--gpus-per-rank", "4"}).status, 0);
    run_file("[7, 8, 8, 8]");
    test::expect_bad_input(predict({"--record", "record.json"}), {"lattice.extents", "even"});
    run_file("[8, 8, 8, 8]");
    const auto refused = [&](const std::filesystem::path& record, const std::vector<std::string>& words) {
        test::expect_bad_input(predict({"--record", record.string()}), words);
    };
    refused(lattice_results / "h200-x4/2026-11-26-tree-scaling.json", {"tree-scaling.json", "no hops", "lattice.scaling"});
    refused(lattice_results / "h100-x2/2026-11-24-lattice-scaling.json", {"exchange messages", "one rank"});
    test::write_file(directory / "bad.json", "{\"results\": [{\"case\": \"lattice.scaling, hop, half-12, 8x8x8x8, P 1\"}]}");
    refused("bad.json", {"bad.json", "not a record"});
    test::write_file(directory / "bad.json",
                     "{\"results\": [{\"case\": \"lattice.scaling, hop, half-12, 8x8x8, P 1\", \"members\": 1, \"seconds\": 1}]}");
    refused("bad.json", {"bad.json", "unreadable row"});
    auto rows = nlohmann::json::array();
    add(rows, {16, 16, 16, 16}, 1);
    record(rows);
    refused("record.json", {"record.json", "several devices"});
    rows.clear();
    add(rows, {16, 16, 16, 16}, 1);
    add(rows, {16, 16, 16, 32}, 2);
    std::erase_if(rows.get_ref<nlohmann::json::array_t&>(), [](const auto& row) { return row.contains("inner_iterations"); });
    record(rows);
    const auto hops = predict({"--record", "record.json"});
    ASSERT_EQ(hops.status, 0) << hops.err;
    EXPECT_EQ(hops.json()["predictions"].size(), 1u);
    EXPECT_NE(hops.json()["doubts"].dump().find("no solves"), std::string::npos);
}

}  // namespace
