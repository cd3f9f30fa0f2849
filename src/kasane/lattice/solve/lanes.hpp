// Eight real numbers of eight near-null vectors, which are neighbours in memory: the arithmetic of wilson.body.hpp on them.
#pragma once

#include <kasane/lattice/dirac/site.hpp>

namespace kasane::lattice {

/// Eight numbers.
template <class T>
struct Lanes {
    static constexpr int width = 8;
    T v[width];

    KS_FN Lanes operator+(const Lanes& b) const {
        Lanes c;
        for (int l = 0; l < width; ++l) c.v[l] = v[l] + b.v[l];
        return c;
    }
    KS_FN Lanes operator-(const Lanes& b) const {
        Lanes c;
        for (int l = 0; l < width; ++l) c.v[l] = v[l] - b.v[l];
        return c;
    }
    KS_FN Lanes operator*(const Lanes& b) const {
        Lanes c;
        for (int l = 0; l < width; ++l) c.v[l] = v[l] * b.v[l];
        return c;
    }
    KS_FN T sum() const { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }
};

template <class T>
KS_FN Lanes<T> broadcast(T x) {
    Lanes<T> a;
    for (int l = 0; l < Lanes<T>::width; ++l) a.v[l] = x;
    return a;
}

/// Numbers in a pack in memory: eight real parts, eight imaginary parts.
inline constexpr int pack_words = 16;

template <class T>
KS_FN Cx<Lanes<T>> load_pack(const T* from) {
    Cx<Lanes<T>> z;
    for (int l = 0; l < 8; ++l) z.re.v[l] = from[l];
    for (int l = 0; l < 8; ++l) z.im.v[l] = from[8 + l];
    return z;
}
template <class T>
KS_FN void store_pack(T* to, const Cx<Lanes<T>>& z) {
    for (int l = 0; l < 8; ++l) to[l] = z.re.v[l];
    for (int l = 0; l < 8; ++l) to[8 + l] = z.im.v[l];
}

/// sum += a b
template <class T>
KS_FN void add_product(Cx<Lanes<T>>& sum, const Cx<Lanes<T>>& a, const Cx<Lanes<T>>& b) {
    sum.re = sum.re + a.re * b.re - a.im * b.im;
    sum.im = sum.im + a.re * b.im + a.im * b.re;
}
/// sum += conj(a) b
template <class T>
KS_FN void add_conjugate_product(Cx<Lanes<T>>& sum, const Cx<Lanes<T>>& a, const Cx<Lanes<T>>& b) {
    sum.re = sum.re + a.re * b.re + a.im * b.im;
    sum.im = sum.im + a.re * b.im - a.im * b.re;
}
template <class T>
KS_FN Cx<Lanes<T>> broadcast(const Cx<T>& z) {
    return {broadcast(z.re), broadcast(z.im)};
}

/// to = 0
template <class T>
struct SetZero {
    T* to;
    KS_FN void operator()(index_t i) const { to[i] = 0; }
};

}  // namespace kasane::lattice
