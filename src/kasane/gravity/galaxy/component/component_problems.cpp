// All checks of components. Each message belongs to an option and has problem, reason and remedy.
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/galaxy/component/king.hpp>
#include <kasane/gravity/galaxy/component/laws.hpp>
#include <kasane/gravity/galaxy/component/log_table.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr std::size_t least_rows = 8, most_rows = 10'000;  // the time of a deprojection is proportional to the number of rows
constexpr double steepest_cliff = 1e4;                     // d ln f / d ln r between two rows; less for an edge of width r / 1000
constexpr std::size_t longest_name = 200;                  // bytes of a label in tables and figures
constexpr double steepest_cusp = 2.5;                      // in steeper cusps too much mass is inside any table
constexpr double smallest = 1e-60, largest = 1e60;         // mass, length: densities and f(E) stay inside double precision
constexpr double slowest_convergence = 3.25;               // outer slope whose mass converges within 40 decades of radius

struct Problems {
    std::vector<InputProblem> list;

    void add(std::string key, std::string message) { list.push_back({std::move(message), {"", 0, 0, std::move(key)}}); }
    bool need(bool good, const std::string& key, std::string message) {
        if (!good) add(key, std::move(message));
        return good;
    }
    bool above_zero(double value, const std::string& key) {
        return need(std::isfinite(value) && value > 0, key, fmt::format("is {}: it must be finite and above 0", value)) &&
               need(
                   value >= smallest && value <= largest, key,
                   fmt::format("is {}, outside {} to {}: tables of the galaxy would overflow. Change its units", value, smallest, largest));
    }
    bool not_negative(double value, const std::string& key) {
        return need(std::isfinite(value) && value >= 0, key, fmt::format("is {}: it must be finite and not negative", value));
    }
    bool within(double value, double low, double high, const std::string& key, std::string_view reason) {
        return need(value >= low && value <= high, key, fmt::format("is {}: it must be between {} and {}{}", value, low, high, reason));
    }
};

/// Properties of a law with valid parameters that determine which truncations are possible or necessary.
struct Shape {
    double outer_slope = HUGE_VAL;       ///< -d ln rho / d ln r far out
    double ends_at = HUGE_VAL;           ///< radius where the density ends [length]
    double first_row = 0, last_row = 0;  ///< radii of a table [length]; 0: none
};

/// True if the law uses the component's scale; black holes and tables of spheres do not.
bool has_scale(const Law& law) {
    return !is_black_hole(law) && !std::holds_alternative<TabulatedDensity>(law) && !std::holds_alternative<TabulatedSurfaceDensity>(law);
}

bool check_table(const Table& table, Problems& problems) {
    const auto before = problems.list.size();
    const auto& [radius, density, source] = table;
    const auto add = [&](const std::string& message) {
        problems.add("table", source.empty() ? message : fmt::format("{} ({})", message, source));
    };
    if (radius.size() != density.size()) {
        add(fmt::format("has {} radii and {} densities: every row needs both", radius.size(), density.size()));
        return false;
    }
    if (radius.size() < least_rows) {
        add(fmt::format("has {} rows, too short for a density and its derivatives: give at least {}", radius.size(), least_rows));
    }
    if (radius.size() > most_rows) {
        add(fmt::format("has {} rows, and at most {} are taken: a spline needs no more. Leave most of them out", radius.size(), most_rows));
    }
    const auto first_bad = [&](auto bad) {
        std::size_t i = 0;
        while (i < radius.size() && !bad(i)) ++i;
        return i;
    };
    const auto good = [](double value) { return std::isfinite(value) && value > 0; };
    if (const auto i = first_bad([&](std::size_t row) { return !good(radius[row]); }); i < radius.size()) {
        add(fmt::format("has the radius {} in row {}: it must be finite and above 0. Leave the row out", radius[i], i + 1));
    }
    if (const auto i = first_bad([&](std::size_t row) { return row > 0 && radius[row] <= radius[row - 1]; }); i < radius.size()) {
        add(fmt::format("is not monotone: the radius {} of row {} is not above {} before it. Sort the rows by radius", radius[i], i + 1,
                        radius[i - 1]));
    }
    if (const auto i = first_bad([&](std::size_t row) { return !good(density[row]); }); i < radius.size()) {
        add(fmt::format("has the density {} in row {} at the radius {}: a density must be finite and positive. End the table before it",
                        density[i], i + 1, radius[i]));
    }
    if (problems.list.size() > before) return false;
    const auto slope = [&](std::size_t row) {
        return (std::log(density[row]) - std::log(density[row - 1])) / (std::log(radius[row]) - std::log(radius[row - 1]));
    };
    if (const auto i = first_bad([&](std::size_t row) { return row > 0 && !(std::abs(slope(row)) <= steepest_cliff); });
        i < radius.size()) {
        add(fmt::format("jumps from {} to {} between the rows {} and {}: a density may not be steeper than r^{}. Leave one of them out",
                        density[i - 1], density[i], i, i + 1, steepest_cliff));
        return false;
    }
    return true;
}

/// Checks the parameters of a law; returns no Shape if one is invalid.
struct CheckLaw {
    Problems& problems;
    const Component& component;

    std::optional<Shape> when(bool good, Shape shape) const { return good ? std::optional(shape) : std::nullopt; }

    template <class Powers>
        requires requires(Powers law) { power_product(law); }
    std::optional<Shape> operator()(const Powers& law) const {
        return Shape{.outer_slope = power_product(law).outer()};
    }
    bool slopes(const std::string& law, double inner, double outer, double sharpness) const {
        bool good = problems.within(inner, 0, steepest_cusp, law + ".inner_slope",
                                    ": from 3 on the mass inside any radius is infinite, and above 2.5 tables do not resolve it");
        good &= problems.need(outer > inner && outer <= 20, law + ".outer_slope",
                              fmt::format("is {}: it must be above the inner slope {} and at most 20", outer, inner));
        good &= problems.within(sharpness, 0.25, 10, law + ".sharpness", ". 1 is usual");
        return good;
    }
    std::optional<Shape> operator()(const TwoPower& law) const {
        return when(slopes("two-power", law.inner_slope, law.outer_slope, law.sharpness), {.outer_slope = law.outer_slope});
    }
    std::optional<Shape> operator()(const TriplePower& law) const {
        bool good = slopes("triple-power", law.inner_slope, law.outer_slope, law.sharpness);
        good &= problems.need(law.middle_slope >= law.inner_slope && law.middle_slope <= law.outer_slope, "triple-power.middle_slope",
                              fmt::format("is {}: it must lie between the inner slope {} and the outer slope {}", law.middle_slope,
                                          law.inner_slope, law.outer_slope));
        good &= problems.need(std::isfinite(law.outer_scale) && law.outer_scale > component.scale, "triple-power.outer_scale",
                              fmt::format("is {}: it must be finite and lie outside the scale {}. Try {}", law.outer_scale, component.scale,
                                          10 * component.scale));
        return when(good, {.outer_slope = law.outer_slope});
    }
    std::optional<Shape> operator()(const King& law) const {
        if (!problems.within(law.w0, 0.1, 16, "king.w0", ": W0 = Psi(0)/sigma^2. Globular clusters have 3 to 9")) return {};
        return Shape{.ends_at = KingSphere(law.w0).tidal_radius() * component.scale};
    }
    std::optional<Shape> operator()(const Einasto& law) const {
        return when(problems.within(law.alpha, 0.05, 2, "einasto.alpha", ". Haloes have 0.1 to 0.3"), {});
    }
    std::optional<Shape> sersic(double n, const std::string& key) const {
        return when(problems.within(n, 0.5, 10, key, ". 1 is exponential, 4 de Vaucouleurs' law"), {});
    }
    std::optional<Shape> operator()(const Sersic& law) const { return sersic(law.n, "sersic.n"); }
    std::optional<Shape> operator()(const SersicDisk& law) const { return sersic(law.n, "sersic-disk.n"); }
    std::optional<Shape> operator()(const ExponentialDisk& /*law*/) const { return Shape{}; }
    std::optional<Shape> operator()(const BlackHole& /*law*/) const { return Shape{}; }

    std::optional<Shape> tabulated(const Table& table, double slope_added, double steepest) const {
        if (!check_table(table, problems)) return {};
        const LogTable of(table);
        const double inner = slope_added - of.inner_slope();
        problems.need(inner <= steepest, "table",
                      fmt::format("rises as r^-{:.3g} at its first rows: the density's cusp may be at most r^-{}. Try rows further in",
                                  inner, steepest));
        return Shape{slope_added - of.outer_slope(), HUGE_VAL, table.radius.front(), table.radius.back()};
    }
    std::optional<Shape> operator()(const TabulatedDensity& law) const { return tabulated(law.table, 0, steepest_cusp); }
    std::optional<Shape> operator()(const TabulatedSurfaceDensity& law) const {
        const auto shape = tabulated(law.table, 1, steepest_cusp);
        if (shape) {
            problems.need(shape->outer_slope > 1, "table",
                          "does not decline at its last rows, so that its deprojected density is not positive. End the table before them");
        }
        return shape;
    }
    std::optional<Shape> operator()(const TabulatedDisk& law) const { return tabulated(law.table, 0, 1); }
};

void check_truncation(const Component& c, const Shape& shape, Problems& problems) {
    const std::string law = name(c.law);
    const auto [radius, width] = c.truncation;
    if (is_black_hole(c.law)) {
        problems.need(radius == 0 && width == 0, "truncation", "is given, but a black hole is one particle: leave it out");
        return;
    }
    const bool good = problems.not_negative(radius, "truncation.radius") & problems.not_negative(width, "truncation.width");
    if (!good) return;
    const bool table = shape.last_row > 0;
    const bool in_range = !table || (radius > shape.first_row && radius <= shape.last_row);
    if (radius == 0) {
        problems.need(width == 0, "truncation.width", fmt::format("is {}, but there is no truncation.radius: give both or none", width));
        const double try_radius = table ? shape.last_row : 20 * c.scale;
        if (std::holds_alternative<TabulatedDisk>(c.law)) {
            problems.add("truncation.radius",
                         fmt::format("is missing: beyond its last row a tabulated disk continues without an end. Try {:.4g}", try_radius));
        } else if (shape.outer_slope <= 3) {
            problems.add("truncation.radius", fmt::format("is missing: the mass of an untruncated {} with density r^{:.3g} far out is "
                                                          "infinite. Try {:.4g}",
                                                          law, -shape.outer_slope, try_radius));
        } else if (shape.outer_slope < slowest_convergence) {
            problems.add("truncation.radius",
                         fmt::format("is missing: with density r^-{:.3g} far out the mass of an untruncated {} converges too slowly; "
                                     "only r^-{} and steeper need no truncation. Try {:.4g}",
                                     shape.outer_slope, law, slowest_convergence, try_radius));
        }
        return;
    }
    if (table) {
        problems.need(in_range, "truncation.radius",
                      fmt::format("is {}: it must lie inside the table, from {} to {}. Try {}", radius, shape.first_row, shape.last_row,
                                  shape.last_row));
    }
    if (has_scale(c.law) && in_range) {
        problems.need(radius > c.scale, "truncation.radius",
                      fmt::format("is {}: the truncation must lie outside the scale {}. Try 20 times the scale", radius, c.scale));
    }
    problems.need(
        radius < shape.ends_at, "truncation.radius",
        fmt::format("is {}: a {} of this W0 ends at its tidal radius {:.4g}. Leave the truncation out", radius, law, shape.ends_at));
    // With a larger width the factor at the centre is below 1; with a smaller one f(E) is negative and tables do not resolve the edge.
    problems.need(width >= radius / 100 && width <= radius / 2, "truncation.width",
                  fmt::format("is {}: it must be between 1/100 and 1/2 of the truncation radius {}. Try {}", width, radius, radius / 10));
}

void check_disk(const Component& c, Problems& problems) {
    const auto& [height, toomre_q, retrograde] = c.disk;
    if (!is_disk(c.law)) {
        const DiskOptions unused;
        const auto message = [&](std::string_view what) {
            return fmt::format("is given, but a {} has no {}: leave it out", name(c.law), what);
        };
        problems.need(height == unused.height, "disk.height", message("height"));
        problems.need(toomre_q == unused.toomre_q, "disk.toomre_q", message("Toomre Q"));
        problems.need(retrograde == unused.retrograde, "disk.retrograde", message("rotation"));
        return;
    }
    problems.need(c.anisotropy_radius == 0, "anisotropy_radius",
                  fmt::format("is given, but the velocities of a {} follow from disk.toomre_q: leave it out", name(c.law)));
    if (height == 0) {
        problems.add("disk.height", fmt::format("is missing: how thick is the disk? Try a tenth of the scale, {:.4g}", c.scale / 10));
    } else if (problems.above_zero(height, "disk.height")) {
        problems.need(!(height > c.scale / 2), "disk.height",
                      fmt::format("is {}: above half the scale {} the component is not a disk. Try a tenth of the scale", height, c.scale));
    }
    problems.above_zero(toomre_q, "disk.toomre_q");
    problems.within(retrograde, 0, 1, "disk.retrograde", ", a share of the particles");
}

void check_particles(const Component& c, Problems& problems) {
    constexpr auto most = static_cast<double>(most_particles);
    if (is_black_hole(c.law)) {
        problems.need(c.count == 0 || c.count == 1, "count", fmt::format("is {}: a black hole is one particle. Leave it out", c.count));
        problems.need(c.particle_mass == 0, "particle_mass",
                      "is given, but a black hole is one particle of the component's mass: leave it out");
    } else {
        problems.need(c.count >= 0 && c.count <= most_particles, "count",
                      fmt::format("is {}: it must be from 1 to {}", c.count, most_particles));
        if (problems.not_negative(c.particle_mass, "particle_mass") && c.particle_mass > 0) {
            problems.need(c.count == 0, "particle_mass",
                          fmt::format("is {} and count is {}: one follows from the other. Give one of them", c.particle_mass, c.count));
            if (std::isfinite(c.mass) && c.mass > 0) {
                problems.need(c.particle_mass <= c.mass, "particle_mass",
                              fmt::format("is {}: more than the component's mass {}. Try {:.4g}", c.particle_mass, c.mass, c.mass / 1e6));
                problems.need(c.mass / c.particle_mass <= most, "particle_mass",
                              fmt::format("is {}: the mass {} makes more than {} particles of it. Try {:.4g}", c.particle_mass, c.mass,
                                          most_particles, c.mass / 1e6));
            }
        }
    }
    problems.need(c.type < type_count, "type", fmt::format("is {}: types are 0 to {}", c.type, type_count - 1));
    problems.not_negative(c.softening, "softening");
}

/// Checks the counts of all components together.
void check_counts(const GalaxyModel& model, Problems& problems) {
    problems.need(model.count >= 0 && model.count <= most_particles, "count",
                  fmt::format("is {}: it must be from 1 to {}", model.count, most_particles));
    index_t sharers = 0;
    double all = static_cast<double>(model.count);
    std::string labels;
    for (const auto& c : model.components) {
        if (is_black_hole(c.law)) {
            all += 1;
        } else if (c.count == 0 && c.particle_mass == 0) {
            ++sharers;
            labels += (labels.empty() ? "" : ", ") + c.label();
        } else {
            all += c.particle_mass > 0 ? std::round(c.mass / c.particle_mass) : static_cast<double>(c.count);
        }
    }
    if (sharers == 0) {
        problems.need(
            model.count == 0, "count",
            fmt::format("is {}, but every component has its own count or particle_mass: nothing shares it. Leave it out", model.count));
    } else if (model.count >= 0 && model.count < sharers) {
        problems.add("count", fmt::format("is {}: the particles of {} are shares of it, at least one each. Give it, or their own count",
                                          model.count, labels));
    }
    problems.need(all <= static_cast<double>(most_particles) || model.count > most_particles, "count",
                  fmt::format("is too large: the components have {:.4g} particles in all, at most {} are possible", all, most_particles));
}

}  // namespace

std::vector<InputProblem> problems_of(const Component& c) {
    Problems problems;
    problems.need(c.name.find('/') == std::string::npos && c.name != ".", "name",
                  fmt::format("is \"{}\": it names a group of an HDF5 file, which must not have a slash or be a dot", c.name));
    problems.need(
        std::none_of(c.name.begin(), c.name.end(), [](char each) { return static_cast<unsigned char>(each) < ' ' || each == 127; }), "name",
        "has a line break or another control character: it is a label for people");
    problems.need(c.name.size() <= longest_name, "name", fmt::format("has {} bytes: a label has at most {}", c.name.size(), longest_name));
    problems.above_zero(c.mass, "mass");
    bool good_scale = true;
    if (has_scale(c.law)) {
        good_scale = problems.above_zero(c.scale, "scale");
    } else {
        problems.need(c.scale == 1, "scale", fmt::format("is given, but a {} has none: leave it out", name(c.law)));
    }
    if (good_scale) {
        const auto shape = std::visit(CheckLaw{problems, c}, c.law);
        if (shape) check_truncation(c, *shape, problems);
        check_disk(c, problems);
    }
    if (is_black_hole(c.law)) {
        problems.need(c.anisotropy_radius == 0, "anisotropy_radius", "is given, but a black hole is at rest: leave it out");
    } else {
        problems.not_negative(c.anisotropy_radius, "anisotropy_radius");
    }
    check_particles(c, problems);
    return std::move(problems.list);
}

std::vector<InputProblem> problems_of(const GalaxyModel& model) {
    Problems problems;
    const auto& components = model.components;
    problems.above_zero(model.G, "G");
    if (components.empty()) {
        problems.add("components", "is empty: a galaxy needs at least one component");
        return std::move(problems.list);
    }
    const auto key = [](std::size_t i, std::string_view option) { return fmt::format("components.{}.{}", i, option); };
    std::array<std::size_t, type_count> softened;
    softened.fill(components.size());
    bool good_particles = true;
    for (std::size_t i = 0; i < components.size(); ++i) {
        const auto& c = components[i];
        for (auto& [message, where] : problems_of(c)) {
            good_particles &= where.key != "mass" && where.key != "count" && where.key != "particle_mass";
            problems.add(key(i, where.key), std::move(message));
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (components[j].label() != c.label()) continue;
            problems.add(key(i, "name"),
                         fmt::format("is \"{}\", which is also the name of component {}: give each its own name", c.label(), j));
            break;
        }
        if (c.type >= type_count || !(c.softening > 0)) continue;
        auto& other = softened[c.type];
        if (other == components.size()) {
            other = i;
        } else if (components[other].softening != c.softening) {
            problems.add(key(i, "softening"),
                         fmt::format("is {}, but {} of the same type {} has {}: a type has one softening. Give them two types, or one "
                                     "softening",
                                     c.softening, components[other].label(), c.type, components[other].softening));
        }
    }
    if (good_particles) check_counts(model, problems);
    return std::move(problems.list);
}

}  // namespace kasane::gravity
