#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/core/math/random_direction.hpp>
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/component.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kasane::gravity {
namespace {

std::vector<InputProblem> problems_of(const Ball& ball) {
    std::vector<InputProblem> problems;
    const auto need = [&](bool good, const char* key, std::string message) {
        if (!good) problems.push_back({std::move(message), {"", 0, 0, key}});
    };
    const auto above_zero = [&](double value, const char* key) {
        need(std::isfinite(value) && value > 0, key, fmt::format("is {}: it must be finite and above 0", value));
    };
    need(ball.count >= 1 && ball.count <= most_particles, "count",
         fmt::format("is {}: it must be from 1 to {}", ball.count, most_particles));
    above_zero(ball.mass, "mass");
    above_zero(ball.radius, "radius");
    above_zero(ball.G, "G");
    need(ball.type < type_count, "type", fmt::format("is {}: types are 0 to {}", ball.type, type_count - 1));
    return problems;
}

/// Uniform inside a sphere.
Vec3<double> in_sphere(double radius, RandomStream& random) {
    const double r = radius * std::cbrt(random.uniform());
    return r * random_direction(random);
}

/// Moves the mean to the origin; one fixed order of summation.
void center(std::vector<Vec3<double>>& vectors) {
    CompensatedSum<double> x, y, z;
    for (const auto& v : vectors) x.add(v.x), y.add(v.y), z.add(v.z);
    const double share = 1 / static_cast<double>(vectors.size());
    const Vec3<double> mean{x.value() * share, y.value() * share, z.value() * share};
    for (auto& v : vectors) v -= mean;
}

}  // namespace

Particles sample(const Ball& ball, Cpu on) {
    if (auto problems = problems_of(ball); !problems.empty()) throw InputError(std::move(problems));
    Particles p;
    p.resize(ball.count);
    std::fill(p.mass.begin(), p.mass.end(), ball.mass / static_cast<double>(ball.count));
    std::fill(p.type.begin(), p.type.end(), ball.type);
    std::iota(p.id.begin(), p.id.end(), std::uint64_t{1});
    // |W| = 3/5 GM^2/R, and a ball of velocities up to u has 2K = 3/5 M u^2: balance at u^2 = GM/R.
    const double fastest = ball.motion == Ball::Motion::uniform ? std::sqrt(ball.G * ball.mass / ball.radius) : 0;
    auto* position = p.position.data();
    auto* velocity = p.velocity.data();
    parallel_for(on, p.size(), [=, seed = ball.seed, radius = ball.radius](index_t i) {
        RandomStream random(seed, static_cast<std::uint64_t>(i));
        position[i] = in_sphere(radius, random);
        velocity[i] = in_sphere(fastest, random);
    });
    center(p.position);
    center(p.velocity);
    return p;
}

}  // namespace kasane::gravity
