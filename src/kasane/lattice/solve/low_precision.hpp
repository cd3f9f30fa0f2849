// Common part of preconditioners in a low precision: conversion, in units in which squares of floats stay in range.
#pragma once

#include <kasane/krylov/watch.hpp>
#include <kasane/lattice/dirac/dirac.hpp>

#include <cmath>
#include <functional>
#include <string>

namespace kasane::lattice {

/// out = body's x for in, by way of b and x in the precision of the preconditioner: body() computes x from b. Where `in` is zero or not
/// finite, the solve has ended, or x is not finite, out = in. @param steps  inner iterations that an application counts
/// @param what  names the preconditioner in a note
template <class High, class Low>
void precondition_in(High& high, Low& low, const typename High::Vector& in, typename High::Vector& out, typename Low::Vector& b,
                     typename Low::Vector& x, krylov::Watch& watch, int steps, const char* what, const std::function<void()>& body) {
    convert(in, b);
    double norm = std::sqrt(low.norm2(b)), unit = 1;
    if (!(norm > 1e-12 && norm < 1e12)) {  // squares of floats would leave their range
        norm = std::sqrt(high.norm2(in));
        if (!(norm > 0) || !std::isfinite(norm)) return high.copy(in, out);
        unit = std::ldexp(1., -std::ilogb(norm));
        high.axpby(unit, in, 0, out);
        convert(out, b);
        norm *= unit;
    }
    if (!watch.go_on_inside(norm / unit)) return high.copy(in, out);
    watch.log().inner_iterations += steps - 1;
    body();
    if (!std::isfinite(low.norm2(x))) {
        watch.note(std::string(what) + "'s result is not finite");
        watch.end(krylov::Outcome::breakdown);
        return high.copy(in, out);
    }
    convert(x, out);
    if (unit != 1) high.axpby(0, in, 1 / unit, out);
}

}  // namespace kasane::lattice
