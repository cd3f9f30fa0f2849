// Random quark fields for the set-up of inexact deflation.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>

#include <cstdint>

namespace kasane::lattice {

/// Complex Gaussian numbers on the even sites, a function of (number, site) alone. @param number  below 2^13
template <Space S, Precision P>
void random_field(int number, Field<S, P>& even);

}  // namespace kasane::lattice
