// Counter-based random numbers: Philox4x32-10 of Random123 (Salmon et al., SC11, doi:10.1145/2063384.2063405).
// A number is a function of (seed, stream, counter) alone, the same on host and device: results do not depend on threads or ranks.
#pragma once

#include <kasane/core/base/types.hpp>

#include <Random123/philox.h>

#include <cstdint>

namespace kasane {

/// 128 random bits.
struct RandomBits {
    std::uint64_t low;   ///< the first 64
    std::uint64_t high;  ///< the last 64
};

/// The block of bits at `counter` of `stream` (a particle, a site). The seed is Philox's key.
KS_FN RandomBits random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
    const auto word = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
    const r123::Philox4x32::ctr_type where = {{word(counter), word(counter >> 32), word(stream), word(stream >> 32)}};
    const r123::Philox4x32::key_type key = {{word(seed), word(seed >> 32)}};
    const auto out = r123::Philox4x32()(where, key);
    return {out.v[0] | static_cast<std::uint64_t>(out.v[1]) << 32, out.v[2] | static_cast<std::uint64_t>(out.v[3]) << 32};
}

/// A double in the open interval (0, 1): one of the odd multiples of 2^-53, so never 0 or 1 and symmetric about 1/2.
KS_FN double to_unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

/// The numbers of one stream, one after the other, from a counter on. Two numbers come from one block.
class RandomStream {
   public:
    /// @param seed  of all streams   @param stream  number of this one   @param counter  its first block
    KS_FN RandomStream(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter = 0)
        : seed_(seed), stream_(stream), counter_(counter) {}

    /// Uniform in (0, 1).
    KS_FN double uniform() {
        half_ = !half_;
        if (!half_) return to_unit_interval(block_.high);
        block_ = random_bits(seed_, stream_, counter_++);
        return to_unit_interval(block_.low);
    }

   private:
    std::uint64_t seed_, stream_, counter_;
    RandomBits block_{};
    bool half_ = false;  // the low half of block_ is spent, the high half is not
};

}  // namespace kasane
