#include <kasane/gravity/galaxy/cautions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasane::gravity {
namespace {

/// Outer slope of the density up to which the mean radius Int r dM diverges.
bool mean_radius_diverges(const MassProfile& sphere) {
    if (sphere.finite()) return false;
    const auto at = sphere.density(sphere.outer());
    return -at.d * sphere.outer() <= 4.001 * at.rho;
}

class Cautions {
   public:
    Cautions(const Galaxy& galaxy, const std::string& length_unit) : galaxy_(galaxy), unit_(length_unit.empty() ? "" : " " + length_unit) {}

    void of_sphere(std::size_t k) {
        const auto& component = galaxy_.model().components[k];
        if (const auto& clamped = galaxy_.distribution(k)->clamped(); clamped.fraction >= noticed_clamping) {
            const auto [option, remedy] = clamping(component, clamped.radius);
            add(k, option,
                "the distribution function is negative for {:.2g}% of the mass and is set to 0 there, most of it at the radius {}: near "
                "this radius the component is not exactly in equilibrium and will change. {}",
                100 * clamped.fraction, length(clamped.radius), remedy);
        }
        if (mean_radius_diverges(*galaxy_.sphere(k))) {
            add(k, "truncation",
                "the mean radius is infinite: the density falls so slowly that the centre of mass, which is placed at the "
                "origin, is about one scale away from the cusp for any count. Try a truncation radius of {}",
                length(100 * component.scale));
        }
    }

    void of_disk(std::size_t disk) {
        const auto k = galaxy_.disks()->component(disk);
        const auto least = galaxy_.disks()->least_q(disk);
        if (least.toomre_q < 1) {  // [Toomre 1964]
            add(k, "disk.toomre_q",
                "the smallest Q is {:.3g}, at R = {}: below 1 a disk is unstable to rings and breaks up. Try toomre_q = {:.3g}",
                least.toomre_q, length(least.radius), 1.05 * galaxy_.model().components[k].disk.toomre_q / least.toomre_q);
        }
        const auto misses = galaxy_.disks()->misses(disk);
        const double sigma_R = misses.sigma_R2 / 2;
        if (std::max(misses.surface_density, sigma_R) > noticed_miss) {
            add(k, "disk.toomre_q",
                "the disk is too hot or ends too sharply for its orbits: its surface density deviates by {:.2g}% and "
                "sigma_R by {:.2g}% from the model, as means over its mass, and the disk will change by as much. Try a lower "
                "toomre_q or a wider truncation",
                100 * misses.surface_density, 100 * sigma_R);
        }
    }

    std::vector<InputProblem> all;

   private:
    /// The option that is the most likely cause, and the remedy.
    static std::pair<const char*, const char*> clamping(const Component& component, double radius) {
        if (component.truncation && radius > component.truncation.radius / 2) return {"truncation", "Try a wider truncation"};
        if (component.anisotropy_radius > 0) return {"anisotropy_radius", "Try a larger anisotropy_radius"};
        return {"model", "Try a steeper cusp or less central mass"};
    }

    std::string length(double r) const { return fmt::format("{:.4g}{}", r, unit_); }

    template <class... Args>
    void add(std::size_t k, const char* option, fmt::format_string<Args...> format, Args&&... args) {
        all.push_back(
            {fmt::format("component \"{}\": ", galaxy_.model().components[k].label()) + fmt::format(format, std::forward<Args>(args)...),
             {"", 0, 0, fmt::format("components.{}.{}", k, option)}});
    }

    const Galaxy& galaxy_;
    std::string unit_;
};

}  // namespace

std::vector<InputProblem> cautions(const Galaxy& galaxy, const std::string& length_unit) {
    Cautions found(galaxy, length_unit);
    for (std::size_t k = 0; k < galaxy.model().components.size(); ++k)
        if (galaxy.sphere(k)) found.of_sphere(k);
    if (galaxy.disks())
        for (std::size_t d = 0; d < galaxy.disks()->size(); ++d) found.of_disk(d);
    return std::move(found.all);
}

}  // namespace kasane::gravity
