// A valid snapshot that takes almost no disk and does not fit into memory.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace kasane::gravity::test {

/// Writes a consistent file of GADGET format 1, all holes but for its markers, of which lengths beyond 32 bits keep the lower ones, as
/// GADGET writes them. @returns its number of particles
inline std::uint64_t write_snapshot_beyond_memory(const std::filesystem::path& path) {
    const std::uint64_t n = available_memory(Cpu{}) / 60;  // a particle takes 65 bytes
    EXPECT_LT(n, std::uint64_t{6} << 31);
    std::array<std::int32_t, type_count> counts{};
    for (std::size_t t = 0, left = n; t < type_count; ++t) {
        counts[t] = static_cast<std::int32_t>(std::min<std::uint64_t>(left, INT32_MAX));
        left -= static_cast<std::uint64_t>(counts[t]);
    }
    std::ofstream file(path, std::ios::binary);
    const auto put = [&](std::uint64_t at, auto value) {
        file.seekp(static_cast<std::streamoff>(at));
        file.write(reinterpret_cast<const char*>(&value), sizeof value);
    };
    std::uint64_t at = 0;
    for (const auto bytes : {std::uint64_t{256}, 12 * n, 12 * n, 4 * n}) {
        put(at, static_cast<std::uint32_t>(bytes));
        if (at == 0) put(4, counts);
        if (at == 0) put(4 + 24, std::array{1., 1., 1., 1., 1., 1.});
        put(at + 4 + bytes, static_cast<std::uint32_t>(bytes));
        at += bytes + 8;
    }
    file.close();
    EXPECT_TRUE(file.good());
    return n;
}

}  // namespace kasane::gravity::test
