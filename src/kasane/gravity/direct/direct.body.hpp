// The physics of one target in direct summation, host and device: the plain loop of [MTM13] eq. 1.
// The tuned variants are compared with it, so it stays as simple as the formula.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/softening/pair.body.hpp>

#include <cmath>

namespace kasane::gravity::detail {

/// Computes the field at one target; pairs in Real, sums in double.
template <class Real>
struct PlainDirect {
    View<const Vec3<double>> targets;
    Sources sources;
    Self self;
    Field out;
    double softening;
    double G;

    KS_FN void operator()(index_t i) const {
        const auto xi = targets[i];
        const Real eps2 = static_cast<Real>(softening * softening);
        const index_t own = self.shift == Self::none ? Self::none : i + self.shift;
        double ax = 0, ay = 0, az = 0, phi = 0;
        for (index_t j = 0; j < sources.position.n; ++j) {
            const auto xj = sources.position[j];
            const Real dx = static_cast<Real>(xj.x) - static_cast<Real>(xi.x);
            const Real dy = static_cast<Real>(xj.y) - static_cast<Real>(xi.y);
            const Real dz = static_cast<Real>(xj.z) - static_cast<Real>(xi.z);
            const Real r2 = eps2 + dx * dx + dy * dy + dz * dz;
            if (j == own || r2 == 0) continue;
            const Real m_over_r = static_cast<Real>(sources.mass[j]) / std::sqrt(r2);
            const Real m_over_r3 = m_over_r / r2;
            ax += static_cast<double>(m_over_r3 * dx);
            ay += static_cast<double>(m_over_r3 * dy);
            az += static_cast<double>(m_over_r3 * dz);
            phi += static_cast<double>(m_over_r);
        }
        if (!out.acceleration.empty()) out.acceleration[i] = G * Vec3<double>{ax, ay, az};
        if (!out.potential.empty()) out.potential[i] = -G * phi;
    }
};

/// The same for pairs of two softenings.
template <class Real, PairSoftening form>
struct PlainSoftened {
    View<const Vec3<double>> targets;
    View<const double> target_softening;  ///< empty: `softening`
    Sources sources;
    Self self;
    Field out;
    double softening;
    double G;

    KS_FN void operator()(index_t i) const {
        const auto xi = targets[i];
        const index_t own = self.shift == Self::none ? Self::none : i + self.shift;
        const Real term = static_cast<Real>(softening_term(target_softening.empty() ? softening : target_softening[i]));
        double ax = 0, ay = 0, az = 0, phi = 0;
        for (index_t j = 0; j < sources.position.n; ++j) {
            const auto xj = sources.position[j];
            const Real dx = static_cast<Real>(xj.x) - static_cast<Real>(xi.x);
            const Real dy = static_cast<Real>(xj.y) - static_cast<Real>(xi.y);
            const Real dz = static_cast<Real>(xj.z) - static_cast<Real>(xi.z);
            if (j == own) continue;
            const Real eps2 = term + static_cast<Real>(softening_term(sources.softening.empty() ? softening : sources.softening[j]));
            const auto pair = softened_pair<form>(dx * dx + dy * dy + dz * dz, eps2);
            const Real m = static_cast<Real>(sources.mass[j]), weight = m * pair.force;
            ax += static_cast<double>(weight * dx);
            ay += static_cast<double>(weight * dy);
            az += static_cast<double>(weight * dz);
            phi += static_cast<double>(m * pair.potential);
        }
        if (!out.acceleration.empty()) out.acceleration[i] = G * Vec3<double>{ax, ay, az};
        if (!out.potential.empty()) out.potential[i] = -G * phi;
    }
};

}  // namespace kasane::gravity::detail
