// Sums in memory that many warps add to. FixedPointSums: integers, so that the result does not depend on the order of the
// additions (bitwise reproducible) and loses nothing. FloatSums: float atomics, vectors of four where the device has them.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cuda_runtime.h>

namespace kasane::gravity::detail {

/// Three components of every particle as two 64-bit integers each: value = (high + low / 2^40) / scale.
/// scale is a power of two with n m_max 2/(3 sqrt 3) / eps^2 (the largest acceleration that n softened particles can make)
/// below 2^61 / scale, so that no sum overflows; low holds what high cuts off, and is zero for most additions.
struct FixedPointSums {
    index_t n = 0;
    unsigned long long* words = nullptr;   ///< [6][n]: high x, y, z, low x, y, z
    const unsigned* largest_mass = nullptr;  ///< bits of the largest mass as float
    double largest_per_mass = 0;           ///< n 2/(3 sqrt 3) / eps^2
    double scale = 1;

    static constexpr double low_scale = 1099511627776.0;  // 2^40

    __device__ static double scale_of(double largest_per_mass, unsigned largest_mass) {
        const double largest = largest_per_mass * static_cast<double>(__uint_as_float(largest_mass));
        return largest > 0 ? scalbn(1.0, 60 - ilogb(largest)) : 1.0;
    }
    __device__ void prepare() { scale = scale_of(largest_per_mass, *largest_mass); }

    template <class Real>
    __device__ void add(int i, Real x, Real y, Real z) const {
        add_one(i, static_cast<double>(x));
        add_one(n + i, static_cast<double>(y));
        add_one(2 * n + i, static_cast<double>(z));
    }
    __device__ void add_one(index_t at, double value) const {
        const double scaled = value * scale;
        const long long high = __double2ll_rn(scaled);
        const long long low = __double2ll_rn((scaled - static_cast<double>(high)) * low_scale);
        atomicAdd(words + at, static_cast<unsigned long long>(high));
        if (low != 0) atomicAdd(words + 3 * n + at, static_cast<unsigned long long>(low));
    }
    /// Component c of particle i.
    __device__ double value(int c, index_t i) const {
        const auto high = static_cast<long long>(words[c * n + i]), low = static_cast<long long>(words[(3 + c) * n + i]);
        return (static_cast<double>(high) + static_cast<double>(low) / low_scale) / scale;
    }
    __device__ void clear(index_t i) const {
        for (int c = 0; c < 6; ++c) words[c * n + i] = 0;
    }
};

/// Order of additions left to the device.
template <class Real>
struct FloatSums {
    Body<Real>* sums = nullptr;  ///< [n], m unused

    __device__ void prepare() {}
    __device__ void add(int i, Real x, Real y, Real z) const {
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
    __device__ double value(int c, index_t i) const {
        return static_cast<double>(c == 0 ? sums[i].x : c == 1 ? sums[i].y : sums[i].z);
    }
    __device__ void clear(index_t i) const { sums[i] = {}; }
};

}  // namespace kasane::gravity::detail
