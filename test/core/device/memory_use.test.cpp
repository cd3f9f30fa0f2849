#include <kasane/core/device/memory_use.hpp>

#include <gtest/gtest.h>

namespace kasane {
namespace {

TEST(MemoryUse, CountsWhatIsInUseAndTheMost) {
    constexpr int device = 1000;  // no such device
    const char block[3] = {};
    detail::count_allocation(device, block, 100);
    detail::count_allocation(device, block + 1, 50);
    detail::count_release(device, block);
    EXPECT_EQ(memory_use(device).now, 50u);
    EXPECT_EQ(memory_use(device).most, 150u);
    forget_most_memory(device);
    EXPECT_EQ(memory_use(device).most, 50u);
    detail::count_allocation(device, block + 2, 10);
    EXPECT_EQ(memory_use(device).most, 60u);
    detail::count_release(device, block + 1);
    detail::count_release(device, block + 1);  // not counted: nothing changes
    detail::count_release(device, block + 2);
    EXPECT_EQ(memory_use(device).now, 0u);
    EXPECT_EQ(memory_use(device + 1).most, 0u);
}

}  // namespace
}  // namespace kasane
