// A run directory written by hand: two clumps that pass each other, and the files that a run writes.
#pragma once

#include <kasane/gravity/snapshot/snapshot.hpp>
#include <test/run/files.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace kasane::test {

/// An empty directory, removed with the object.
class Directory {
   public:
    Directory() {
        auto pattern = (std::filesystem::temp_directory_path() / "kasane report XXXXXX").string();
        if (::mkdtemp(pattern.data())) path_ = pattern;
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    operator const std::filesystem::path&() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

   private:
    std::filesystem::path path_;
};

/// Two round clumps of n particles each, `apart` away from one another, radius about 1; types as given; ids from 1.
inline gravity::Snapshot two_clumps(int n, double apart, double time, std::uint8_t type = 2) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, 0.6);
    gravity::Snapshot s;
    s.time = time;
    s.units = gravity::galactic_units();
    auto& p = s.particles;
    for (int i = 0; i < 2 * n; ++i) {
        const double side = i < n ? -0.5 : 0.5;
        p.position.push_back({side * apart + normal(random), normal(random), normal(random)});
        p.velocity.push_back({0, 0, 0});
        p.mass.push_back(1.0 / n);
        p.id.push_back(static_cast<std::uint64_t>(i + 1));
        p.type.push_back(type);
    }
    return s;
}

inline std::string record(const std::string& title, const std::string& status, const std::string& more = "") {
    return R"({"kasane": "0.1.0", "commit": "abc", "title": ")" + title + R"(", "status": ")" + status + R"(", "problem": "gravity",
 "device": {"name": "Test CPU", "kind": "cpu"}, "threads": 2, "particles": 400, "particles_by_type": [0, 0, 400, 0, 0, 0],
 "units": {"name": "galactic", "length_cm": 3.085678e21, "mass_g": 1.989e43, "velocity_cm_s": 1e5, "G": 43007.1, "length_name": "kpc",
 "mass_name": "1e10 Msun", "velocity_name": "km/s", "time_name": "0.978 Gyr"},
 "force": {"method": "direct", "variant": "simd", "precision": "single"}, "steps": 100, "time": 1.0, "seconds": 12.5,
 "timers": {"force": {"seconds": 10, "calls": 101}, "step": {"seconds": 1, "calls": 100}}, "interactions": 1e9, "rate": 2e9,
 "bound": {"rate": 4e9, "reason": "a <bound> & its reason"}, "relative_energy_error": 1.5e-4, "segments": [{}, {}], "unused_keys": [],
 "papers": ["Somebody & Else (2013), https://example.org/paper"])" +
           more + "}";
}

inline std::string energy_table(int rows) {
    std::string text = "time,step,kinetic,potential,energy,relative_energy_error,virial_ratio,r10,r25,r50,r75,r90\n";
    for (int i = 0; i < rows; ++i) {
        const double t = i / 10.0, e = i * 1e-5;
        std::ostringstream row;
        row << t << ',' << 10 * i << ',' << 1 + t << ',' << -2 - t << ',' << -1 << ',' << e << ",1.1,1,2,3,4,5\n";
        text += row.str();
    }
    return text;
}

/// record.json, run.toml, energy.csv and `snapshots` snapshots.
inline void fill_run(const std::filesystem::path& directory, int snapshots, const std::string& status = "done") {
    write_file(directory / "record.json", record("Two clumps", status));
    write_file(directory / "run.toml", "[run]\nproblem = \"gravity\"  # <&>\n");
    write_file(directory / "energy.csv", energy_table(11));
    std::filesystem::create_directory(directory / "snapshots");
    for (int k = 0; k < snapshots; ++k) {
        const double t = snapshots > 1 ? static_cast<double>(k) / (snapshots - 1) : 0;
        gravity::write_snapshot(directory / "snapshots" / ("snapshot_000" + std::to_string(k) + ".hdf5"), two_clumps(200, 12 - 8 * t, t));
    }
}

}  // namespace kasane::test
