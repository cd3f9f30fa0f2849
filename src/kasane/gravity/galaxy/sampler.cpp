#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/cautions.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

// Sums are formed over blocks of a component's particles and then over the blocks, in one order for any number of threads.
constexpr index_t sum_block = 4096;
constexpr index_t blocks_at_once = 256;

/// A particle of a sphere as it is drawn, with G = 1.
PositionVelocity draw_from_sphere(const MassProfile& sphere, const DistributionFunction& f, RandomStream& random) {
    using std::numbers::pi;
    const double r = sphere.radius(sphere.total() * random.uniform());
    const auto [radial, tangential] = f.velocity(r, random);
    // The orthonormal basis of a random direction in spherical coordinates, and a random direction at right angles to it.
    const double z = 2 * random.uniform() - 1, s = std::sqrt((1 - z) * (1 + z));
    const double phi = 2 * pi * random.uniform(), psi = 2 * pi * random.uniform();
    const double c_phi = std::cos(phi), s_phi = std::sin(phi);
    const Vec3<double> outwards{s * c_phi, s * s_phi, z}, south{z * c_phi, z * s_phi, -s}, east{-s_phi, c_phi, 0};
    return {r * outwards, radial * outwards + tangential * std::cos(psi) * south + tangential * std::sin(psi) * east};
}

/// Draws the particles of one component.
class Drawing {
   public:
    Drawing(const Galaxy& galaxy, std::size_t component)
        : seed_(galaxy.model().seed),
          speed_(std::sqrt(galaxy.model().G)),
          sphere_(galaxy.sphere(component)),
          f_(galaxy.distribution(component)) {
        if (!is_disk(galaxy.model().components[component].law)) return;
        disks_ = galaxy.disks();
        while (disks_->component(disk_) != component) ++disk_;
    }
    /// @param particle  its index in the galaxy. Never inlined, so that sample() and fill() use the same machine code: a compiler may
    /// contract products and sums differently at each place.
    [[gnu::noinline]] PositionVelocity operator()(index_t particle) const {
        RandomStream random(seed_, static_cast<std::uint64_t>(particle));
        PositionVelocity drawn;
        if (sphere_)
            drawn = draw_from_sphere(*sphere_, *f_, random);
        else if (disks_)
            drawn = disks_->draw(disk_, random);
        drawn.velocity = speed_ * drawn.velocity;
        return drawn;
    }

   private:
    std::uint64_t seed_;
    double speed_;
    const MassProfile* sphere_;
    const DistributionFunction* f_;
    const DiskSystem* disks_ = nullptr;
    std::size_t disk_ = 0;
};

struct Sum {
    CompensatedSum<double> x, y, z;
    void add(const Vec3<double>& v) { x.add(v.x), y.add(v.y), z.add(v.z); }
    Vec3<double> value() const { return {x.value(), y.value(), z.value()}; }
};

}  // namespace

Sampler::Sampler(const Galaxy& galaxy, Cpu on, const ProgressFunction& progress) : Sampler(galaxy, on, progress, nullptr) {}

Sampler::Sampler(const Galaxy& galaxy, Cpu on, const ProgressFunction& progress, Particles* all) : galaxy_(&galaxy), on_(on), first_{0} {
    for (const auto count : galaxy.counts()) first_.push_back(first_.back() + count);
    if (all) {
        all->resize(size());
        label(*all, 0);
    }
    const int threads = thread_count(on_);
    std::vector<Vec3<double>> positions(blocks_at_once), velocities(blocks_at_once);
    for (std::size_t c = 0; c + 1 < first_.size(); ++c) {
        const Drawing draw(galaxy, c);
        const index_t end = first_[c + 1];
        Sum position, velocity;
        for (index_t from = first_[c]; from < end; from += sum_block * blocks_at_once) {
            if (progress) progress(static_cast<double>(from) / static_cast<double>(size()), galaxy.model().components[c].label());
            const index_t blocks = std::min(blocks_at_once, (end - from + sum_block - 1) / sum_block);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
            for (index_t b = 0; b < blocks; ++b) {
                Sum x, v;
                for (index_t i = from + b * sum_block; i < std::min(from + (b + 1) * sum_block, end); ++i) {
                    const auto drawn = draw(i);
                    x.add(drawn.position);
                    v.add(drawn.velocity);
                    if (!all) continue;
                    all->position[static_cast<std::size_t>(i)] = drawn.position;
                    all->velocity[static_cast<std::size_t>(i)] = drawn.velocity;
                }
                positions[static_cast<std::size_t>(b)] = x.value();
                velocities[static_cast<std::size_t>(b)] = v.value();
            }
            for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) position.add(positions[b]), velocity.add(velocities[b]);
        }
        const double share = 1 / static_cast<double>(end - first_[c]);
        position_.push_back(share * position.value());
        velocity_.push_back(share * velocity.value());
        if (!all) continue;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (index_t i = first_[c]; i < end; ++i) {
            all->position[static_cast<std::size_t>(i)] -= position_[c];
            all->velocity[static_cast<std::size_t>(i)] -= velocity_[c];
        }
    }
    if (progress) progress(1, "");
}

std::size_t Sampler::component_of(index_t particle) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), particle) - first_.begin()) - 1;
}

void Sampler::label(Particles& into, index_t first) const {
    const index_t end = first + into.size();
    for (std::size_t c = component_of(first); c + 1 < first_.size() && first_[c] < end; ++c) {
        const auto& component = galaxy_->model().components[c];
        const double mass = component.mass / static_cast<double>(first_[c + 1] - first_[c]);
        const index_t from = std::max(first, first_[c]), to = std::min(end, first_[c + 1]);
        parallel_for(on_, to - from, [&, type = component.type](index_t j) {
            const auto k = static_cast<std::size_t>(from - first + j);
            into.mass[k] = mass;
            into.type[k] = type;
            into.id[k] = static_cast<std::uint64_t>(from + j) + 1;
        });
    }
}

void Sampler::fill(Particles& into, index_t first, index_t n) const {
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= size());
    into.resize(n);
    if (n == 0) return;
    label(into, first);
    const int threads = thread_count(on_);
    for (std::size_t c = component_of(first); c + 1 < first_.size() && first_[c] < first + n; ++c) {
        const Drawing draw(*galaxy_, c);
        const index_t begin = std::max(first, first_[c]), end = std::min(first + n, first_[c + 1]);
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
        for (index_t i = begin; i < end; ++i) {
            const auto drawn = draw(i);
            into.position[static_cast<std::size_t>(i - first)] = drawn.position - position_[c];
            into.velocity[static_cast<std::size_t>(i - first)] = drawn.velocity - velocity_[c];
        }
    }
}

Particles sample(const Galaxy& galaxy, Cpu on, const ProgressFunction& progress) {
    Particles all;
    const Sampler sampler(galaxy, on, progress, &all);
    return all;
}

Particles sample(const GalaxyModel& model, Cpu on, const ProgressFunction& progress) {
    const Galaxy galaxy(model, on, part_of(progress, 0, 0.5));
    for (const auto& caution : cautions(galaxy)) log::warning("{}", caution.message);
    return sample(galaxy, on, part_of(progress, 0.5, 1));
}

Particles sample(const Component& component, std::uint64_t seed, double G, Cpu on) {
    try {
        return sample(GalaxyModel{.components = {component}, .seed = seed, .G = G}, on);
    } catch (const InputError& error) {
        auto problems = error.problems();
        constexpr std::string_view prefix = "components.0";
        for (auto& [message, where] : problems) {
            if (!where.key.starts_with(prefix)) continue;
            where.key.erase(0, prefix.size() + (where.key.size() > prefix.size() ? 1 : 0));
        }
        throw InputError(std::move(problems));
    }
}

Particles plummer(const PlummerOptions& o) {
    return sample(Component{.law = Plummer{}, .mass = o.mass, .scale = o.scale, .count = o.count}, o.seed, o.G);
}

}  // namespace kasane::gravity
