#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/threads.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/direct/largest_mass.hpp>
#include <kasane/gravity/local_force.hpp>
#include <kasane/gravity/step/permute.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace kasane::gravity {
namespace detail {

class AnyLocalForce {
   public:
    AnyLocalForce(AnySpace space, const Force& options, index_t particles) : on(space), force(options), n(particles) {}
    virtual ~AnyLocalForce() = default;
    virtual void accelerate(const Sources& all, View<Vec3<double>> acceleration) = 0;
    virtual void potential(const Sources& all, View<double> potential) = 0;

    AnySpace on;
    Force force;
    index_t n;
};

namespace {

template <Space S>
class LocalDirect final : public AnyLocalForce {
   public:
    LocalDirect(S space, const Direct& options, index_t particles, const std::vector<double>& softening)
        : AnyLocalForce(space, options, particles), on_(space), direct_(space, options, particles), softening_(to_space(space, softening)) {
        std::vector<std::uint32_t> sample;
        for (int k = 0; k < frame_samples; ++k) sample.push_back(static_cast<std::uint32_t>(frame_sample(k, particles)));
        sample_ = to_space(space, sample);
        sampled_ = Buffer<Vec3<double>, S>(space, frame_samples);
    }
    void accelerate(const Sources& all, View<Vec3<double>> acceleration) override {
        choose_frame(all);
        direct_.accelerate({all.position, all.mass, softening_.view()}, acceleration);
        synchronize(on_);
    }
    void potential(const Sources& all, View<double> potential) override {
        choose_frame(all);
        direct_.potential({all.position, all.mass, softening_.view()}, potential);
        synchronize(on_);
    }

   private:
    /// Sets origin and scale from the present particles. The pair sums clamp what is not finite, and would give finite forces.
    void choose_frame(const Sources& all) {
        if constexpr (std::same_as<S, Cpu>)
            for (index_t i = 0; i < all.position.n; ++i) {
                const auto& x = all.position[i];
                if (!std::isfinite(x.x + x.y + x.z))
                    throw ComputationError(
                        fmt::format("the position of particle {} is not finite: take shorter time steps or more softening", i));
            }
        gather(on_, View<const std::uint32_t>(sample_.view()), all.position, sampled_.view());
        direct_.set(make_direct_frame(to_host(sampled_), largest_mass(on_, all.mass, scratch_), n));
    }

    S on_;
    DirectForce<S> direct_;
    Buffer<double, S> softening_;  ///< empty: that of the options
    Buffer<std::uint32_t, S> sample_;
    Buffer<Vec3<double>, S> sampled_;
    Buffer<double, S> scratch_;  ///< of largest_mass()
};

template <Space S>
class LocalTree final : public AnyLocalForce {
   public:
    LocalTree(S space, const Tree& options, index_t particles, const std::vector<double>& softening)
        : AnyLocalForce(space, options, particles), on_(space), tree_(space, options), softening_(to_space(space, softening)) {}
    void accelerate(const Sources& all, View<Vec3<double>> acceleration) override {
        evaluate_tree(on_, tree_, all.position, all.mass, acceleration, {}, softening_.view());
    }
    void potential(const Sources& all, View<double> potential) override {
        evaluate_tree(on_, tree_, all.position, all.mass, {}, potential, softening_.view());
    }

   private:
    S on_;
    TreeForce<S> tree_;
    Buffer<double, S> softening_;  ///< empty: that of the options
};

}  // namespace
}  // namespace detail

LocalForce::LocalForce(AnySpace on, const Force& force, index_t n) { make(on, force, n, {}); }

LocalForce::LocalForce(AnySpace on, const Force& force, View<const double> softening) {
    std::visit(
        [&](auto space) {
            std::vector<double> each(static_cast<std::size_t>(softening.n));
            copy_to_host(space, view(each), softening);
            for (std::size_t i = 0; i < each.size(); ++i)
                KS_VALIDATE(std::isfinite(each[i]) && each[i] >= 0,
                            fmt::format("particle {} has softening {}: it must be finite and not negative", i, each[i]));
            make(space, force, softening.n, each);
        },
        on);
}

void LocalForce::make(const AnySpace& on, Force force, index_t n, std::vector<double> softening) {
    check_given_threads(on);
    KS_VALIDATE(n >= 1, fmt::format("a force needs one particle or more, not {}", n));
    set_softening(force, softening);
    if (!softening_per_particle(force)) softening.clear();
    std::visit(
        [&]<Space S>(S space) {
            if (const auto* direct = std::get_if<Direct>(&force))
                on_ = std::make_unique<detail::LocalDirect<S>>(space, *direct, n, softening);
            else
                on_ = std::make_unique<detail::LocalTree<S>>(space, std::get<Tree>(force), n, softening);
        },
        on);
}
LocalForce::~LocalForce() = default;
LocalForce::LocalForce(LocalForce&&) noexcept = default;
LocalForce& LocalForce::operator=(LocalForce&&) noexcept = default;

index_t LocalForce::size() const { return on_->n; }
AnySpace LocalForce::space() const { return on_->on; }
const Force& LocalForce::force() const { return on_->force; }

void LocalForce::accelerate(View<const Vec3<double>> position, View<const double> mass, View<Vec3<double>> acceleration) {
    KS_REQUIRE(position.n == size() && mass.n == size() && acceleration.n == size(),
               fmt::format("a LocalForce of {} particles was called with {} positions, {} masses and {} accelerations", size(), position.n,
                           mass.n, acceleration.n));
    on_->accelerate({position, mass}, acceleration);
}

void LocalForce::potential(View<const Vec3<double>> position, View<const double> mass, View<double> potential) {
    KS_REQUIRE(position.n == size() && mass.n == size() && potential.n == size(),
               fmt::format("a LocalForce of {} particles was called with {} positions, {} masses and {} potentials", size(), position.n,
                           mass.n, potential.n));
    on_->potential({position, mass}, potential);
}

}  // namespace kasane::gravity
