// Common parts of the snapshot tests: small snapshots with all special properties, and a temporary folder.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>

namespace kasane::gravity::test {

namespace fs = std::filesystem;

class Folder {
   public:
    Folder() : path_(fs::path(testing::TempDir()) / ("kasane_snapshot_" + std::to_string(::getpid()))) { fs::create_directories(path_); }
    ~Folder() { fs::remove_all(path_); }
    fs::path operator/(const std::string& name) const { return path_ / name; }
    const fs::path& path() const { return path_; }

   private:
    fs::path path_;
};

/// Types 0 to 4 (3 is absent) in ascending order: type 1 with one mass for all, the others with a mass each; values that are exact
/// in single precision; ids beyond 32 bits on request.
inline Snapshot sample(bool wide_ids = false) {
    Snapshot s;
    s.time = 0.75;
    s.units = galactic_units();
    constexpr std::array<int, type_count> counts{2, 5, 3, 0, 4, 0};
    int i = 0;
    for (int type = 0; type < type_count; ++type) {
        for (int k = 0; k < counts[static_cast<std::size_t>(type)]; ++k, ++i) {
            s.particles.position.push_back({0.5 * i, -0.25 * i, 8.0 + i});
            s.particles.velocity.push_back({100.0 - i, 1.0 / 1024 * i, -0.125});
            s.particles.mass.push_back(type == 1 ? 0.001046338700689375401 : 0.03125 * (1 + k));
            s.particles.id.push_back((wide_ids ? std::uint64_t{1} << 40 : 1000) + static_cast<std::uint64_t>(100 - i));
            s.particles.type.push_back(static_cast<std::uint8_t>(type));
        }
    }
    return s;
}

inline void expect_same_particles(const Particles& a, const Particles& b) {
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.velocity, b.velocity);
    EXPECT_EQ(a.mass, b.mass);
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.type, b.type);
}

inline std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

inline void write_bytes(const fs::path& path, const std::string& bytes) {
    // Written over and then cut: a file system may force a file that was emptied first to disk, and there are thousands of these.
    std::ofstream(path, std::ios::binary | std::ios::app).close();
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    fs::resize_file(path, bytes.size());
}

/// What read_snapshot complains of; empty when it does not. Any other exception passes through and fails the test.
inline std::string complaint(const fs::path& path) {
    try {
        read_snapshot(path);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

#define EXPECT_MENTIONS(text, word) EXPECT_NE((text).find(word), std::string::npos) << "said: " << (text)

}  // namespace kasane::gravity::test
