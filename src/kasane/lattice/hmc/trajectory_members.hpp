// The members of HybridMonteCarlo, for the files that instantiate it for a kind of lattice.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::lattice {
namespace detail {

inline bool has_gradient(const std::vector<Level>& levels) {
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

}  // namespace detail

template <Space S, class Part>
HybridMonteCarlo<S, Part>::HybridMonteCarlo(Part part, Terms terms, std::vector<Level> levels, double length, std::uint64_t seed)
    : part_(std::move(part)),
      terms_(std::move(terms)),
      length_(length),
      seed_(seed),
      momenta_(part_.links()),
      before_(part_.links()),
      force_(part_.links()) {
    set_levels(std::move(levels));
}

template <Space S, class Part>
void HybridMonteCarlo<S, Part>::set_levels(std::vector<Level> levels) {
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
    if (detail::has_gradient(levels_) && shifted_.extents != momenta_.extents) shifted_ = part_.links();
}

template <Space S, class Part>
double HybridMonteCarlo<S, Part>::action(const Links<S>& u) {
    double sum = 0;
    for (const auto& term : terms_) sum += term->value(u);
    return sum;
}

template <Space S, class Part>
void HybridMonteCarlo<S, Part>::kick(const Links<S>& u, int level, double step, Links<S>& p, Measured& measured, bool measure) {
    for (const int term : levels_[static_cast<std::size_t>(level)].terms) {
        const auto number = static_cast<std::size_t>(term);
        auto& of = *terms_[number];
        const double seconds = detail::timed(u.space(), measured.timers, "force, " + of.name(), [&] {
            if (!measure) return of.add_force(u, -step, p);
            set_zero(force_);
            of.add_force(u, 1, force_);
            add_links(-step, force_, p);
        });
        if (measured.terms.empty()) continue;
        auto& dynamics = measured.terms[number];
        dynamics.seconds += seconds;
        if (!measure) continue;
        detail::timed(u.space(), measured.timers, "force norms", [&] {
            const auto norms = part_.link_norms(force_);
            dynamics.force_mean += norms.sum / (4 * static_cast<double>(part_.volume()));
            if (!(norms.largest <= dynamics.force_largest)) dynamics.force_largest = norms.largest;
            ++measured.measured[number];
        });
    }
}

template <Space S, class Part>
void HybridMonteCarlo<S, Part>::gradient_kick(const Links<S>& u, const Operation& operation, Links<S>& p, Measured& measured) {
    set_zero(force_);
    kick(u, operation.level, operation.shift, force_, measured, false);  // -shift F
    detail::timed(u.space(), measured.timers, "links", [&] {
        copy_links(u, shifted_);
        part_.move_links(shifted_, force_, 1);
    });
    kick(shifted_, operation.level, operation.step, p, measured, false);
}

template <Space S, class Part>
bool HybridMonteCarlo<S, Part>::integrate(Links<S>& u, Links<S>& p, Measured& measured, const std::function<bool()>& stop) {
    for (const auto& term : terms_) term->forget();
    measured.kicks.assign(levels_.size(), 0);
    for (const auto& operation : operations_) {
        if (stop && stop()) return false;
        switch (operation.kind) {
            case Operation::Kind::drift:
                detail::timed(u.space(), measured.timers, "links", [&] { part_.move_links(u, p, operation.step); });
                break;
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

template <Space S, class Part>
bool HybridMonteCarlo<S, Part>::integrate(Links<S>& u, Links<S>& p, Timers* timers, const std::function<bool()>& stop) {
    Measured nothing{.timers = timers};
    return integrate(u, p, nothing, part_.agreed(stop));
}

template <Space S, class Part>
std::vector<TermDynamics> HybridMonteCarlo<S, Part>::dynamics_of(Measured measured) const {
    for (std::size_t term = 0; term < terms_.size(); ++term)
        if (measured.measured[term] > 0) measured.terms[term].force_mean /= measured.measured[term];
    return std::move(measured.terms);
}

/// Integrates back from the end of a trajectory with these momenta; afterwards the links are those of the end again.
template <Space S, class Part>
std::optional<Reversibility> HybridMonteCarlo<S, Part>::reverse_from(Links<S>& u, double H, const std::function<bool()>& stop) {
    Links<S> end = part_.links();
    copy_links(u, end);
    reverse(momenta_);
    std::optional<Reversibility> found;
    Measured nothing{};
    if (integrate(u, momenta_, nothing, stop)) {
        found.emplace(Reversibility{part_.distance(u, before_), 0});
        found->dH = part_.kinetic_energy(momenta_) + action(u) - H;
    }
    copy_links(end, u);
    for (const auto& term : terms_) term->take_iterations();
    return found;
}

template <Space S, class Part>
std::optional<TrajectoryResult> HybridMonteCarlo<S, Part>::trajectory(Links<S>& u, std::uint64_t number, bool test, Timers* timers,
                                                                      const std::function<bool()>& stop, bool reverse) {
    KS_REQUIRE(u.extents == before_.extents, "links of " + text(u.extents) + " in trajectories of " + text(before_.extents));
    detail::timed(u.space(), timers, "momenta", [&] { copy_links(u, before_); });
    try {
        return begun_trajectory(u, number, test, timers, part_.agreed(stop), reverse);
    } catch (...) {  // of a solve that fails, for example
        copy_links(before_, u);
        throw;
    }
}

template <Space S, class Part>
std::optional<TrajectoryResult> HybridMonteCarlo<S, Part>::begun_trajectory(Links<S>& u, std::uint64_t number, bool test, Timers* timers,
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
    double kinetic = 0, potential = 0;  // at the start; their differences have one rounding less than that of two H
    detail::timed(u.space(), timers, "momenta", [&] { part_.draw_momenta(momenta_, seed_, number); });
    for (const auto& term : terms_)
        detail::timed(u.space(), timers, "heat bath, " + term->name(), [&] { term->refresh(u, seed_, number); });
    detail::timed(u.space(), timers, "action", [&] { kinetic = part_.kinetic_energy(momenta_), potential = action(u); });
    result.H = kinetic + potential;
    count(&TermDynamics::iterations);
    if (!integrate(u, momenta_, measured, stop)) {
        copy_links(before_, u);
        return {};
    }
    count(&TermDynamics::force_iterations);
    detail::timed(u.space(), timers, "action", [&] { result.dH = (part_.kinetic_energy(momenta_) - kinetic) + (action(u) - potential); });
    count(&TermDynamics::iterations);
    result.terms = dynamics_of(std::move(measured));
    if (reverse) {
        detail::timed(u.space(), timers, "reversibility", [&] { result.reversibility = reverse_from(u, result.H, stop); });
        if (!result.reversibility) {
            copy_links(before_, u);
            return {};
        }
    }
    result.accepted = test ? metropolis_accepts(result.dH, seed_, number) : std::isfinite(result.dH);
    if (!result.accepted) detail::timed(u.space(), timers, "momenta", [&] { copy_links(before_, u); });
    return result;
}

template <Space S, class Part>
std::uint64_t HybridMonteCarlo<S, Part>::bytes_per_site(const std::vector<Level>& levels) {
    return (detail::has_gradient(levels) ? 5 : 4) * 4 * sizeof(Su3<double>);
}

}  // namespace kasane::lattice
