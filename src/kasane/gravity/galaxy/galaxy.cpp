#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace kasane::gravity {
namespace {

std::string key_of(std::size_t component) { return fmt::format("components.{}", component); }

std::vector<InputProblem> all_problems(const GalaxyModel& model) {
    auto problems = problems_of(model);
    std::size_t holes = 0;
    for (std::size_t i = 0; i < model.components.size(); ++i) {
        if (!is_black_hole(model.components[i].law) || ++holes == 1) continue;
        problems.push_back(
            {"is a second black hole: a galaxy has at most one, at its centre. Add the mass to the first", {"", 0, 0, key_of(i)}});
    }
    return problems;
}

/// Finds an anisotropy radius for which f is positive, by doubling; 0: none was found.
double milder_anisotropy(const std::shared_ptr<const MassProfile>& sphere, const std::shared_ptr<const SphericalPotential>& potential,
                         double radius, Cpu on) {
    for (int i = 0; i < 6; ++i) {
        radius *= 2;
        if (DistributionFunction(sphere, potential, radius, on).clamped().fraction <= clamped_limit) return radius;
    }
    return 0;
}

/// The reason why a component has no equilibrium, with the option that causes it.
InputProblem no_equilibrium(std::size_t i, const Component& component, const Clamped& clamped,
                            const std::shared_ptr<const MassProfile>& sphere, const std::shared_ptr<const SphericalPotential>& potential,
                            Cpu on) {
    const auto found = [&](const Clamped& by) {
        return fmt::format(
            "the distribution function of \"{}\" is negative for {:.2g}% of its mass (limit {:.2g}%), most of it at the "
            "radius {:.4g}",
            component.label(), 100 * by.fraction, 100 * clamped_limit, by.radius);
    };
    const auto problem = [&](const char* option, std::string message) {
        return InputProblem{std::move(message), {"", 0, 0, key_of(i) + option}};
    };
    const double r_a = component.anisotropy_radius;
    if (r_a > 0 && DistributionFunction(sphere, potential, 0, on).clamped().fraction <= clamped_limit) {
        const double milder = milder_anisotropy(sphere, potential, r_a, on);
        return problem(".anisotropy_radius", fmt::format("is {}, too small: {}. Such radial orbits cannot produce its density. Try {}", r_a,
                                                         found(clamped), milder > 0 ? fmt::format("{:.4g}", milder) : "isotropy, 0"));
    }
    const auto [radius, width] = component.truncation;
    if (radius > 0 && clamped.radius > radius / 2) {
        return problem(".truncation", fmt::format("is too sharp: {}. A density that falls so fast has no equilibrium. Try the width {:.4g}",
                                                  found(clamped), std::min(std::max(2 * width, radius / 10), radius / 2)));
    }
    return problem("",
                   fmt::format("has no equilibrium: {}. Its density rises too little inwards for the mass of the other components. Try a "
                               "steeper cusp, or less central mass",
                               found(clamped)));
}

}  // namespace

Galaxy::Galaxy(GalaxyModel model, Cpu on, const ProgressFunction& progress) : model_(std::move(model)) {
    if (auto problems = all_problems(model_); !problems.empty()) throw InputError(std::move(problems));
    counts_ = counts_of(model_);
    const auto& components = model_.components;
    const auto size = components.size();
    const auto report = [&](double done, const std::string& what) {
        if (progress) progress(done, what);
    };
    report(0, "densities");

    std::vector<InputProblem> problems;
    std::vector<std::shared_ptr<const MassProfile>> profiles;
    spheres_.resize(size);
    distributions_.resize(size);
    double point_mass = 0;
    bool has_disk = false;
    for (std::size_t i = 0; i < size; ++i) {
        if (is_black_hole(components[i].law)) point_mass = components[i].mass;
        has_disk |= is_disk(components[i].law);
        if (!is_sphere(components[i].law)) continue;
        try {
            spheres_[i] = std::make_shared<const MassProfile>(density_law(components[i]), components[i].mass);
            profiles.push_back(spheres_[i]);
        } catch (const InputError& error) {
            for (auto problem : error.problems()) {
                problem.where.key = problem.where.key.empty() ? key_of(i) : key_of(i) + "." + problem.where.key;
                problems.push_back(std::move(problem));
            }
        }
    }
    if (!problems.empty()) throw InputError(std::move(problems));

    const auto spheres = static_cast<double>(profiles.size());
    const double before_spheres = has_disk ? 0.9 : 0.05;  // share of the time; disks take most of it
    if (point_mass > 0 || !profiles.empty()) potential_ = std::make_shared<const SphericalPotential>(profiles, point_mass);
    if (has_disk) {
        disks_ = std::make_unique<const DiskSystem>(model_, potential_, on, part_of(progress, 0.05, before_spheres));
        profiles.push_back(std::make_shared<const MassProfile>(disks_->averaged(), disks_->total_mass()));
        potential_ = std::make_shared<const SphericalPotential>(profiles, point_mass);
    }
    double done = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (!spheres_[i]) continue;
        report(before_spheres + (1 - before_spheres) * done++ / spheres, "f(E) of " + components[i].label());
        try {
            auto f = std::make_unique<const DistributionFunction>(spheres_[i], potential_, components[i].anisotropy_radius, on);
            if (!(f->clamped().fraction <= clamped_limit)) {
                problems.push_back(no_equilibrium(i, components[i], f->clamped(), spheres_[i], potential_, on));
            }
            distributions_[i] = std::move(f);
        } catch (const ComputationError& error) {
            throw ComputationError(fmt::format("{}: {}", components[i].label(), error.what()));
        }
    }
    if (!problems.empty()) throw InputError(std::move(problems));
    report(1, "");
}

index_t Galaxy::count() const { return std::accumulate(counts_.begin(), counts_.end(), index_t{0}); }

}  // namespace kasane::gravity
