// The largest eigenvalue of a symmetric matrix from some steps of Lanczos' method with a random first vector. The Chebyshev smoother needs
// it: the smoother is not positive definite where the largest eigenvalue exceeds the estimate by a quarter.
// For any matrix of n rows the expected relative error of m steps is at most 0.103 (ln(n (m-1)^2) / (m-1))^2: 12% for 40,000 rows, 20% for
// 8 million; the power method's bound is 0.87 ln(n) / (m-1), more than 1 with 8 steps.          [Kuczynski & Wozniakowski 1992]
// Invariants: the result does not depend on threads. The Cuda form exists where a file is compiled by nvcc.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/row_sums.hpp>
#include <kasane/sparse/aggregation/tridiagonal.hpp>

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

struct SquareOf {
    const float* v;
    KS_FN Terms<1> operator()(index_t i) const { return {static_cast<double>(v[i]) * static_cast<double>(v[i])}; }
};

/// v.w and w.w of w = A v.
struct LanczosProducts {
    const float *v, *w;
    KS_FN Terms<2> operator()(index_t row) const {
        const double a = static_cast<double>(v[row]), b = static_cast<double>(w[row]);
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

inline bool may_end_before(int step, int steps) { return step >= steps / 2 && step % 2 == 0; }

}  // namespace detail

/// Computes the largest Ritz value after that many steps, or after an even number of them, at least half, if it is at least `enough` by
/// then. It exceeds no eigenvalue, except by rounding.
/// @param A  symmetric, positive semi-definite   @param v, w, before  [rows] vectors whose values are lost
inline double largest_ritz_value(Cpu on, const RowsView<float>& A, int steps, double enough, Buffer<float, Cpu>& v, Buffer<float, Cpu>& w,
                                 Buffer<float, Cpu>& before) {
    parallel_for(on, A.rows, detail::NormalOfRow{v.data()});
    const double square = sum<1>(on, A.rows, detail::SquareOf{v.data()})[0];
    if (!(square > 0)) return 0;
    // The first vector is scaled as if it were the next one of a step without a matrix.
    parallel_for(on, A.rows, detail::NextLanczosVector{v.data(), v.data(), 0, 0, 1 / std::sqrt(square), before.data()});
    std::swap(v, before);
    std::vector<double> alphas, betas;  // the diagonal and the entries beside it
    double beta = 0;
    for (int step = 0; step < steps; ++step) {
        if (detail::may_end_before(step, steps) && largest_of_tridiagonal(alphas, betas) >= enough) break;
        for_each_row_sum(on, A, v.data(), [to = w.data()](index_t row, float product) { to[row] = product; });
        const auto sums = sum<2>(on, A.rows, detail::LanczosProducts{v.data(), w.data()});
        const double alpha = sums[0], next2 = sums[1] - alpha * alpha - beta * beta;
        alphas.push_back(alpha);
        if (!(next2 > 1e-10 * sums[1])) break;  // the vectors span an invariant space to the rounding of single precision
        const double next = std::sqrt(next2);
        parallel_for(on, A.rows, detail::NextLanczosVector{v.data(), w.data(), alpha, beta, 1 / next, before.data()});
        std::swap(v, before);
        betas.push_back(next);
        beta = next;
    }
    return largest_of_tridiagonal(alphas, betas);
}

#if defined(__CUDACC__)
namespace detail {

/// The numbers of the method, on the device, where the host does not wait for them.
struct LanczosState {
    static constexpr int most_steps = 32;
    double alphas[most_steps], betas[most_steps];
    double alpha, beta, by;  ///< of the next vector
    double last_beta;
    int steps;
    bool ended;
};

struct NormalAndSquare {
    NormalOfRow normal;
    __device__ const NormalAndSquare& ready() const { return *this; }
    __device__ double operator()(index_t row) const {
        normal(row);
        const auto value = static_cast<double>(normal.v[row]);
        return value * value;
    }
};

struct BeginLanczos {
    LanczosState* s;
    __device__ void operator()(const double (&square)[1]) const {
        s->ended = !(square[0] > 0);
        s->by = 1 / sqrt(square[0]);
        s->alpha = s->beta = s->last_beta = 0;
        s->steps = 0;
    }
};

struct StoreAndSum {
    const float* v;
    float* w;
    __device__ void operator()(index_t row, float sum, double (&terms)[2]) const {
        const double a = static_cast<double>(v[row]), b = static_cast<double>(sum);
        w[row] = sum;
        terms[0] += a * b;
        terms[1] += b * b;
    }
};

struct EndOfLanczosStep {
    LanczosState* s;
    __device__ void operator()(const double (&sums)[2]) const {
        if (s->ended) return;
        const double alpha = sums[0], beta = s->last_beta, next2 = sums[1] - alpha * alpha - beta * beta;
        s->alphas[s->steps] = alpha;
        s->betas[s->steps] = 0;
        s->ended = !(next2 > 1e-10 * sums[1]);
        if (!s->ended) {
            const double next = sqrt(next2);
            s->betas[s->steps] = s->last_beta = next;
            s->alpha = alpha, s->beta = beta, s->by = 1 / next;
        }
        ++s->steps;
    }
};

/// NextLanczosVector with the numbers of the device.
struct NextOnDevice {
    const LanczosState* s;
    const float *v, *w;
    float* before;
    __device__ void operator()(index_t i) const {
        if (!s->ended) NextLanczosVector{v, w, s->alpha, s->beta, s->by, before}(i);
    }
};

}  // namespace detail

inline double largest_ritz_value(Cuda on, const RowsView<float>& A, int steps, double enough, Buffer<float, Cuda>& v,
                                 Buffer<float, Cuda>& w, Buffer<float, Cuda>& before) {
    using detail::LanczosState;
    KS_EXPECT(steps <= LanczosState::most_steps);
    DeviceSumMemory sums(on);
    Buffer<LanczosState, Cuda> state(on, 1);
    device::sum_then(on, A.rows, detail::NormalAndSquare{{v.data()}}, detail::BeginLanczos{state.data()}, sums.view());
    // The first vector is scaled as if it were the next one of a step without a matrix.
    parallel_for(on, A.rows, detail::NextOnDevice{state.data(), v.data(), v.data(), before.data()});
    std::swap(v, before);
    const auto found = [&] {
        LanczosState now;
        copy_to_host(on, View<LanczosState>(&now, 1), View<const LanczosState>(state.data(), 1));
        return largest_of_tridiagonal({now.alphas, now.alphas + now.steps}, {now.betas, now.betas + now.steps});
    };
    for (int step = 0; step < steps; ++step) {
        if (detail::may_end_before(step, steps) && enough < INFINITY)
            if (const double value = found(); value >= enough) return value;
        sum_over_rows<2>(on, A, v.data(), detail::StoreAndSum{v.data(), w.data()}, detail::EndOfLanczosStep{state.data()}, sums.view());
        parallel_for(on, A.rows, detail::NextOnDevice{state.data(), v.data(), w.data(), before.data()});
        std::swap(v, before);
    }
    return found();
}
#endif

namespace detail {

struct ZeroOfRow {
    float *v, *before;
    KS_FN void operator()(index_t row) const { v[row] = before[row] = 0; }
};

}  // namespace detail

/// largest_ritz_value() of the matrix of the first rows and columns where that is at least `enough`, and else of A. Eigenvalues of such a
/// part lie between those of A (Cauchy's interlacing), so that this one exceeds none of A's either; where rows are alike, as on a grid, a
/// sixteenth of them is enough.
template <Space S>
double largest_eigenvalue(S on, const RowsView<float>& A, int steps, double enough, Buffer<float, S>& v, Buffer<float, S>& w,
                          Buffer<float, S>& before) {
    constexpr index_t least_part = index_t{1} << 16, parts = 16;  // with fewer rows launches on a device take as long as all rows
    if (A.rows >= parts * least_part) {
        RowsView<float> part = A;
        part.rows = A.rows / parts, part.entries = A.entries / parts;
        parallel_for(on, A.rows, detail::ZeroOfRow{v.data(), before.data()});  // rows of the part read them where others are left out
        if (const double value = largest_ritz_value(on, part, steps, enough, v, w, before); value >= enough) return value;
    }
    return largest_ritz_value(on, A, steps, enough, v, w, before);
}

}  // namespace kasane::sparse
