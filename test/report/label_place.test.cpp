// Segments against boxes, and the first free place.
#include <kasane/report/label_place.hpp>

#include <gtest/gtest.h>

using namespace kasane::report;

namespace {

constexpr Box box{10, 10, 20, 14};

TEST(ReportLabelPlace, SegmentsMeetBoxes) {
    EXPECT_TRUE(meets(box, {0, 0}, {30, 24})) << "through it, both ends outside";
    EXPECT_TRUE(meets(box, {12, 11}, {13, 12})) << "inside";
    EXPECT_TRUE(meets(box, {15, 12}, {15, 100}));
    EXPECT_TRUE(meets(box, {0, 14}, {30, 14})) << "along the border";
    EXPECT_TRUE(meets(box, {12, 12}, {12, 12})) << "a point";
    EXPECT_FALSE(meets(box, {0, 15}, {30, 15}));
    EXPECT_FALSE(meets(box, {0, 12}, {9, 12})) << "ends before it";
    EXPECT_FALSE(meets(box, {0, 0}, {9, 30}));
    EXPECT_FALSE(meets(box, {8, 14}, {14, 20})) << "past a corner";
    EXPECT_FALSE(meets(box, {9, 9}, {9, 9}));
}

TEST(ReportLabelPlace, TheFirstFreeCandidate) {
    const std::vector<Box> candidates{{0, 0, 4, 4}, {10, 0, 14, 4}, {20, 0, 24, 4}};
    EXPECT_EQ(free_place(candidates, {})->left, 0);
    EXPECT_EQ(free_place(candidates, {{{-1, 2}, {12, 2}}})->left, 20);
    EXPECT_EQ(free_place(candidates, {{{2, 2}}, {{22, 2}}})->left, 10) << "points";
    EXPECT_FALSE(free_place(candidates, {{{-1, 2}, {30, 2}}}));
    EXPECT_FALSE(free_place({}, {}));
}

}  // namespace
