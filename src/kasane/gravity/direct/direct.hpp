// Options and operands of direct summation of softened gravity, the method of [MTM13] sections 1 and 2: every source acts on every target.
//
//     a_i = G sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2),   phi_i = -G sum_{j != i} m_j / sqrt(|x_j - x_i|^2 + eps^2)
//
// (eq. 1). Invariants: a target's own source is left out of the potential at any eps; at eps = 0 two distinct particles at one
// place contribute zero to each other, never NaN. Variants differ in speed and rounding only.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>

#include <string>

namespace kasane::gravity {

enum class Precision {
    single_,  ///< pairs and runs of some hundred in float, sums of runs in double; largest relative error of an acceleration about 1e-7
    double_,
};

enum class DirectVariant {
    automatic,  ///< the fastest one for the space, shape and options, by a measured table
    plain,      ///< the textbook loop, any space: the oracle of the others' speed and rounding
    simd,       ///< CPU: explicit SIMD, blocked
    tile,       ///< CUDA: sources staged through shared memory ([MTM13] fig. 2)
    pair,       ///< CUDA: each pair computed once for both partners; targets and sources must be one set; potentials come from `tile`
};

struct Direct {
    double softening = 0;  ///< Plummer eps [length], >= 0
    double G = 1;
    Precision precision = Precision::single_;
    DirectVariant variant = DirectVariant::automatic;
    bool deterministic = true;  ///< the same bits from run to run, for any number of threads and workers
};

/// "plain", "simd", ... @throws InputError for a name that is none
DirectVariant direct_variant_named(const std::string& name);
std::string name(DirectVariant variant);

/// Sources of gravity on one space.
struct Sources {
    View<const Vec3<double>> position;
    View<const double> mass;
};

/// Where the results go: [length / time^2] and [length^2 / time^2]; an empty view is not computed.
struct Field {
    View<Vec3<double>> acceleration;
    View<double> potential;
};

/// Target i is source i + shift (the pair that the potential leaves out); none: the two sets are distinct.
struct Self {
    static constexpr index_t none = -1;
    index_t shift = none;
};

}  // namespace kasane::gravity
