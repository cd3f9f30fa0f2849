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

/// Measures a part until the work on the space is done. @returns its time [s], 0 without timers
template <Space S, class F>
double timed(S on, Timers* timers, const std::string& part, F work) {
    if (!timers) {
        work();
        return 0;
    }
    const Stopwatch watch;
    work();
    synchronize(on);
    const double seconds = watch.seconds();
    timers->add(part, seconds);
    return seconds;
}

}  // namespace

bool metropolis_accepts(double dH, std::uint64_t seed, std::uint64_t trajectory) {
    auto random = random_stream(seed, RandomPurpose::metropolis, 0, trajectory);
    return std::isfinite(dH) && random.uniform() < std::exp(-dH);
}

template <Space S>
HybridMonteCarlo<S>::HybridMonteCarlo(S on, const Extents& extents, Terms terms, std::vector<Level> levels, double length,
                                      std::uint64_t seed)
    : terms_(std::move(terms)), length_(length), seed_(seed), momenta_(on, extents), before_(on, extents), force_(on, extents) {
    set_levels(std::move(levels));
}

template <Space S>
void HybridMonteCarlo<S>::set_levels(std::vector<Level> levels) {
    std::vector<int> uses(terms_.size());
    for (const auto& level : levels)
        for (const int term : level.terms) {
            KS_REQUIRE(term >= 0 && term < std::ssize(terms_),
                       "a level of the integrator names term " + std::to_string(term) + " of " + std::to_string(terms_.size()));
            ++uses[static_cast<std::size_t>(term)];
        }
    for (std::size_t term = 0; term < uses.size(); ++term)
        KS_REQUIRE(uses[term] == 1, "term " + terms_[term]->name() + " of the action is in " + std::to_string(uses[term]) +
                                        " levels of the integrator: it must be in one");
    operations_ = operations_of(levels, length_);
    levels_ = std::move(levels);
    if (has_gradient(levels_) && shifted_.extents != momenta_.extents) shifted_ = Links<S>(momenta_.space(), momenta_.extents);
}

template <Space S>
double HybridMonteCarlo<S>::action(const Links<S>& u) {
    double sum = 0;
    for (const auto& term : terms_) sum += term->value(u);
    return sum;
}

template <Space S>
void HybridMonteCarlo<S>::kick(const Links<S>& u, int level, double step, Links<S>& p, Measured& measured, bool measure) {
    for (const int term : levels_[static_cast<std::size_t>(level)].terms) {
        const auto number = static_cast<std::size_t>(term);
        auto& of = *terms_[number];
        const double seconds = timed(u.space(), measured.timers, "force, " + of.name(), [&] {
            if (!measure) return of.add_force(u, -step, p);
            set_zero(force_);
            of.add_force(u, 1, force_);
            add_links(-step, force_, p);
        });
        if (measured.terms.empty()) continue;
        auto& dynamics = measured.terms[number];
        dynamics.seconds += seconds;
        if (!measure) continue;
        timed(u.space(), measured.timers, "force norms", [&] {
            const auto norms = link_norms(force_);
            dynamics.force_mean += norms.sum / (4 * static_cast<double>(u.extents.volume()));
            if (!(norms.largest <= dynamics.force_largest)) dynamics.force_largest = norms.largest;
            ++measured.measured[number];
        });
    }
}

template <Space S>
void HybridMonteCarlo<S>::gradient_kick(const Links<S>& u, const Operation& operation, Links<S>& p, Measured& measured) {
    set_zero(force_);
    kick(u, operation.level, operation.shift, force_, measured, false);  // -shift F
    timed(u.space(), measured.timers, "links", [&] {
        copy_links(u, shifted_);
        move_links(shifted_, force_, 1);
    });
    kick(shifted_, operation.level, operation.step, p, measured, false);
}

template <Space S>
bool HybridMonteCarlo<S>::integrate(Links<S>& u, Links<S>& p, Measured& measured, const std::function<bool()>& stop) {
    for (const auto& term : terms_) term->forget();
    measured.kicks.assign(levels_.size(), 0);
    for (const auto& operation : operations_) {
        if (stop && stop()) return false;
        switch (operation.kind) {
            case Operation::Kind::drift: timed(u.space(), measured.timers, "links", [&] { move_links(u, p, operation.step); }); break;
            case Operation::Kind::kick: {
                const int before = measured.kicks[static_cast<std::size_t>(operation.level)]++;
                kick(u, operation.level, operation.step, p, measured, !measured.terms.empty() && before % force_interval == 0);
                break;
            }
            case Operation::Kind::gradient_kick: gradient_kick(u, operation, p, measured); break;
        }
    }
    return true;
}

template <Space S>
bool HybridMonteCarlo<S>::integrate(Links<S>& u, Links<S>& p, Timers* timers, const std::function<bool()>& stop) {
    Measured nothing{.timers = timers};
    return integrate(u, p, nothing, stop);
}

template <Space S>
std::vector<TermDynamics> HybridMonteCarlo<S>::dynamics_of(Measured measured) const {
    for (std::size_t term = 0; term < terms_.size(); ++term)
        if (measured.measured[term] > 0) measured.terms[term].force_mean /= measured.measured[term];
    return std::move(measured.terms);
}

/// From the end of a trajectory with these momenta; the links are those of the end again.
template <Space S>
std::optional<Reversibility> HybridMonteCarlo<S>::reverse_from(Links<S>& u, double H, const std::function<bool()>& stop) {
    Links<S> end(u.space(), u.extents);
    copy_links(u, end);
    reverse(momenta_);
    std::optional<Reversibility> found;
    if (integrate(u, momenta_, nullptr, stop)) {
        found.emplace(Reversibility{distance(u, before_), 0});
        found->dH = kinetic_energy(momenta_) + action(u) - H;
    }
    copy_links(end, u);
    for (const auto& term : terms_) term->take_iterations();
    return found;
}

template <Space S>
std::optional<TrajectoryResult> HybridMonteCarlo<S>::trajectory(Links<S>& u, std::uint64_t number, bool test, Timers* timers,
                                                                const std::function<bool()>& stop, bool reverse) {
    KS_REQUIRE(u.extents == before_.extents, "links of " + text(u.extents) + " in trajectories of " + text(before_.extents));
    timed(u.space(), timers, "momenta", [&] { copy_links(u, before_); });
    try {
        return begun_trajectory(u, number, test, timers, stop, reverse);
    } catch (...) {  // of a solve that fails, for example
        copy_links(before_, u);
        throw;
    }
}

template <Space S>
std::optional<TrajectoryResult> HybridMonteCarlo<S>::begun_trajectory(Links<S>& u, std::uint64_t number, bool test, Timers* timers,
                                                                      const std::function<bool()>& stop, bool reverse) {
    TrajectoryResult result;
    Measured measured{.timers = timers};
    measured.terms.resize(terms_.size());
    measured.measured.resize(terms_.size());
    const auto count = [&](int TermDynamics::* kind) {
        for (std::size_t term = 0; term < terms_.size(); ++term) {
            const int iterations = terms_[term]->take_iterations();
            measured.terms[term].iterations += iterations;
            if (kind != &TermDynamics::iterations) measured.terms[term].*kind += iterations;
        }
    };
    double after = 0;
    timed(u.space(), timers, "momenta", [&] { draw_momenta(momenta_, seed_, number); });
    for (const auto& term : terms_) timed(u.space(), timers, "heat bath, " + term->name(), [&] { term->refresh(u, seed_, number); });
    timed(u.space(), timers, "action", [&] { result.H = kinetic_energy(momenta_) + action(u); });
    count(&TermDynamics::iterations);
    if (!integrate(u, momenta_, measured, stop)) {
        copy_links(before_, u);
        return {};
    }
    count(&TermDynamics::force_iterations);
    timed(u.space(), timers, "action", [&] { after = kinetic_energy(momenta_) + action(u); });
    count(&TermDynamics::iterations);
    result.dH = after - result.H;
    result.terms = dynamics_of(std::move(measured));
    if (reverse) {
        timed(u.space(), timers, "reversibility", [&] { result.reversibility = reverse_from(u, result.H, stop); });
        if (!result.reversibility) {
            copy_links(before_, u);
            return {};
        }
    }
    result.accepted = test ? metropolis_accepts(result.dH, seed_, number) : std::isfinite(result.dH);
    if (!result.accepted) timed(u.space(), timers, "momenta", [&] { copy_links(before_, u); });
    return result;
}

template <Space S>
std::uint64_t HybridMonteCarlo<S>::bytes_per_site(const std::vector<Level>& levels) {
    return (has_gradient(levels) ? 5 : 4) * 4 * sizeof(Su3<double>);
}

template class HybridMonteCarlo<Cpu>;
#if defined(KASANE_CUDA)
template class HybridMonteCarlo<Cuda>;
#endif

}  // namespace kasane::lattice
