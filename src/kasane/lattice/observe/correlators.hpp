// Meson two-point functions of a propagator, per time slice, at zero momentum.
// Invariants: S is the propagator in the field's own normalisation, S = 2 kappa D^-1 (sources of 1, D as in dirac/parameters.hpp);
// t is counted from the source, around the boundary; sums over a slice are in one order for any number of threads.
#pragma once

#include <kasane/lattice/spinor_field.hpp>

#include <array>
#include <complex>
#include <vector>

namespace kasane::lattice {

/// A propagator. Columns 3 * spin + colour of the source: the solutions of D x = b for its twelve right-hand sides, times 2 kappa.
struct Propagator {
    int source_time = 0;               ///< time slice of the source
    std::vector<SpinorField> columns;  ///< [12]

    /// Extents of the lattice.
    const Extents& extents() const { return columns.front().extents; }
};

/// The functions of a propagator throw LogicError unless it has twelve columns of one lattice and a source time on it.
///
/// C(t) = sum_x <J(x, t) J^+(0)> of J = u-bar Gamma d, which is sum_x tr [(g5 Gamma) S (g5 Gamma)^+ S^+] over spin and colour, as
/// S(0, x) = g5 S^+(x, 0) g5; positive.                                                    [Gattringer & Lang 2010, sect. 6.1]
/// Pseudoscalar, Gamma = g5: sum_x tr S S^+.
std::vector<double> pion_correlator(const Propagator& propagator);
/// Vector, Gamma = g_k: the mean over k = 1, 2, 3.
std::vector<double> vector_correlator(const Propagator& propagator);

/// Computes both correlators of a propagator that arrives in parts, each in the order of files (solution_rows.hpp). The sums have the order
/// of pion_correlator() and vector_correlator(), and therefore their bits.
class MesonCorrelators {
   public:
    /// @param extents  of the lattice   @param source_time  time slice of the source
    /// @throws LogicError: extents that are not even and at least 2, or a source time outside the lattice
    MesonCorrelators(const Extents& extents, int source_time);
    /// Adds consecutive sites. The caller must add all sites in their order. @param first  number of the first site (lexicographic)
    /// @param rows  [sites][4 spins][3 colours][12 columns]   @throws LogicError: sites outside the lattice, or a part of a site
    void add(index_t first, View<const std::complex<double>> rows);
    /// The pseudoscalar's sums so far.
    const std::vector<double>& pion() const { return pion_; }
    /// The vector meson's sums so far.
    const std::vector<double>& vector() const { return vector_; }

   private:
    Extents extents_;
    int source_time_;
    std::vector<double> pion_, vector_;
    std::vector<std::array<double, 2>> traces_;  ///< of the sites of a part
};

/// m(t) with C(t) / C(t + 1) = cosh(m (T/2 - t)) / cosh(m (T/2 - t - 1)), t from 0 to T/2 - 1: the effective mass of a single state that
/// propagates both ways around the lattice. NaN where there is no such m.                    [Gattringer & Lang 2010, sect. 6.3]
std::vector<double> effective_mass(const std::vector<double>& correlator);

}  // namespace kasane::lattice
