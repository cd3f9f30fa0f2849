// Domain boundaries: alike for any order of the parts, balanced to the size of a part, and extreme cases.
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/domain/boundaries.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kasane::gravity {
namespace {

std::vector<double> domain_work(const std::vector<CurvePart>& parts, const std::vector<std::uint64_t>& boundary) {
    std::vector<double> work(boundary.size() + 1);
    for (const auto& part : parts) work[static_cast<std::size_t>(domain_of(part.key, boundary))] += part.work;
    return work;
}

std::vector<CurvePart> random_parts(std::size_t n, double decades) {
    RandomStream random(5, n);
    std::vector<CurvePart> parts;
    for (std::size_t k = 0; k < n; ++k)
        parts.push_back({static_cast<std::uint64_t>(random.uniform() * 0x1p63), std::pow(10., decades * random.uniform())});
    return parts;
}

TEST(DomainBoundaries, ShareTheWorkToOnePart) {
    for (const int domains : {1, 2, 3, 4, 7, 8, 64})
        for (const double decades : {0., 3.}) {
            auto parts = random_parts(4096, decades);
            const auto boundary = domain_boundaries(parts, domains);
            ASSERT_EQ(boundary.size(), static_cast<std::size_t>(domains - 1));
            EXPECT_TRUE(std::is_sorted(boundary.begin(), boundary.end()));
            const auto work = domain_work(parts, boundary);
            const double total = std::accumulate(work.begin(), work.end(), 0.);
            double largest = 0;
            for (const auto& part : parts) largest = std::max(largest, part.work);
            // Each of the two boundaries of a domain is off by half a part at most.
            for (const double w : work) EXPECT_NEAR(w, total / domains, 1.0001 * largest);
        }
}

TEST(DomainBoundaries, DoNotDependOnTheOrderOfTheParts) {
    auto parts = random_parts(1000, 2);
    const auto boundary = domain_boundaries(parts, 7);
    std::reverse(parts.begin(), parts.end());
    EXPECT_EQ(domain_boundaries(parts, 7), boundary);
    std::rotate(parts.begin(), parts.begin() + 333, parts.end());
    EXPECT_EQ(domain_boundaries(parts, 7), boundary);
}

TEST(DomainBoundaries, LeaveDomainsEmptyWhereThereAreFewParts) {
    const auto none = domain_boundaries({}, 4);
    ASSERT_EQ(none.size(), 3u);
    EXPECT_EQ(domain_of((std::uint64_t{1} << 63) - 1, none), 0);
    const std::vector<CurvePart> five{{10, 1}, {20, 1}, {30, 1}, {40, 1}, {50, 1}};
    const auto boundary = domain_boundaries(five, 8);
    for (const double w : domain_work(five, boundary)) EXPECT_LE(w, 1) << "five particles have five domains of their own";
    EXPECT_TRUE(domain_boundaries(five, 1).empty());
}

TEST(DomainBoundaries, KeepEqualKeysTogether) {
    const std::vector<CurvePart> same(100, {77, 1});
    const auto work = domain_work(same, domain_boundaries(same, 4));
    EXPECT_EQ(std::count(work.begin(), work.end(), 100.), 1);
}

TEST(DomainBoundaries, CountPartsWhereTheWorkIsUnknown) {
    auto parts = random_parts(800, 0);
    for (auto& part : parts) part.work = 0;
    const auto boundary = domain_boundaries(parts, 4);
    for (auto& part : parts) part.work = 1;
    for (const double w : domain_work(parts, boundary)) EXPECT_NEAR(w, 200, 1);
    EXPECT_EQ(boundary, domain_boundaries(parts, 4));
    for (auto& part : parts) part.work = std::numeric_limits<double>::infinity();
    EXPECT_EQ(boundary, domain_boundaries(parts, 4));
}

}  // namespace
}  // namespace kasane::gravity
