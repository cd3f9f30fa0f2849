// Every example passes `check` as it stands and runs when cut short, so that none of them rots.
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>
#include <cmath>

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

class FirstPicture : public test::CommandTest {};
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
        const auto run = kasane({"run", path, "-o", "out", "--json", "--set", "update.sweeps=2", "--set", "update.thermalisation=0",
                                 "--set", "output.every=1"});
        ASSERT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.json()["steps"], 2);
        EXPECT_EQ(run.json()["configurations"], 3);
        EXPECT_TRUE(fs::exists(directory / "out/report.html"));
        return;
    }
    if (test::read_file(path).find("problem = \"hmc\"") != std::string::npos) {
        const auto check = kasane({"check", path, "--json"});
        ASSERT_EQ(check.status, 0) << check.err;
        EXPECT_TRUE(check.json()["unused_keys"].empty()) << check.json()["unused_keys"];
        EXPECT_FALSE(check.json()["title"].get<std::string>().empty());
        const auto run = kasane({"run", path, "-o", "out", "--json", "--set", "hmc.trajectories=2", "--set", "hmc.thermalisation=0",
                                 "--set", "hmc.accept_first=0", "--set", "output.every=1", "--set", "lattice.extents=[4, 4, 4, 4]"});
        ASSERT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.json()["steps"], 2);
        EXPECT_EQ(run.json()["configurations"], 3);
        EXPECT_TRUE(fs::exists(directory / "out/report.html"));
        return;
    }
    if (test::read_file(path).find("\nfile ") != std::string::npos) {
        // The file of this example is not part of the project: a small one replaces it.
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

    // Two steps: until is set to two dt (or dt_max), and the intervals too.
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

/// The first picture of a new user, as docs/quickstart.md describes it; shortened, with fewer particles.
TEST_F(FirstPicture, OfADoubleStarHasItsUnitsAndNoGalaxies) {
    const auto path = (fs::path(KASANE_SOURCE_DIR) / "examples/kepler.toml").string();
    EXPECT_TRUE(kasane({"check", path, "--json"}).json()["notes"].empty());
    ASSERT_EQ(kasane({"run", path, "-o", "out", "--quiet", "--set", "run.until=1 yr"}).status, 0);
    const auto page = test::read_file(directory / "out/report.html");
    for (const char* words : {"Two objects, 2 particles in all", "<strong>1.00\u00a0yr</strong>", "time [yr]", "5\u00a0×\u00a010⁻⁴ yr"})
        EXPECT_NE(page.find(words), std::string::npos) << words;
    for (const char* words : {"galax", "time units", "decreases from passage"}) EXPECT_EQ(page.find(words), std::string::npos) << words;
}

TEST_F(FirstPicture, ShowsTwoDisksWithTidalTails) {
    const auto path = (fs::path(KASANE_SOURCE_DIR) / "examples/galaxy-collision.toml").string();
    const auto check = kasane({"check", path, "--json"}).json();
    EXPECT_GE(check["particles"].get<int>(), 65'536);
    EXPECT_NE(check["resolved"].get<std::string>().find("method = \"tree\""), std::string::npos);

    const auto run = kasane({"run", path, "-o", "out", "--json", "--set", "object.0.count=3072", "--set", "object.1.count=3072", "--set",
                             "run.until=\"0.5 Gyr\"", "--set", "output.snapshot_every=\"0.5 Gyr\""});
    ASSERT_EQ(run.status, 0) << run.err;
    const auto record = nlohmann::json::parse(test::read_file(directory / "out/record.json"));
    EXPECT_LT(std::abs(record["relative_energy_error"].get<double>()), 1e-2);

    // At 0.5 Gyr the galaxies are 25 kpc from the centre of mass and their disks end 20 kpc farther out. Stars beyond 50 kpc are in the
    // tails: 17% and 10% of the disks, on opposite sides.
    const auto last = gravity::read_snapshot(directory / "out/snapshots/snapshot_0001.hdf5");
    ASSERT_FALSE(last.components.empty());
    const auto& p = last.particles;
    const auto tail = [&](const std::string& galaxy) {
        for (const auto& c : last.components) {
            if (c.name != galaxy + "/disk") continue;
            Vec3<double> sum;
            double mass = 0;
            for (std::size_t i = 0; i < p.id.size(); ++i)
                if (p.id[i] - c.first_id < c.count && std::hypot(p.position[i].x, p.position[i].y) > 50) sum += p.position[i], mass += 1;
            EXPECT_GT(mass / static_cast<double>(c.count), 0.05) << galaxy;
            return (1 / mass) * sum;
        }
        ADD_FAILURE() << "no disk of " << galaxy;
        return Vec3<double>{};
    };
    const auto one = tail("the first galaxy"), other = tail("the second galaxy");
    EXPECT_LT(one.x * other.x + one.y * other.y, 0) << "on opposite sides";

    const auto html = test::read_file(directory / "out/report.html");
    for (const char* view : {"face-on to the orbit", "edge-on", "not drawn: ", "disk", "kpc</span>"})
        EXPECT_NE(html.find(view), std::string::npos) << view;
}

INSTANTIATE_TEST_SUITE_P(All, Example, ::testing::ValuesIn(examples()), [](const auto& each) {
    auto name = each.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
