// Complex systems whose rows and columns were scaled by powers of two before they were divided: values and vectors on the root rank, and
// residuals in the user's units on the workers.
// Invariant: no rounding, apart from numbers that leave the range of doubles.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/sparse/general/scaling.hpp>

#include <complex>
#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// The entries of the scaled matrix. @param A  its pattern   @param values  [entries] of A
std::vector<std::complex<double>> scaled_values(const CsrView& A, const std::complex<double>* values, const Scaling& scaling);

/// Scales b by rows, and by one more power of two, so that its largest entries are near 1; x by the inverse of the columns' scales. A
/// guess x that leaves the range of doubles becomes zero.
/// @param b, x  [n] finite; in the user's units in, of the scaled system out   @return the exponent of the power for all of b and x
int scale_vectors(const Scaling& scaling, std::vector<std::complex<double>>& b, std::vector<std::complex<double>>& x);
/// Returns x to the user's units. @param exponent  from scale_vectors()
void unscale_solution(const Scaling& scaling, int exponent, View<std::complex<double>> x);

/// ||residual|| / ||b|| in the user's units; 0 where the residual is. Collective over the workers.
/// @param b, residual  own numbers of the scaled system   @param exponent  [own] the scales of these rows
double relative_in_user_units(comm::Worker& worker, const std::vector<std::complex<double>>& b,
                              const std::vector<std::complex<double>>& residual, const std::vector<std::int32_t>& exponent);

}  // namespace kasane::sparse
