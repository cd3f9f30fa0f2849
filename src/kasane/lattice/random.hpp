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

/// @tparam Numbers  RandomStream or RandomWords   @param number  of the link or site   @param step  of the sweep, below 2^48
template <class Numbers = RandomStream>
KS_FN Numbers random_stream(std::uint64_t seed, RandomPurpose purpose, index_t number, std::uint64_t step = 0) {
    return {seed, static_cast<std::uint64_t>(purpose) << 56 | static_cast<std::uint64_t>(number), step << 16};
}

/// The blocks of a RandomStream as words of 32 bits, for draws in single precision.
class RandomWords {
   public:
    /// As RandomStream.
    KS_FN RandomWords(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter = 0)
        : seed_(seed), stream_(stream), counter_(counter) {}

    struct Block {
        std::uint32_t first, second, third, fourth;
    };
    /// The next four words.
    KS_FN Block next() {
        const auto [low, high] = random_bits(seed_, stream_, counter_++);
        const auto word = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
        return {word(low), word(low >> 32), word(high), word(high >> 32)};
    }

   private:
    std::uint64_t seed_, stream_, counter_;
};

struct GaussianPair {
    double first, second;
};
/// Two independent standard Gaussians.                                                                  [Box & Muller 1958]
KS_FN GaussianPair gaussian_pair(RandomStream& random) {
    const double length = sqrt(-2 * log(random.uniform())), angle = 2 * std::numbers::pi * random.uniform();
    return {length * cos(angle), length * sin(angle)};
}

}  // namespace kasane::lattice
