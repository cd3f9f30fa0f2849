// A checksum of links on a space, by which terms of the action recognise the links that they have packed.
#pragma once

#include <kasane/lattice/links.hpp>

#include <array>

namespace kasane::lattice {

/// Two sums of 32-bit hashes of every site; different links have the same checksum with a probability of about 2^-64. One pass over the
/// links.
template <Space S>
std::array<double, 2> links_checksum(const Links<S>& u);

}  // namespace kasane::lattice
