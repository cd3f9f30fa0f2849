// Initial models: single spheres in equilibrium or at rest, and systems of placed objects (a collision is two of them).
// Random numbers are a function of (seed, particle), so that a seed gives the same particles on any number of threads.
#pragma once

#include <kasane/gravity/particles.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::gravity {

enum class ModelKind {
    plummer,    ///< rho ~ (1 + r^2/a^2)^(-5/2); scale = a
    hernquist,  ///< rho ~ 1 / (r (r + a)^3); scale = a
    nfw,        ///< rho ~ 1 / (r (r + r_s)^2), truncated; scale = r_s
    uniform,    ///< uniform sphere of radius scale in solid equilibrium: isotropic velocities with 2K = |W|
    cold,       ///< uniform sphere of radius scale at rest
};

struct Model {
    ModelKind kind = ModelKind::plummer;
    index_t count = 0;
    std::uint64_t seed = 1;
    double mass = 1;    ///< total [mass], after truncation
    double scale = 1;   ///< scale radius [length]; Plummer in standard N-body units: 3 pi / 16
    double truncation_radius = 0;  ///< rho is multiplied by erfc((r - radius)/width) / 2; 0: none (nfw: needed)
    double truncation_width = 0;
    double G = 1;
    std::uint8_t type = 1;
};

/// Samples a model: centre of mass at the origin and at rest, equal masses, ids 1..count.
/// @throws InputError: count < 1, mass or scale not positive, nfw without truncation, ...
Particles sample(const Model& model);

/// A model, or particles from a file, put somewhere: first rotated, then moved.
struct Object {
    Model model;
    Vec3<double> position;
    Vec3<double> velocity;
    Vec3<double> spin;  ///< rotation about x, then y, then z [degrees]
};

/// All objects' particles in the objects' order, ids renumbered 1..N.
Particles sample(const std::vector<Object>& objects);

/// Plummer sphere; defaults are standard N-body units: G = M = 1, E = -1/4.
struct PlummerOptions {
    index_t count = 0;
    std::uint64_t seed = 1;
    double mass = 1;
    double scale = 0.58904862254808623221;  ///< 3 pi / 16
    double G = 1;
};
Particles plummer(const PlummerOptions& options);

}  // namespace kasane::gravity
