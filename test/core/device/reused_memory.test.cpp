// Blocks that are used again inside scopes, and are memory as any other outside.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/reused_memory.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#if defined(KASANE_CUDA)
namespace kasane {
namespace {

class ReusedMemoryOnCuda : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
    const Cuda on;
};

TEST_F(ReusedMemoryOnCuda, AReleasedBlockIsTakenAgain) {
    cuda::ReusedMemory memory(on);
    const cuda::ReusedMemory::Scope scope(memory);
    const double* first = nullptr;
    {
        const Buffer<double, Cuda> block(on, 1 << 20);
        first = block.data();
    }
    EXPECT_EQ(memory.unused_bytes(), std::size_t{8} << 20);
    const Buffer<float, Cuda> smaller(on, (2 << 20) - 1000), other(on, 2 << 20), small(on, 1);
    EXPECT_EQ(static_cast<const void*>(smaller.data()), first);
    EXPECT_NE(static_cast<const void*>(other.data()), first);
    EXPECT_EQ(memory.unused_bytes(), 0u);
}

TEST_F(ReusedMemoryOnCuda, ABlockThatIsMuchLargerIsNotTaken) {
    cuda::ReusedMemory memory(on);
    const cuda::ReusedMemory::Scope scope(memory);
    {
        const Buffer<double, Cuda> block(on, 1 << 20);
    }
    const Buffer<double, Cuda> half(on, 1 << 19);
    EXPECT_EQ(memory.unused_bytes(), std::size_t{8} << 20);
    memory.keep_at_most(std::size_t{8} << 20);
    EXPECT_EQ(memory.unused_bytes(), std::size_t{8} << 20);
    memory.keep_at_most(1 << 20);
    EXPECT_EQ(memory.unused_bytes(), 0u);
}

TEST_F(ReusedMemoryOnCuda, BlocksArePartsOfMemoryThatWasTakenAtOnce) {
    Buffer<double, Cuda> kept;
    std::vector<double> values(1000);
    std::iota(values.begin(), values.end(), 0.);
    {
        cuda::ReusedMemory memory(on);
        memory.take_at_once(std::size_t{1} << 20);
        EXPECT_EQ(memory.unused_bytes(), std::size_t{1} << 20);
        const cuda::ReusedMemory::Scope scope(memory);
        kept = to_space(on, values);
        const Buffer<double, Cuda> next(on, 1024);
        EXPECT_EQ(reinterpret_cast<const char*>(next.data()) - reinterpret_cast<const char*>(kept.data()), 8192);
        EXPECT_EQ(memory.unused_bytes(), (std::size_t{1} << 20) - 2 * 8192);
        const Buffer<double, Cuda> larger(on, 1 << 20);  // does not fit
        EXPECT_EQ(memory.unused_bytes(), (std::size_t{1} << 20) - 2 * 8192);
        {
            const Buffer<double, Cuda> part(on, 1024);
        }
        EXPECT_EQ(memory.unused_bytes(), (std::size_t{1} << 20) - 2 * 8192) << "the part is kept for later blocks";
        memory.keep_at_most(0);
        EXPECT_EQ(memory.unused_bytes(), 0u);
    }
    EXPECT_EQ(to_host(kept), values) << "a part outlives the rest";
    kept = {};
    const Buffer<double, Cuda> again = to_space(on, values);
    EXPECT_EQ(to_host(again), values);
}

TEST_F(ReusedMemoryOnCuda, TakesNothingAtOnceWhereTheDeviceHasLess) {
    cuda::ReusedMemory memory(on);
    memory.take_at_once(std::size_t{1} << 50);
    EXPECT_EQ(memory.unused_bytes(), 0u);
    const cuda::ReusedMemory::Scope scope(memory);
    const Buffer<double, Cuda> block = to_space(on, std::vector<double>{1, 2});
    EXPECT_EQ(to_host(block), (std::vector<double>{1, 2}));
}

TEST_F(ReusedMemoryOnCuda, BuffersOutliveScopeAndMemory) {
    Buffer<double, Cuda> kept;
    std::vector<double> values(1000);
    std::iota(values.begin(), values.end(), 0.);
    {
        cuda::ReusedMemory memory(on);
        {
            const cuda::ReusedMemory::Scope scope(memory);
            const cuda::ReusedMemory::Scope inner(memory);
            {
                const Buffer<double, Cuda> before(on, 1000);
            }
            kept = to_space(on, values);
        }
        {
            const Buffer<double, Cuda> outside(on, 1000);
        }  // frees its memory
        EXPECT_EQ(memory.unused_bytes(), 0u);
        auto moved = std::move(memory);
        const cuda::ReusedMemory::Scope scope(moved);
        {
            const Buffer<double, Cuda> again(on, 1000);
        }
        EXPECT_EQ(moved.unused_bytes(), 8192u);
    }
    EXPECT_EQ(to_host(kept), values);
}

}  // namespace
}  // namespace kasane
#endif
