// WilsonSolver: copies fields of the host to a ResidentSolver and back, through the temporal gauge where options require it.
#include <kasane/lattice/solve/solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/check_modes.hpp>
#include <kasane/lattice/solve/column_solver.hpp>
#include <kasane/lattice/solve/field_copies.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_columns.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

namespace kasane::lattice {

template struct ResidentSolver<OneDevice<Cpu>>;
template class ColumnSolver<Cpu>;
#if defined(KASANE_CUDA)
template struct ResidentSolver<OneDevice<Cuda>>;
template class ColumnSolver<Cuda>;
#endif

namespace detail {

/// Several right-hand sides, their solutions and their solver on one space.
template <Space S>
struct ResidentColumns {
    ColumnSolver<S> solver;
    std::vector<ResidentField<S>> b, x;
    ResidentColumns(ResidentSolver<OneDevice<S>>& one, int columns) : solver(one, columns) {
        for (int c = 0; c < columns; ++c) b.emplace_back(one.lattice), x.emplace_back(one.lattice);
    }
};

/// A solver and two fields on one space.
template <Space S>
struct Resident {
    ResidentSolver<OneDevice<S>> solver;
    ResidentField<S> b, x;
    std::unique_ptr<ResidentColumns<S>> columns;  ///< null until several right-hand sides are solved at once
    std::vector<ResidentField<S>> kept;           ///< solutions of a source's columns that are solved alone
    std::vector<const ResidentField<S>*> solved;  ///< of a source, in `columns` or `kept`; empty: none
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
    SolverOptions options;
    std::vector<Su3<double>> g;  ///< empty unless the solver works in the temporal gauge
    std::optional<detail::AnyResident> resident;

    void check(const SpinorField& field, const char* what) const {
        KS_REQUIRE(field.extents == extents && static_cast<index_t>(field.values.size()) == 12 * extents.volume(),
                   fmt::format("{} is a field of a {} lattice with {} numbers; the solver's lattice is {}", what, text(field.extents),
                               field.values.size(), text(extents)));
    }
    void check(View<const std::complex<double>> field, const char* what) const {
        KS_REQUIRE(field.n == 12 * extents.volume(), fmt::format("{} has {} numbers; a field of the solver's lattice {} has {}", what,
                                                                 field.n, text(extents), 12 * extents.volume()));
        KS_REQUIRE(g.empty(), fmt::format("{} is in the memory of the space, and the links are stored in the temporal gauge: pass a "
                                          "SpinorField, or store the links otherwise",
                                          what));
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
    /// Copies b and the first guess to the space.
    template <Space S>
    void load_system(const ResidentSolver<OneDevice<S>>& solver, const SpinorField& b, const SpinorField& x, ResidentField<S>& b_there,
                     ResidentField<S>& x_there) const {
        in_gauge(b, [&](const SpinorField& field) { load(field, b_there); });
        if (is_zero(x)) {
            solver.zero(x_there);
        } else {
            in_gauge(x, [&](const SpinorField& field) { lattice::load(field, Parity::even, x_there.even); });
        }
    }
    /// Copies the solution back; x is unchanged where numbers are not finite.
    template <Space S>
    void store_solution(const SolveLog& log, const ResidentField<S>& there, SpinorField& x) const {
        if (log.end == krylov::Outcome::not_finite) return;
        store(there, x);
        out_of_gauge(x);
    }
    /// Those of a solver of `count` columns; what they held is lost. @throws InputError where they do not fit
    template <Space S>
    detail::ResidentColumns<S>& columns(detail::Resident<S>& at, std::size_t count) const {
        const auto columns = static_cast<int>(count);
        at.solved.clear();
        if (!at.columns || at.columns->solver.columns() != columns) {
            at.columns.reset();
            check_columns(at.solver.domain.space(), columns);
            at.columns = std::make_unique<detail::ResidentColumns<S>>(at.solver, columns);
        }
        return *at.columns;
    }
    /// @throws InputError unless so many columns fit
    template <Space S>
    void check_columns(S on, int columns) const {
        const double needed = column_bytes_per_site(options, columns) * static_cast<double>(extents.volume());
        const auto there = static_cast<double>(available_memory(on));
        constexpr double mib = 1 << 20;
        KS_VALIDATE(needed <= there,
                    fmt::format("{} right-hand sides at once on a {} lattice need {:.0f} MiB, and {:.0f} MiB are free. Solve "
                                "fewer of them at once (columns_at_once() counts)",
                                columns, text(extents), needed / mib, there / mib));
    }
};

WilsonSolver::WilsonSolver(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options)
    : impl_(std::make_unique<Impl>()) {
    check_solver(links, parameters, options);
    check_memory(on, links.extents, parameters, options);
    impl_->extents = links.extents;
    impl_->options = options;
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

void WilsonSolver::deflate(const Eigenmodes& modes) {
    check_deflation(impl_->options);
    std::visit(
        [&]<Space S>(detail::Resident<S>& at) {
            auto& solver = at.solver;
            check_modes(modes, impl_->extents, solver.parameters);
            const double needed = 96. * static_cast<double>(modes.vectors.size()) * static_cast<double>(impl_->extents.volume());
            const auto there = static_cast<double>(available_memory(solver.domain.space()));
            constexpr double mib = 1 << 20;
            KS_VALIDATE(needed <= there, fmt::format("{} modes need {:.0f} MiB, and {:.0f} MiB are free: take fewer", modes.vectors.size(),
                                                     needed / mib, there / mib));
            solver.deflation = {};
            for (std::size_t i = 0; i < modes.vectors.size(); ++i) solver.take_mode(modes.values[i], modes.field(i));
            if (const double worst = solver.worst_mode(); !(worst < largest_mode_residual)) {
                solver.deflation = {};
                throw foreign_modes(worst, modes.plaquette);
            }
        },
        *impl_->resident);
}

CoherentReport WilsonSolver::coherent() const {
    return std::visit([](auto& at) { return at.solver.coherent_report(); }, *impl_->resident);
}

SolveLog WilsonSolver::solve(const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop) {
    impl_->check(b, "b");
    impl_->check(x, "x");
    return std::visit(
        [&](auto& at) {
            impl_->load_system(at.solver, b, x, at.b, at.x);
            auto log = at.solver.solve(at.b, at.x, stop);
            impl_->store_solution(log, at.x, x);
            return log;
        },
        *impl_->resident);
}

SolveLog WilsonSolver::solve(View<const std::complex<double>> b, View<std::complex<double>> x, const krylov::StopFunction& stop) {
    impl_->check(b, "b");
    impl_->check(x, "x");
    return std::visit(
        [&](auto& at) {
            lattice::load(b, at.b);
            lattice::load(x, at.x);
            auto log = at.solver.solve(at.b, at.x, stop);
            if (log.end != krylov::Outcome::not_finite) lattice::store(at.x, x);
            return log;
        },
        *impl_->resident);
}

std::vector<SolveLog> WilsonSolver::solve(const Fields& b, Fields& x, const krylov::StopFunction& stop) {
    KS_REQUIRE(b.size() == x.size(), fmt::format("{} right-hand sides have {} fields for their solutions", b.size(), x.size()));
    if (b.size() < 2 || !solves_columns(impl_->options)) return solve_one_by_one(b, x, stop);
    for (std::size_t c = 0; c < b.size(); ++c) impl_->check(b[c], "b"), impl_->check(x[c], "x");
    return std::visit(
        [&]<Space S>(detail::Resident<S>& at) {
            auto& [solver, b_there, x_there] = impl_->columns(at, b.size());
            for (std::size_t c = 0; c < b.size(); ++c) impl_->load_system(at.solver, b[c], x[c], b_there[c], x_there[c]);
            auto logs = solver.solve(b_there, x_there, stop);
            for (std::size_t c = 0; c < b.size(); ++c) impl_->store_solution(logs[c], x_there[c], x[c]);
            return logs;
        },
        *impl_->resident);
}

std::vector<SolveLog> WilsonSolver::solve_one_by_one(const Fields& b, Fields& x, const krylov::StopFunction& stop) {
    std::vector<SolveLog> logs;
    while (logs.size() < b.size()) {
        const std::size_t c = logs.size();
        logs.push_back(solve(b[c], x[c], stop));
        if (logs.back().end == krylov::Outcome::stopped) logs.resize(b.size(), logs.back());
    }
    return logs;
}

std::vector<SolveLog> WilsonSolver::solve(const PropagatorSource& source, const krylov::StopFunction& stop) {
    const auto& [extents, options, g, resident] = *impl_;
    KS_REQUIRE(g.empty(),
               "solutions cannot stay on the space, because the links are stored in the temporal gauge: pass fields of the host, or "
               "store the links otherwise");
    for (int mu = source.wall ? 3 : 0; mu < 4; ++mu)
        KS_REQUIRE(source.site[mu] >= 0 && source.site[mu] < extents[mu], "the source lies outside the lattice " + text(extents));
    std::vector<SolveLog> logs;
    constexpr std::size_t count = 12;
    std::visit(
        [&]<Space S>(detail::Resident<S>& at) {
            at.solved.clear();
            const auto prepare = [&](std::size_t c, ResidentField<S>& b, ResidentField<S>& x) {
                fill(source, static_cast<int>(c), b);
                at.solver.zero(x);
            };
            std::vector<const ResidentField<S>*> solved;
            at.kept.reserve(count);  // `solved` has their addresses
            if (solves_columns(options)) {
                auto& [solver, b, x] = impl_->columns(at, count);
                for (std::size_t c = 0; c < count; ++c) {
                    prepare(c, b[c], x[c]);
                    solved.push_back(&x[c]);
                }
                logs = solver.solve(b, x, stop);
            } else {
                while (logs.size() < count && (logs.empty() || logs.back().converged())) {
                    const std::size_t c = logs.size();
                    if (at.kept.size() <= c) at.kept.emplace_back(at.solver.lattice);
                    prepare(c, at.b, at.kept[c]);
                    logs.push_back(at.solver.solve(at.b, at.kept[c], stop));
                    solved.push_back(&at.kept[c]);
                }
            }
            at.solved = std::move(solved);
        },
        *impl_->resident);
    return logs;
}

void WilsonSolver::each_part(double factor, const TakeRows& take) const {
    std::visit(
        [&](const auto& at) {
            KS_REQUIRE(at.solved.size() == 12, "the space has no solutions of twelve columns: call solve(PropagatorSource) before");
            lattice::each_part(at.solved, factor, take);
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

void WilsonSolver::apply(View<const std::complex<double>> in, View<std::complex<double>> out, bool adjoint) {
    impl_->check(in, "in");
    impl_->check(out, "out");
    std::visit(
        [&](auto& at) {
            lattice::load(in, at.b);
            at.solver.apply(at.b, at.x, adjoint);
            lattice::store(at.x, out);
        },
        *impl_->resident);
}

}  // namespace kasane::lattice
