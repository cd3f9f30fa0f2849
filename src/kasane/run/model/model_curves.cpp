// The curves of a model's page and their captions. A component has one colour on the whole page, and no two curves of one plot have the
// same colour and stroke.
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/model/model_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::run {

using namespace report;

namespace {

using std::numbers::pi;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Names of units, with their powers of ten: "10¹⁰ M☉ / kpc³".
struct Names {
    std::string length, mass, velocity;
    explicit Names(const gravity::Units& u)
        : length(pretty_unit(u.length_name)), mass(pretty_unit(u.mass_name)), velocity(pretty_unit(u.velocity_name)) {}
    std::string mass_per(const std::string& of) const { return mass.empty() ? "" : mass + " / " + of; }
};

class Curves {
   public:
    Curves(const GalaxyPart& part, const gravity::Units& units) : t_(part.tables), names_(units) {}

    std::string html() const {
        if (t_.radius.empty()) return "";
        return chart_section("Mass and gravity", density() + enclosed_mass() + potential() + circular_speed()) +
               chart_section("Motions", dispersions() + distribution()) + disks();
    }

   private:
    Plot over_radius(const std::string& title, const std::string& y_label, Scale scale = Scale::decades) const {
        Plot p;
        p.title = title + " against radius";
        p.x_label = with_unit("radius", names_.length);
        p.y_label = y_label;
        p.x_scale = scale;
        return p;
    }

    static int color(std::size_t component) { return static_cast<int>(component) % colors; }

    void add(Plot& plot, std::size_t k, std::vector<double> y, const std::string& suffix = "", Stroke stroke = Stroke::solid) const {
        if (!y.empty()) plot.series.push_back({t_.components[k].label + suffix, t_.radius, std::move(y), color(k), stroke});
    }
    /// Adds the sum of all components where there are several.
    void add_total(Plot& plot, const std::string& name, const std::vector<double>& y, bool always = false) const {
        if (t_.components.size() > 1 || always) plot.series.push_back({name, t_.radius, y, ink, Stroke::dashed});
    }

    bool has_disk() const {
        return std::any_of(t_.components.begin(), t_.components.end(), [](const auto& c) { return !c.surface_density.empty(); });
    }

    /// Removes the outermost part of a truncated density, which has less than 1e-5 of the mass and would take most decades of the axis.
    std::vector<double> without_tail(const std::vector<double>& density, const std::vector<double>& mass) const {
        auto y = density;
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double r = t_.radius[i];
            if (mass[i] > 0.5 * mass.back() && 4 * pi * r * r * r * y[i] < 1e-5 * mass.back()) y[i] = nan;
        }
        return y;
    }

    std::string density() const {
        auto p = over_radius("Density", with_unit("density", names_.mass_per(names_.length + "³")));
        p.log_y = true;
        for (std::size_t k = 0; k < t_.components.size(); ++k)
            if (const auto& c = t_.components[k]; !c.density.empty()) add(p, k, without_tail(c.density, c.mass));
        return chart("Density", to_svg(p), has_disk() ? "Disks in their plane." : "Mass per volume.");
    }

    std::string enclosed_mass() const {
        auto p = over_radius("Enclosed mass", with_unit("mass", names_.mass));
        p.log_y = true;
        for (std::size_t k = 0; k < t_.components.size(); ++k) add(p, k, t_.components[k].mass);
        add_total(p, "all", t_.mass);
        return chart("Enclosed mass", to_svg(p), has_disk() ? "Inside a sphere; of disks, inside a cylinder." : "Mass inside a sphere.");
    }

    std::string potential() const {
        auto p = over_radius("Potential", with_unit("Φ", names_.velocity.empty() ? "" : "(" + names_.velocity + ")²"));
        p.series.push_back({"", t_.radius, t_.potential, ink});
        p.reference = 0;
        p.reference_name = "escape";
        return chart("Potential", to_svg(p),
                     "Energy per mass of a particle at rest there, all components together; at 0 it would be free.");
    }

    std::string circular_speed() const {
        auto p = over_radius("Circular speed", with_unit("speed", names_.velocity));
        p.from_zero = true;
        for (std::size_t k = 0; k < t_.components.size(); ++k) {
            auto y = t_.components[k].rotation_speed;
            // The speed about a black hole rises without limit: only values near those of the galaxy are shown.
            if (t_.components[k].density.empty())
                for (auto& v : y)
                    v = v > 1.2 * *std::max_element(t_.circular_speed.begin() + std::ssize(t_.radius) / 3, t_.circular_speed.end()) ? nan
                                                                                                                                    : v;
            add(p, k, std::move(y));
        }
        add_total(p, "all", t_.circular_speed);
        return chart("Circular speed", to_svg(p),
                     t_.components.size() > 1
                         ? "Speed on a circle in the pull of all components, and what each would give alone; their squares add up."
                         : "Speed on a circle.");
    }

    std::string dispersions() const {
        auto p = over_radius("Velocity dispersion", with_unit("σ", names_.velocity));
        p.from_zero = true;
        bool anisotropic = false;
        for (std::size_t k = 0; k < t_.components.size(); ++k) {
            const auto& c = t_.components[k];
            add(p, k, c.sigma_radial);
            bool differ = false;
            for (std::size_t i = 0; i < c.sigma_radial.size(); ++i) differ = differ || c.sigma_tangential[i] < 0.999 * c.sigma_radial[i];
            if (differ) add(p, k, c.sigma_tangential, ", tangential", Stroke::dotted);
            anisotropic = anisotropic || differ;
        }
        return chart("Velocity dispersion", to_svg(p),
                     std::string("Root mean square velocity along one direction, from Jeans’ equation in the pull of all components") +
                         (anisotropic ? "; radial, and tangential where the two differ." : "; the same in every direction."));
    }

    std::string distribution() const {
        Plot p;
        p.title = "Distribution function against energy";
        p.x_label = with_unit("binding energy E", names_.velocity.empty() ? "" : "(" + names_.velocity + ")²");
        p.y_label = with_unit("f(E)", names_.mass_per("(" + names_.length + " " + names_.velocity + ")³"));
        p.log_y = true;
        for (std::size_t k = 0; k < t_.components.size(); ++k) {
            const auto& c = t_.components[k];
            if (c.energy.empty()) continue;
            // Values that were clamped to 0 are stored as tiny numbers; they are left out, as is the outermost part of a truncated density.
            const double peak = *std::max_element(c.distribution.begin(), c.distribution.end());
            auto f = c.distribution;
            for (auto& v : f)
                if (v < 1e-12 * peak) v = nan;
            p.series.push_back({c.label, c.energy, std::move(f), color(k)});
        }
        return chart(
            "Distribution function", to_svg(p),
            "Mass per volume of phase space at the energy E that a particle is bound with, from Eddington’s inversion; where it came "
            "out below 0 it is 0.");
    }

    // The plane of the disks, on a linear axis to the radius that holds 99% of them.
    std::string disks() const {
        if (!has_disk()) return "";
        auto surface = over_plane("Surface density", with_unit("Σ", names_.mass_per(names_.length + "²")));
        surface.log_y = true;
        auto rotation = over_plane("Rotation", with_unit("speed", names_.velocity));
        rotation.from_zero = true;
        std::string dispersions;
        auto q = over_plane("Toomre Q", "Q");
        q.from_zero = true;
        q.reference = 1;
        q.reference_name = "stable above";
        auto height = over_plane("Height", with_unit("height", names_.length));
        height.from_zero = true;
        const double end = plane_end();
        int number = 0;
        for (std::size_t k = 0; k < t_.components.size(); ++k) {
            const auto& c = t_.components[k];
            if (c.surface_density.empty()) continue;
            ++number;
            add_within(surface, k, c.surface_density, end, c.label);
            add_within(rotation, k, beyond(c.rotation, 0.01 * end), end, c.label);
            add_within(height, k, c.height, end, c.label);
            add_within(q, k, within(c.toomre_q, 8), end, c.label);
            dispersions += disk_dispersions(k, end);
        }
        auto circular = beyond(t_.circular_speed, 0.01 * end);
        for (std::size_t i = 0; i < circular.size(); ++i)
            if (t_.radius[i] > end) circular[i] = nan;
        const auto [x, y] = cut(circular);
        rotation.series.push_back({"circular", x, y, ink, Stroke::dashed});
        return chart_section(
            number == 1 ? "The disk" : "The disks",
            chart("Rotation", to_svg(rotation),
                  "Mean velocity around the axis, prograde stars, and the circular speed: it is lower by the asymmetric drift.") +
                dispersions +
                chart("Toomre Q", to_svg(q),
                      "σ<sub>R</sub> κ / (3.36 G Σ): rings and clumps grow where it is below 1; spirals and bars fade where it is above "
                      "about 2.") +
                chart("Surface density", to_svg(surface), "Mass per area of the plane, both sides together.") +
                chart("Height", to_svg(height), "Where the density has fallen by e."));
    }

    /// The three dispersions of one disk, each in a colour of its own: the disk's, and two that no component has.
    std::string disk_dispersions(std::size_t k, double end) const {
        const auto& c = t_.components[k];
        auto plot = over_plane("Velocity dispersions of " + c.label, with_unit("σ", names_.velocity));
        plot.from_zero = true;
        const auto others = t_.components.size();
        add_within(plot, k, c.sigma_R, end, "σ R", Stroke::solid, color(k));
        add_within(plot, k, c.sigma_phi, end, "σ φ", Stroke::dashed, color(others));
        add_within(plot, k, c.sigma_z, end, "σ z", Stroke::dotted, color(others + 1));
        return chart("Velocity dispersions: " + escape(c.label), to_svg(plot),
                     "Along the radius (R), around the axis (φ) and across the plane (z).");
    }

    Plot over_plane(const std::string& title, const std::string& y_label) const {
        auto p = over_radius(title, y_label, Scale::linear);
        p.x_label = with_unit("R", names_.length);
        return p;
    }

    /// The largest radius that holds 99% of a disk.
    double plane_end() const {
        double end = 0;
        for (const auto& c : t_.components)
            if (!c.surface_density.empty())
                for (std::size_t i = 0; i < t_.radius.size(); ++i)
                    if (c.mass[i] < 0.99 * c.mass.back()) end = std::max(end, t_.radius[i]);
        return end;
    }

    /// Removes the centre, where a black hole would take the whole axis.
    std::vector<double> beyond(std::vector<double> y, double R) const {
        for (std::size_t i = 0; i < y.size(); ++i)
            if (t_.radius[i] < R) y[i] = nan;
        return y;
    }

    static std::vector<double> within(std::vector<double> y, double most) {
        for (auto& v : y)
            if (v > most) v = nan;
        return y;
    }

    /// The finite points, so that the axis ends with them.
    std::pair<std::vector<double>, std::vector<double>> cut(const std::vector<double>& y) const {
        std::pair<std::vector<double>, std::vector<double>> kept;
        for (std::size_t i = 0; i < y.size(); ++i)
            if (std::isfinite(y[i])) kept.first.push_back(t_.radius[i]), kept.second.push_back(y[i]);
        return kept;
    }

    /// @param own  below 0: the component's colour
    void add_within(Plot& plot, std::size_t k, std::vector<double> y, double end, const std::string& name, Stroke stroke = Stroke::solid,
                    int own = -1) const {
        for (std::size_t i = 0; i < y.size(); ++i)
            if (t_.radius[i] > end) y[i] = nan;
        const auto [px, py] = cut(y);
        if (!px.empty()) plot.series.push_back({name, px, py, own < 0 ? color(k) : own, stroke});
    }

    const gravity::GalaxyTables& t_;
    Names names_;
};

}  // namespace

std::string model_curves(const GalaxyPart& part, const gravity::Units& units) { return Curves(part, units).html(); }

}  // namespace kasane::run
