// Parameters of the Wilson-clover operator, and the storage of its numbers.
//   D = A - kappa H,   (H psi)(x) = sum_mu (1 - g_mu) U_mu(x) psi(x + mu) + (1 + g_mu) U_mu(x - mu)^+ psi(x - mu)
//   A = 1 - kappa c_sw sum_{mu < nu} g_mu g_nu F_mu_nu,   F = (Q - Q^+) / 8, Q the four plaquettes around x in the plane
// [Sheikholeslami & Wohlert 1985; Gattringer & Lang 2010, eqs. 5.51 and 9.15, times 2 kappa; csw > 0 improves].
#pragma once

#include <string>

namespace kasane::lattice {

/// Boundary condition of the quarks in time; in space they are periodic.
enum class Boundary {
    periodic,      ///< psi(t + T) = psi(t)
    antiperiodic,  ///< psi(t + T) = -psi(t)
};

/// Parameters of D.
struct DiracParameters {
    double kappa = 0.125;                        ///< 1 / (2 m + 8)
    double csw = 0;                              ///< 0: no clover term
    Boundary boundary = Boundary::antiperiodic;  ///< of the quarks in time
};

/// Precision of the numbers in memory. Half is computed in single.
enum class Precision {
    half,     ///< 16-bit integers with a float scale per site (of links: no scale, their numbers are at most 1)
    single,   ///< float
    double_,  ///< double
};

/// Real numbers per link in memory.
enum class LinkReals : int {
    all = 18,       ///< the matrix
    two_rows = 12,  ///< two rows; the third is their conjugated cross product
    parameters = 8  ///< stereographic coordinates of a group element (dirac/eight_reals.hpp)
};

/// Storage of links.
struct LinkStorage {
    LinkReals reals = LinkReals::all;  ///< numbers per link
    bool half = false;                 ///< 16-bit links, whatever the precision of the fields (fields in half imply it; never with double)
    bool temporal_gauge = false;       ///< U_t = 1 except on the last time slice: other links are not read; the caller has fixed the gauge
};

/// "half", "single" or "double".
const char* name(Precision precision);
/// "periodic" or "antiperiodic".
const char* name(Boundary boundary);
/// Both in one: "double-18", "single-12", "half-8", "single-12, half links, temporal gauge".
std::string name(Precision precision, const LinkStorage& links);

}  // namespace kasane::lattice
