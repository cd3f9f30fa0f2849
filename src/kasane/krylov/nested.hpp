// Nested BiCGStab: BiCGStab in double, whose flexible preconditioner is BiCGStab in a lower precision [Sakurai & Tadano; Ish09, slide 16].
// Invariant: the outer residual is the true one of the double operator but for the rounding of a few iterations; it is computed again at
// the end.
#pragma once

#include <kasane/krylov/inner_bicgstab.hpp>

namespace kasane::krylov {

/// x with |b - A x| <= tolerance |b|. An outer iteration has two inner solves, each of which takes away as many digits as `inner` is asked
/// for, so that two or three inner solves of 1e-4 give 1e-10; the last is told how little is left to do.
/// @param work  made for a preconditioner
template <class Algebra, class Operator, class Low, class LowOperator, class Convert>
Log nested_bicgstab(Algebra& algebra, const Operator& A, InnerBicgstab<Low, LowOperator, Convert>& inner, const typename Algebra::Vector& b,
                    typename Algebra::Vector& x, BicgstabWorkspace<Algebra>& work, const Options& options = {}) {
    return bicgstab(algebra, A, inner, b, x, work, options);
}

}  // namespace kasane::krylov
