// The vector operations of conjugate gradients on std::vector<double>.
// Invariant: sums are taken in fixed blocks, added in order, so results do not depend on the number of threads. One system at a time:
// the object keeps the sums of the blocks.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>

#include <algorithm>
#include <vector>

namespace kasane::krylov {

/// Vectors of the host; loops and sums on several threads.
class HostAlgebra {
   public:
    using Vector = std::vector<double>;  ///< a vector

    /// @param on  its threads are used
    explicit HostAlgebra(Cpu on = {}) : threads_(thread_count(on)) {}

    /// A vector of x's size, zero.
    Vector like(const Vector& x) const { return Vector(x.size()); }
    /// y = x
    void copy(const Vector& x, Vector& y) const { y = x; }

    /// Sum of x_i y_i.
    double dot(const Vector& x, const Vector& y) {
        return sum(x.size(), [&](std::size_t i) { return x[i] * y[i]; });
    }
    /// y = a x + b y; where b = 0, y is not read.
    void axpby(double a, const Vector& x, double b, Vector& y) {
        // 0 * NaN is NaN: where b is 0, y must not be read.
        if (b == 0) {
            if (a == 0) {
                std::fill(y.begin(), y.end(), 0.);
                return;
            }
            each(x.size(), [&](std::size_t i) { y[i] = a * x[i]; });
        } else {
            each(x.size(), [&](std::size_t i) { y[i] = a * x[i] + b * y[i]; });
        }
    }
    /// x += a p, r -= a q; returns r.r
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
        return sum(x.size(), [&](std::size_t i) {
            x[i] += a * p[i];
            r[i] -= a * q[i];
            return r[i] * r[i];
        });
    }

   private:
    static constexpr std::size_t block = 4096;             // 32 KiB of each vector
    static constexpr std::size_t parallel_from = 1 << 16;  // a shorter loop takes less time than starting the threads

    template <class F>
    void each(std::size_t n, F f) {
        const auto end = static_cast<index_t>(n);
#pragma omp parallel for schedule(static) num_threads(threads_) if (n >= parallel_from)
        for (index_t i = 0; i < end; ++i) f(static_cast<std::size_t>(i));
    }
    template <class F>
    double sum(std::size_t n, F f) {
        const std::size_t blocks = (n + block - 1) / block;
        partial_.resize(blocks);
        const auto end = static_cast<index_t>(blocks);
#pragma omp parallel for schedule(static) num_threads(threads_) if (n >= parallel_from)
        for (index_t k = 0; k < end; ++k) {
            const std::size_t first = static_cast<std::size_t>(k) * block, last = std::min(n, first + block);
            double s = 0;
            for (std::size_t i = first; i < last; ++i) s += f(i);
            partial_[static_cast<std::size_t>(k)] = s;
        }
        double total = 0;
        for (const double s : partial_) total += s;
        return total;
    }

    int threads_;
    std::vector<double> partial_;
};

}  // namespace kasane::krylov
