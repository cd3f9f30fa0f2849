// wilson.body.hpp for single numbers, host and device: float and double.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::lattice {

#define KS_SITE KS_FN
template <class T>
KS_FN T MulAdd(T a, T b, T c) {
    return a * b + c;
}
template <class T>
KS_FN T NegMulAdd(T a, T b, T c) {
    return c - a * b;
}
template <class T>
KS_FN T Reciprocal(T a) {
    return T(1) / a;
}
#include <kasane/lattice/dirac/wilson.body.hpp>
#undef KS_SITE

}  // namespace kasane::lattice
