// Timelines: overlaps computed by hand; spans of a space in their order.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/timeline.hpp>

#include <gtest/gtest.h>

namespace kasane {
namespace {

TEST(Hidden, CountsEverySecondOnce) {
    const std::vector<Span> spans{{"force", 1, 3}, {"force", 2, 4}, {"pack", 6, 7}, {"message", 0, 2}, {"message", 3.5, 6.5}};
    const auto found = hidden(spans, "message");
    EXPECT_DOUBLE_EQ(found.total, 5);
    EXPECT_DOUBLE_EQ(found.hidden, 1 + 0.5 + 0.5);  // under 1 to 4 and 6 to 7
    EXPECT_DOUBLE_EQ(found.fraction(), 0.4);
}

TEST(Hidden, EdgesAndNothing) {
    EXPECT_EQ(hidden({}, "message").fraction(), 1);
    EXPECT_EQ(hidden({{"message", 1, 2}}, "message").fraction(), 0);
    EXPECT_EQ(hidden({{"message", 1, 2}, {"force", 2, 3}, {"force", 0, 1}}, "message").hidden, 0);
    EXPECT_EQ(hidden({{"message", 1, 2}, {"message", 1.5, 3}, {"force", 0, 9}}, "message").fraction(), 1);
}

template <class S>
class Timelines : public testing::Test {};
#if defined(KASANE_CUDA)
using Spaces = testing::Types<Cpu, Cuda>;
#else
using Spaces = testing::Types<Cpu>;
#endif
TYPED_TEST_SUITE(Timelines, Spaces);

TYPED_TEST(Timelines, SpansNestAndFollow) {
#if defined(KASANE_CUDA)
    if (std::same_as<TypeParam, Cuda> && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
#endif
    const TypeParam on{};
    const std::vector<double> numbers(1 << 20, 1.0);
    Buffer<double, TypeParam> some(on, 1 << 20);
    Timeline<TypeParam> timeline(on);
    double last = 0;
    for (int round = 0; round < 3; ++round) {  // events are used again
        const int outer = timeline.begin(on, "outer");
        const int inner = timeline.begin(on, "inner");
        copy_from_host(on, some.view(), view(numbers));
        timeline.end(on, inner);
        timeline.end(on, outer);
        const int next = timeline.begin(on, "next");
        copy_from_host(on, some.view(), view(numbers));
        timeline.end(on, next);
        const auto spans = timeline.take();
        ASSERT_EQ(spans.size(), 3u);
        EXPECT_EQ(spans[0].name, "outer");
        EXPECT_EQ(spans[1].name, "inner");
        EXPECT_EQ(spans[2].name, "next");
        EXPECT_LT(spans[1].begin, spans[1].end);
        EXPECT_LE(spans[0].begin, spans[1].begin);
        EXPECT_LE(spans[1].end, spans[0].end);
        EXPECT_LE(spans[0].end, spans[2].begin);
        EXPECT_LE(last, spans[0].begin + 1e-6);  // the clock continues from take() to take(), as a sum of times that the device rounds
        last = spans[2].end;
        EXPECT_NEAR(hidden(spans, "inner").fraction(), 1, 1e-12);
    }
    EXPECT_TRUE(timeline.take().empty());
}

}  // namespace
}  // namespace kasane
