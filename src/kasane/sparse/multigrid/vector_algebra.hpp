// The vector operations of krylov's methods for real systems on vectors of doubles in the memory of a space.
// Invariant: a sum is taken over a fixed number of runs of entries and then, by the host, over the runs, so that it does not depend on
// threads.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <concepts>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// Two sums over the same entries; the second is 0 where a call computes one.
struct VectorSums {
    double first, second;
    KS_FN void add(double term) { first += term; }
    KS_FN void add(const VectorSums& terms) { first += terms.first, second += terms.second; }
};

template <Space S>
class VectorAlgebra {
   public:
    using Vector = Buffer<double, S>;
    using Scalar = double;

    explicit VectorAlgebra(S on);

    Vector like(const Vector& x) const { return Vector(on_, x.size()); }
    void copy(const Vector& x, Vector& y) { axpby(1, x, 0, y); }
    void zero(Vector& y) { axpby(0, y, 0, y); }
    double dot(const Vector& x, const Vector& y);
    double norm2(const Vector& x) { return dot(x, x); }
    /// The dot of each pair, with the bits of dot(): all of one run of entries, then all of the next, so that vectors are read from the
    /// cache.
    std::vector<double> dots(const std::vector<std::pair<const Vector*, const Vector*>>& pairs)
        requires std::same_as<S, Cpu>;
    /// y_j += factors[i][j] x_i, with the bits of axpby() for all i in their order; x_i is not read where the factor is 0.
    /// @param factors  [size of x][size of y]
    void add_products(const std::vector<const Vector*>& x, const double* factors, std::vector<Vector>& y)
        requires std::same_as<S, Cpu>;
    /// {x.y, x.x}
    std::pair<double, double> dot_norm2(const Vector& x, const Vector& y);
    /// y = a x + b y; where b = 0, y is not read, and where a = 0, x is not.
    void axpby(double a, const Vector& x, double b, Vector& y);
    /// x += a p, r -= a q; returns r.r
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r);
    /// y += a x; returns y.y
    double axpy_norm2(double a, const Vector& x, Vector& y);
    /// p = r + beta (p - omega v)
    void direction(const Vector& r, double beta, double omega, const Vector& v, Vector& p);
    /// x += alpha p + omega r, r -= omega t; returns {shadow.r, r.r}
    std::pair<double, double> finish(double alpha, const Vector& p, double omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r);
    /// Subtracts the mean of the entries, and returns it.
    double remove_mean(Vector& x);

   private:
    template <class Term>
    VectorSums sum(index_t n, const Term& term);

    S on_;
    Buffer<VectorSums, S> partial_;  ///< [runs]
    std::vector<double> products_;   ///< of dots(): [runs][pairs]; kept, since a new one costs a page fault for each 4 KiB
};

}  // namespace kasane::sparse
