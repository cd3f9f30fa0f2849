// A sparse approximate inverse with the pattern of A, on the host: row by row the least squares of |e_i - m_i A|, so that M A is as near to
// 1 as this pattern allows in the norm of Frobenius.                                                    [Kolotilina & Yeremin 1993;
// Saad 10.5] Invariant: the values do not depend on threads.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <vector>

namespace kasane::sparse {

/// Entries of a row that sparse_inverse() allows: a row of k entries takes a dense system of k equations.
inline constexpr index_t most_inverse_entries = 500;

/// The values of M, in the places of A's entries. Where rows of A depend on each other up to rounding, entries of M are 0.
/// @param A  canonical
/// @throws InputError: a row of more than most_inverse_entries
std::vector<double> sparse_inverse(const CsrView& A, Cpu on);

}  // namespace kasane::sparse
