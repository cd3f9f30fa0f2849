// Converts the particles of a simulation (double, structure of arrays) to the packed bodies of the CUDA kernels, and sums to results.
// Positions are taken relative to the middle of the sources before they are rounded to float, so that a system far from the origin of
// the coordinates keeps its digits. The middle is a median, so that a few far particles do not move it.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/bound.body.hpp>
#include <kasane/gravity/direct/fixed_point.body.hpp>
#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/real.cuda.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <cstddef>

namespace kasane::gravity::detail {

/// A frame (frame.hpp) that a kernel computed on the device.
struct FoundFrame {
    Vec3<double> origin;
    double extent;
    unsigned largest_mass;  ///< bits of a float; 0 before pack()
};

/// The frame as kernels read it: from the host, or from the device memory that pack() wrote.
struct Scale {
    Vec3<double> origin;
    double acceleration_bound = 1, potential_bound = 1;
    const FoundFrame* found = nullptr;  ///< if not null, it replaces the origin and bounds above
    double total = 0, softening = 0;    ///< number of particles and softening, for the bounds of `found`

    __device__ Vec3<double> present_origin() const { return found ? found->origin : origin; }
    template <class Real>
    __device__ FixedPoint<Real> acceleration_fixed_point() const {
        return FixedPoint<Real>(found ? lower_acceleration_bound(total * __uint_as_float(found->largest_mass), found->extent, softening)
                                      : acceleration_bound);
    }
    template <class Real>
    __device__ FixedPoint<Real> potential_fixed_point() const {
        return FixedPoint<Real>(found ? lower_potential_bound(total * __uint_as_float(found->largest_mass), found->extent, softening)
                                      : potential_bound);
    }
};

/// Rounds a coordinate and clamps it to the range where squares of distances are finite: a particle beyond it (its step was far too
/// long) exerts no force and does not propagate NaN.
template <class Real>
__device__ Real held(double x) {
    constexpr double most = sizeof(Real) == 4 ? 1e18 : 1e150;
    return static_cast<Real>(fmin(fmax(x, -most), most));
}
template <class Real>
__device__ Body<Real> packed(const Vec3<double>& position, const Vec3<double>& origin, double mass) {
    const auto x = position - origin;
    return {held<Real>(x.x), held<Real>(x.y), held<Real>(x.z), static_cast<Real>(mass)};
}

/// The median of the warp's 32 values: the value with 16 values before it, equal values in the order of lanes.
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

struct GivenOrigin {
    Vec3<double> origin;
    __device__ Vec3<double> find() const { return origin; }
    template <class Real>
    __device__ void note(const Body<Real>&) const {}
};

/// The middle of particles: per component the median of 32 of them, computed by one warp each. Every thread block computes the same one;
/// the first block stores it.
struct FindMiddle {
    View<const Vec3<double>> of;
    FoundFrame* found;

    /// All threads of a thread block with at least three warps must call this.
    __device__ Vec3<double> find() const {
        __shared__ double median[3];
        const int warp = threadIdx.x / 32;
        const auto sample = of[(threadIdx.x % 32) * of.n / 32];
        if (warp < 3) median[warp] = warp_median(warp == 0 ? sample.x : warp == 1 ? sample.y : sample.z);
        __syncthreads();
        const Vec3<double> origin{median[0], median[1], median[2]};
        if (blockIdx.x == 0 && warp == 0) {
            const auto x = sample - origin;
            const double distance = sqrt(dot(x, x)), middle = warp_median(distance);
            double farthest = distance;
            for (int reach = 16; reach > 0; reach /= 2) farthest = fmax(farthest, __shfl_xor_sync(0xffffffffu, farthest, reach));
            if (threadIdx.x == 0) found->origin = origin, found->extent = middle > 0 ? fmin(farthest, most_extent * middle) : farthest;
        }
        return origin;
    }
    /// Masses are not negative, so that their bits have the order of their values. They are rounded up to give an upper bound.
    template <class Real>
    __device__ void note(const Body<Real>& body) const {
        const auto most = __reduce_max_sync(0xffffffffu, __float_as_uint(__double2float_ru(static_cast<double>(body.m))));
        if (threadIdx.x % 32 == 0 && most != 0) atomicMax(&found->largest_mass, most);
    }
};

/// Where pairs combine softenings, the bodies of a run (source_run) are followed by their softening terms.
template <class Real>
KS_FN constexpr index_t run_bytes(bool softenings) {
    return source_run * static_cast<index_t>(sizeof(Body<Real>) + (softenings ? sizeof(Real) : 0));
}
/// Softening term of particle i; eps is that of all particles if `softening` is empty.
template <class Real>
__device__ Real packed_term(View<const double> softening, double eps, index_t i) {
    return static_cast<Real>(softening_term(softening.empty() ? eps : softening[i]));
}
/// The same as pack() for pairs that combine softenings.
template <class Real, class Origin>
__global__ void pack_softened(View<const Vec3<double>> position, View<const double> mass, View<const double> softening, double eps,
                              int padded, std::byte* to, Origin from) {
    const auto origin = from.find();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool in = i < position.n;
    const auto body = in ? packed<Real>(position[i], origin, mass[i]) : Body<Real>{};
    if (i < padded) {
        std::byte* const run = to + i / source_run * run_bytes<Real>(true);
        reinterpret_cast<Body<Real>*>(run)[i % source_run] = body;
        reinterpret_cast<Real*>(run + run_bytes<Real>(false))[i % source_run] = in ? packed_term<Real>(softening, eps, i) : Real(0);
    }
    from.note(body);
}

/// Fills bodies [padded]; those after the particles are massless, at the origin.
template <class Real, class Origin>
__global__ void pack(View<const Vec3<double>> position, View<const double> mass, int padded, Body<Real>* bodies, Origin from) {
    const auto origin = from.find();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const auto body = i < position.n ? packed<Real>(position[i], origin, mass[i]) : Body<Real>{};
    if (i < padded) bodies[i] = body;
    from.note(body);
}

/// Writes out = G sums (the potential negative) and clears the sums and the counter.
template <class Sums>
__global__ void take_sums(Sums sums, double G, Field out, FoundFrame* found, int* counter) {
    const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (i == 0 && found) found->largest_mass = 0;
    if (i == 0) *counter = 0;
    if (i >= sums.n) return;
    if (!out.acceleration.empty()) {
        out.acceleration[i] = G * Vec3<double>{sums.value(0, i), sums.value(1, i), sums.value(2, i)};
        for (int c = 0; c < 3; ++c) sums.clear(c, i);
    }
    if constexpr (Sums::binned) {
        if (!out.potential.empty()) {
            out.potential[i] = -G * sums.value(3, i);
            sums.clear(3, i);
        }
    }
}

inline __global__ void clear_words(View<std::uint64_t> words) {
    const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (i < words.n) words[i] = 0;
}

/// Adds the sums of another worker; other kernels may add to the same sums at the same time.
template <class Sums>
__global__ void merge_sums(Sums to, Sums from) {
    const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (i < to.merged()) to.merge(from, i);
}

}  // namespace kasane::gravity::detail
