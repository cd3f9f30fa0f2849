// The sources of `kasane lattice solve`.
#pragma once

#include <kasane/lattice/observe/sources.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasane::app {

/// point:x,y,z,t, wall:t, random:seed or z2:seed.
struct LatticeSource {
    enum class Kind { point, wall, gaussian, z2 } kind = Kind::point;
    std::vector<std::int64_t> numbers;

    /// @throws InputError naming --source
    static LatticeSource parse(const std::string& text);
    /// @throws InputError unless the source lies on a lattice of these extents
    void check(const lattice::Extents& n) const;

    int columns() const { return kind == Kind::point || kind == Kind::wall ? 12 : 1; }
    int time() const { return kind == Kind::point ? static_cast<int>(numbers[3]) : kind == Kind::wall ? static_cast<int>(numbers[0]) : 0; }
    /// The source of twelve columns; nothing for noise.
    std::optional<lattice::PropagatorSource> propagator() const;
    /// Overwrites a field with source c.
    void fill(int c, lattice::SpinorField& field) const;
};

}  // namespace kasane::app
