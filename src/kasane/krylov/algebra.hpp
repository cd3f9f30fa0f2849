// Requirements of the methods on vectors, operators and preconditioners.
//
// An algebra defines a type of vector. For conjugate_gradients (cg.hpp) it has
//     Vector                             the type
//     copy(x, y)                         y = x
//     dot(x, y) -> double                sum of x_i y_i; of complex numbers the real part of sum of conj(x_i) y_i
//     axpby(a, x, b, y)                  y = a x + b y; where b = 0, y is not read
//     like(x)                            a new vector of x's size (for the form without a workspace)
//     step(a, p, q, x, r) -> double      optional: x += a p, r -= a q; returns r.r
//     iteration(A, M, r2, first, x, work) -> CgSums    optional: a whole iteration; r2 = r.r, first: p = z; where a sum is not positive,
//                                        x and r stay
// For the methods of general systems (bicgstab, gcr, fgmres, refinement, reliable_*) it has
//     Vector, Scalar                     the types; Scalar is std::complex<double>, or double (bicgstab, fgmres)
//     like(x), copy(x, y), zero(y)       a vector of x's size; y = x; y = 0
//     norm2(x), dot(x, y)                sum |x_i|^2, sum conj(x_i) y_i
//     axpby(a, x, b, y)                  y = a x + b y; where b = 0, y is not read
//     axpy_norm2(a, x, y)                y += a x; returns |y|^2
//     axpy(a, x, y)              optional, of fgmres: y += a x with the bits of axpy_norm2, where a sum costs time
//     dot_norm2(x, y)                    {x.y, |x|^2}
//     direction(r, beta, omega, v, p)    p = r + beta (p - omega v)
//     finish(alpha, p, omega, t, shadow, x, r)    x += alpha p + omega r, r -= omega t; {shadow.r, |r|^2}
//     step(a, p, q, x, r)                x += a p, r -= a q; returns |r|^2
//     minimise(c, k, beta, r)    optional, of gcr: for l < k beta_l = (c_l . c_k) / |c_l|^2, c_k -= sum beta_l c_l; r -= alpha c_k with
//                                alpha = (c_k . r) / |c_k|^2. Returns |c_k|^2 before and now, and alpha, 0 where now <= 1e-28 before
//     add(factors, z, k, x)      optional, of gcr: x += the sum of factors_l z_l, l < k
//     dots(pairs)            optional, of lobpcg: the dot of each pair of pointers to vectors
//     add_products(x, factors, y)    optional, of lobpcg: y_j += factors[i][j] x_i for all i in their order, x being pointers to vectors;
//                                x_i is not read where the factor is 0
//     resident_bicgstab()    optional: iterations of BiCGStab whose scalars stay where the vectors are (resident_bicgstab.hpp)
//     resident_cg()          optional: the same for reliable_cg and reliable_hermitian_cg (resident_cg.hpp)
// minres needs like, copy, zero, norm2, dot and axpby of these.
//
// An operator has apply(algebra, in, out) and, for reliable_cg, apply_adjoint(algebra, in, out); in and out are different vectors. It may
// have applied(n), which counts n applications that were executed without a call; a negative n takes back calls that were not executed
// (resident_run.hpp).
// A preconditioner has apply(algebra, in, out): out = M^-1 in, approximately. A flexible preconditioner may be another operator at every
// call. It may have apply(algebra, in, out, watch, enough) instead, where `enough` is the norm of a residual that would end the caller's
// iteration.
// convert(from, to) copies a vector of one precision to a vector of another.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <complex>

namespace kasane::krylov {

/// Returns x: the conjugate of a scalar of a real algebra.
KS_FN double conjugate(double x) { return x; }
/// The complex conjugate of z.
inline std::complex<double> conjugate(std::complex<double> z) { return std::conj(z); }
/// x^2
KS_FN double square(double x) { return x * x; }

/// M = 1: copies the residual.
struct NoPreconditioner {
    /// z = r.
    template <class Algebra, class Vector>
    void apply(Algebra& algebra, const Vector& r, Vector& z) const {
        algebra.copy(r, z);
    }
};

}  // namespace kasane::krylov
