// A quark field on a space.
#pragma once

#include <kasane/lattice/solve/fields.hpp>

#include <memory>
#include <utility>

namespace kasane::lattice {

/// A quark field on a space, in double.
template <Space S>
struct ResidentField {
    Field<S, Precision::double_> even, odd;
    explicit ResidentField(std::shared_ptr<const Lattice<S>> lattice) : even(lattice), odd(std::move(lattice)) {}  ///< uninitialised
};

}  // namespace kasane::lattice
