#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/eddington.hpp>
#include <kasane/gravity/galaxy/model.hpp>
#include <kasane/gravity/galaxy/sphere.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string_view>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

constexpr std::string_view kind_names[] = {"plummer", "hernquist", "nfw", "uniform", "cold"};
constexpr double clamped_limit = 0.01;

bool has_edge(ModelKind kind) { return kind == ModelKind::uniform || kind == ModelKind::cold; }

std::vector<InputProblem> problems_of(const Model& m) {
    std::vector<InputProblem> problems;
    const auto need = [&](bool good, const char* key, std::string message) {
        if (!good) problems.push_back({std::move(message), {"", 0, 0, key}});
    };
    const auto above_zero = [&](double value, const char* key) {
        need(std::isfinite(value) && value > 0, key, fmt::format("is {}: it must be finite and above 0", value));
    };
    need(m.count >= 1, "count", fmt::format("is {}: at least one particle is needed", m.count));
    above_zero(m.mass, "mass");
    above_zero(m.scale, "scale");
    above_zero(m.G, "G");
    need(m.type < type_count, "type", fmt::format("is {}: types are 0 to {}", m.type, type_count - 1));

    const double radius = m.truncation_radius, width = m.truncation_width;
    if (has_edge(m.kind)) {
        need(radius == 0 && width == 0, "truncation",
             fmt::format("is given, but the model {} ends at its radius scale: leave the truncation out", name(m.kind)));
        return problems;
    }
    need(std::isfinite(radius) && radius >= 0, "truncation_radius", fmt::format("is {}: it must be finite and not negative", radius));
    if (m.kind == ModelKind::nfw) {
        need(radius != 0, "truncation_radius", "is missing: the mass of an untruncated nfw model is infinite. Try 20 times the scale");
    }
    if (radius > 0) {
        // Wider, and the factor at the centre is no longer 1; sharper, and f(E) dips below 0 (and the tables would not resolve it).
        need(width >= radius / 100 && width <= radius / 2, "truncation_width",
             fmt::format("is {}: it must be between 1/100 and 1/2 of the truncation radius {}. Try {}", width, radius, radius / 10));
    } else if (radius == 0) {
        need(width == 0, "truncation_width", fmt::format("is {}, but there is no truncation_radius: give both or none", width));
    }
    return problems;
}

Sphere sphere_of(ModelKind kind, Cut cut) {
    const auto build = [&]<class Profile>(Profile, double inner) {
        const double outer = cut ? cut.end() : 1e10;
        const double step = cut ? std::min(1. / 64, cut.width / cut.radius / 8) : 1. / 64;
        if (cut) inner *= std::min(1., cut.radius);
        return cut ? Sphere([cut](double r) { return cut(Profile::at(r), r); }, inner, outer, step, true)
                   : Sphere([](double r) { return Profile::at(r); }, inner, outer, step, false);
    };
    // Less than 1e-11 of the mass lies within the inner radius.
    if (kind == ModelKind::plummer) return build(PlummerProfile{}, 1e-5);
    if (kind == ModelKind::hernquist) return build(HernquistProfile{}, 1e-6);
    return build(NfwProfile{}, 1e-6);
}

Vec3<double> isotropic(double length, RandomStream& random) {
    const double z = 2 * random.uniform() - 1, phi = 2 * pi * random.uniform();
    const double s = length * std::sqrt((1 - z) * (1 + z));
    return {s * std::cos(phi), s * std::sin(phi), length * z};
}

/// Moves the mean to the origin; one fixed order of summation.
void center(std::vector<Vec3<double>>& vectors) {
    CompensatedSum<double> x, y, z;
    for (const auto& v : vectors) x.add(v.x), y.add(v.y), z.add(v.z);
    const double share = 1 / static_cast<double>(vectors.size());
    const Vec3<double> mean{x.value() * share, y.value() * share, z.value() * share};
    for (auto& v : vectors) v -= mean;
}

/// Fills positions and velocities in the model's own units (G = mass = scale = 1): draw(random, position, velocity).
template <class Draw>
void fill(Particles& p, const Model& m, Cpu on, Draw draw) {
    const double speed = std::sqrt(m.G * m.mass / m.scale);
    auto* position = p.position.data();
    auto* velocity = p.velocity.data();
    parallel_for(on, p.size(), [=, scale = m.scale, seed = m.seed](index_t i) {
        RandomStream random(seed, static_cast<std::uint64_t>(i));
        const auto [r, v] = draw(random);
        position[i] = isotropic(scale * r, random);
        velocity[i] = isotropic(speed * v, random);
    });
    center(p.position);
    center(p.velocity);
}

struct RadiusAndSpeed {
    double r, v;
};

void fill_equilibrium(Particles& p, const Model& m, Cpu on) {
    const auto sphere = sphere_of(m.kind, {m.truncation_radius / m.scale, m.truncation_width / m.scale});
    const IsolatedDistribution f(sphere, on);
    KS_VALIDATE(f.clamped_fraction() <= clamped_limit,
                fmt::format("no isotropic equilibrium: the distribution function of this {} model is negative for {:.1f}% of the mass "
                            "(limit {:.0f}%). Try a larger truncation_width",
                            name(m.kind), 100 * f.clamped_fraction(), 100 * clamped_limit),
                {"", 0, 0, "truncation"});
    fill(p, m, on, [&sphere, &f](RandomStream& random) {
        const double r = sphere.radius(random.uniform());
        return RadiusAndSpeed{r, f.speed(r, random)};
    });
}

Vec3<double> rotated(Vec3<double> v, const Vec3<double>& degrees) {
    const auto turn = [](double angle, double& a, double& b) {
        const double c = std::cos(angle * pi / 180), s = std::sin(angle * pi / 180);
        const double turned = c * a - s * b;
        b = s * a + c * b;
        a = turned;
    };
    turn(degrees.x, v.y, v.z);
    turn(degrees.y, v.z, v.x);
    turn(degrees.z, v.x, v.y);
    return v;
}

void renumber(Particles& p) { std::iota(p.id.begin(), p.id.end(), std::uint64_t{1}); }

bool finite(const Vec3<double>& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

}  // namespace

ModelKind model_kind_named(const std::string& name) {
    const auto found = std::find(std::begin(kind_names), std::end(kind_names), name);
    if (found != std::end(kind_names)) return static_cast<ModelKind>(found - std::begin(kind_names));
    const auto near = nearest_name(name, kind_names);
    std::string known;
    for (const auto kind : kind_names) known += (known.empty() ? "" : ", ") + std::string(kind);
    throw InputError(fmt::format("\"{}\" is no model: {}the models are {}", name,
                                 near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near), known));
}

std::string name(ModelKind kind) { return std::string(kind_names[static_cast<int>(kind)]); }

void validate(const Model& model) {
    auto problems = problems_of(model);
    if (!problems.empty()) throw InputError(std::move(problems));
}

Particles sample(const Model& model, Cpu on) {
    validate(model);
    if (model.kind == ModelKind::hernquist && model.truncation_radius == 0) {
        log::warning(
            "an untruncated hernquist model has no mean radius: its centre of mass, which goes to the origin, lies about one "
            "scale radius off its cusp at any count. Try a truncation_radius of 100 times the scale");
    }
    Particles p;
    p.resize(model.count);
    std::fill(p.mass.begin(), p.mass.end(), model.mass / static_cast<double>(model.count));
    std::fill(p.type.begin(), p.type.end(), model.type);
    renumber(p);
    if (has_edge(model.kind)) {
        // |W| = 3/5 GM^2/R, and a ball of velocities up to u has 2K = 3/5 M u^2: balance at u^2 = GM/R.
        const double fastest = model.kind == ModelKind::uniform ? 1 : 0;
        fill(p, model, on, [fastest](RandomStream& random) {
            const double r = std::cbrt(random.uniform());
            return RadiusAndSpeed{r, fastest * std::cbrt(random.uniform())};
        });
    } else {
        fill_equilibrium(p, model, on);
    }
    return p;
}

void place(Particles& particles, const Object& where) {
    for (auto& x : particles.position) x = rotated(x, where.spin) + where.position;
    for (auto& v : particles.velocity) v = rotated(v, where.spin) + where.velocity;
}

Particles sample(const std::vector<Object>& objects, Cpu on) {
    KS_VALIDATE(!objects.empty(), "no objects: at least one is needed");
    std::vector<InputProblem> problems;
    const auto add = [&](InputProblem problem, std::size_t i) {
        problem.where.key = fmt::format("object.{}.{}", i, problem.where.key);
        problems.push_back(std::move(problem));
    };
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const auto& [model, position, velocity, spin] = objects[i];
        for (auto& problem : problems_of(model)) add(std::move(problem), i);
        const auto need_finite = [&](const Vec3<double>& v, const char* key) {
            if (!finite(v)) add({fmt::format("is ({}, {}, {}): it must be finite", v.x, v.y, v.z), {"", 0, 0, key}}, i);
        };
        need_finite(position, "position");
        need_finite(velocity, "velocity");
        need_finite(spin, "spin");
    }
    if (!problems.empty()) throw InputError(std::move(problems));

    Particles all;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        try {
            auto p = sample(objects[i].model, on);
            place(p, objects[i]);
            all.append(p);
        } catch (const InputError& error) {
            for (const auto& problem : error.problems()) add(problem, i);
            throw InputError(std::move(problems));
        }
    }
    renumber(all);
    return all;
}

}  // namespace kasane::gravity
