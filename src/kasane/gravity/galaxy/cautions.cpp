#include <kasane/gravity/galaxy/cautions.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::gravity {
namespace {

/// Int r dM diverges for rho ~ r^-4 and flatter.
bool mean_radius_diverges(const MassProfile& sphere) {
    if (sphere.finite()) return false;
    const auto at = sphere.density(sphere.outer());
    return -at.d * sphere.outer() <= 4.001 * at.rho;
}

void of_sphere(const Galaxy& galaxy, std::size_t k, std::vector<std::string>& all) {
    const auto& component = galaxy.model().components[k];
    if (const auto& clamped = galaxy.distribution(k)->clamped(); clamped.fraction >= noticed_clamping) {
        all.push_back(fmt::format("the distribution function of \"{}\" is negative for {:.2g}% of its mass and set to 0 there, most of it "
                                  "at the radius {:.4g}: about it the component is not quite in equilibrium, and will change",
                                  component.label(), 100 * clamped.fraction, clamped.radius));
    }
    if (mean_radius_diverges(*galaxy.sphere(k))) {
        all.push_back(fmt::format("\"{}\" has no mean radius: its density falls too slowly, so that its centre of mass, which goes to the "
                                  "origin, lies about one scale off its cusp at any count. Try a truncation radius of {:.4g}",
                                  component.label(), 100 * component.scale));
    }
}

void of_disk(const Galaxy& galaxy, std::size_t disk, std::vector<std::string>& all) {
    const auto& component = galaxy.model().components[galaxy.disks()->component(disk)];
    const auto least = galaxy.disks()->least_q(disk);
    if (least.toomre_q < 1) {  // [Toomre 1964]
        all.push_back(fmt::format("\"{}\" has Q = {:.3g} at R = {:.4g}, its least: below 1 a disk is unstable to rings and breaks up. Try "
                                  "toomre_q = {:.3g}",
                                  component.label(), least.toomre_q, least.radius, 1.05 * component.disk.toomre_q / least.toomre_q));
    }
    const auto misses = galaxy.disks()->misses(disk);
    const double sigma_R = misses.sigma_R2 / 2;
    if (std::max(misses.surface_density, sigma_R) > noticed_miss) {
        all.push_back(fmt::format("\"{}\" is too hot or ends too sharply for its orbits: they keep up its surface density to {:.2g}% and "
                                  "sigma_R to {:.2g}%, means over its mass, and it will settle by as much. A lower toomre_q or a wider "
                                  "truncation mends that",
                                  component.label(), 100 * misses.surface_density, 100 * sigma_R));
    }
}

}  // namespace

std::vector<std::string> cautions(const Galaxy& galaxy) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < galaxy.model().components.size(); ++k)
        if (galaxy.sphere(k)) of_sphere(galaxy, k, all);
    if (galaxy.disks())
        for (std::size_t d = 0; d < galaxy.disks()->size(); ++d) of_disk(galaxy, d, all);
    return all;
}

}  // namespace kasane::gravity
