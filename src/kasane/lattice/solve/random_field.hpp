// Random quark fields for the set-up of inexact deflation.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>

#include <cstdint>

namespace kasane::lattice {

/// Complex Gaussian numbers on the even sites, a function of (number, site) alone. @param number  below 2^13
/// @param lattice, first  the whole lattice, and the first site of the field's lattice in it
template <Space S, Precision P>
void random_field(int number, const Extents& lattice, const Site& first, Field<S, P>& even);
template <Space S, Precision P>
void random_field(int number, Field<S, P>& even) {
    random_field(number, even.lattice()->extents(), Site{}, even);
}

}  // namespace kasane::lattice
