// Spin bases of other programs, and conversions to and from kasane's own (DeGrand and Rossi's, spinor_field.hpp).
// Invariant: a basis is given by its g_1 … g_4 (Hermitian, blocks of 2x2, s_k Pauli's matrices); fields of two bases differ by a unitary
// S in spin space, psi' = S psi with S g_mu S^+ = g'_mu, which these matrices fix up to a phase. A propagator turns into S P S^+.
#pragma once

#include <kasane/lattice/spinor_field.hpp>

#include <array>
#include <complex>
#include <string>
#include <vector>

namespace kasane::lattice {

/// A representation of the gamma matrices.
enum class GammaBasis {
    degrand_rossi,  ///< g_1 = ((0, i s_1), (-i s_1, 0)), g_2 with the other sign, g_3 as g_1, g_4 = ((0, 1), (1, 0)): kasane, Chroma
    ukqcd,          ///< g_k = ((0, i s_k), (-i s_k, 0)), g_4 = diag(1, 1, -1, -1): inside QUDA
    chiral,         ///< g_k = ((0, -i s_k), (i s_k, 0)), g_4 = ((0, 1), (1, 0))                      [Gattringer & Lang 2010, app. A.2]
    dirac_pauli,    ///< g_k = ((0, -i s_k), (i s_k, 0)), g_4 = diag(1, 1, -1, -1): CCS-QCD
};
/// All bases.
inline constexpr GammaBasis gamma_bases[] = {GammaBasis::degrand_rossi, GammaBasis::ukqcd, GammaBasis::chiral, GammaBasis::dirac_pauli};
/// Its name: "degrand-rossi", "ukqcd", "chiral", "dirac-pauli".
const char* name(GammaBasis basis);

/// A matrix in spin space, [row][column].
using SpinMatrix = std::array<std::array<std::complex<double>, 4>, 4>;

/// S of psi in `basis` = S psi in DeGrand and Rossi's; real and unitary.
SpinMatrix from_degrand_rossi(GammaBasis basis);

/// Converts a field to another basis.
SpinorField rotated(SpinorField psi, GammaBasis from, GammaBasis to);

/// Converts the twelve columns of a propagator, 3 * spin + colour of the source: both spins of the propagator.
std::vector<SpinorField> rotated(std::vector<SpinorField> propagator, GammaBasis from, GammaBasis to);

/// Converts solutions in the order of files to another basis. @param rows  [sites][4 spins][3 colours][columns], replaced
/// @param columns  twelve: of a propagator, both of whose spins are converted; or one
void rotate_rows(View<std::complex<double>> rows, int columns, GammaBasis from, GammaBasis to);

}  // namespace kasane::lattice
