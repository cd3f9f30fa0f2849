#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/core/math/random_direction.hpp>
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

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

/// Mean positions and velocities of particles, with one fixed order of summation.
class Means {
   public:
    void add(const Particles& drawn) {
        for (std::size_t i = 0; i < drawn.position.size(); ++i) {
            add(drawn.position[i], sum_.data());
            add(drawn.velocity[i], sum_.data() + 3);
        }
    }
    Vec3<double> position(index_t of) const { return mean(0, of); }
    Vec3<double> velocity(index_t of) const { return mean(3, of); }

    /// The sums as numbers, from which another process continues.
    using Numbers = std::array<double, 12>;
    Numbers numbers() const { return std::bit_cast<Numbers>(sum_); }
    explicit Means(const Numbers& numbers = {}) : sum_(std::bit_cast<Sums>(numbers)) {}

   private:
    using Sums = std::array<CompensatedSum<double>, 6>;

    static void add(const Vec3<double>& v, CompensatedSum<double>* to) { to[0].add(v.x), to[1].add(v.y), to[2].add(v.z); }
    Vec3<double> mean(std::size_t first, index_t of) const {
        const double share = 1 / static_cast<double>(of);
        return {sum_[first].value() * share, sum_[first + 1].value() * share, sum_[first + 2].value() * share};
    }

    Sums sum_;
};

constexpr index_t draws_at_once = 1 << 16;

void check(const Ball& ball) {
    if (auto problems = problems_of(ball); !problems.empty()) throw InputError(std::move(problems));
}

/// Sets positions and velocities of the particles first, first + 1, ...
void draw(const Ball& ball, Cpu on, Particles& into, index_t first) {
    // |W| = 3/5 GM^2/R, and a ball of velocities up to u has 2K = 3/5 M u^2: balance at u^2 = GM/R.
    const double fastest = ball.motion == Ball::Motion::uniform ? std::sqrt(ball.G * ball.mass / ball.radius) : 0;
    auto* position = into.position.data();
    auto* velocity = into.velocity.data();
    parallel_for(on, into.size(), [=, seed = ball.seed, radius = ball.radius](index_t i) {
        RandomStream random(seed, static_cast<std::uint64_t>(first + i));
        position[i] = in_sphere(radius, random);
        velocity[i] = in_sphere(fastest, random);
    });
}

/// Moves drawn particles to the mean, and sets what they have besides.
void finish(const Ball& ball, Cpu on, Particles& drawn, index_t first, const Vec3<double>& position, const Vec3<double>& velocity) {
    parallel_for(on, drawn.size(), [&, mass = ball.mass / static_cast<double>(ball.count)](index_t j) {
        const auto i = static_cast<std::size_t>(j);
        drawn.position[i] -= position;
        drawn.velocity[i] -= velocity;
        drawn.mass[i] = mass;
        drawn.type[i] = ball.type;
        drawn.id[i] = static_cast<std::uint64_t>(first + j) + 1;
    });
}

}  // namespace

BallSampler::BallSampler(const Ball& ball, Cpu on, const ProgressFunction& progress) : ball_(ball), on_(on) {
    check(ball);
    Means means;
    Particles drawn;
    for (index_t first = 0; first < ball.count; first += draws_at_once) {
        drawn.resize(std::min(draws_at_once, ball.count - first));
        draw(ball, on, drawn, first);
        means.add(drawn);
        if (progress) progress(static_cast<double>(first + drawn.size()) / static_cast<double>(ball.count), "centre of mass");
    }
    position_ = means.position(ball.count);
    velocity_ = means.velocity(ball.count);
}

void BallSampler::fill(Particles& into, index_t first, index_t n) const {
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= size());
    into.resize(n);
    draw(ball_, on_, into, first);
    finish(ball_, on_, into, first, position_, velocity_);
}

Particles sample(const Ball& ball, Cpu on, index_t first, index_t n, const AddOverProcesses& add, const ProgressFunction& progress) {
    check(ball);
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= ball.count);
    Particles own;
    own.resize(n);
    draw(ball, on, own, first);
    // The sums go from process to process, in the order of the particles: the process that is next adds its own, the others add zeros.
    std::array<double, 13> words{};  // the sums, and the number of the particles in them
    auto& added = words.back();
    while (added < static_cast<double>(ball.count)) {
        const double before = added;
        Means::Numbers sums;
        std::copy_n(words.begin(), sums.size(), sums.begin());
        words = {};
        if (n > 0 && before == static_cast<double>(first)) {
            Means means(sums);
            means.add(own);
            std::ranges::copy(means.numbers(), words.begin());
            added = static_cast<double>(first + n);
        }
        add(view(words));
        KS_REQUIRE(added > before, "the parts of the processes must follow each other and contain every particle once.");
        if (progress) progress(added / static_cast<double>(ball.count), "centre of mass");
    }
    Means::Numbers sums;
    std::copy_n(words.begin(), sums.size(), sums.begin());
    const Means means(sums);
    finish(ball, on, own, first, means.position(ball.count), means.velocity(ball.count));
    return own;
}

Particles sample(const Ball& ball, Cpu on) {
    Particles all;
    BallSampler(ball, on).fill(all, 0, ball.count);
    return all;
}

}  // namespace kasane::gravity
