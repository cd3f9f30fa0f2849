// The vector operations of krylov's methods on vectors of complex numbers in the memory of a space.
// Invariant: sums as in VectorAlgebra.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/general/number.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

#include <complex>
#include <concepts>
#include <type_traits>
#include <utility>

namespace kasane::sparse {

/// A complex sum and a real one over the same entries.
struct ComplexSums {
    ComplexNumber product;
    double square;
    KS_FN void add(const ComplexSums& terms) { product += terms.product, square += terms.square; }
};

template <Space S>
class ComplexAlgebra {
   public:
    using Vector = Buffer<ComplexNumber, S>;
    using Scalar = std::complex<double>;

    explicit ComplexAlgebra(S on);

    Vector like(const Vector& x) const { return Vector(on_, x.size()); }
    void copy(const Vector& x, Vector& y) { axpby(1, x, 0, y); }
    void zero(Vector& y) { axpby(0, y, 0, y); }
    /// sum of conj(x_i) y_i
    Scalar dot(const Vector& x, const Vector& y);
    double norm2(const Vector& x);
    /// {x.y, x.x}
    std::pair<Scalar, double> dot_norm2(const Vector& x, const Vector& y);
    /// y = a x + b y; where b = 0, y is not read, and where a = 0, x is not.
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y);
    /// y += a x; returns y.y
    double axpy_norm2(Scalar a, const Vector& x, Vector& y);
    /// p = r + beta (p - omega v)
    void direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p);
    /// x += alpha p + omega r, r -= omega t; returns {shadow.r, r.r}
    std::pair<Scalar, double> finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r);

   private:
    template <class Term>
    ComplexSums sum(index_t n, const Term& term);

    S on_;
    Buffer<ComplexSums, S> partial_;  ///< of runs
};

/// The vector operations for a caller's type of number.
template <Space S, class User>
using AlgebraOf = std::conditional_t<std::same_as<User, double>, VectorAlgebra<S>, ComplexAlgebra<S>>;

/// The operations of krylov::conjugate_gradients, which takes real parts of inner products: they are real for Hermitian matrices.
/// @tparam Complex  the algebra of complex numbers that it calls; operators and preconditioners of that algebra take this one
template <class Complex>
class HermitianAlgebra {
   public:
    using Vector = typename Complex::Vector;
    explicit HermitianAlgebra(Complex& algebra) : algebra_(algebra) {}
    operator Complex&() { return algebra_; }
    Vector like(const Vector& x) const { return algebra_.like(x); }
    void copy(const Vector& x, Vector& y) { algebra_.copy(x, y); }
    double dot(const Vector& x, const Vector& y) { return algebra_.dot(x, y).real(); }
    void axpby(double a, const Vector& x, double b, Vector& y) { algebra_.axpby(a, x, b, y); }
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
        algebra_.axpby(a, p, 1, x);
        return algebra_.axpy_norm2(-a, q, r);
    }

   private:
    Complex& algebra_;
};

}  // namespace kasane::sparse
