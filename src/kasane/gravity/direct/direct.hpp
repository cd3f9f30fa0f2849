// Options and operands of direct summation of softened gravity, the method of [MTM13] sections 1 and 2: every source acts on every target.
//
//     a_i = G sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2),   phi_i = -G sum_{j != i} m_j / sqrt(|x_j - x_i|^2 + eps^2)
//
// (eq. 1) for one Plummer softening; softening.hpp has the pair of two softenings and the spline. Invariants: a target's own source is left
// out of the potential at any eps; at eps = 0 two distinct particles at one place contribute zero to each other, never NaN. Variants differ
// in speed and rounding only.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/softening/softening.hpp>

#include <string>

namespace kasane::gravity {

/// Arithmetic of direct summation.
enum class Precision {
    single_,  ///< pairs and runs of some hundred in float, sums of runs in double; largest relative error of an acceleration about 1e-7
    double_,  ///< pairs and sums in double
};

/// Implementations of direct summation; they differ in speed and rounding only.
enum class DirectVariant {
    automatic,  ///< the fastest one for the space, shape and options, by a measured table
    plain,      ///< the textbook loop, any space: the reference for speed and rounding
    simd,       ///< CPU: explicit SIMD, blocked
    tile,       ///< CUDA: sources staged through shared memory ([MTM13] fig. 2)
    pair,       ///< CUDA: each pair computed once for both partners; targets and sources must be one set; potentials come from `tile`
};

/// Options of direct summation.
struct Direct {
    double softening = 0;                              ///< eps [length], >= 0; with softening_per_particle the smallest of all particles
    double G = 1;                                      ///< gravitational constant [length^3 / (mass time^2)], finite and >= 0
    Precision precision = Precision::single_;          ///< single_ needs a softening of 0, or above 1e-12 and below 1e18
    DirectVariant variant = DirectVariant::automatic;  ///< the space must have it: plain everywhere, simd on Cpu, tile and pair on Cuda
    bool deterministic = true;                         ///< the same bits from run to run, for any number of threads and workers
    SofteningKernel softening_kernel = SofteningKernel::plummer;  ///< form of a pair; spline: no variant pair
    bool softening_per_particle = false;                          ///< pairs combine Sources::softening; no variant pair
};

/// The variant called "auto", "plain", "simd", "tile" or "pair". @throws InputError: another name
DirectVariant direct_variant_named(const std::string& name);
/// "auto", "plain", "simd", "tile" or "pair": the inverse of direct_variant_named().
std::string name(DirectVariant variant);

/// Sources of gravity on one space; the views have the same length.
struct Sources {
    View<const Vec3<double>> position;  ///< [length]
    View<const double> mass;            ///< [mass]
    View<const double> softening = {};  ///< eps of each source [length]; empty: Direct::softening
};

/// Results at the targets, with the factor G. A result whose view is empty is not computed.
struct Field {
    View<Vec3<double>> acceleration;  ///< [length / time^2]
    View<double> potential;           ///< [length^2 / time^2]
};

/// Relation of targets and sources: target i is source i + shift. The potential leaves this pair out.
struct Self {
    static constexpr index_t none = -1;  ///< targets and sources are distinct sets
    index_t shift = none;                ///< 0 or more, or none
};

}  // namespace kasane::gravity
