// The rational function that approximates x^(-1/2) with the smallest relative error of its degree, by Zolotarev's solution in closed form:
//   R(x) = scale prod_k (x + zeros_k) / (x + poles_k),   |1 - sqrt(x) R(x)| <= error   for least <= x <= most.
// Invariants: zeros and poles ascend and alternate, a pole first, all positive; R is positive for x >= 0.
#pragma once

#include <vector>

namespace kasane::lattice {

struct RationalApproximation {
    double least = 1, most = 1;  ///< of x
    double error = 0;            ///< largest of |1 - sqrt(x) R(x)| on that range, in exact arithmetic
    double scale = 1;
    std::vector<double> zeros, poles;  ///< of -x

    int degree() const { return static_cast<int>(poles.size()); }
    double operator()(double x) const;
    /// r_k of R(x) = scale (1 + sum_k r_k / (x + poles_k)): positive.
    std::vector<double> residues() const;
    /// s_k of prod_k (q + i m_k) / (q + i n_k) = 1 + sum_k s_k (i q + n_k) / (q^2 + zeros_k), with m_k^2 = poles_k, n_k^2 = zeros_k: the
    /// square of its modulus is scale / R(q^2).
    std::vector<double> heat_bath_residues() const;
};

/// Most poles of an approximation: rounding limits the error before.
constexpr int most_poles = 64;

/// @param degree  numbers of zeros and of poles, 1 to most_poles                      [Zolotarev 1877; van den Eshof et al. 2002]
/// @throws InputError: 0 < least < most does not hold, or the degree is out of range
RationalApproximation inverse_root(double least, double most, int degree);

/// The approximation of the smallest degree whose error is at most this.
/// @throws InputError: the same, or error is not from 1e-14 to 0.5, or most_poles poles do not reach it
RationalApproximation inverse_root_within(double least, double most, double error);

}  // namespace kasane::lattice
