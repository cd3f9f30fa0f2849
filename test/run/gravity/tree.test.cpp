// Runs by the tree code and with steps of their own, as a user drives them: what they write, and how good it is.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;
using json = nlohmann::json;

class TreeRun : public test::CommandTest {
   protected:
    /// energy.csv by column.
    std::map<std::string, std::vector<double>> table(const std::string& name) {
        std::ifstream file(directory / name / "energy.csv");
        std::map<std::string, std::vector<double>> columns;
        std::vector<std::string> names;
        std::string line, field;
        std::getline(file, line);
        for (std::istringstream header(line); std::getline(header, field, ',');) names.push_back(field);
        while (std::getline(file, line)) {
            std::istringstream row(line);
            for (const auto& column : names) std::getline(row, field, ','), columns[column].push_back(std::stod(field));
        }
        return columns;
    }
    json record(const std::string& name) { return json::parse(read_file(directory / name / "record.json")); }
};

TEST_F(TreeRun, BlockStepsWriteTheirCostAndTheForceErrors) {
    tree_run(1025);
    const auto outcome = kasane({"run", "tree.toml", "--json", "--set", "output.report=true"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["steps"], 20) << "times dt_max";
    // eta = 0.5 is what the field runs with; the error of a second-order scheme at it stays well below a part in 500.
    EXPECT_LT(outcome.json()["relative_energy_error"], 2e-3);

    const auto r = record("out");
    EXPECT_EQ(r["force"]["method"], "tree");
    EXPECT_EQ(r["force"]["variant"], "lists");
    EXPECT_EQ(r["force"]["mac"], json::parse(R"({"name": "acceleration", "delta": 0.001953125})"));
    EXPECT_EQ(r["force"]["leaf_size"], 32);
    EXPECT_EQ(r["force"]["tuning"]["many_targets"]["group"], 0) << "deterministic";
    EXPECT_EQ(r["force"]["tuning"]["few_targets"]["decided"], false);
    EXPECT_EQ(r["step"]["method"], "block");
    EXPECT_EQ(r["step"]["dt_max"], 0.03125);
    EXPECT_EQ(r["step"]["eta"], 0.5);
    EXPECT_EQ(r["dt"], 0.03125);
    for (const char* part : {"walk", "moments", "tree", "step", "potential", "diagnostics", "audit"})
        EXPECT_GT(r["timers"][part]["calls"], 0) << part;
    EXPECT_GT(r["rate"], 0);
    EXPECT_TRUE(r["bound"].is_null());
    const auto& counts = r["step_counts"];
    const std::vector<std::int64_t> levels = counts["levels"];
    EXPECT_EQ(std::accumulate(levels.begin(), levels.end(), std::int64_t{0}), 1025);
    EXPECT_GT(counts["rebuilds"], 1);
    EXPECT_EQ(outcome.json()["block_steps"], counts["block_steps"]);

    const auto energy = table("out");
    ASSERT_EQ(energy.at("time").size(), 11u);
    for (std::size_t i = 0; i < 11; ++i) {
        EXPECT_EQ(energy.at("step")[i], 2.0 * static_cast<double>(i));
        // The first term that a cell leaves out is below 2^-9 of the acceleration; a few dozen cells of either sign add up to less.
        EXPECT_LT(energy.at("force_error_median")[i], 1. / 512);
        EXPECT_LT(energy.at("force_error_max")[i], 0.05);
        EXPECT_GT(energy.at("force_error_median")[i], 0);
    }
    EXPECT_EQ(energy.at("block_steps").back(), counts["block_steps"]);
    EXPECT_EQ(energy.at("updates").back(), counts["updates"]);
    EXPECT_GT(energy.at("block_steps").back(), 20);
    EXPECT_LT(energy.at("active_fraction").back(), 1);
    EXPECT_DOUBLE_EQ(energy.at("active_fraction").back(), energy.at("updates").back() / energy.at("block_steps").back() / 1025);
    EXPECT_EQ(energy.at("updates")[0], 0);

    const auto snapshot = gravity::read_snapshot(directory / "out/snapshots/snapshot_0004.hdf5");
    EXPECT_EQ(snapshot.time, 0.625);
    EXPECT_EQ(snapshot.force_error.count, 256);
    EXPECT_EQ(snapshot.force_error.max, energy.at("force_error_max").back());
    for (std::size_t i = 0; i < 1025; ++i) ASSERT_EQ(snapshot.particles.id[i], i + 1) << "in the order given, whatever the tree's";

    const auto report = read_file(directory / "out/report.html");
    for (const char* word : {"<h3>Force error</h3>", "<h2>Time steps</h2>", "walk: forces from the tree", "block steps",
                             "moments of the cells", "acceleration criterion, delta = 0.001953"})
        EXPECT_NE(report.find(word), std::string::npos) << word;
}

TEST_F(TreeRun, SharedStepsAndConstantOnes) {
    tree_run(257, "adaptive");
    ASSERT_EQ(kasane({"run", "tree.toml", "--quiet", "--set", "output.report=true"}).status, 0);
    EXPECT_EQ(table("out").at("active_fraction").back(), 1);
    EXPECT_GE(table("out").at("block_steps").back(), 20);
    EXPECT_NE(read_file(directory / "out/report.html").find("share one time step"), std::string::npos);

    small_run();
    ASSERT_EQ(
        kasane({"run", "small.toml", "-o", "constant", "--set", "force.method=tree", "--set", "output.report=true", "--quiet"}).status, 0);
    EXPECT_EQ(record("constant")["force"]["method"], "tree");
    EXPECT_EQ(table("constant").at("block_steps").back(), 40);
    EXPECT_EQ(read_file(directory / "constant/report.html").find("<h2>Time steps</h2>"), std::string::npos);
}

TEST_F(TreeRun, BlockStepsOfDirectSummation) {
    small_run();
    auto text = read_file(directory / "small.toml");
    text.replace(text.find("dt = 0.015625"), 13, "method = 'block'\ndt_max = 0.03125");
    test::write_file(directory / "small.toml", text);
    const auto outcome = kasane({"run", "small.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_LT(outcome.json()["relative_energy_error"], 2e-3);
    EXPECT_EQ(record("out")["force"]["method"], "direct");
    EXPECT_LT(table("out").at("active_fraction").back(), 1);
    EXPECT_LT(table("out").at("force_error_max").back(), 1e-4) << "pairs in single precision";
}

TEST_F(TreeRun, ZeroSofteningWithBlockStepsWorksAndIsNoted) {
    tree_run(257);
    const std::vector<std::string> settings{"--set", "force.softening=0", "--set", "step.eta=0.05"};
    std::vector<std::string> check{"check", "tree.toml"}, run{"run", "tree.toml"};
    for (auto* arguments : {&check, &run}) arguments->insert(arguments->end(), settings.begin(), settings.end());
    for (const char* word : {"softening is 0", "half-mass radius", "dt_max / 2^24"})
        EXPECT_NE(kasane(check).out.find(word), std::string::npos) << word;
    const auto outcome = kasane(run);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(read_file(directory / "out/log.txt").find("softening is 0"), std::string::npos);

    run.insert(run.end(), {"--set", "step.length=0.01", "-o", "given"});
    ASSERT_EQ(kasane(run).status, 0);
    EXPECT_NE(read_file(directory / "given/log.txt").find("step.length = 0.01"), std::string::npos);
}

TEST_F(TreeRun, CheckResolvesTheKeys) {
    tree_run();
    auto outcome = kasane({"check", "tree.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    auto result = outcome.json();
    EXPECT_EQ(result["steps"], 20);
    const std::string resolved = result["resolved"];
    for (const char* line :
         {"method = \"tree\"", "mac = \"acceleration\"", "delta = 0.001953125", "leaf_size = 32", "curve = \"hilbert\"", "walk = \"auto\"",
          "method = \"block\"", "eta = 0.5", "criterion = \"velocity-and-acceleration\"", "deepest = 24", "audit = 256"})
        EXPECT_NE(resolved.find(line), std::string::npos) << line << "\n" << resolved;
    EXPECT_EQ(resolved.find("theta"), std::string::npos);
    EXPECT_GT(result["memory"]["host_bytes"], 257 * 100);
    const auto papers = result["papers"].dump();
    for (const char* paper : {"Barnes", "OMBMN12", "GOTHIC", "Miki21", "Hilbert"})
        EXPECT_NE(papers.find(paper), std::string::npos) << paper;
    for (const char* paper : {"Warren", "MTM13"}) EXPECT_EQ(papers.find(paper), std::string::npos) << paper;
    EXPECT_TRUE(result["notes"].empty());
    const auto odd = kasane({"check", "tree.toml", "--json", "--set", "run.until=0.61"}).json()["notes"];
    ASSERT_EQ(odd.size(), 1U);
    EXPECT_NE(odd[0].get<std::string>().find("ends at 0.625"), std::string::npos) << odd;

    tree_run(257, "block", "mac = \"multipole\"\nerror = 1e-3\ncurve = \"morton\"\n");
    const auto warren = kasane({"check", "tree.toml", "--json"}).json()["papers"].dump();
    EXPECT_NE(warren.find("Warren"), std::string::npos);
    EXPECT_EQ(warren.find("Hilbert"), std::string::npos);
    tree_run(257, "block", "walk = \"links\"\nvector = 2\n");
    EXPECT_NE(kasane({"check", "tree.toml"}).out.find("vector = 2"), std::string::npos);
}

TEST_F(TreeRun, TheResolvedFileRunsToTheSameBits) {
    tree_run();
    ASSERT_EQ(kasane({"run", "tree.toml", "--quiet"}).status, 0);
    const auto again = kasane({"run", "out/run.toml", "-o", "again", "--quiet"});
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(read_file(directory / "again/energy.csv"), read_file(directory / "out/energy.csv"));
}

TEST_F(TreeRun, ForcesOfASnapshotImproveWithEveryCriterion) {
    tree_run(2049);
    ASSERT_EQ(kasane({"sample", "tree.toml", "-o", "s.hdf5"}).status, 0);
    const auto forces = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"forces", "s.hdf5", "-o", "f.hdf5", "--force", "--method", "tree", "--softening", "0.02",
                                         "--device", "cpu", "--audit", "512", "--json"});
        const auto outcome = kasane(options);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.json();
    };
    const auto plain = forces({});
    EXPECT_EQ(plain["n"], 2049);
    EXPECT_EQ(plain["method"], "tree");
    EXPECT_EQ(plain["variant"], "lists");
    EXPECT_GT(plain["seconds"], 0);
    EXPECT_GT(plain["interactions"], 2049);
    EXPECT_LT(plain["interactions"], 2049.0 * 2049);
    EXPECT_EQ(plain["audit"]["count"], 512);
    EXPECT_LT(plain["audit"]["median"], 1. / 512);
    EXPECT_LE(plain["audit"]["median"], plain["audit"]["p99"]);
    EXPECT_LE(plain["audit"]["p99"], plain["audit"]["max"]);
    const auto snapshot = gravity::read_snapshot(directory / "s.hdf5").particles;
    const auto file = hdf5::File::open(directory / "f.hdf5");
    EXPECT_EQ(file.read<std::uint64_t>("/ParticleIDs"), snapshot.id);
    EXPECT_EQ(file.read<Vec3<double>>("/Acceleration").size(), 2049u);
    EXPECT_EQ(file.read<double>("/Potential").size(), 2049u);

    // Half the particles' acceleration in a Plummer sphere is above 0.1 GM/a^2: these errors are fine and coarse ones of a cell.
    const std::vector<std::pair<std::string, std::vector<std::string>>> rows{
        {"--theta", {"1", "0.5", "0.25"}}, {"--delta", {"0.03", "0.002", "1e-4"}}, {"--error", {"1e-1", "1e-2", "1e-3"}}};
    for (const auto& [option, values] : rows)
        for (const char* multipole : {"monopole", "quadrupole"}) {
            double before = 1;
            for (const auto& value : values) {
                const double median = forces({option, value, "--multipole", multipole})["audit"]["median"];
                EXPECT_LT(median, before) << option << " " << value << " " << multipole;
                before = median;
            }
        }
    // A cell leaves out less than 2^-9 of the acceleration, and several do; a group that decides together opens more than it must.
    for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
             {"--walk", "links"}, {"--walk", "links", "--vector", "1", "--group", "1"}, {"--leaf-size", "4"}, {"--curve", "morton"}})
        EXPECT_LT(forces(options)["audit"]["median"], 2. / 512) << "the criterion holds whatever the walk";
}

}  // namespace
