// Sums in memory that many threads add to. BinnedSums (core/math/binned_sum.hpp): the same bits in any order. FloatSums: float atomics,
// vectors of four where the device has them; their bits depend on the order of the additions.
// Invariant: sums are zero before the first kernel that adds to them, and again after take_sums().
#pragma once

#include <kasane/gravity/direct/fixed_point.body.hpp>
#include <kasane/gravity/direct/real.cuda.hpp>

#include <cuda_runtime.h>

#include <cstddef>

namespace kasane::gravity::detail {

/// Scales of the parts of binned sums, written by the kernels that add to the sums.
template <class Real>
struct FieldFixedPoint {
    FixedPoint<Real> acceleration, potential;
};

/// Fixed-point sums. Layout: [component][part][n] with the components x, y, z of the acceleration and, if requested, the potential.
template <class R>
struct BinnedSums {
    using Real = R;
    using Part = typename FixedPoint<Real>::Part;
    static constexpr int parts = FixedPoint<Real>::parts;
    static constexpr bool binned = true;
    Part* words = nullptr;
    index_t n = 0;
    FieldFixedPoint<Real>* fixed_points = nullptr;  ///< null for sums that are only sent on

    void place(std::byte* memory, std::byte* of_fixed_points) {
        words = reinterpret_cast<Part*>(memory);
        fixed_points = reinterpret_cast<FieldFixedPoint<Real>*>(of_fixed_points);
    }
    __device__ Part* part(int c, int k) const { return words + (c * parts + k) * n; }
    __device__ static void add_to(long long* word, long long term) {
        atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(term));
    }
    __device__ static void add_to(double* word, double term) { atomicAdd(word, term); }
    /// Adds the parts after the first of a term of component c of particle i. `rest` is the term without its first part, mostly 0.
    __device__ void add_rest(const FixedPoint<Real>& fixed_point, int c, index_t i, Real rest) const {
#pragma unroll
        for (int k = 1; k < parts; ++k)
            if (const auto one = fixed_point(k, rest); one != Part(0)) add_to(part(c, k) + i, one);
    }
    /// Adds the first parts of the three terms of particle i and leaves the rests in x, y, z. @return 0 if all rests are 0
    __device__ unsigned add_first(const FixedPoint<Real>& fixed_point, index_t i, Real& x, Real& y, Real& z) const {
        add_to(part(0, 0) + i, fixed_point(0, x));
        add_to(part(1, 0) + i, fixed_point(0, y));
        add_to(part(2, 0) + i, fixed_point(0, z));
        if constexpr (sizeof(Real) == 4) return __float_as_uint(x) | __float_as_uint(y) | __float_as_uint(z);
        return x != Real(0) || y != Real(0) || z != Real(0);
    }
    __device__ void add_rest(const FixedPoint<Real>& fixed_point, index_t i, Real x, Real y, Real z) const {
        add_rest(fixed_point, 0, i, x);
        add_rest(fixed_point, 1, i, y);
        add_rest(fixed_point, 2, i, z);
    }
    __device__ double value(int c, index_t i) const { return value(c < 3 ? fixed_points->acceleration : fixed_points->potential, c, i); }
    /// Reads the second cache: thread blocks of the same kernel may have added to the sums.
    __device__ double value(const FixedPoint<Real>& fixed_point, int c, index_t i) const {
        double sum = 0;
        for (int k = parts; k-- > 0;) sum += fixed_point.value(k, __ldcg(part(c, k) + i));
        return sum;
    }
    __device__ void clear(int c, index_t i) const {
        for (int k = 0; k < parts; ++k) part(c, k)[i] = 0;
    }
    /// Adds word i of a reaction, 0 <= i < merged().
    __device__ void merge(const BinnedSums& from, index_t i) const {
        if (const auto word = from.words[i]; word != Part(0)) add_to(words + i, word);
    }
    KS_FN index_t merged() const { return n * 3 * parts; }
};

/// Sums of accelerations in the precision of the pairs.
template <class R>
struct FloatSums {
    using Real = R;
    static constexpr bool binned = false;
    Body<Real>* sums = nullptr;  ///< m is not used
    index_t n = 0;

    void place(std::byte* memory, std::byte*) { sums = reinterpret_cast<Body<Real>*>(memory); }

    __device__ unsigned add_first(const FixedPoint<Real>&, index_t i, Real x, Real y, Real z) const {
        add(i, x, y, z);
        return 0;
    }
    __device__ void add_rest(const FixedPoint<Real>&, index_t, Real, Real, Real) const {}
    __device__ void add(index_t i, Real x, Real y, Real z) const {
#if __CUDA_ARCH__ >= 900
        if constexpr (sizeof(Real) == 4) {
            atomicAdd(reinterpret_cast<float4*>(sums + i), make_float4(x, y, z, 0.0f));
            return;
        }
#endif
        atomicAdd(&sums[i].x, x);
        atomicAdd(&sums[i].y, y);
        atomicAdd(&sums[i].z, z);
    }
    __device__ double value(int c, index_t i) const { return static_cast<double>(c == 0 ? sums[i].x : c == 1 ? sums[i].y : sums[i].z); }
    __device__ void clear(int c, index_t i) const { (c == 0 ? sums[i].x : c == 1 ? sums[i].y : sums[i].z) = Real(0); }
    __device__ void merge(const FloatSums& from, index_t i) const {
        const auto body = from.sums[i];
        add(i, body.x, body.y, body.z);
    }
    KS_FN index_t merged() const { return n; }
};

}  // namespace kasane::gravity::detail
