// Every example passes `check` as it stands and runs when cut short, so that none of them rots.
#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

std::vector<std::string> examples() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(KASANE_SOURCE_DIR) / "examples"))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

class Example : public test::CommandTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(Example, ChecksAndRunsCutShort) {
    const auto path = (fs::path(KASANE_SOURCE_DIR) / "examples" / (GetParam() + ".toml")).string();
    std::vector<std::string> settings;
    if (test::read_file(path).find("problem = \"poisson\"") != std::string::npos) {
        const auto check = kasane({"check", path, "--json"});
        ASSERT_EQ(check.status, 0) << check.err;
        EXPECT_TRUE(check.json()["unused_keys"].empty()) << check.json()["unused_keys"];
        EXPECT_FALSE(check.json()["title"].get<std::string>().empty());
        const auto run = kasane({"run", path, "-o", "out", "--json", "--threads", "1", "--set", "solver.rtol=1e-3"});
        ASSERT_EQ(run.status, 0) << run.err;
        for (const char* name : {"report.html", "solution.hdf5", "solution.xmf"}) EXPECT_TRUE(fs::exists(directory / "out" / name)) << name;
        return;
    }
    if (test::read_file(path).find("problem = \"quenched\"") != std::string::npos) {
        const auto check = kasane({"check", path, "--json"});
        ASSERT_EQ(check.status, 0) << check.err;
        EXPECT_TRUE(check.json()["unused_keys"].empty()) << check.json()["unused_keys"];
        EXPECT_FALSE(check.json()["title"].get<std::string>().empty());
        const auto run = kasane({"run", path, "-o", "out", "--json", "--set", "update.sweeps=2", "--set", "update.thermalisation=0", "--set",
                                 "output.every=1"});
        ASSERT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.json()["steps"], 2);
        EXPECT_EQ(run.json()["configurations"], 3);
        EXPECT_TRUE(fs::exists(directory / "out/report.html"));
        return;
    }
    if (test::read_file(path).find("\nfile ") != std::string::npos) {
        // The file that this example wants is not the project's to ship: a small one stands in.
        test::write_file(directory / "model.toml", "model = 'hernquist'\ncount = 100\nmass = 100\nscale = 5\n");
        ASSERT_EQ(kasane({"sample", "model.toml", "-o", "start.hdf5"}).status, 0);
        settings = {"--set", "initial.file=start.hdf5"};
    }
    if (test::read_file(path).find("../models/") != std::string::npos)
        settings = {"--set", "object.0.count=1024", "--set", "object.1.count=1024"};  // whole galaxies take a minute
    std::vector<std::string> arguments{"check", path, "--json"};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    const auto check = kasane(arguments);
    ASSERT_EQ(check.status, 0) << check.err;
    const auto full = check.json();
    EXPECT_TRUE(full["unused_keys"].empty()) << full["unused_keys"];
    EXPECT_FALSE(full["title"].get<std::string>().empty());

    // Two steps of what the file says: until is cut to two dt (or dt_max), and the intervals with it.
    const auto resolved = full["resolved"].get<std::string>();
    const auto value = [&](const std::string& key) {
        const auto at = resolved.find("\n" + key + " = ");
        EXPECT_NE(at, std::string::npos) << key;
        return std::stod(resolved.substr(at + key.size() + 4));
    };
    const bool constant = resolved.find("\ndt_max = ") == std::string::npos;
    const auto dt = value(constant ? "dt" : "dt_max");
    arguments = {"run", path, "-o", "out", "--json"};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    for (const auto& [key, time] : {std::pair{"run.until", 2 * dt}, {"output.snapshot_every", dt}, {"output.diagnostics_every", dt}})
        arguments.insert(arguments.end(), {"--set", std::string(key) + "=" + nlohmann::json(time).dump()});
    const auto run = kasane(arguments);
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.json()["steps"], 2);
    EXPECT_TRUE(fs::exists(directory / "out/report.html"));
    EXPECT_TRUE(fs::exists(directory / "out/snapshots/snapshot_0002.hdf5"));
}

INSTANTIATE_TEST_SUITE_P(All, Example, ::testing::ValuesIn(examples()), [](const auto& each) {
    auto name = each.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
