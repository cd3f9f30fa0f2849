// Half spinors in a halo: 12 real numbers of a site in the precision of the field. Half has 16-bit integers with a scale per site, as
// fields have. Layout of a face of n sites: 12 n numbers, then, in half, [n] scales. The numbers of a site are contiguous on the CPU, where
// consecutive places of a field are far from each other on a face, and those of all sites on a device, so that threads read whole lines.
// Host and device.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/dirac/site.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kasane::lattice {

/// Type of a number of the halo in memory.
template <Precision P>
using HaloNumber = std::conditional_t<P == Precision::double_, double, std::conditional_t<P == Precision::single, float, std::int16_t>>;

/// The integer next to a number of [-32767, 32767]; the conversion of a positive number rounds down, as floor() does, without a call.
template <class V>
KS_FN std::int16_t nearest(V value) {
    return static_cast<std::int16_t>(static_cast<int>(value + V(32768.5)) - 32768);
}

/// Bytes of a site.
template <Precision P>
inline constexpr index_t halo_site_bytes = 12 * index_t{sizeof(HaloNumber<P>)} + (P == Precision::half ? index_t{sizeof(float)} : 0);

/// Place of number k of `numbers` of the i-th of n sites.
template <Space S>
KS_FN index_t face_place(int numbers, int k, index_t n, index_t i) {
    return std::is_same_v<S, Cpu> ? i * numbers + k : k * n + i;
}

template <Space S, Precision P, class V>
KS_FN void store_half_spinor(std::byte* face, index_t n, index_t i, const HalfSpinor<V>& h) {
    auto* to = reinterpret_cast<HaloNumber<P>*>(face);
    if constexpr (P == Precision::half) {
        V scale = 0, poison = 0;  // NaN and infinity survive in the scale
        for (const auto& s : h.s)
            for (const auto& c : s.c) {
                const V re = c.re < V(0) ? -c.re : c.re, im = c.im < V(0) ? -c.im : c.im;
                if (re > scale) scale = re;
                if (im > scale) scale = im;
                poison += V(0) * c.re + V(0) * c.im;
            }
        const bool usable = scale > V(1e-33) && scale < V(1e38) && poison == V(0);
        const V units = usable ? V(32767) / scale : V(0);
        for (int k = 0; k < 6; ++k) {
            const auto& c = h.s[k / 3].c[k % 3];
            to[face_place<S>(12, 2 * k, n, i)] = usable ? nearest(c.re * units) : std::int16_t{0};
            to[face_place<S>(12, 2 * k + 1, n, i)] = usable ? nearest(c.im * units) : std::int16_t{0};
        }
        reinterpret_cast<float*>(face + 12 * n * index_t{sizeof(std::int16_t)})[i] =
            static_cast<float>((scale > V(1e-33) ? scale : V(0)) + poison);
    } else {
        for (int k = 0; k < 6; ++k) {
            const auto& c = h.s[k / 3].c[k % 3];
            to[face_place<S>(12, 2 * k, n, i)] = static_cast<HaloNumber<P>>(c.re);
            to[face_place<S>(12, 2 * k + 1, n, i)] = static_cast<HaloNumber<P>>(c.im);
        }
    }
}

template <Space S, Precision P, class V>
KS_FN HalfSpinor<V> load_half_spinor(const std::byte* face, index_t n, index_t i) {
    const auto* from = reinterpret_cast<const HaloNumber<P>*>(face);
    V unit = 1;
    if constexpr (P == Precision::half)
        unit = static_cast<V>(reinterpret_cast<const float*>(face + 12 * n * index_t{sizeof(std::int16_t)})[i]) * V(1. / 32767);
    HalfSpinor<V> h;
    for (int k = 0; k < 6; ++k)
        h.s[k / 3].c[k % 3] = {static_cast<V>(from[face_place<S>(12, 2 * k, n, i)]) * unit,
                               static_cast<V>(from[face_place<S>(12, 2 * k + 1, n, i)]) * unit};
    return h;
}

}  // namespace kasane::lattice
