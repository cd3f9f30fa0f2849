// What names a Wilson-clover operator, and how its numbers are stored.
//   D = A - kappa H,   (H psi)(x) = sum_mu (1 - g_mu) U_mu(x) psi(x + mu) + (1 + g_mu) U_mu(x - mu)^+ psi(x - mu)
//   A = 1 - kappa c_sw sum_{mu < nu} g_mu g_nu F_mu_nu,   F = (Q - Q^+) / 8, Q the four plaquettes around x in the plane
// [Sheikholeslami & Wohlert 1985; Gattringer & Lang 2010, eqs. 5.51 and 9.15, times 2 kappa; csw > 0 improves].
#pragma once

#include <string>

namespace kasane::lattice {

/// Of the quarks in time; in space they are periodic.
enum class Boundary { periodic, antiperiodic };

struct DiracParameters {
    double kappa = 0.125;  ///< 1 / (2 m + 8)
    double csw = 0;        ///< 0: no clover term
    Boundary boundary = Boundary::antiperiodic;
};

/// Of the numbers in memory; half: 16-bit integers with a float scale per site (of links: no scale, their numbers are at most 1). What
/// is half in memory is single in registers.
enum class Precision { half, single, double_ };

/// Real numbers per link: 18 all; 12 two rows; 8 stereographic coordinates of a group element (dirac/eight_reals.hpp).
enum class LinkReals : int { all = 18, two_rows = 12, parameters = 8 };

struct LinkStorage {
    LinkReals reals = LinkReals::all;
    bool half = false;            ///< 16-bit links, whatever the fields are in (fields in half imply it; never with double)
    bool temporal_gauge = false;  ///< U_t = 1 but on the last time slice: these links are not read; the caller has fixed the gauge
};

const char* name(Precision precision);
const char* name(Boundary boundary);
/// "double-18", "single-12", "half-8", "single-12, half links, temporal gauge".
std::string name(Precision precision, const LinkStorage& links);

}  // namespace kasane::lattice
