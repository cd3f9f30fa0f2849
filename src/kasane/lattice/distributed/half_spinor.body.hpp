// Half spinors in a halo: 12 real numbers of a site in the precision of the field. Half has 16-bit integers with a scale per site, as
// fields have. Layout of a face of n sites: [12][n] numbers, then, in half, [n] scales. Host and device.
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/dirac/site.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kasane::lattice {

/// Type of a number of the halo in memory.
template <Precision P>
using HaloNumber = std::conditional_t<P == Precision::double_, double, std::conditional_t<P == Precision::single, float, std::int16_t>>;

/// Bytes of a site.
template <Precision P>
inline constexpr index_t halo_site_bytes = 12 * index_t{sizeof(HaloNumber<P>)} + (P == Precision::half ? index_t{sizeof(float)} : 0);

template <Precision P, class V>
KS_FN void store_half_spinor(std::byte* face, index_t n, index_t i, const HalfSpinor<V>& h) {
    auto* to = reinterpret_cast<HaloNumber<P>*>(face) + i;
    if constexpr (P == Precision::half) {
        V scale = 0, poison = 0;  // NaN and infinity survive in the scale
        for (const auto& s : h.s)
            for (const auto& c : s.c) {
                scale = fmax(scale, fmax(fabs(c.re), fabs(c.im)));
                poison += V(0) * c.re + V(0) * c.im;
            }
        const bool usable = scale > V(1e-33) && scale < V(1e38) && poison == V(0);
        const V units = usable ? V(32767) / scale : V(0);
        for (int k = 0; k < 6; ++k) {
            const auto& c = h.s[k / 3].c[k % 3];
            to[2 * k * n] = usable ? static_cast<std::int16_t>(floor(c.re * units + V(0.5))) : std::int16_t{0};
            to[(2 * k + 1) * n] = usable ? static_cast<std::int16_t>(floor(c.im * units + V(0.5))) : std::int16_t{0};
        }
        reinterpret_cast<float*>(face + 12 * n * index_t{sizeof(std::int16_t)})[i] =
            static_cast<float>((scale > V(1e-33) ? scale : V(0)) + poison);
    } else {
        for (int k = 0; k < 6; ++k) {
            const auto& c = h.s[k / 3].c[k % 3];
            to[2 * k * n] = static_cast<HaloNumber<P>>(c.re);
            to[(2 * k + 1) * n] = static_cast<HaloNumber<P>>(c.im);
        }
    }
}

template <Precision P, class V>
KS_FN HalfSpinor<V> load_half_spinor(const std::byte* face, index_t n, index_t i) {
    const auto* from = reinterpret_cast<const HaloNumber<P>*>(face) + i;
    V unit = 1;
    if constexpr (P == Precision::half)
        unit = static_cast<V>(reinterpret_cast<const float*>(face + 12 * n * index_t{sizeof(std::int16_t)})[i]) * V(1. / 32767);
    HalfSpinor<V> h;
    for (int k = 0; k < 6; ++k)
        h.s[k / 3].c[k % 3] = {static_cast<V>(from[2 * k * n]) * unit, static_cast<V>(from[(2 * k + 1) * n]) * unit};
    return h;
}

}  // namespace kasane::lattice
