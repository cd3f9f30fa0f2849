// The generalised conjugate residual method with a flexible preconditioner, restarted when its vectors are used up.
// Invariants: the vectors c_k = A z_k (orthogonalised) are mutually orthogonal; r is orthogonal to all of them, so |r| never grows.
#pragma once

#include <kasane/krylov/bicgstab.hpp>

#include <algorithm>
#include <complex>
#include <vector>

namespace kasane::krylov {

/// Vectors of the iteration: `length` pairs z, c.
template <class Algebra>
struct GcrWorkspace {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    Vector r;                                 ///< residual
    std::vector<Vector> z;                    ///< [length] M^-1 r
    std::vector<Vector> c;                    ///< [length] A z, orthogonal
    /// @param like  a vector of the system's size   @param length  iterations of a cycle
    GcrWorkspace(const Algebra& algebra, const Vector& like, int length) : r(algebra.like(like)) {
        for (int k = 0; k < length; ++k) z.push_back(algebra.like(like)), c.push_back(algebra.like(like));
    }
};

/// Finds x with |b - A x| <= rtol |b|.                                       [Eisenstat, Elman & Schultz 1983; Luscher 2004, appendix A]
/// The z_k stay as M returns them; at the end of a cycle a triangular system gives the coefficients of x, which account for the
/// orthogonalisation of the c_k. Each cycle begins with the true residual. Two cycles in a row that do not make it smaller by a tenth end
/// the solve as stagnated.
/// Iteration k of a cycle: A, M; vectors read or written: 5 k (dot 2, axpy 3) + 1 + 5; the end of a cycle: 3 per vector and 4.
template <class Algebra, class Operator>
SolveLog gcr(Algebra& algebra, const Operator& A, AnyPreconditioner<Algebra> M, const typename Algebra::Vector& b,
             typename Algebra::Vector& x, GcrWorkspace<Algebra>& work, const Options& options = {}) {
    using Scalar = typename Algebra::Scalar;
    constexpr int fruitless_cycles = 2;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(algebra, A, b, x, watch);
    auto& [r, z, c] = work;
    if (!system.begin(r)) return log;

    const std::size_t length = z.size();
    std::vector<double> c2(length);             // |c_k|^2
    std::vector<Scalar> alpha(length);          // r's part along c_k
    std::vector<Scalar> beta(length * length);  // A z_k's part along c_l, l < k
    int fruitless = 0;
    while (!system.converged() && !watch.ended()) {
        const double started_at = system.norm();
        double norm = started_at;
        std::size_t k = 0;
        bool vanished = false;
        while (k < length && norm > watch.target() && !vanished && watch.go_on(norm)) {
            M.apply(algebra, r, z[k], watch, watch.target());
            A.apply(algebra, z[k], c[k]);
            double before = 0;
            if constexpr (requires { algebra.minimise(c, k, beta.data(), r); }) {
                const auto step = algebra.minimise(c, k, beta.data() + k * length, r);
                before = step.before, c2[k] = step.now, alpha[k] = step.alpha;
            } else {
                before = c2[k] = algebra.norm2(c[k]);
                for (std::size_t l = 0; l < k; ++l) {
                    beta[k * length + l] = algebra.dot(c[l], c[k]) / c2[l];
                    c2[k] = algebra.axpy_norm2(-beta[k * length + l], c[l], c[k]);
                }
            }
            if (!(c2[k] > 1e-28 * before)) {  // A z_k lies in the span of the others, up to rounding
                vanished = true;
                break;
            }
            if constexpr (requires { algebra.minimise(c, k, beta.data(), r); }) {
                norm = std::sqrt(std::max(0., norm * norm - std::norm(alpha[k]) * c2[k]));
            } else {
                alpha[k] = algebra.dot(c[k], r) / c2[k];
                norm = std::sqrt(algebra.axpy_norm2(-alpha[k], c[k], r));
            }
            ++k;
        }
        // x += sum_k chi_k z_k with chi_k + sum_{i > k} beta_ik chi_i = alpha_k
        constexpr bool adds_all = requires { algebra.add(alpha, z, k, x); };
        for (std::size_t i = k; i-- > 0;) {
            if constexpr (!adds_all) algebra.axpby(alpha[i], z[i], 1, x);
            for (std::size_t l = 0; l < i; ++l) alpha[l] -= beta[i * length + l] * alpha[i];
        }
        if constexpr (adds_all) algebra.add(alpha, z, k, x);
        system.update(r);
        if (!std::isfinite(system.norm())) watch.end(Outcome::not_finite);
        if (watch.ended() || system.converged()) break;
        fruitless = system.norm() <= 0.9 * started_at ? 0 : fruitless + 1;
        if (fruitless == fruitless_cycles) watch.end(vanished ? Outcome::breakdown : Outcome::stagnated);
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(r, true);
    return log;
}

}  // namespace kasane::krylov
