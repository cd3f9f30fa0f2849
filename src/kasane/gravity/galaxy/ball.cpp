#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/core/math/random_direction.hpp>
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// A random point, uniform inside a sphere.
Vec3<double> in_sphere(double radius, RandomStream& random) {
    const double r = radius * std::cbrt(random.uniform());
    return r * random_direction(random);
}

/// Mean of vectors, with one fixed order of summation.
class Mean {
   public:
    void add(const std::vector<Vec3<double>>& vectors) {
        for (const auto& v : vectors) x_.add(v.x), y_.add(v.y), z_.add(v.z);
        count_ += std::ssize(vectors);
    }
    Vec3<double> value() const {
        const double share = 1 / static_cast<double>(count_);
        return {x_.value() * share, y_.value() * share, z_.value() * share};
    }

   private:
    CompensatedSum<double> x_, y_, z_;
    index_t count_ = 0;
};

constexpr index_t draws_at_once = 1 << 16;

}  // namespace

BallSampler::BallSampler(const Ball& ball, Cpu on, const ProgressFunction& progress) : ball_(ball), on_(on) {
    if (auto problems = problems_of(ball); !problems.empty()) throw InputError(std::move(problems));
    Mean position, velocity;
    Particles drawn;
    for (index_t first = 0; first < ball.count; first += draws_at_once) {
        drawn.resize(std::min(draws_at_once, ball.count - first));
        draw(drawn, first);
        position.add(drawn.position);
        velocity.add(drawn.velocity);
        if (progress) progress(static_cast<double>(first + drawn.size()) / static_cast<double>(ball.count), "centre of mass");
    }
    position_ = position.value();
    velocity_ = velocity.value();
}

void BallSampler::draw(Particles& into, index_t first) const {
    // |W| = 3/5 GM^2/R, and a ball of velocities up to u has 2K = 3/5 M u^2: balance at u^2 = GM/R.
    const double fastest = ball_.motion == Ball::Motion::uniform ? std::sqrt(ball_.G * ball_.mass / ball_.radius) : 0;
    auto* position = into.position.data();
    auto* velocity = into.velocity.data();
    parallel_for(on_, into.size(), [=, seed = ball_.seed, radius = ball_.radius](index_t i) {
        RandomStream random(seed, static_cast<std::uint64_t>(first + i));
        position[i] = in_sphere(radius, random);
        velocity[i] = in_sphere(fastest, random);
    });
}

void BallSampler::fill(Particles& into, index_t first, index_t n) const {
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= size());
    into.resize(n);
    draw(into, first);
    parallel_for(on_, n, [&, mass = ball_.mass / static_cast<double>(ball_.count)](index_t j) {
        const auto i = static_cast<std::size_t>(j);
        into.position[i] -= position_;
        into.velocity[i] -= velocity_;
        into.mass[i] = mass;
        into.type[i] = ball_.type;
        into.id[i] = static_cast<std::uint64_t>(first + j) + 1;
    });
}

Particles sample(const Ball& ball, Cpu on) {
    Particles all;
    BallSampler(ball, on).fill(all, 0, ball.count);
    return all;
}

}  // namespace kasane::gravity
