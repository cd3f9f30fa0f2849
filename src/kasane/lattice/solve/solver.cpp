// WilsonSolver: copies fields of the host to a ResidentSolver and back, through the temporal gauge where options require it.
#include <kasane/lattice/solve/solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>
#include <kasane/lattice/solve/temporal_gauge.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

namespace kasane::lattice {

template struct ResidentSolver<OneDevice<Cpu>>;
#if defined(KASANE_CUDA)
template struct ResidentSolver<OneDevice<Cuda>>;
#endif

namespace detail {

/// A solver and two fields on one space.
template <Space S>
struct Resident {
    ResidentSolver<OneDevice<S>> solver;
    ResidentField<S> b, x;
    Resident(S on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options)
        : solver(OneDevice<S>(on, links.extents), links, parameters, options), b(solver.lattice), x(solver.lattice) {}
};

#if defined(KASANE_CUDA)
using AnyResident = std::variant<Resident<Cpu>, Resident<Cuda>>;
#else
using AnyResident = std::variant<Resident<Cpu>>;
#endif

}  // namespace detail

namespace {

template <Space S>
void load(const SpinorField& from, ResidentField<S>& to) {
    lattice::load(from, Parity::even, to.even);
    lattice::load(from, Parity::odd, to.odd);
}
template <Space S>
void store(const ResidentField<S>& from, SpinorField& to) {
    lattice::store(from.even, Parity::even, to);
    lattice::store(from.odd, Parity::odd, to);
}

bool is_zero(const SpinorField& x) {
    return std::all_of(x.values.begin(), x.values.end(), [](std::complex<double> z) { return z == 0.; });
}

}  // namespace

struct WilsonSolver::Impl {
    Extents extents;
    std::vector<Su3<double>> g;  ///< empty unless the solver works in the temporal gauge
    std::optional<detail::AnyResident> resident;

    void check(const SpinorField& field, const char* what) const {
        KS_REQUIRE(field.extents == extents && static_cast<index_t>(field.values.size()) == 12 * extents.volume(),
                   fmt::format("{} is a field of a {} lattice with {} numbers; the solver's lattice is {}", what, text(field.extents),
                               field.values.size(), text(extents)));
    }
    /// Calls `use` with the field in the solver's gauge.
    template <class Use>
    void in_gauge(const SpinorField& field, Use use) const {
        if (g.empty()) {
            use(field);
        } else {
            use(rotated(field, g, false));
        }
    }
    void out_of_gauge(SpinorField& field) const {
        if (!g.empty()) field = rotated(field, g, true);
    }
};

WilsonSolver::WilsonSolver(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options)
    : impl_(std::make_unique<Impl>()) {
    check_solver(links, parameters, options);
    check_memory(on, links.extents, parameters, options);
    impl_->extents = links.extents;
    std::optional<TemporalGauge> gauge;
    if (options.outer_links.temporal_gauge || options.inner_links.temporal_gauge) gauge = temporal_gauge(links);
    std::visit(
        [&]<Space S>(S space) {
            impl_->resident.emplace(std::in_place_type<detail::Resident<S>>, space, gauge ? gauge->links : links, parameters, options);
        },
        on);
    if (gauge) impl_->g = std::move(gauge->g);
}
WilsonSolver::~WilsonSolver() = default;
WilsonSolver::WilsonSolver(WilsonSolver&&) noexcept = default;

SolveLog WilsonSolver::solve(const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop) {
    impl_->check(b, "b");
    impl_->check(x, "x");
    return std::visit(
        [&](auto& at) {
            impl_->in_gauge(b, [&](const SpinorField& field) { load(field, at.b); });
            if (is_zero(x)) {
                at.solver.zero(at.x);
            } else {
                impl_->in_gauge(x, [&](const SpinorField& field) { lattice::load(field, Parity::even, at.x.even); });
            }
            auto log = at.solver.solve(at.b, at.x, stop);
            if (log.end != krylov::Outcome::not_finite) {
                store(at.x, x);
                impl_->out_of_gauge(x);
            }
            return log;
        },
        *impl_->resident);
}

void WilsonSolver::apply(const SpinorField& in, SpinorField& out, bool adjoint) {
    impl_->check(in, "in");
    if (!(out.extents == impl_->extents)) out = SpinorField(impl_->extents);
    std::visit(
        [&](auto& at) {
            impl_->in_gauge(in, [&](const SpinorField& field) { load(field, at.b); });
            at.solver.apply(at.b, at.x, adjoint);
            store(at.x, out);
            impl_->out_of_gauge(out);
        },
        *impl_->resident);
}

}  // namespace kasane::lattice
