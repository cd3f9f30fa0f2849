// Dense blocks of B x B numbers and their vectors, on host and device.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::sparse {

inline constexpr int least_block = 2, most_block = 6;

template <int B>
struct BlockVector {
    double of[B];
};

/// Row by row.
template <int B>
struct Block {
    double of[B][B];
};

/// y += a x
template <int B>
KS_FN void add_product(const Block<B>& a, const BlockVector<B>& x, BlockVector<B>& y) {
    for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c) y.of[r] += a.of[r][c] * x.of[c];
}

/// y -= a x
template <int B>
KS_FN void subtract_product(const Block<B>& a, const BlockVector<B>& x, BlockVector<B>& y) {
    for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c) y.of[r] -= a.of[r][c] * x.of[c];
}

/// a b
template <int B>
KS_FN Block<B> product(const Block<B>& a, const Block<B>& b) {
    Block<B> out{};
    for (int r = 0; r < B; ++r)
        for (int k = 0; k < B; ++k)
            for (int c = 0; c < B; ++c) out.of[r][c] += a.of[r][k] * b.of[k][c];
    return out;
}

/// out -= a b
template <int B>
KS_FN void subtract_product(const Block<B>& a, const Block<B>& b, Block<B>& out) {
    for (int r = 0; r < B; ++r)
        for (int k = 0; k < B; ++k)
            for (int c = 0; c < B; ++c) out.of[r][c] -= a.of[r][k] * b.of[k][c];
}

/// The inverse of a symmetric positive definite block by elimination in place.
/// @param least  pivots must be above it   @return false where one is not
template <int B>
KS_FN bool invert(Block<B>& a, double least) {
    for (int k = 0; k < B; ++k) {
        const double pivot = a.of[k][k];
        if (!(pivot > least)) return false;
        const double inverse = 1 / pivot;
        a.of[k][k] = 1;
        for (int c = 0; c < B; ++c) a.of[k][c] *= inverse;
        for (int r = 0; r < B; ++r) {
            if (r == k) continue;
            const double factor = a.of[r][k];
            a.of[r][k] = 0;
            for (int c = 0; c < B; ++c) a.of[r][c] -= factor * a.of[k][c];
        }
    }
    return true;
}

}  // namespace kasane::sparse
