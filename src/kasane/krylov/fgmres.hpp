// Flexible GMRES, restarted when its vectors are used up.
// Invariants: A Z = V H with orthonormal v_k, up to the rounding of the modified Gram-Schmidt process; |r| never grows within a cycle.
#pragma once

#include <kasane/krylov/bicgstab.hpp>

#include <complex>
#include <vector>

namespace kasane::krylov {

/// Vectors of the iteration: `length` vectors z and `length` + 1 vectors v.
template <class Algebra>
struct FgmresWorkspace {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    std::vector<Vector> z;                    ///< [length] M^-1 v_k
    std::vector<Vector> v;                    ///< [length + 1] orthonormal
    /// @param like  a vector of the system's size   @param length  iterations of a cycle
    FgmresWorkspace(const Algebra& algebra, const Vector& like, int length) {
        for (int k = 0; k < length; ++k) z.push_back(algebra.like(like));
        for (int k = 0; k <= length; ++k) v.push_back(algebra.like(like));
    }
};

/// Finds x with |b - A x| <= rtol |b|.                                                      [Saad 1993; Saad 2003, algorithm 9.6]
/// Givens rotations keep H upper triangular as it grows, so that |r| is known without x. Each cycle begins with the true residual. Two
/// cycles in a row that do not make it smaller by a tenth end the solve as stagnated.
/// Iteration k of a cycle: A, M; vectors read or written: 5 (k + 1) (dot 2, axpy 3) + 2; the end of a cycle: 3 per vector and 4.
template <class Algebra, class Operator>
SolveLog fgmres(Algebra& algebra, const Operator& A, AnyPreconditioner<Algebra> M, const typename Algebra::Vector& b,
                typename Algebra::Vector& x, FgmresWorkspace<Algebra>& work, const Options& options = {}) {
    using Scalar = typename Algebra::Scalar;
    constexpr int fruitless_cycles = 2;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(algebra, A, b, x, watch);
    auto& [z, v] = work;
    if (!system.begin(v[0])) return log;

    const std::size_t length = z.size();
    std::vector<Scalar> h(length * (length + 1)), g(length + 1), sine(length);
    std::vector<double> cosine(length);
    const auto H = [&](std::size_t i, std::size_t k) -> Scalar& { return h[k * (length + 1) + i]; };
    int fruitless = 0;
    while (!system.converged() && !watch.ended()) {
        const double started_at = system.norm();
        algebra.axpby(0, x, 1 / started_at, v[0]);
        g[0] = started_at;
        std::size_t k = 0;
        bool exhausted = false;  // A z_k lies in the span of the v: the solution lies in the search space, or A is singular
        while (k < length && std::abs(g[k]) > watch.target() && !exhausted && watch.go_on(std::abs(g[k]))) {
            // The preconditioner gets v_k, whose norm is 1: a relative residual of this size is enough.
            watch.set_inside_scale(std::abs(g[k]));
            M.apply(algebra, v[k], z[k], watch, watch.target() / std::abs(g[k]));
            auto& w = v[k + 1];
            A.apply(algebra, z[k], w);
            double w2 = algebra.norm2(w);
            const double before = w2;
            for (std::size_t i = 0; i <= k; ++i) {
                H(i, k) = algebra.dot(v[i], w);
                if constexpr (requires { algebra.axpy(-H(i, k), v[i], w); })
                    if (i < k) {
                        algebra.axpy(-H(i, k), v[i], w);
                        continue;
                    }
                w2 = algebra.axpy_norm2(-H(i, k), v[i], w);
            }
            const double below = std::sqrt(w2);
            exhausted = !(w2 > 1e-28 * before);
            if (!exhausted) algebra.axpby(0, x, 1 / below, w);
            for (std::size_t i = 0; i < k; ++i) {
                const Scalar upper = H(i, k), lower = H(i + 1, k);
                H(i, k) = cosine[i] * upper + conjugate(sine[i]) * lower;
                H(i + 1, k) = -sine[i] * upper + cosine[i] * lower;
            }
            const double diagonal = std::abs(H(k, k)), radius = std::hypot(diagonal, below);
            if (!(radius * radius > 1e-28 * before)) break;  // A z_k has no component outside the span
            const Scalar phase = diagonal > 0 ? H(k, k) / diagonal : Scalar(1);
            cosine[k] = diagonal / radius;
            sine[k] = below / radius * conjugate(phase);
            H(k, k) = radius * phase;
            g[k + 1] = -sine[k] * g[k];
            g[k] *= cosine[k];
            ++k;
        }
        for (std::size_t i = k; i-- > 0;) {  // H y = g, x += Z y
            Scalar y = g[i];
            for (std::size_t j = i + 1; j < k; ++j) y -= H(i, j) * g[j];
            g[i] = y / H(i, i);
            algebra.axpby(g[i], z[i], 1, x);
        }
        system.update(v[0]);
        if (!std::isfinite(system.norm())) watch.end(Outcome::not_finite);
        if (watch.ended() || system.converged()) break;
        fruitless = system.norm() <= 0.9 * started_at ? 0 : fruitless + 1;
        if (fruitless == fruitless_cycles) watch.end(exhausted ? Outcome::breakdown : Outcome::stagnated);
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(v[0], true);
    return log;
}

}  // namespace kasane::krylov
