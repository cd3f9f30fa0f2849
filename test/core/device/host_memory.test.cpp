// Memory of the host: alignment, and the reuse of large blocks while a HostMemoryReuse exists.
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/host_memory_reuse.hpp>
#include <kasane/core/device/host_region.hpp>
#include <kasane/core/device/thread_pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace kasane {
namespace {

constexpr std::size_t large = std::size_t{16} << 20;

TEST(HostMemory, IsAligned) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{4} << 20, large + 1}) {
        void* const memory = allocate_host(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 128, 0u) << bytes;
        std::memset(memory, 1, bytes);
        release_host(memory);
    }
    release_host(nullptr);
}

TEST(HostMemory, ReusesLargeBlocksOfAboutTheSize) {
    const HostMemoryReuse reuse;
    void* const first = allocate_host(large);
    std::memset(first, 1, large);
    release_host(first);
    void* const smaller = allocate_host(large / 2);  // would waste half of the block
    EXPECT_NE(smaller, first);
    void* const again = allocate_host(large - 4096);
    EXPECT_EQ(again, first);
    void* const other = allocate_host(large);
    EXPECT_NE(other, first);
    std::memset(again, 2, large - 4096);
    std::memset(other, 3, large);
    release_host(smaller), release_host(again), release_host(other);
}

TEST(HostMemory, KeepsBlocksUntilTheLastScopeEnds) {
    void* first = nullptr;
    {
        const HostMemoryReuse outer;
        {
            const HostMemoryReuse inner;
            first = allocate_host(large);
            release_host(first);
        }
        void* const again = allocate_host(large);
        EXPECT_EQ(again, first);
        release_host(again);
    }
    // A block may outlive the scope that it was taken in.
    void* kept = nullptr;
    {
        const HostMemoryReuse scope;
        kept = allocate_host(large);
    }
    std::memset(kept, 4, large);
    release_host(kept);
}

TEST(HostMemory, ThreadsNeverShareABlock) {
    const HostMemoryReuse reuse;
    for_each_part(4, 200, [](index_t part) {
        const std::size_t bytes = (std::size_t{4} << 20) + static_cast<std::size_t>(part % 5) * 4096;
        auto* const memory = static_cast<std::uint64_t*>(allocate_host(bytes));
        for (std::size_t k = 0; k < bytes / 8; k += 512) memory[k] = static_cast<std::uint64_t>(part);
        for (std::size_t k = 0; k < bytes / 8; k += 512) EXPECT_EQ(memory[k], static_cast<std::uint64_t>(part));
        release_host(memory);
    });
}

TEST(HostRegion, PartsAreAtTheLowestFreeAddresses) {
    HostRegion* const region = HostRegion::open(large);
    ASSERT_NE(region, nullptr);
    auto* const first = region->take(1 << 20);
    auto* const second = region->take((2 << 20) - 5);
    auto* const third = region->take(3 << 20);
    EXPECT_EQ(second - first, 1 << 20);
    EXPECT_EQ(third - second, 2 << 20);
    EXPECT_EQ(region->take(large), nullptr);
    region->give(first, 1 << 20);
    region->give(third, 3 << 20);
    EXPECT_EQ(region->take(2 << 20), third);
    region->give(second, (2 << 20) - 5);  // joins the free part in front of it
    EXPECT_EQ(region->take(3 << 20), first);
    region->give(first, 3 << 20);
    region->give(third, 2 << 20);  // joins those on both sides
    auto* const all = region->take(large);
    EXPECT_EQ(all, first);
    std::memset(all, 1, large);
    region->give(all, large);
    region->close();
}

TEST(HostRegion, PartsOutliveItsEnd) {
    HostRegion* const region = HostRegion::open(large);
    ASSERT_NE(region, nullptr);
    auto* const first = region->take(4 << 20);
    auto* const second = region->take(4 << 20);
    std::memset(second, 7, 4 << 20);
    region->close();
    region->give(first, 4 << 20);
    EXPECT_EQ(std::to_integer<int>(second[(4 << 20) - 1]), 7);
    region->give(second, 4 << 20);
}

TEST(HostMemory, BlocksOfAReservedRegionServeOthersOfAnySize) {
    constexpr std::size_t half = large / 2;
    std::byte* last = nullptr;
    {
        HostMemoryReuse reuse;
        reuse.reserve(2 * large);
        auto* const first = static_cast<std::byte*>(allocate_host(large));
        std::memset(first, 1, large);
        release_host(first);
        auto* const smaller = static_cast<std::byte*>(allocate_host(half));
        last = static_cast<std::byte*>(allocate_host(half));
        for (auto* const block : {smaller, last}) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0u);
            EXPECT_GE(block + large / 4, first);
            EXPECT_LE(block, first + large + (1 << 17));
            std::memset(block, 2, half);
        }
        void* const beyond = allocate_host(3 * large);  // larger than the region: an allocation of its own
        std::memset(beyond, 3, 3 * large);
        release_host(beyond), release_host(smaller);
    }
    EXPECT_EQ(std::to_integer<int>(last[half - 1]), 2) << "a block may outlive the scope";
    release_host(last);
}

}  // namespace
}  // namespace kasane
