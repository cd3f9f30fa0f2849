// The algebra of vectors whose parts belong to workers: each works on its own part, and sums are reduced over all of them.
// Invariants: one reduction for each operation that returns numbers; all workers get the same bits.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

#include <array>
#include <utility>

namespace kasane::sparse {

template <Space S>
class DistributedAlgebra {
   public:
    using Vector = Buffer<double, S>;
    using Scalar = double;

    DistributedAlgebra(S on, comm::Worker& worker) : local_(on), worker_(worker) {}

    /// The algebra of this worker's part alone.
    VectorAlgebra<S>& local() { return local_; }

    Vector like(const Vector& x) const { return local_.like(x); }
    void copy(const Vector& x, Vector& y) { local_.copy(x, y); }
    void zero(Vector& y) { local_.zero(y); }
    double dot(const Vector& x, const Vector& y) { return sum(local_.dot(x, y)); }
    double norm2(const Vector& x) { return sum(local_.norm2(x)); }
    std::pair<double, double> dot_norm2(const Vector& x, const Vector& y) { return sum(local_.dot_norm2(x, y)); }
    void axpby(double a, const Vector& x, double b, Vector& y) { local_.axpby(a, x, b, y); }
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) { return sum(local_.step(a, p, q, x, r)); }
    double axpy_norm2(double a, const Vector& x, Vector& y) { return sum(local_.axpy_norm2(a, x, y)); }
    void direction(const Vector& r, double beta, double omega, const Vector& v, Vector& p) { local_.direction(r, beta, omega, v, p); }
    std::pair<double, double> finish(double alpha, const Vector& p, double omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r) {
        return sum(local_.finish(alpha, p, omega, t, shadow, x, r));
    }

   private:
    double sum(double here) {
        worker_.all_reduce({&here, 1}, comm::Reduce::sum);
        return here;
    }
    std::pair<double, double> sum(const std::pair<double, double>& here) {
        std::array all{here.first, here.second};
        worker_.all_reduce({all.data(), 2}, comm::Reduce::sum);
        return {all[0], all[1]};
    }

    VectorAlgebra<S> local_;
    comm::Worker& worker_;
};

}  // namespace kasane::sparse
