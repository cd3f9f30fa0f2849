// Initial models: single spheres in equilibrium or at rest, and systems of placed objects (a collision is two of them).
// Random numbers are a function of (seed, particle), so that a seed gives the same particles on any number of threads.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/particles.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::gravity {

enum class ModelKind {
    plummer,    ///< rho ~ (1 + r^2/a^2)^(-5/2); scale = a                            [Plummer 1911]
    hernquist,  ///< rho ~ 1 / (r (r + a)^3); scale = a; best truncated: see sample()     [Hernquist 1990]
    nfw,        ///< rho ~ 1 / (r (r + r_s)^2), truncated; scale = r_s                 [Navarro, Frenk & White 1997]
    uniform,    ///< uniform sphere of radius scale, velocities uniform in a ball, 2K = |W|: balanced as a whole, not steady
    cold,       ///< uniform sphere of radius scale at rest
};

struct Model {
    ModelKind kind = ModelKind::plummer;
    index_t count = 0;
    std::uint64_t seed = 1;
    double mass = 1;               ///< total [mass], after truncation
    double scale = 1;              ///< scale radius [length]; Plummer in standard N-body units: 3 pi / 16
    double truncation_radius = 0;  ///< [length] rho is multiplied by erfc((r - radius)/width) / 2; 0: none (nfw: needed)
    double truncation_width = 0;   ///< [length] above 0 and at most half the radius when there is a radius
    double G = 1;
    std::uint8_t type = 1;  ///< particle type of the GADGET convention
};

/// "plummer", "hernquist", "nfw", "uniform" or "cold". @throws InputError for another name
ModelKind model_kind_named(const std::string& name);
std::string name(ModelKind kind);

/// Checks every option; what only sampling can tell (a truncation too sharp for an equilibrium) is left to sample().
/// @throws InputError with every problem, its `where.key` the option's name: count < 1, mass, scale or G not above 0, nfw without
/// truncation, uniform or cold with one, ...
void validate(const Model& model);

/// Samples a model: centre of mass at the origin and at rest, equal masses, ids 1..count. plummer, hernquist and nfw are isotropic
/// equilibria: velocities from Eddington's f(E) of the (truncated) density.        [Binney & Tremaine 2008, 4.3.1; MAGI]
/// The mean of an untruncated hernquist sphere's positions does not converge: its centre of mass, and so the origin, lies about one
/// scale off its cusp at any count (a warning in the log says so).
/// @throws InputError as validate() does, and when the negative part of f holds more than 1% of the mass
Particles sample(const Model& model, Cpu on = {});

/// A model put somewhere: first rotated, then moved.
struct Object {
    Model model;
    Vec3<double> position;  ///< of the centre of mass [length]
    Vec3<double> velocity;  ///< [length / time]
    Vec3<double> spin;      ///< rotation about the x axis, then the y axis, then the z axis, all at rest [degrees]
};

/// Turns the particles about the origin, then moves them, as `where` says (its model is not looked at).
void place(Particles& particles, const Object& where);

/// All objects' particles in the objects' order, ids renumbered 1..N. Objects with one seed and one profile are copies of each
/// other: give each its own seed. @throws InputError as above, with keys "object.0.mass"
Particles sample(const std::vector<Object>& objects, Cpu on = {});

}  // namespace kasane::gravity
