#include <kasane/core/device/space.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/survey.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

// Step in ln R, the width of an edge of a tenth of its radius.
constexpr double ring_step = 0.1;
// Limits of the layers of a column, in heights; they become thicker with the distance from the plane.
constexpr double levels[] = {0, 0.5, 1, 2, 3, 4.5, 6.5, 9, 13, 19, 28, 42, 64, 100, 160};

/// Nodes of a column of the disk; their masses add up to the surface density.
void add_column(std::vector<DiskNode>& nodes, const DiskSystem& disks, std::size_t k, double R, double area) {
    const auto here = disks.at(k, R);
    const double mass = here.surface_density * area;
    if (!(mass > 0)) return;
    if (!(here.height > 0)) {
        nodes.push_back({R, 0, mass});
        return;
    }
    const auto first = nodes.size();
    double sum = 0;
    for (std::size_t l = 1; l < std::size(levels); ++l)
        each_gauss_point(levels[l - 1] * here.height, levels[l] * here.height, [&](double z, double weight) {
            const double m = weight * disks.density(k, R, z);
            if (!(m > 0)) return;
            nodes.push_back({R, z, m});
            sum += m;
        });
    for (auto i = first; i < nodes.size(); ++i) nodes[i].mass *= mass / sum;
    if (first == nodes.size()) nodes.push_back({R, 0, mass});
}

/// Radius that encloses about a millionth of a disk's mass.
double central_radius(const Component& disk) {
    const auto* tabulated = std::get_if<TabulatedDisk>(&disk.law);
    return tabulated ? 0.1 * tabulated->table.radius.front() : 1e-3 * disk.scale;
}

std::vector<DiskNode> nodes_of(const DiskSystem& disks, std::size_t k, double inner, double outer) {
    std::vector<DiskNode> nodes;
    const auto central = disks.at(k, inner / 2).surface_density * pi * inner * inner;
    nodes.push_back({inner / 2, 0, central});
    const auto pieces = std::max(1, static_cast<int>(std::ceil(std::log(outer / inner) / ring_step)));
    const double h = std::log(outer / inner) / pieces;
    for (int i = 0; i < pieces; ++i)
        each_gauss_point(std::log(inner) + h * i, std::log(inner) + h * (i + 1), [&](double x, double weight) {
            const double R = std::exp(x);
            add_column(nodes, disks, k, R, 2 * pi * R * R * weight);
        });
    std::sort(nodes.begin(), nodes.end(), [](const DiskNode& a, const DiskNode& b) { return a.radius() < b.radius(); });
    return nodes;
}

/// A shared pointer that does not own its object.
std::shared_ptr<const MassProfile> borrowed(const MassProfile* profile) { return {std::shared_ptr<const void>{}, profile}; }

}  // namespace

double DiskNode::radius() const { return std::sqrt(R * R + z * z); }

Survey::Survey(const Galaxy& galaxy, Cpu on) : galaxy_(&galaxy), disk_of_(galaxy.model().components.size(), -1) {
    const auto& components = galaxy.model().components;
    std::vector<std::shared_ptr<const MassProfile>> profiles;
    double point = 0;
    for (std::size_t k = 0; k < components.size(); ++k) {
        if (const auto* sphere = galaxy.sphere(k)) profiles.push_back(borrowed(sphere));
        if (is_black_hole(components[k].law)) point += components[k].mass;
    }
    if (!profiles.empty() || point > 0) spheres_ = std::make_unique<const SphericalPotential>(profiles, point);
    const auto* disks = galaxy.disks();
    if (!disks) return;
    const double outer = disks->averaged().outer;
    nodes_.resize(disks->size());
    cumulated_.resize(disks->size());
    const int threads = thread_count(on);
#pragma omp parallel for num_threads(threads)
    for (std::size_t d = 0; d < nodes_.size(); ++d) {
        const auto& component = components[disks->component(d)];
        const double end = component.truncation ? std::min(outer, component.truncation.end()) : outer;
        nodes_[d] = nodes_of(*disks, d, std::min(central_radius(component), end / 10), end);
        double sum = 0;
        for (const auto& node : nodes_[d]) cumulated_[d].push_back(sum += node.mass);
        for (auto& node : nodes_[d]) node.mass *= component.mass / sum;  // corrects the error of the quadrature
        for (auto& m : cumulated_[d]) m *= component.mass / sum;
    }
    for (std::size_t d = 0; d < nodes_.size(); ++d) disk_of_[disks->component(d)] = static_cast<int>(d);
}

double Survey::radius_holding(std::size_t component, double share) const {
    const double m = share * galaxy_->model().components[component].mass;
    if (const auto* sphere = galaxy_->sphere(component)) return sphere->radius(m);
    if (disk_of_[component] < 0) return 0;
    const auto d = static_cast<std::size_t>(disk_of_[component]);
    const auto at = std::min<std::ptrdiff_t>(std::lower_bound(cumulated_[d].begin(), cumulated_[d].end(), m) - cumulated_[d].begin(),
                                             std::ssize(cumulated_[d]) - 1);
    return nodes_[d][static_cast<std::size_t>(at)].radius();
}

double Survey::psi(double R) const { return (spheres_ ? spheres_->psi(R) : 0) + (galaxy_->disks() ? galaxy_->disks()->psi(R, 0) : 0); }

double Survey::circular_speed2(double R) const {
    if (galaxy_->disks()) return -R * galaxy_->disks()->pull(R, 0).R;
    return spheres_ ? spheres_->mass(R) / R : 0;
}

double mean_speed2(const Galaxy& galaxy, std::size_t component, double r) {
    const auto sigma =
        jeans_dispersions(*galaxy.sphere(component), galaxy.potential(), galaxy.model().components[component].anisotropy_radius, r);
    return sigma.radial2 + 2 * sigma.tangential2;
}

double mean_speed2(const DiskAt& disk) {
    return disk.sigma_R * disk.sigma_R + disk.sigma_phi * disk.sigma_phi + disk.sigma_z * disk.sigma_z + disk.rotation * disk.rotation;
}

}  // namespace kasane::gravity
