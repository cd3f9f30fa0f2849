// Between the particles of a simulation (double, structure of arrays) and the packed bodies of the CUDA kernels.
// Positions are taken relative to the middle of the sources before they are rounded, so that a system far from the origin of the
// coordinates keeps its digits in float, and a few far particles do not cost the many theirs.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/real.cuda.hpp>

namespace kasane::gravity::detail {

/// The median of the warp's values: the one that 16 others stand before, equal values in the order of lanes.
__device__ inline double warp_median(double value) {
    constexpr unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % 32;
    int before = 0;
    for (int other = 0; other < 32; ++other) {
        const double theirs = __shfl_sync(all, value, other);
        before += theirs < value || (theirs == value && other < lane);
    }
    return __shfl_sync(all, value, __ffs(static_cast<int>(__ballot_sync(all, before == 16))) - 1);
}

/// The middle of the sources: per component the median of 32 of them, found by a warp each. Every block gets the same.
/// All threads of a block of at least three warps call this.
__device__ inline Vec3<double> middle(View<const Vec3<double>> sources) {
    __shared__ double median[3];
    const int warp = threadIdx.x / 32;
    if (warp < 3) {
        const auto sample = sources[(threadIdx.x % 32) * sources.n / 32];
        median[warp] = warp_median(warp == 0 ? sample.x : warp == 1 ? sample.y : sample.z);
    }
    __syncthreads();
    return {median[0], median[1], median[2]};
}

/// A coordinate as the kernels take it. Beyond the range where squares of distances are numbers it is held: such a particle (a step was
/// far too long for it) pulls on nobody, and does not make the others no numbers too.
template <class Real>
__device__ Real held(double x) {
    constexpr double most = sizeof(Real) == 4 ? 1e18 : 1e150;
    return static_cast<Real>(fmin(fmax(x, -most), most));
}

/// bodies [padded]: behind n, massless particles in the middle. largest_mass, if not null, grows to the largest mass's bits.
template <class Real>
__global__ void pack(View<const Vec3<double>> position, const double* mass, View<const Vec3<double>> sources, int padded,
                     Body<Real>* bodies, unsigned* largest_mass) {
    const auto origin = middle(sources);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Body<Real> body{};
    if (i < position.n) {
        const auto x = position[i] - origin;
        body = {held<Real>(x.x), held<Real>(x.y), held<Real>(x.z), mass ? static_cast<Real>(mass[i]) : Real(0)};
    }
    if (i < padded) bodies[i] = body;
    if (largest_mass) {
        // Masses are not negative, so that their bits are ordered as they are; rounded up, since a bound is wanted.
        const auto most = __reduce_max_sync(0xffffffffu, __float_as_uint(__double2float_ru(static_cast<double>(body.m))));
        if (threadIdx.x % 32 == 0 && most != 0) atomicMax(largest_mass, most);
    }
}

/// acceleration = G sums; leaves the sums cleared for the next call.
template <class Sums>
__global__ void finish_pairs(Sums sums, double G, View<Vec3<double>> acceleration) {
    const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (i >= acceleration.n) return;
    sums.prepare();
    acceleration[i] = G * Vec3<double>{sums.value(0, i), sums.value(1, i), sums.value(2, i)};
    sums.clear(i);
}

}  // namespace kasane::gravity::detail
