// What kasane writes opens in yt and pynbody with the right units, time and softening: check_readers.py asks them.
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
        const nlohmann::json expected{{"count", {count[1], count[2], count[4]}},
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
        const auto command =
            python() + " " + quoted(script) + " " + GetParam() + " " + quoted(folder / name) + " " + quoted(folder / "expected.json");
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
};

TEST_P(Readers, OpenWithUnitsTimeAndSoftening) {
    if (std::system((python() + " -c 'import " + GetParam() + "' >/dev/null 2>&1").c_str()) != 0) {
        GTEST_SKIP() << "the Python package " << GetParam() << " is not installed for " << python() << " (KASANE_PYTHON chooses another)";
    }
    Snapshot s;
    s.time = 1.25;
    s.softening = {0, 0.4, 0.7, 0, 0.1, 0};
    for (int i = 0; i < 60; ++i) {
        s.particles.position.push_back({0.37 * (i + 1), 100 - 1.5 * i, 0.01 * i * i - 7});
        s.particles.velocity.push_back({100.0 - 3 * i, 0.5 * (i + 1), -0.25});
        s.particles.type.push_back(static_cast<std::uint8_t>(i < 30 ? 1 : i < 50 ? 2 : 4));
        s.particles.mass.push_back(i < 30 ? 0.001 : 1e-4 * i);  // one mass for type 1, a mass each for the others
        s.particles.id.push_back(static_cast<std::uint64_t>(i) + 1);
        s.acceleration.push_back({1, 2, 3});
        s.potential.push_back(-1.0 * i);
    }
    s.units = galactic_units();
    s.components = {{"halo", "nfw", 1, 30, 1, 0.03, 1}, {"disk", "exponential-disk", 31, 20, 2, 0.08, 1}};
    s.model = "[[component]]\nname = \"halo\"\n";
    write_and_check(s, {});
    write_and_check(s, {.files = 3});
    s.units = user_units(3.085678e24, 1.989e43, 1e5);  // Mpc
    write_and_check(s, {});
}

INSTANTIATE_TEST_SUITE_P(Snapshots, Readers, testing::Values("yt", "pynbody"),
                         [](const auto& reader) { return std::string(reader.param); });

}  // namespace
}  // namespace kasane::gravity::test
