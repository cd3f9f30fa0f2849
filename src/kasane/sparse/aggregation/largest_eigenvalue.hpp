// The largest eigenvalue of a symmetric matrix from some steps of Lanczos' method with a random first vector. The Chebyshev smoother needs
// it: the smoother is not positive definite where the largest eigenvalue exceeds the estimate by a quarter.
// For any matrix of n rows the expected relative error of m steps is at most 0.103 (ln(n (m-1)^2) / (m-1))^2: 12% for 40,000 rows, 20% for
// 8 million; the power method's bound is 0.87 ln(n) / (m-1), more than 1 with 8 steps.          [Kuczynski & Wozniakowski 1992]
// Invariants: the result does not depend on threads. The Cuda form exists where a file is compiled by nvcc.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/krylov/symmetric_eigen.hpp>
#include <kasane/sparse/aggregation/row_sums.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace kasane::sparse {
namespace detail {

/// A random number of a normal distribution that depends on the row alone: the directions of the first vector are then uniform.
struct NormalOfRow {
    float* v;
    KS_FN void operator()(index_t row) const {
        std::uint64_t bits = (static_cast<std::uint64_t>(row) + 1) * 0x9E3779B97F4A7C15u;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
        bits ^= bits >> 31;
        const double radius = (static_cast<double>(bits >> 32) + 0.5) * 0x1p-32, angle = static_cast<double>(bits & 0xFFFFFFFF) * 0x1p-32;
        v[row] = static_cast<float>(std::sqrt(-2 * std::log(radius)) * std::cos(6.283185307179586 * angle));
    }
};

struct StoreSum {
    float* to;
    KS_FN void operator()(index_t row, float sum) const { to[row] = sum; }
};

/// v.w and w.w.
struct LanczosSums {
    const float *v, *w;
    KS_FN Terms<2> operator()(index_t i) const {
        const double a = static_cast<double>(v[i]), b = static_cast<double>(w[i]);
        return {a * b, b * b};
    }
};

/// The next vector, in the place of the one before v: by (w - alpha v - beta before).
struct NextLanczosVector {
    const float *v, *w;
    double alpha, beta, by;
    float* before;
    KS_FN void operator()(index_t i) const {
        const double next =
            static_cast<double>(w[i]) - alpha * static_cast<double>(v[i]) - (beta == 0 ? 0 : beta * static_cast<double>(before[i]));
        before[i] = static_cast<float>(by * next);
    }
};

}  // namespace detail

/// The largest Ritz value of that many steps. It exceeds no eigenvalue but by rounding.
/// @param A  symmetric, positive semi-definite   @param v, w, before  [rows] vectors whose values are lost
template <Space S>
double largest_ritz_value(S on, const RowsView<float>& A, int steps, Buffer<float, S>& v, Buffer<float, S>& w, Buffer<float, S>& before) {
    parallel_for(on, A.rows, detail::NormalOfRow{v.data()});
    const double square = sum<2>(on, A.rows, detail::LanczosSums{v.data(), v.data()})[1];
    if (!(square > 0)) return 0;
    // The first vector is scaled as if it were the next one of a step without a matrix.
    parallel_for(on, A.rows, detail::NextLanczosVector{v.data(), v.data(), 0, 0, 1 / std::sqrt(square), before.data()});
    std::swap(v, before);
    std::vector<double> alphas, betas;  // the diagonal and the entries beside it
    double beta = 0;
    for (int step = 0; step < steps; ++step) {
        for_each_row_sum(on, A, v.data(), detail::StoreSum{w.data()});
        const auto sums = sum<2>(on, A.rows, detail::LanczosSums{v.data(), w.data()});
        const double alpha = sums[0], next2 = sums[1] - alpha * alpha - beta * beta;
        alphas.push_back(alpha);
        if (!(next2 > 1e-10 * sums[1])) break;  // the vectors span an invariant space to the rounding of single precision
        const double next = std::sqrt(next2);
        parallel_for(on, A.rows, detail::NextLanczosVector{v.data(), w.data(), alpha, beta, 1 / next, before.data()});
        std::swap(v, before);
        betas.push_back(next);
        beta = next;
    }
    const std::size_t m = alphas.size();
    std::vector<double> T(m * m, 0.);
    for (std::size_t k = 0; k < m; ++k) {
        T[k * m + k] = alphas[k];
        if (k + 1 < m) T[k * m + k + 1] = T[(k + 1) * m + k] = betas[k];
    }
    return krylov::symmetric_eigen(std::move(T), m).values.back();
}

}  // namespace kasane::sparse
