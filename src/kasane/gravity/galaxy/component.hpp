// What a galaxy is made of: components, each with a law of density, a mass, a size, an edge and its particles. Plain data; a component
// is checked by problems_of(), turned into numbers by density_law() (spheres) or a DiskSystem (disks).
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kasane::gravity {

// Spheres; x = r / scale.
struct Plummer {};  ///< (1 + x^2)^(-5/2)                                                        [Plummer 1911]
struct King {
    double w0 = 6;
};                    ///< lowered isothermal, W0 = Psi(0)/sigma^2; scale: core radius; ends at the tidal radius [King 1966]
struct Hernquist {};  ///< 1 / (x (1 + x)^3)                                                       [Hernquist 1990]
struct Nfw {};        ///< 1 / (x (1 + x)^2)                                          [Navarro, Frenk & White 1996]
struct Moore {};      ///< 1 / (x^1.5 (1 + x^1.5))                                               [Moore et al. 1999]
struct Burkert {};    ///< 1 / ((1 + x) (1 + x^2))                                                   [Burkert 1995]
struct Einasto {
    double alpha = 0.18;
};                     ///< exp(-2/alpha (x^alpha - 1)), d ln rho/d ln r = -2 at the scale    [Einasto 1965]
struct Isothermal {};  ///< 1 / (1 + x^2)
/// x^-inner (1 + x^sharpness)^(-(outer - inner)/sharpness)                                                       [Zhao 1996]
struct TwoPower {
    double inner_slope = 1, outer_slope = 4, sharpness = 1;
};
/// x^-inner (1 + x^s)^(-(middle - inner)/s) (1 + y^s)^(-(outer - middle)/s), y = r / outer_scale, s = sharpness
struct TriplePower {
    double inner_slope = 1, middle_slope = 2, outer_slope = 4, outer_scale = 10, sharpness = 1;
};  // outer_scale [length]
/// Deprojected: surface density exp(-b_n (x^(1/n) - 1)), half of it inside the scale                    [Sersic 1963; Ciotti 1991]
struct Sersic {
    double n = 4;
};
/// Numbers of a file: radii [length], ascending, above 0, and densities of any unit, above 0. C2 between them (a cubic spline of the
/// logarithms), power laws beyond them.
struct Table {
    std::vector<double> radius{}, density{};
    std::string source{};  ///< the file, for messages
};
struct TabulatedDensity {
    Table table{};
};  ///< rho(r); the component's scale is not used
struct TabulatedSurfaceDensity {
    Table table{};
};                    ///< Sigma(R), deprojected
struct BlackHole {};  ///< one particle at the centre

// Disks; x = R / scale, surface densities. Their vertical structure is in DiskOptions.
struct ExponentialDisk {};  ///< exp(-x)
struct SersicDisk {
    double n = 1;
};  ///< exp(-b_n (x^(1/n) - 1))
struct TabulatedDisk {
    Table table{};
};  ///< Sigma(R)

using Law = std::variant<Plummer, King, Hernquist, Nfw, Moore, Burkert, Einasto, Isothermal, TwoPower, TriplePower, Sersic,
                         TabulatedDensity, TabulatedSurfaceDensity, BlackHole, ExponentialDisk, SersicDisk, TabulatedDisk>;

bool is_disk(const Law& law);
bool is_black_hole(const Law& law);
inline bool is_sphere(const Law& law) { return !is_disk(law) && !is_black_hole(law); }

/// Names of files: "plummer", "king", "hernquist", "nfw", "moore", "burkert", "einasto", "isothermal", "two-power", "triple-power",
/// "sersic", "table", "surface-density-table", "black-hole", "exponential-disk", "sersic-disk", "table-disk".
std::string name(const Law& law);
const std::vector<std::string_view>& law_names();
/// The law with its default parameters (an empty table). @throws InputError for another name, with the nearest one
Law law_named(const std::string& name);

/// Where and how a density is cut: it is multiplied by erfc((r - radius)/width) / 2.                     [Miki & Umemura 2018]
struct Truncation {
    double radius = 0;  ///< [length]; 0: not at all
    double width = 0;   ///< [length]
    explicit operator bool() const { return radius > 0; }
    /// Beyond it the factor is below 2e-23: nothing is there in double precision.
    double end() const { return radius + 7 * width; }
};

struct DiskOptions {
    double height = 0;      ///< z_d [length]: the density falls by e from the plane to z_d, less where the potential does not allow it
    double toomre_q = 1.5;  ///< Q = sigma_R kappa / (3.36 G Sigma) at R = scale; sigma_R ~ exp(-R / (2 scale))
    double retrograde = 0;  ///< share of the particles that rotate the other way, 0 to 1
};

struct Component {
    std::string name{};  ///< "halo"; empty: the law's name
    Law law = Plummer{};
    double mass = 1;   ///< total, after truncation [mass]
    double scale = 1;  ///< what the law says [length]
    Truncation truncation{};
    double anisotropy_radius = 0;  ///< of Osipkov-Merritt: beta = r^2 / (r^2 + r_a^2) [length]; 0: isotropic
    DiskOptions disk{};
    index_t count = 0;         ///< particles; 0: from particle_mass, or its share by mass of the galaxy's count
    double particle_mass = 0;  ///< [mass]; 0: mass / count
    std::uint8_t type = 1;     ///< particle type of the GADGET convention
    double softening = 0;      ///< of its type, for the snapshot [length]; 0: not told

    std::string label() const { return name.empty() ? gravity::name(law) : name; }
};

struct GalaxyModel {
    std::vector<Component> components{};
    index_t count = 0;  ///< particles of the components that have neither count nor particle_mass, shared by mass; black holes are one each
    std::uint64_t seed = 1;
    double G = 1;
};

inline constexpr index_t most_particles = index_t{1} << 40;

/// Everything that is wrong with a component by itself, `where.key` the option's name ("mass", "truncation.radius", "king.w0",
/// "disk.height", "table"): not finite, not positive, infinite mass without truncation, truncation inside the scale, W0 outside
/// 0.1 to 16, slopes that allow no model, a table not monotone or too short, options that its law does not use, ...
std::vector<InputProblem> problems_of(const Component& component);
/// The same for all components ("components.2.mass") and for what they are together: no component, no mass, counts (below 1 or above
/// most_particles in all), masses that overflow, two softenings for one type, two names alike.
std::vector<InputProblem> problems_of(const GalaxyModel& model);

/// Particles of each component. @throws InputError as problems_of does
std::vector<index_t> counts_of(const GalaxyModel& model);

}  // namespace kasane::gravity
