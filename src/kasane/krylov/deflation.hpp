// Deflation of the normal equations by eigenpairs of A^+ A: P = 1 - V V^+ removes them from a vector, and V Lambda^-1 V^+ solves for their
// part of the solution.
// Invariant: the vectors are orthonormal; how accurate they are changes the number of iterations and not the solution.
#pragma once

#include <cstddef>
#include <vector>

namespace kasane::krylov {

/// Deflates nothing.
struct NoDeflation {
    /// Leaves s unchanged.
    template <class Algebra, class Vector>
    void project(Algebra&, Vector&) const {}
    /// Returns false: x is unchanged.
    template <class Algebra, class Vector>
    bool correct(Algebra&, const Vector&, Vector&) const {
        return false;
    }
};

/// Eigenpairs of A^+ A.
template <class Algebra>
struct Deflation {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    std::vector<double> values;               ///< eigenvalues, positive
    std::vector<Vector> vectors;              ///< orthonormal

    /// s := (1 - V V^+) s
    void project(Algebra& algebra, Vector& s) const {
        for (const auto& v : vectors) algebra.axpby(-algebra.dot(v, s), v, 1, s);
    }
    /// x += V Lambda^-1 V^+ s, s = A^+ (b - A x); returns whether x changed.
    bool correct(Algebra& algebra, const Vector& s, Vector& x) const {
        for (std::size_t i = 0; i < vectors.size(); ++i) algebra.axpby(algebra.dot(vectors[i], s) / values[i], vectors[i], 1, x);
        return !vectors.empty();
    }
};

}  // namespace kasane::krylov
