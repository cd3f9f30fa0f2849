// Links in eight real numbers: their computation, and the scalar form of the inverse (link_of_eight of eight_reals.body.hpp).
// [Bunk & Sommer, Comput. Phys. Commun. 40 (1986) 229] store two phases and six components; the second row then has the denominator
// 1 - |U_11|^2, which vanishes at the unit link, and |U_11| is the root of a difference, so that errors grow to their square root.
// Here both rows are given by stereographic projection instead:
//   Row 1 is a unit vector of C^3 = R^6, a point of S^5: five coordinates, projected from the pole opposite to its hemisphere of Re U_11,
//   so that they lie in the unit ball.
//   Row 2 is then a unit vector of the plane orthogonal to row 1. That plane has the orthonormal frame
//   f_j = e_j - (e_1 + a) conj(a_j) / (1 + conj(a_1)), j = 2, 3 (a generalised Householder reflection; a is row 1 with the hemisphere's
//   sign, so that |1 + a_1| >= 1), and the row's place in it is a point of S^3: three coordinates of the unit ball.
//   Row 3 = conj(row 1 x row 2).
// Invariants: all eight numbers are in [-1, 1]; an error d of them is an error of at most some 4 d of the link, everywhere; the unit link
// is eight zeros; no roots, sines or cosines are needed. The two hemispheres are two bits; they go into the lowest bits of numbers 0 and 5
// (set: the negative one), which costs these an ulp (in 16 bits: half of their precision, so that the integers are even or odd).
#pragma once

#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/su3.hpp>

#include <bit>
#include <cstdint>

namespace kasane::lattice {

#define KS_SITE KS_FN
#include <kasane/lattice/dirac/eight_reals.body.hpp>
#undef KS_SITE

/// The two of the eight numbers that hold the bits of the hemispheres.
inline constexpr int first_sign_in = 0, second_sign_in = 5;

struct EightReals {
    double r[8];
    bool first_negative, second_negative;
};

/// The numbers of an SU(3) matrix (to rounding; they are those of a nearby one otherwise).
KS_FN EightReals eight_reals_of(const Su3<double>& u) {
    using C = Complex<double>;
    EightReals e{};
    e.first_negative = u.e[0][0].re < 0;
    const double first = e.first_negative ? -1 : 1;
    // 1 + a_1 and the five coordinates a / (1 + Re a_1)
    const C a1 = u.e[0][0] * first, pole{1 + a1.re, a1.im};
    const double to_plane = first / pole.re;
    e.r[0] = u.e[0][0].im * to_plane;
    for (int j = 1; j < 3; ++j) {
        e.r[2 * j - 1] = u.e[0][j].re * to_plane;
        e.r[2 * j] = u.e[0][j].im * to_plane;
    }
    // The place in the frame is f_j^+ b = b_j - b_1 a_j / (1 + a_1), as b is orthogonal to a.
    C place[2];
    const C b1 = u.e[1][0] * (first / norm2(pole)) * conj(pole);
    double length = 0;
    for (int j = 0; j < 2; ++j) {
        place[j] = u.e[1][j + 1] - b1 * u.e[0][j + 1];
        length += norm2(place[j]);
    }
    length = 1 / std::sqrt(length);
    const double side = place[0].re * first;
    e.second_negative = side < 0;
    const double second = e.second_negative ? -1 : 1, s = first * second * length / (1 + second * side * length);
    e.r[5] = place[0].im * s;
    e.r[6] = place[1].re * s;
    e.r[7] = place[1].im * s;
    return e;
}

/// The same numbers with the bits of the hemispheres.
KS_FN float with_lowest_bit(float value, bool set) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) & ~1u) | static_cast<std::uint32_t>(set));
}
KS_FN double with_lowest_bit(double value, bool set) {
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(value) & ~std::uint64_t{1}) | static_cast<std::uint64_t>(set));
}
/// The integer next to value (of [-32767, 32767]) whose lowest bit is `set`.
KS_FN std::int16_t int16_with_lowest_bit(double value, bool set) {
    const int odd = set ? 1 : 0;
    int i = 2 * static_cast<int>(std::floor((value - odd) / 2 + 0.5)) + odd;
    if (i > 32767) i -= 2;
    if (i < -32767) i += 2;
    return static_cast<std::int16_t>(i);
}

/// -1 where the lowest bit is set, otherwise +1.
KS_FN float sign_of_lowest_bit(float value) { return std::bit_cast<float>(0x3F800000u | (std::bit_cast<std::uint32_t>(value) << 31)); }
KS_FN double sign_of_lowest_bit(double value) {
    return std::bit_cast<double>(0x3FF0000000000000u | (std::bit_cast<std::uint64_t>(value) << 63));
}

}  // namespace kasane::lattice
