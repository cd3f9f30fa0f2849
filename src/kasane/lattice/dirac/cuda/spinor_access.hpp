// Copies spinors of a field between memory and registers, for each precision.
#pragma once

#include <kasane/lattice/dirac/cuda/half.hpp>

namespace kasane::lattice::device {

/// Loads the spinor of a place; in half its 16-bit numbers times the scale of the site.
template <Precision P>
KS_FN Spinor<Real<P>> load_spinor(const FieldView<P>& field, std::uint32_t place) {
    using V = Real<P>;
    const Chunk* from = field.at(place);
    Spinor<V> p;
    if constexpr (P == Precision::half) {
        const float unit = field.scale[place] * spinor_unit;
        for (int c = 0; c < 3; ++c) {
            const Chunk got = from[c * static_cast<int>(row)];
            for (int i = 0; i < 4; ++i) {
                const int k = 4 * c + i;
                const Cx<float> z = spinor_pair(got.word[i]);
                p.s[k / 3].c[k % 3] = {product(z.re, unit), product(z.im, unit)};
            }
        }
    } else {
        constexpr int pairs = P == Precision::single ? 2 : 1;
        for (int c = 0; c < spinor_chunks<P>; ++c) {
            const Chunk got = from[c * static_cast<int>(row)];
            for (int i = 0; i < pairs; ++i) {
                const int k = pairs * c + i;
                p.s[k / 3].c[k % 3] = {number<V>(got, 2 * i), number<V>(got, 2 * i + 1)};
            }
        }
    }
    return p;
}

/// Stores the spinor of a place; in half the largest of its numbers becomes the scale of the site.
template <Precision P>
KS_FN void store_spinor(const FieldView<P>& field, std::uint32_t place, const Spinor<Real<P>>& p) {
    Chunk* to = field.at(place);
    if constexpr (P == Precision::half) {
        const float scale = magnitude(p), to_units = units_of(scale);
        field.scale[place] = scale;
        for (int c = 0; c < 3; ++c) {
            Chunk chunk;
            for (int i = 0; i < 4; ++i) {
                const int k = 4 * c + i;
                chunk.word[i] = spinor_word(p.s[k / 3].c[k % 3], to_units);
            }
            store_once(to + c * static_cast<int>(row), chunk);
        }
    } else {
        constexpr int pairs = P == Precision::single ? 2 : 1;
        for (int c = 0; c < spinor_chunks<P>; ++c) {
            Chunk chunk;
            for (int i = 0; i < pairs; ++i) {
                const int k = pairs * c + i;
                set_number(chunk, 2 * i, p.s[k / 3].c[k % 3].re);
                set_number(chunk, 2 * i + 1, p.s[k / 3].c[k % 3].im);
            }
            store_once(to + c * static_cast<int>(row), chunk);
        }
    }
}

}  // namespace kasane::lattice::device
