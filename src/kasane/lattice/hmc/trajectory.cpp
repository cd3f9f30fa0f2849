#include <kasane/lattice/hmc/trajectory.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/random.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::lattice {
namespace {

bool has_gradient(const std::vector<Level>& levels) {
    return std::ranges::any_of(levels, [](const auto& level) { return level.integrator == Integrator::force_gradient; });
}

/// Measures a part until the work on the space is done.
template <Space S, class F>
void timed(S on, Timers* timers, const std::string& part, F work) {
    if (!timers) {
        work();
        return;
    }
    const auto scope = timers->scope(part);
    work();
    synchronize(on);
}

}  // namespace

bool metropolis_accepts(double dH, std::uint64_t seed, std::uint64_t trajectory) {
    auto random = random_stream(seed, RandomPurpose::metropolis, 0, trajectory);
    return std::isfinite(dH) && random.uniform() < std::exp(-dH);
}

template <Space S>
HybridMonteCarlo<S>::HybridMonteCarlo(S on, const Extents& extents, Terms terms, std::vector<Level> levels, double length,
                                      std::uint64_t seed)
    : terms_(std::move(terms)),
      levels_(std::move(levels)),
      operations_(operations_of(levels_, length)),
      seed_(seed),
      momenta_(on, extents),
      before_(on, extents) {
    std::vector<int> uses(terms_.size());
    for (const auto& level : levels_)
        for (const int term : level.terms) {
            KS_REQUIRE(term >= 0 && term < std::ssize(terms_),
                       "a level of the integrator names term " + std::to_string(term) + " of " + std::to_string(terms_.size()));
            ++uses[static_cast<std::size_t>(term)];
        }
    for (std::size_t term = 0; term < uses.size(); ++term)
        KS_REQUIRE(uses[term] == 1, "term " + terms_[term]->name() + " of the action is in " + std::to_string(uses[term]) +
                                        " levels of the integrator: it must be in one");
    if (has_gradient(levels_)) force_ = Links<S>(on, extents), shifted_ = Links<S>(on, extents);
}

template <Space S>
double HybridMonteCarlo<S>::action(const Links<S>& u) {
    double sum = 0;
    for (const auto& term : terms_) sum += term->value(u);
    return sum;
}

template <Space S>
void HybridMonteCarlo<S>::kick(const Links<S>& u, int level, double step, Links<S>& p, Timers* timers) {
    for (const int term : levels_[static_cast<std::size_t>(level)].terms) {
        auto& of = *terms_[static_cast<std::size_t>(term)];
        timed(u.space(), timers, "force, " + of.name(), [&] { of.add_force(u, -step, p); });
    }
}

template <Space S>
void HybridMonteCarlo<S>::gradient_kick(const Links<S>& u, const Operation& operation, Links<S>& p, Timers* timers) {
    set_zero(force_);
    kick(u, operation.level, operation.shift, force_, timers);  // -shift F
    timed(u.space(), timers, "links", [&] {
        copy_links(u, shifted_);
        move_links(shifted_, force_, 1);
    });
    kick(shifted_, operation.level, operation.step, p, timers);
}

template <Space S>
bool HybridMonteCarlo<S>::integrate(Links<S>& u, Links<S>& p, Timers* timers, const std::function<bool()>& stop) {
    for (const auto& operation : operations_) {
        if (stop && stop()) return false;
        switch (operation.kind) {
            case Operation::Kind::drift: timed(u.space(), timers, "links", [&] { move_links(u, p, operation.step); }); break;
            case Operation::Kind::kick: kick(u, operation.level, operation.step, p, timers); break;
            case Operation::Kind::gradient_kick: gradient_kick(u, operation, p, timers); break;
        }
    }
    return true;
}

template <Space S>
std::optional<TrajectoryResult> HybridMonteCarlo<S>::trajectory(Links<S>& u, std::uint64_t number, bool test, Timers* timers,
                                                                const std::function<bool()>& stop) {
    KS_REQUIRE(u.extents == before_.extents, "links of " + text(u.extents) + " in trajectories of " + text(before_.extents));
    TrajectoryResult result;
    double after = 0;
    timed(u.space(), timers, "momenta", [&] {
        copy_links(u, before_);
        draw_momenta(momenta_, seed_, number);
    });
    for (const auto& term : terms_) timed(u.space(), timers, "heat bath, " + term->name(), [&] { term->refresh(u, seed_, number); });
    timed(u.space(), timers, "action", [&] { result.H = kinetic_energy(momenta_) + action(u); });
    if (!integrate(u, momenta_, timers, stop)) {
        copy_links(before_, u);
        return {};
    }
    timed(u.space(), timers, "action", [&] { after = kinetic_energy(momenta_) + action(u); });
    result.dH = after - result.H;
    result.accepted = test ? metropolis_accepts(result.dH, seed_, number) : std::isfinite(result.dH);
    if (!result.accepted) timed(u.space(), timers, "momenta", [&] { copy_links(before_, u); });
    return result;
}

template <Space S>
std::uint64_t HybridMonteCarlo<S>::bytes_per_site(const std::vector<Level>& levels) {
    return (has_gradient(levels) ? 5 : 3) * 4 * sizeof(Su3<double>);
}

template class HybridMonteCarlo<Cpu>;
#if defined(KASANE_CUDA)
template class HybridMonteCarlo<Cuda>;
#endif

}  // namespace kasane::lattice
