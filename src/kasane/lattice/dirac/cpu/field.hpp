// Fields of one parity on the CPU. Layout [group][24][lanes of a group], real before imaginary, (3 spin + colour): a group is 64 bytes of
// one real number in single and double (16 or 8 places), and 16 places of 16-bit numbers with their 16 scales after them.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/lattice/dirac/cpu/lattice.hpp>

namespace kasane::lattice {

/// Types of a precision in memory and in registers on the CPU.
template <Precision P>
struct CpuReal {
    using Stored = float;
    using Computed = float;
};
template <>
struct CpuReal<Precision::double_> {
    using Stored = double;
    using Computed = double;
};
template <>
struct CpuReal<Precision::half> {
    using Stored = std::int16_t;
    using Computed = float;
};

/// Places whose numbers are neighbours in memory.
template <Precision P>
constexpr int group_lanes = P == Precision::double_ ? 8 : 16;
/// Distance of groups of `reals` numbers per site; half: the scales of 16 places are 32 more 16-bit words.
template <Precision P>
constexpr index_t group_words(int reals) {
    return static_cast<index_t>(reals) * group_lanes<P> + (P == Precision::half ? 32 : 0);
}

template <Precision P>
class Field<Cpu, P> {
   public:
    using Stored = typename CpuReal<P>::Stored;

    explicit Field(std::shared_ptr<const Lattice<Cpu>> lattice)
        : lattice_(std::move(lattice)), data_(lattice_->space(), lattice_->places() / group_lanes<P> * group_words<P>(24)) {}
    Field(Field&&) noexcept = default;
    Field& operator=(Field&&) noexcept = default;

    const std::shared_ptr<const Lattice<Cpu>>& lattice() const { return lattice_; }
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(data_.size()) * sizeof(Stored); }
    index_t groups() const { return lattice_->places() / group_lanes<P>; }
    Stored* group(index_t g) { return data_.data() + g * group_words<P>(24); }
    const Stored* group(index_t g) const { return data_.data() + g * group_words<P>(24); }

   private:
    std::shared_ptr<const Lattice<Cpu>> lattice_;
    Buffer<Stored, Cpu> data_;
};

}  // namespace kasane::lattice
