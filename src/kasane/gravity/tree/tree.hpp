// The tree code's options: Barnes and Hut's octree after [OMBMN12], with the criteria of GOTHIC (Miki & Umemura 2017) and of
// Warren & Salmon (1993). Plain values; the method itself is in tree_force.hpp.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace kasane::gravity {

/// Accept a cell when l/theta + s < d: l its longest side, s the distance from its centre to its centre of mass, d from there to
/// the target ([OMBMN12] eq. 1).
struct GeometricMac {
    double theta = 0.6;  ///< opening angle, 0 < theta <= 1
};

/// Accept a cell when the first term that its expansion leaves out is at most a fraction of the target's last acceleration:
/// G m b^2 / d^4 < delta |a| for monopoles (Miki & Umemura 2017), G m b^3 / d^5 < delta |a| with quadrupoles; b is the largest
/// distance of a particle of the cell from its centre of mass.
struct AccelerationMac {
    double delta = 1. / 512;  ///< above 0
};

/// Accept a cell when the bound of its error is below an absolute one (Warren & Salmon 1993, eq. 9 ff.):
/// d > b/2 + sqrt(b^2/4 + sqrt(3 G B2 / error)) for monopoles, and the same bound with the third moment for quadrupoles.
struct MultipoleMac {
    double error = 0;  ///< largest error of one cell's acceleration [length / time^2], above 0
};

using Mac = std::variant<GeometricMac, AccelerationMac, MultipoleMac>;

enum class Multipole { monopole, quadrupole };

/// Order of the particles in memory and along the tree.
enum class Curve { morton, hilbert };

enum class TreeWalk {
    automatic,  ///< lists
    links,      ///< [OMBMN12]: More and Next links, `vector` targets per thread, `group` threads that decide together
    lists,      ///< groups of consecutive targets gather interaction lists, which are then evaluated at full width
};

struct Tree {
    Mac mac = AccelerationMac{};
    double softening = 0;  ///< Plummer eps [length], >= 0
    double G = 1;
    Multipole multipole = Multipole::quadrupole;
    Curve curve = Curve::hilbert;
    int leaf_size = 32;  ///< a cell with more particles is divided, unless it is on the deepest level; 1 ... 64
    TreeWalk walk = TreeWalk::automatic;
    int vector = 4, group = 4;  ///< of `links`
    bool deterministic = true;  ///< tuned choices frozen, tree rebuilt at fixed intervals: bitwise repeatable on one device
};

/// @throws InputError with the problem and a remedy: theta outside (0, 1], delta or error not above 0, leaf size, softening ...
void validate(const Tree& options);

/// "links", "lists", "auto" ... @throws InputError for a name that is none
TreeWalk tree_walk_named(const std::string& name);
std::string name(TreeWalk walk);
std::string name(Multipole multipole);
std::string name(Curve curve);

/// Bytes that the tree, its walk and the build take at their peak for n particles, without the particles' own state.
std::uint64_t tree_memory(const AnySpace& on, index_t n, const Tree& options);

}  // namespace kasane::gravity
