// Assignment of random numbers to links and sites: streams of core/math/random.hpp that never overlap.
// Invariant: a number is a function of (seed, purpose, link or site, step) alone. The stream is purpose * 2^56 + number, number = 4 site +
// mu for links and the lexicographic site for sites, below 2^34 (for pseudofermion fields plus 2^40 times the field's number, below 2^56);
// the counter is step * 2^16 + block, and no use takes 2^16 blocks.
#pragma once

#include <kasane/core/math/random.hpp>

#include <cmath>
#include <numbers>

namespace kasane::lattice {

enum class RandomPurpose : int {
    hot_start = 1,
    weak_start = 2,
    heatbath = 3,
    gauge_transformation = 4,
    momenta = 5,
    metropolis = 6,
    pseudofermion = 7
};

/// @param number  of the link or site   @param step  of the sweep, below 2^48
KS_FN RandomStream random_stream(std::uint64_t seed, RandomPurpose purpose, index_t number, std::uint64_t step = 0) {
    return {seed, static_cast<std::uint64_t>(purpose) << 56 | static_cast<std::uint64_t>(number), step << 16};
}

struct GaussianPair {
    double first, second;
};
/// Two independent standard Gaussians.                                                                  [Box & Muller 1958]
KS_FN GaussianPair gaussian_pair(RandomStream& random) {
    const double length = sqrt(-2 * log(random.uniform())), angle = 2 * std::numbers::pi * random.uniform();
    return {length * cos(angle), length * sin(angle)};
}

}  // namespace kasane::lattice
