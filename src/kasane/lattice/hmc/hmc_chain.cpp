#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/hmc_chain.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

namespace kasane::lattice {
namespace {

/// The gauge action on the shortest steps, all fields and the clover determinant on the longer ones of the quarks.
std::vector<Level> hmc_levels(const HmcOptions& o) {
    if (!o.quarks) return {{o.integrator, o.steps, {0}}};
    std::vector<int> quarks;
    const int fields = static_cast<int>(o.quarks->masses.size()) + 1, terms = fields + (o.quarks->dirac.csw != 0);
    for (int term = 1; term <= terms; ++term) quarks.push_back(term);
    return {{o.integrator, o.steps, std::move(quarks)}, {o.integrator, o.quarks->gauge_steps, {0}}};
}

}  // namespace

void validate(const HmcOptions& o) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool condition, const char* key, const std::string& message) {
        if (!condition) problems.push_back({message, {"", 0, 0, key}});
    };
    const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
    require(positive(o.action.beta), "beta", fmt::format("is {}: it must be finite and above 0", o.action.beta));
    require(o.action.c1 >= -10 && o.action.c1 <= 0.12, "c1", fmt::format("is {}: it must be from -10 to 0.12", o.action.c1));
    require(o.steps >= 1 && o.steps <= 1'000'000, "steps", fmt::format("is {}: it must be from 1 to 1000000", o.steps));
    require(positive(o.length), "length", fmt::format("is {}: it must be finite and above 0", o.length));
    if (o.quarks) {
        const auto& q = *o.quarks;
        require(positive(q.dirac.kappa), "kappa", fmt::format("is {}: it must be finite and above 0", q.dirac.kappa));
        require(std::isfinite(q.dirac.csw) && q.dirac.csw >= 0, "csw",
                fmt::format("is {}: it must be finite and not below 0", q.dirac.csw));
        require(std::isfinite(q.twisted_mass), "twisted_mass", fmt::format("is {}: it must be finite", q.twisted_mass));
        double last = 0;
        for (const double mass : q.masses) {
            require(positive(mass) && mass > last, "masses", fmt::format("has {} after {}: masses are above 0 and ascend", mass, last));
            last = mass;
        }
        require(q.twisted_mass == 0 || q.masses.empty(), "twisted_mass",
                "is given beside Hasenbusch's masses, whose heat bath needs quarks without it: leave out one of the two");
        for (const auto& [key, rtol] : {std::pair{"action_rtol", q.action_rtol}, std::pair{"force_rtol", q.force_rtol}})
            require(rtol >= 1e-15 && rtol <= 0.1, key, fmt::format("is {}: it must be from 1e-15 to 0.1", rtol));
        require(q.chronological >= 0 && q.chronological <= 20, "chronological",
                fmt::format("is {}: it must be from 0 to 20", q.chronological));
        require(q.gauge_steps >= 1 && q.gauge_steps <= 1000, "gauge_steps", fmt::format("is {}: it must be from 1 to 1000", q.gauge_steps));
    }
    if (!problems.empty()) throw InputError(problems);
}

template <Space S>
struct HmcChain<S>::Parts {
    HybridMonteCarlo<S> hmc;
};

template <Space S>
HmcChain<S>::HmcChain(S on, const Extents& extents, const HmcOptions& options) {
    validate(options);
    check_extents(extents, {"", 0, 0, "extents"});
    typename HybridMonteCarlo<S>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<S>>(options.action));
    if (const auto& q = options.quarks) {
        auto D = std::make_shared<QuarkOperator<S>>(on, extents, QuarkParameters(q->dirac, q->twisted_mass),
                                                    QuarkSolverOptions{.inner = q->inner, .force = q->force_inner.value_or(q->inner)});
        const QuarkTolerances tolerances{.value = q->action_rtol, .force = q->force_rtol, .chronological = q->chronological};
        for (auto& term : quark_action<S>(std::move(D), q->masses, tolerances)) terms.push_back(std::move(term));
    }
    parts_ = std::make_unique<Parts>(
        Parts{HybridMonteCarlo<S>(on, extents, std::move(terms), hmc_levels(options), options.length, options.seed)});
}

template <Space S>
HmcChain<S>::~HmcChain() = default;
template <Space S>
HmcChain<S>::HmcChain(HmcChain&&) noexcept = default;
template <Space S>
HmcChain<S>& HmcChain<S>::operator=(HmcChain&&) noexcept = default;

template <Space S>
std::optional<HmcTrajectory> HmcChain<S>::trajectory(Links<S>& u, std::uint64_t number, bool test, const std::function<bool()>& stop) {
    const auto result = parts_->hmc.trajectory(u, number, test, nullptr, stop);
    if (!result) return std::nullopt;
    HmcTrajectory summary{.H = result->H, .dH = result->dH, .accepted = result->accepted};
    for (const auto& term : result->terms) summary.iterations += term.iterations;
    return summary;
}

template class HmcChain<Cpu>;
#if defined(KASANE_CUDA)
template class HmcChain<Cuda>;
#endif

}  // namespace kasane::lattice
