// Lagrangian radii without a sort: a radix selection on the bits of the squared distances, which are in the order of the distances. Each
// pass divides the intervals that contain a wanted radius into bins and adds the masses of their particles to them; after the last pass
// an interval is a single number. Invariant: masses are added in fixed point, so that the result does not depend on the order of the
// particles, on threads or on workers.
#pragma once

#include <kasane/core/device/algorithms.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kasane::gravity::detail {

/// Number of radii of one selection.
inline constexpr int most_radii = 5;

/// A pass divides the intervals whose keys begin with the bits `prefix`. Keys are squared distances as bits of a double.
struct RadiusPass {
    static constexpr int first_bits = 11, later_bits = 9;  ///< first the exponent of the double, then its digits
    static constexpr int most_bins = most_radii << later_bits;

    int intervals = 1;
    int shift = 63;         ///< key >> shift is the prefix; the sign bit is 0
    int bits = first_bits;  ///< an interval has 2^bits bins
    std::uint64_t prefix[most_radii] = {};
    double scale = 1;  ///< a power of two: masses times `scale` are in units of FixedMass::high

    KS_FN int bins() const { return intervals << bits; }
    /// Number of the bin of a key; -1: in no interval.
    KS_FN int bin(std::uint64_t key) const {
        for (int k = 0; k < intervals; ++k)
            if (key >> shift == prefix[k]) return (k << bits) + static_cast<int>((key >> (shift - bits)) & ((1u << bits) - 1));
        return -1;
    }
};

/// A mass, or a sum of masses, in fixed point: the total mass is below 2^62 units of `high`, and a unit of `low` is 2^-32 of one of `high`.
/// Digits below are cut off: at most 2^-62 of the total mass for 2^32 particles.
struct FixedMass {
    std::uint64_t high = 0, low = 0;

    FixedMass() = default;
    KS_FN FixedMass(std::uint64_t of_high, std::uint64_t of_low) : high(of_high), low(of_low) {}
    KS_FN FixedMass(double mass, double scale) {
        const double units = mass * scale;
        high = static_cast<std::uint64_t>(units);
        low = static_cast<std::uint64_t>((units - static_cast<double>(high)) * 4294967296.);
    }
    FixedMass operator+(const FixedMass& b) const { return {high + b.high, low + b.low}; }
    double value() const { return static_cast<double>(high) + static_cast<double>(low) / 4294967296.; }
};

/// Sums of the masses in each bin of a pass: words 2 b and 2 b + 1 are `high` and `low` of bin b. Waits for the space.
/// @param key, mass  [n]
template <Space S>
std::vector<std::uint64_t> masses_of_bins(S on, Workspace<S>& work, View<const std::uint64_t> key, View<const double> mass,
                                          const RadiusPass& pass);

/// The smallest radii within which fractions of the total mass lie, as lagrangian_radii() defines them.
class RadiusSelection {
   public:
    /// @param total  mass of all particles, above 0   @param fractions  most_radii at most, each above 0 and at most 1
    RadiusSelection(double total, std::span<const double> fractions);

    bool done() const { return pass_.shift == 0; }
    const RadiusPass& pass() const { return pass_; }
    /// Chooses the bins of the next pass. @param masses  of the bins of pass(), of all particles, as masses_of_bins() returns them
    void refine(const std::vector<std::uint64_t>& masses);
    /// Radii after the last pass, in the order of the fractions. [length]
    std::vector<double> radii() const;

   private:
    struct Wanted {
        double mass = 0;   ///< within the radius, in units of FixedMass::high
        int interval = 0;  ///< that contains the radius
        FixedMass below;   ///< mass of the particles below the interval
    };
    std::vector<Wanted> wanted_;
    RadiusPass pass_;
};

}  // namespace kasane::gravity::detail
