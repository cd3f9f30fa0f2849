// SU(2) within SU(3), host and device: the draw of the heatbath and the reflection of overrelaxation.
// Invariant: an Su2 is the matrix ((a, b), (-b*, a*)); with |a|^2 + |b|^2 = 1 it is an element of the group.
#pragma once

#include <kasane/lattice/gauge/heatbath_deviates.body.hpp>
#include <kasane/lattice/random.hpp>
#include <kasane/lattice/su3.hpp>

#include <cmath>

#if defined(__CUDACC__)
/// A function that is called on a device, not copied to each call: for code so long that its copies do not fit the instruction cache.
#define KS_ONE_COPY __host__ __device__ __noinline__ inline
#else
#define KS_ONE_COPY inline
#endif

namespace kasane::lattice {

struct Su2 {
    Complex<double> a{1, 0}, b{0, 0};
    KS_FN Su2 operator*(const Su2& v) const { return {a * v.a - b * conj(v.b), a * v.b + b * conj(v.a)}; }
};
KS_FN Su2 adjoint(const Su2& v) { return {conj(v.a), -v.b}; }

/// The part of rows and columns i, j of w that SU(2) acts on: Re tr(g w) = length Re tr(g direction) for all g in the subgroup, up to a
/// constant.
struct Su2Part {
    double length = 0;
    Su2 direction;
};
KS_FN Su2Part su2_part(const Su3<double>& w, int i, int j) {
    const Complex<double> a = (w.e[i][i] + conj(w.e[j][j])) * 0.5, b = (w.e[i][j] - conj(w.e[j][i])) * 0.5;
    const double length = sqrt(norm2(a) + norm2(b));
    if (length < 1e-100) return {};  // no staple: all elements are equally likely
    return {length, {a * (1 / length), b * (1 / length)}};
}

/// u <- g u, g in rows i and j.
KS_FN void multiply_rows(Su3<double>& u, int i, int j, const Su2& g) {
    for (int k = 0; k < 3; ++k) {
        const Complex<double> ui = u.e[i][k], uj = u.e[j][k];
        u.e[i][k] = g.a * ui + g.b * uj;
        u.e[j][k] = conj(g.a) * uj - conj(g.b) * ui;
    }
}

/// Below this strength Creutz's proposal is accepted more often than Kennedy's and Pendleton's; here both have an acceptance of 0.7.
constexpr double small_strength = 1.7;
/// A draw fails with a probability below 1e-33.
constexpr int most_trials = 64;

/// y = 1 - h0 for h in SU(2) with the density exp(strength h0) dh, h0 = tr h / 2, that is exp(strength h0) sqrt(1 - h0^2) dh0.
/// Negative where all trials were rejected.                       [Creutz 1980, Phys. Rev. D 21, 2308; Kennedy & Pendleton 1985]
KS_FN double draw_deficit(double strength, RandomWords& random) {
    for (int trial = 0; trial < most_trials; ++trial) {
        const auto [first, second, third, fourth] = random.next();
        const double u = unit_interval(fourth);
        if (strength < small_strength) {
            // exp(strength h0) by inversion, accepted with sqrt(1 - h0^2)
            const double v = unit_interval(first), y = strength < 1e-16 ? 2 * v : 2 - log1p(v * expm1(2 * strength)) / strength;
            if (u * u <= y * (2 - y)) return y;
        } else {
            // y^(1/2) exp(-strength y): an exponential deviate and half a squared Gaussian; accepted with sqrt(1 - y / 2)
            const double y = product_sum(squared_cosine(second), exponential_deviate(third), exponential_deviate(first)) / strength;
            if (u * u <= 1 - y / 2) return y;
        }
    }
    return -1;
}

/// g with the density exp(strength Re tr(g direction) / 2) dg. Where all trials fail it is 1: failing does not depend on the replaced
/// element, so that the distribution stays exact.
KS_ONE_COPY Su2 heatbath_su2(double strength, const Su2& direction, RandomWords& random) {
    const double y = draw_deficit(strength, random);
    if (y < 0) return {};
    const auto words = random.next();
    // A direction in single precision, of which the length is made 1 in double.
    const float cap = signed_unit(words.first), ring = sqrtf((1 - cap) * (1 + cap));
    const auto [cosine, sine] = circle_point(words.second);
    const double z = cap, c = ring * cosine, d = ring * sine;
    const double excess = z * z + c * c + d * d - 1;  // below 1e-6: (1 + excess)^-1/2 is a short series
    const double radius = sqrt(y * (2 - y)) * (1 - excess * (0.5 - 0.375 * excess));
    const Su2 h{{1 - y, radius * z}, {radius * c, radius * d}};
    return h * adjoint(direction);
}

/// g with Re tr(g direction) = Re tr(direction), at the largest distance from 1.
KS_FN Su2 reflection_su2(const Su2& direction) {
    const Su2 back = adjoint(direction);
    return back * back;
}

}  // namespace kasane::lattice
