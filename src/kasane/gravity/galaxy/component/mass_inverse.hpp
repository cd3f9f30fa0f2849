// The radius that encloses a mass, by the table of a MassProfile in the memory of any space: draws of particles read it in kernels.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/component/mass_profile.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

/// The inverse of MassProfile::mass().
struct MassInverse {
    double total = 0, inner = 0, outer = 0, inner_slope = 3;
    HermiteCurve log_mass;

    /// @param profile  must outlive the result where its table is not copied   @param memory  a TableMemory
    template <class Memory>
    static MassInverse of(const MassProfile& profile, Memory& memory) {
        return {profile.total_, profile.inner(), profile.outer(), profile.inner_slope_, profile.log_mass_->curve(memory)};
    }

    /// As MassProfile::radius().
    KS_FN double radius(double m) const {
        const double log_m = std::log(m), log_inner = log_mass(log_mass.first);
        if (log_m < log_inner) return inner * std::exp((log_m - log_inner) / inner_slope);
        return std::min(std::exp(log_mass.inverse(log_m)), outer);  // exp(log(outer)) may round upwards
    }
};

}  // namespace kasane::gravity
