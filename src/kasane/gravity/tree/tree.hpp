// Options of the tree code: the octree of Barnes and Hut after [OMBMN12], with the acceptance criteria of GOTHIC (Miki & Umemura 2017)
// and of Warren & Salmon (1993). Plain values.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/softening/softening.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace kasane::gravity {

/// Accepts a cell if l/theta + s < d: l is the longest side of the cell, s the distance from its centre to its centre of mass, d the
/// distance from its centre of mass to the target [OMBMN12, eq. 1].
struct GeometricMac {
    double theta = 0.6;  ///< opening angle, 0 < theta <= 1
};

/// Accepts a cell if the first term that its expansion neglects is below a fraction of the last acceleration of the target:
/// G m b^2 / d^4 < delta |a| for monopoles [Miki & Umemura 2017], G m b^3 / d^5 < delta |a| with quadrupoles; b is the largest distance of
/// a particle of the cell from the centre of mass of the cell.
struct AccelerationMac {
    double delta = 1. / 512;  ///< allowed error as a fraction of the acceleration, above 0
};

/// Accepts a cell if the bound of its error is below an absolute limit [Warren & Salmon 1993, eq. 9 ff.]:
/// d > b/2 + sqrt(b^2/4 + sqrt(3 G B2 / error)) for monopoles, and the same bound with the third moment for quadrupoles.
struct MultipoleMac {
    double error = 0;  ///< largest error of one cell's acceleration [length / time^2], above 0
};

/// Acceptance criterion of cells (multipole acceptance criterion).
using Mac = std::variant<GeometricMac, AccelerationMac, MultipoleMac>;

/// Highest moment of the expansion of a cell about its centre of mass.
enum class Multipole { monopole, quadrupole };

/// Space-filling curve that orders the particles in memory and in the tree.
enum class Curve { morton, hilbert };

/// Traversal of the tree.
enum class TreeWalk {
    automatic,  ///< at present lists
    links,      ///< [OMBMN12]: More and Next links, `vector` targets per thread, `group` threads that open or accept a cell together
    lists,      ///< groups of consecutive targets gather interaction lists, which are then evaluated at full width
};

/// Options of the tree code.
struct Tree {
    Mac mac = AccelerationMac{};                  ///< acceptance criterion of cells
    double softening = 0;                         ///< eps [length], >= 0; with softening_per_particle the smallest of all particles
    double G = 1;                                 ///< gravitational constant [length^3 / (mass time^2)], >= 0
    Multipole multipole = Multipole::quadrupole;  ///< expansion of the accepted cells
    Curve curve = Curve::hilbert;                 ///< order of the particles
    int leaf_size = 32;                           ///< a cell with more particles is divided, unless it is on the deepest level; 1 ... 64
    TreeWalk walk = TreeWalk::automatic;          ///< traversal of the tree
    int vector = 4,                               ///< walk `links`: targets of one thread, 1 ... 32
        group = 4;                                ///< walk `links`: threads that open or accept a cell together, 1 ... 32
    bool deterministic = true;  ///< bitwise repeatable on one device: no tuning, and the tree is rebuilt independently of measured times
    SofteningKernel softening_kernel = SofteningKernel::plummer;  ///< form of a pair; spline: walk `lists`
    bool softening_per_particle = false;                          ///< pairs combine the softenings of the particles; walk `lists`
};

/// Checks the ranges of all options. @throws InputError with the problem and a remedy: theta outside (0, 1], delta or error not above 0,
/// leaf_size, softening, G, vector or group out of range
void validate(const Tree& options);

/// Whether pairs combine the softening terms of two particles. Otherwise all particles have one Plummer softening.
inline bool combines_softenings(const Tree& options) {
    return options.softening_per_particle || options.softening_kernel == SofteningKernel::spline;
}

/// The walk called "auto", "links" or "lists". @throws InputError: another name
TreeWalk tree_walk_named(const std::string& name);
/// "auto", "links" or "lists": the inverse of tree_walk_named().
std::string name(TreeWalk walk);
/// "monopole" or "quadrupole".
std::string name(Multipole multipole);
/// "morton" or "hilbert".
std::string name(Curve curve);

/// Estimates the peak memory of the tree, its walk and its build for n particles, without the positions, velocities and other state of
/// the particles [byte].
std::uint64_t tree_memory(const AnySpace& on, index_t n, const Tree& options);

}  // namespace kasane::gravity
