// yt and pynbody open the files of kasane with the right units, time and softening (check_readers.py). The scripts of docs/snapshots.md
// work.
// The interpreter is python3, or the one that KASANE_PYTHON names.
#include "samples.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace kasane::gravity::test {
namespace {

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string python() {
    const auto* chosen = std::getenv("KASANE_PYTHON");
    return quoted(chosen != nullptr ? chosen : "python3");
}

/// Why a test that needs a Python package is skipped; empty: it is there.
std::string without(const std::string& package) {
    if (std::system((python() + " -c 'import " + package + "' >/dev/null 2>&1").c_str()) == 0) return {};
    return "the Python package " + package + " is not installed for " + python() + ": pip install " + package +
           ", or set KASANE_PYTHON to a Python that has it";
}

/// The first code block of docs/snapshots.md in this language that contains the word.
std::string block_of_page(const std::string& language, const std::string& word) {
    const auto page = bytes_of(fs::path(KASANE_SOURCE_DIR) / "docs/snapshots.md");
    const auto fence = "```" + language + "\n";
    for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
        const auto begin = at + fence.size(), end = page.find("```", begin);
        const auto block = page.substr(begin, end - begin);
        if (block.find(word) != std::string::npos) return block;
    }
    ADD_FAILURE() << "docs/snapshots.md has no " << language << " with " << word;
    return {};
}

/// Runs a script in a folder, without a display. @returns its exit status
int run_in(const fs::path& folder, const std::string& script_and_arguments) {
    return std::system(("cd " + quoted(folder) + " && MPLBACKEND=Agg " + python() + " " + script_and_arguments).c_str());
}

Snapshot four_types() {
    Snapshot s;
    s.time = 1.25;
    s.softening = {0, 0.4, 0.7, 0, 0.1, 0};
    for (int i = 0; i < 60; ++i) {
        s.particles.position.push_back({0.37 * (i + 1), 100 - 1.5 * i, 0.01 * i * i - 7});
        s.particles.velocity.push_back({100.0 - 3 * i, 0.5 * (i + 1), -0.25});
        s.particles.type.push_back(static_cast<std::uint8_t>(i < 30 ? 1 : i < 45 ? 2 : i < 50 ? 3 : 4));
        s.particles.mass.push_back(i < 30 ? 0.001 : 1e-4 * i);  // one mass for type 1, a mass each for the others
        s.particles.id.push_back(static_cast<std::uint64_t>(i) + 1);
        s.acceleration.push_back({1, 2, 3});
        s.potential.push_back(-1.0 * i);
    }
    s.units = galactic_units();
    s.components = {{"halo", "nfw", 1, 30, 1, 0.03, 1}, {"disk", "exponential-disk", 31, 15, 2, 0.08, 1}};
    s.model = "[[component]]\nname = \"halo\"\n";
    return s;
}

class Readers : public testing::TestWithParam<const char*> {
   protected:
    Folder folder;

    void write_and_check(const Snapshot& s, const SnapshotWriteOptions& options) {
        write_snapshot(folder / "snap.hdf5", s, options);
        const auto& p = s.particles;
        double mass = 0;
        std::array<int, type_count> count{};
        for (std::size_t i = 0; i < p.mass.size(); ++i) mass += p.mass[i], ++count[p.type[i]];
        const auto& x = p.position[0];
        const auto& v = p.velocity[0];
        const nlohmann::json expected{{"count", {count[1], count[2], count[3], count[4]}},
                                      {"mass", mass},
                                      {"first", {x.x, x.y, x.z}},
                                      {"velocity", {v.x, v.y, v.z}},
                                      {"time_gyr", s.time * s.units.time_s() / 3.15576e16},
                                      {"softening", s.softening[1]},
                                      {"length_cm", s.units.length_cm},
                                      {"mass_g", s.units.mass_g},
                                      {"velocity_cm_s", s.units.velocity_cm_s}};
        std::ofstream(folder / "expected.json") << expected;
        // Sets of several files: yt takes any one of them, pynbody the name without number and ending.
        const bool is_yt = std::string(GetParam()) == "yt";
        const auto name = options.files == 1 ? "snap.hdf5" : is_yt ? "snap.0.hdf5" : "snap";
        const auto script = fs::path(KASANE_SOURCE_DIR) / "test/gravity/snapshot/check_readers.py";
        const auto command = quoted(script) + " " + GetParam() + " " + quoted(folder / name) + " " + quoted(folder / "expected.json");
        EXPECT_EQ(run_in(folder.path(), command), 0) << command;
    }
};

TEST_P(Readers, OpenAndPlotWithUnitsTimeAndSoftening) {
    const std::string reader = GetParam();
    if (const auto reason = without(reader == "families" ? "pynbody" : reader); !reason.empty()) GTEST_SKIP() << reason;
    if (reader == "families") write_bytes(folder / "config.ini", block_of_page("ini", "bulge: PartType3"));
    auto s = four_types();
    write_and_check(s, {});
    write_and_check(s, {.files = 3});
    s.units = user_units(3.085678e24, 1.989e43, 1e5);  // Mpc
    write_and_check(s, {});
}

INSTANTIATE_TEST_SUITE_P(Snapshots, Readers, testing::Values("yt", "pynbody", "families"),
                         [](const auto& reader) { return std::string(reader.param); });

TEST(SnapshotsPage, ItsYtScriptPlots) {
    if (const auto reason = without("yt"); !reason.empty()) GTEST_SKIP() << reason;
    const Folder folder;
    write_snapshot(folder / "snapshot_000.hdf5", four_types());
    write_bytes(folder / "plot.py", block_of_page("python", "import yt"));
    EXPECT_EQ(run_in(folder.path(), "plot.py"), 0);
    EXPECT_TRUE(fs::exists(folder / "snapshot_000_Particle_z_particle_mass.png"));
}

TEST(SnapshotsPage, ItsScriptsWriteASnapshotAndListComponents) {
    if (const auto reason = without("h5py"); !reason.empty()) GTEST_SKIP() << reason;
    const Folder folder;
    write_bytes(folder / "write.py", block_of_page("python", "\"own.hdf5\", \"w\""));
    ASSERT_EQ(run_in(folder.path(), "write.py"), 0);
    const auto own = read_snapshot(folder / "own.hdf5");
    EXPECT_EQ(own.particles.size(), 1000);
    EXPECT_EQ(own.units, nbody_units());
    EXPECT_TRUE(own.states_units);
    EXPECT_EQ(own.particles.mass[7], 1e-3);
    EXPECT_EQ(own.particles.type[7], 1);
    write_snapshot(folder / "snapshot_000.hdf5", four_types());
    write_bytes(folder / "list.py", "import h5py\n" + block_of_page("python", "component.attrs"));
    ASSERT_EQ(run_in(folder.path(), "list.py > list.txt"), 0);
    EXPECT_EQ(bytes_of(folder / "list.txt"), "halo nfw 30\ndisk exponential-disk 15\n");
}

}  // namespace
}  // namespace kasane::gravity::test
