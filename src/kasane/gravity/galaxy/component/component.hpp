// Components of a galaxy, each with a density law, a mass, a scale, a truncation and its particles. Plain data: problems_of() checks a
// component; density_law() (spheres) and DiskSystem (disks) compute its density.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kasane::gravity {

// Densities of spheres, up to a factor that follows from the mass; x = r / scale.
struct Plummer {};  ///< (1 + x^2)^(-5/2)                                                        [Plummer 1911]
/// Lowered isothermal sphere; the scale is the core radius, and the density is 0 from the tidal radius on                   [King 1966]
struct King {
    double w0 = 6;  ///< central potential W0 = Psi(0) / sigma^2, 0.1 to 16
};
struct Hernquist {};  ///< 1 / (x (1 + x)^3)                                                       [Hernquist 1990]
struct Nfw {};        ///< 1 / (x (1 + x)^2)                                          [Navarro, Frenk & White 1996]
struct Moore {};      ///< 1 / (x^1.5 (1 + x^1.5))                                               [Moore et al. 1999]
struct Burkert {};    ///< 1 / ((1 + x) (1 + x^2))                                                   [Burkert 1995]
/// exp(-2/alpha (x^alpha - 1)), d ln rho/d ln r = -2 at the scale                                                       [Einasto 1965]
struct Einasto {
    double alpha = 0.18;  ///< 0.05 to 2; haloes have 0.1 to 0.3
};
struct Isothermal {};  ///< 1 / (1 + x^2)
/// x^-inner (1 + x^sharpness)^(-(outer - inner)/sharpness)                                                       [Zhao 1996]
struct TwoPower {
    double inner_slope = 1,  ///< -d ln rho/d ln r at the centre, 0 to 2.5
        outer_slope = 4,     ///< -d ln rho/d ln r far out, above inner_slope and at most 20
        sharpness = 1;       ///< of the transition at the scale, 0.25 to 10
};
/// x^-inner (1 + x^s)^(-(middle - inner)/s) (1 + y^s)^(-(outer - middle)/s), y = r / outer_scale, s = sharpness
struct TriplePower {
    double inner_slope = 1,  ///< -d ln rho/d ln r at the centre, 0 to 2.5
        middle_slope = 2,    ///< -d ln rho/d ln r between scale and outer_scale, from inner_slope to outer_slope
        outer_slope = 4,     ///< -d ln rho/d ln r far out, above inner_slope and at most 20
        outer_scale = 10,    ///< radius of the outer transition [length], above the component's scale
        sharpness = 1;       ///< of both transitions, 0.25 to 10
};
/// Deprojection of the surface density exp(-b_n (x^(1/n) - 1)); half of the projected mass is inside the scale
/// [Sersic 1963; Ciotti 1991]
struct Sersic {
    double n = 4;  ///< 0.5 to 10; 1: exponential, 4: de Vaucouleurs' law
};
/// A tabulated density, 8 to 10,000 rows: a cubic spline of the logarithms between the rows (C2), power laws beyond them.
struct Table {
    std::vector<double> radius{},  ///< of each row [length], ascending, above 0
        density{};                 ///< of each row, above 0; any unit, as the component's mass sets the factor
    std::string source{};          ///< name of the file, for messages
};
/// rho(r) of a table; the component's scale is not used and must stay 1
struct TabulatedDensity {
    Table table{};  ///< volume densities rho(r)
};
/// Deprojection of the surface density Sigma(R) of a table; the component's scale is not used and must stay 1
struct TabulatedSurfaceDensity {
    Table table{};  ///< surface densities Sigma(R)
};
struct BlackHole {};  ///< one particle at the centre; the component's scale is not used and must stay 1

// Surface densities of disks, up to a factor that follows from the mass; x = R / scale. DiskOptions sets their vertical structure.
struct ExponentialDisk {};  ///< exp(-x)
/// exp(-b_n (x^(1/n) - 1))                                                                               [Sersic 1963; Ciotti 1991]
struct SersicDisk {
    double n = 1;  ///< 0.5 to 10; 1: exponential
};
/// Sigma(R) of a table; needs a truncation. The component's scale is the radius where Toomre's Q is given.
struct TabulatedDisk {
    Table table{};  ///< surface densities Sigma(R)
};

/// Density law of a component: a sphere, a black hole or a disk.
using Law = std::variant<Plummer, King, Hernquist, Nfw, Moore, Burkert, Einasto, Isothermal, TwoPower, TriplePower, Sersic,
                         TabulatedDensity, TabulatedSurfaceDensity, BlackHole, ExponentialDisk, SersicDisk, TabulatedDisk>;

/// Whether the law is ExponentialDisk, SersicDisk or TabulatedDisk.
bool is_disk(const Law& law);
/// Whether the law is BlackHole.
bool is_black_hole(const Law& law);
/// Whether the law is neither a disk nor a black hole.
inline bool is_sphere(const Law& law) { return !is_disk(law) && !is_black_hole(law); }

/// Name of a law in model files: "plummer", "king", "hernquist", "nfw", "moore", "burkert", "einasto", "isothermal", "two-power",
/// "triple-power", "sersic", "table", "surface-density-table", "black-hole", "exponential-disk", "sersic-disk", "table-disk".
std::string name(const Law& law);
/// All names, in the order of the alternatives of Law.
const std::vector<std::string_view>& law_names();
/// The law with this name and its default parameters (an empty table). @throws InputError: another name, with the nearest known one
Law law_named(const std::string& name);

/// Truncation of a density: the density is multiplied by erfc((r - radius)/width) / 2.                     [Miki & Umemura 2018]
struct Truncation {
    double radius = 0;  ///< [length], outside the scale; 0: no truncation
    double width = 0;   ///< [length], radius / 100 to radius / 2; 0 without a truncation
    /// Whether there is a truncation.
    explicit operator bool() const { return radius > 0; }
    /// Radius beyond which the factor is below 2e-23, that is 0 in double precision [length].
    double end() const { return radius + 7 * width; }
};

/// Vertical structure and motion of a disk; other components must keep the defaults.
struct DiskOptions {
    /// z_d [length], must be set for a disk: above 0, at most scale / 2. The density falls by a factor e from the plane to z_d, or to a
    /// lower height where the potential does not allow z_d.
    double height = 0;
    double toomre_q = 1.5;  ///< Q = sigma_R kappa / (3.36 G Sigma) at R = scale, above 0; sigma_R ~ exp(-R / (2 scale))
    double retrograde = 0;  ///< fraction of the particles that rotate in the opposite direction, 0 to 1
};

/// One component of a galaxy.
struct Component {
    std::string name{};            ///< "halo", at most 200 bytes; empty: the name of the law
    Law law = Plummer{};           ///< density law
    double mass = 1;               ///< total, after truncation [mass]
    double scale = 1;              ///< length scale of the law [length]
    Truncation truncation{};       ///< default: none
    double anisotropy_radius = 0;  ///< r_a of Osipkov-Merritt, beta = r^2 / (r^2 + r_a^2) [length]; 0: isotropic. Spheres only
    DiskOptions disk{};            ///< disks only
    index_t count = 0;             ///< particles; 0: from particle_mass, or a share of GalaxyModel::count in proportion to the mass
    double particle_mass = 0;      ///< [mass]; 0: mass / count
    std::uint8_t type = 1;         ///< particle type of the GADGET convention
    double softening = 0;          ///< Plummer softening of the type, for the snapshot [length]; 0: not known

    /// `name`, or the name of the law if `name` is empty.
    std::string label() const { return name.empty() ? gravity::name(law) : name; }
};

/// Description of a galaxy.
struct GalaxyModel {
    std::vector<Component> components{};  ///< at least one, at most one black hole
    /// Particles of the components with neither count nor particle_mass, in proportion to their masses; 0 if there is no such component. A
    /// black hole is one particle in addition.
    index_t count = 0;
    std::uint64_t seed = 1;  ///< of the random numbers
    double G = 1;            ///< gravitational constant [length^3 / (mass time^2)], above 0
};

/// Largest number of particles of a galaxy or a ball: 2^40.
inline constexpr index_t most_particles = index_t{1} << 40;

/// Finds all faults of a component by itself; `where.key` is the name of the option ("mass", "truncation.radius", "king.w0",
/// "disk.height", "table"). Faults are values that are not finite or not positive, an infinite mass without truncation, a truncation inside
/// the scale, W0 outside 0.1 to 16, slopes out of range, a table that is not monotone or too short, options that the law does not use, ...
std::vector<InputProblem> problems_of(const Component& component);
/// Finds all faults of all components ("components.2.mass") and of the model as a whole: no component, G, counts (below 1, or above
/// most_particles in total), two softenings for one type, two equal names.
std::vector<InputProblem> problems_of(const GalaxyModel& model);

/// Number of particles of each component, 1 or more. @throws InputError with the result of problems_of() if it is not empty
std::vector<index_t> counts_of(const GalaxyModel& model);

}  // namespace kasane::gravity
