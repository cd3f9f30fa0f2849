// The vector operations of conjugate gradients on vectors of doubles in the memory of a space.
// Invariant: a sum is taken over a fixed number of runs of neighbouring entries and then over the runs, so that it does not depend on
// threads.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <vector>

namespace kasane::sparse {

template <Space S>
class VectorAlgebra {
   public:
    using Vector = Buffer<double, S>;

    explicit VectorAlgebra(S on);

    Vector like(const Vector& x) const { return Vector(on_, x.size()); }
    void copy(const Vector& x, Vector& y) { axpby(1, x, 0, y); }
    double dot(const Vector& x, const Vector& y);
    /// y = a x + b y; where b = 0, y is not read, and where a = 0, x is not.
    void axpby(double a, const Vector& x, double b, Vector& y);
    /// x += a p, r -= a q; returns r.r
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r);
    /// Subtracts the mean of the entries, and returns it.
    double remove_mean(Vector& x);

   private:
    double total();

    S on_;
    Buffer<double, S> partial_;
    std::vector<double> host_;
};

}  // namespace kasane::sparse
