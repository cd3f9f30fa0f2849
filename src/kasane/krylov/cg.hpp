// Preconditioned conjugate gradients for A x = b with A symmetric positive definite, independent of matrix format and device: vectors
// are used through an algebra, A and the preconditioner through apply() (algebra.hpp).
// Invariants: no exception for a numerical reason: the outcome is in the log; x is the last iterate, whatever the outcome.
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/log.hpp>
#include <kasane/krylov/options.hpp>

#include <cmath>
#include <optional>

namespace kasane::krylov {

/// Vectors of the iteration, kept by the caller when many systems of one size are solved.
template <class Vector>
struct CgWorkspace {
    Vector r;  ///< residual
    Vector z;  ///< M^-1 r
    Vector p;  ///< direction
    Vector q;  ///< A p
};

/// Sums of an iteration.
struct CgSums {
    double rz;   ///< r.z
    double pAp;  ///< p.A p
    double r2;   ///< r.r after the step; unchanged where another sum is not positive
};

/// Finds x with ||b - A x|| <= true_residual_slack rtol ||b||, from the x that is given.
///                                                                                  [Hestenes & Stiefel 1952; Saad 2003, algorithm 9.1]
/// A and M may have apply_dot(algebra, in, out) -> double instead of apply(): it does the same and returns in.out. The algebra may have
/// step() (algebra.hpp). A may have residual(algebra, unit, b, x, r) -> double, which computes r = unit b - A x and returns r.r. These save
/// passes over memory.
/// The algebra may have iteration() for A and M (algebra.hpp), which then replaces the other operations, except with options.flexible. That
/// option makes the direction orthogonal with the difference of two residuals, at the cost of one vector and one dot more. [Notay 2000,
/// algorithm 2.1]
/// A zero b gives x = 0 at once. Entries of any size are allowed: where b.b leaves the range of doubles, the system is solved in other
/// units.
/// Per iteration without fused forms: one A, one M, 3 dots, 3 axpby: 12 flop and 104 bytes per unknown of doubles in addition to A and M;
/// with fused forms 72 bytes.
/// @param algebra  of the vectors
/// @param A        symmetric positive definite
/// @param M        symmetric positive definite; NoPreconditioner: none
/// @param b        right-hand side
/// @param x        first guess in, last iterate out
/// @param work     four vectors of b's size; their values do not matter
/// @param options  see options.hpp
/// @return the log; `residuals` has the recurrence's residual before every iteration
template <class Algebra, class Operator, class Preconditioner>
SolveLog conjugate_gradients(Algebra& algebra, const Operator& A, const Preconditioner& M, const typename Algebra::Vector& b,
                             typename Algebra::Vector& x, CgWorkspace<typename Algebra::Vector>& work, const Options& options = {}) {
    using Vector = typename Algebra::Vector;
    auto& r = work.r;
    auto& z = work.z;
    auto& p = work.p;
    auto& q = work.q;
    SolveLog log;

    const auto apply_dot = [&](const auto& op, const Vector& in, Vector& out) {
        if constexpr (requires { op.apply_dot(algebra, in, out); }) {
            return op.apply_dot(algebra, in, out);
        } else {
            op.apply(algebra, in, out);
            return algebra.dot(in, out);
        }
    };
    const auto step = [&](double alpha) {
        if constexpr (requires { algebra.step(alpha, p, q, x, r); }) {
            return algebra.step(alpha, p, q, x, r);
        } else {
            algebra.axpby(alpha, p, 1, x);
            algebra.axpby(-alpha, q, 1, r);
            return algebra.dot(r, r);
        }
    };

    // Squares of b's entries must neither vanish nor overflow: the units of b and x are powers of two, so that scaling does not round.
    const auto in_range = [](double square) { return square > 1e-200 && square < 1e200; };
    double b2 = algebra.dot(b, b), unit = 1;
    for (const double other : {0x1p400, 0x1p-400, 0x1p800, 0x1p-800}) {
        if (in_range(b2)) break;
        algebra.axpby(other, b, 0, r);
        if (const double square = algebra.dot(r, r); in_range(square)) b2 = square, unit = other;
    }
    if (b2 == 0) {
        algebra.axpby(0, b, 0, x);
        log.end = Outcome::converged;
        if (options.history) log.residuals.push_back(0);
        return log;
    }
    if (unit != 1) algebra.axpby(0, b, unit, x);

    const auto relative = [&](double r2) { return std::sqrt(r2 / b2); };
    const auto residual_of_x = [&] {  // into r
        if constexpr (requires { A.residual(algebra, unit, b, x, r); }) return A.residual(algebra, unit, b, x, r);
        if constexpr (requires { A.apply(algebra, x, q); }) {
            A.apply(algebra, x, q);
        } else {
            A.apply_dot(algebra, x, q);
        }
        if (unit == 1) {
            algebra.copy(b, r);
        } else {
            algebra.axpby(unit, b, 0, r);
        }
        algebra.axpby(-1, q, 1, r);
        return algebra.dot(r, r);
    };

    std::optional<Vector> r_before;
    if (options.flexible) r_before = algebra.like(b);
    const auto iteration = [&](bool first, double square, double rz_before) -> CgSums {
        if constexpr (requires { algebra.iteration(A, M, square, first, x, work); })
            if (!options.flexible) return algebra.iteration(A, M, square, first, x, work);
        CgSums sums{apply_dot(M, r, z), 0, square};
        if (!(sums.rz > 0)) return sums;
        if (first) {
            algebra.copy(z, p);
        } else {
            algebra.axpby(1, z, (sums.rz - (r_before ? algebra.dot(z, *r_before) : 0)) / rz_before, p);
        }
        if (r_before) algebra.copy(r, *r_before);
        sums.pAp = apply_dot(A, p, q);
        if (sums.pAp > 0) sums.r2 = step(sums.rz / sums.pAp);
        return sums;
    };

    double r2 = residual_of_x(), rz = 0;
    log.true_residual = relative(r2);
    bool fresh = true;                      // r is the true residual, and there is no direction yet
    double started_at = log.true_residual;  // the true residual of the last restart
    for (int k = 0;; ++k) {
        log.iterations = k;
        log.residual = relative(r2);
        if (options.history) log.residuals.push_back(log.residual);
        if (!std::isfinite(log.residual)) {
            log.end = Outcome::not_finite;
            break;
        }
        if (log.residual <= options.rtol) {
            if (!fresh) r2 = residual_of_x(), fresh = true;
            log.true_residual = relative(r2);
            if (log.true_residual <= options.true_residual_slack * options.rtol) {
                log.end = Outcome::converged;
                break;
            }
            // The restart must have halved it: otherwise rounding allows no further progress.
            if (log.restarts > 0 && !(log.true_residual <= started_at / 2)) {
                log.end = Outcome::stagnated;
                break;
            }
            ++log.restarts;
            started_at = log.true_residual;
        }
        if (k >= options.iteration_limit) break;
        if (options.stop && options.stop(k, log.residual)) {
            log.end = Outcome::stopped;
            break;
        }
        const auto sums = iteration(fresh, r2, rz);
        rz = sums.rz;
        if (!(rz > 0)) {
            log.end = std::isnan(rz) ? Outcome::not_finite : Outcome::preconditioner_not_positive;
            break;
        }
        if (!(sums.pAp > 0)) {
            log.end = std::isnan(sums.pAp) ? Outcome::not_finite : Outcome::operator_not_positive;
            break;
        }
        r2 = sums.r2;
        fresh = false;
    }
    if (!fresh) log.true_residual = relative(residual_of_x());
    if (unit != 1) algebra.axpby(0, b, 1 / unit, x);
    return log;
}

/// Does the same with a new workspace, which the algebra's like() makes.
template <class Algebra, class Operator, class Preconditioner>
SolveLog conjugate_gradients(Algebra& algebra, const Operator& A, const Preconditioner& M, const typename Algebra::Vector& b,
                             typename Algebra::Vector& x, const Options& options = {}) {
    CgWorkspace<typename Algebra::Vector> work{algebra.like(b), algebra.like(b), algebra.like(b), algebra.like(b)};
    return conjugate_gradients(algebra, A, M, b, x, work, options);
}

}  // namespace kasane::krylov
