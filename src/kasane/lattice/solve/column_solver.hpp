// D x = b for several right-hand sides ("columns") at once, by BiCGStab with reliable updates or nested BiCGStab on one device. It has
// vectors for each column and uses the operators of a ResidentSolver. Invariants: a column that this method solves has the same bits as by
// ResidentSolver::solve alone; a column for which the method fails is continued alone by ResidentSolver::solve, until one of these fails
// there, too; every column's true residual of the full system is computed, in double.
#pragma once

#include <kasane/krylov/bicgstab_columns.hpp>
#include <kasane/krylov/reliable_columns.hpp>
#include <kasane/lattice/solve/even_odd_columns.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>

#include <optional>
#include <variant>
#include <vector>

namespace kasane::lattice {

template <Space S>
class ColumnSolver {
   public:
    static constexpr auto outer = Precision::double_;

    /// @param solver  must outlive this; its options allow several columns at once (solves_columns())
    ColumnSolver(ResidentSolver<OneDevice<S>>& solver, int columns)
        : solver_(solver),
          A_(*solver.A, columns),
          algebra_(solver.lattice),
          b_hat_(solver.lattice, columns),
          z_(solver.lattice, columns),
          work_(workspace<outer>(columns, nested() ? columns : 0)) {
        switch (solver.options.inner) {
            case Precision::half: inner_.template emplace<Level<Precision::half>>(*this, *solver.half, columns); break;
            case Precision::single: inner_.template emplace<Level<Precision::single>>(*this, *solver.single, columns); break;
            case Precision::double_: inner_.template emplace<Level<outer>>(*this, *solver.same, columns); break;
        }
    }
    ColumnSolver(const ColumnSolver&) = delete;

    int columns() const { return b_hat_.size(); }

    /// Solves from the x that are given; their odd halves are not read.
    /// @param b, x  at most columns() of them   @param stop  called for all columns at once, with the largest iteration and residual
    /// @return one log for each column; each has an equal share of the time
    std::vector<SolveLog> solve(std::vector<ResidentField<S>>& b, std::vector<ResidentField<S>>& x, const krylov::StopFunction& stop = {});

   private:
    template <Precision P>
    using Workspace = krylov::ColumnsWorkspace<ColumnAlgebra<S, P>>;
    /// @param others  columns of the vectors other than r
    template <Precision P>
    Workspace<P> workspace(int columns, int others) const {
        const auto& on = solver_.lattice;
        using V = FieldColumns<S, P>;
        return {V(on, columns), V(on, others), V(on, others), V(on, others), V(on, others)};
    }
    /// The inner precision: operator, algebra and vectors.
    template <Precision P>
    struct Level {
        EvenOddColumns<S, P> A;
        ColumnAlgebra<S, P> algebra;
        Workspace<P> work;
        FieldColumns<S, P> y;
        Level(const ColumnSolver& of, const detail::Level<OneDevice<S>, P>& one, int columns)
            : A(one.A, columns),
              algebra(of.solver_.lattice),
              work(of.template workspace<P>(columns, columns)),
              y(of.solver_.lattice, columns) {}
    };
    /// One column of a solve: the variables of ResidentSolver::solve for it.
    struct Column {
        SolveLog log;
        double b_norm = 0, b_hat_norm = 0, gain = 1, relative = 0;
        int corrections = 0;
        std::optional<detail::Attempt> next;  ///< after this method has failed
    };

    /// Whether the method is nested BiCGStab; otherwise BiCGStab with reliable updates.
    bool nested() const { return solver_.options.method == Method::nested_bicgstab; }
    /// The method on the even sites, with operator and vectors of one precision.
    template <Precision P>
    void iterate(Level<P>& inner, const ColumnSet& set, FieldColumns<S, outer>& x_even, krylov::ColumnCourses& courses) {
        if (nested()) {
            krylov::nested_bicgstab_columns(algebra_, A_, inner.algebra, inner.A, ConvertColumns{}, inner_tolerance(solver_.options), set,
                                            b_hat_, x_even, work_, z_, inner.work, inner.y, courses);
        } else if constexpr (P != outer) {
            krylov::reliable_bicgstab_columns(algebra_, A_, inner.algebra, inner.A, ConvertColumns{}, set, b_hat_, x_even, work_.r, z_,
                                              inner.work, inner.y, courses, detail::update_factors(Method::bicgstab, P));
        }
    }
    /// b_hat of the column; false where it must be scaled, is zero or not finite, so that it is solved alone.
    bool prepare(int c, const ResidentField<S>& b, ResidentField<S>& x, Column& column);
    std::uint64_t take_applications();

    ResidentSolver<OneDevice<S>>& solver_;
    EvenOddColumns<S, outer> A_;
    ColumnAlgebra<S, outer> algebra_;
    FieldColumns<S, outer> b_hat_, z_;
    Workspace<outer> work_;
    std::variant<std::monostate, Level<Precision::half>, Level<Precision::single>, Level<outer>> inner_;
};

template <Space S>
bool ColumnSolver<S>::prepare(int c, const ResidentField<S>& b, ResidentField<S>& x, Column& column) {
    auto& algebra = solver_.algebra;
    const auto even = krylov::unit_of(algebra, b.even, solver_.residual), odd = krylov::unit_of(algebra, b.odd, solver_.residual);
    column.b_norm = std::hypot(even.norm, odd.norm);
    if (even.unit != 1 || odd.unit != 1 || !(column.b_norm > 0) || !std::isfinite(column.b_norm)) return false;
    const auto [norm, undivided] = solver_.prepare(b, 1, x);
    column.b_hat_norm = norm;
    column.gain = undivided / norm;
    if (!(column.gain > 0)) column.gain = 1;
    algebra.copy(solver_.b_hat, b_hat_[c]);
    return krylov::unit_of(algebra, b_hat_[c], solver_.residual).unit == 1 && norm > 0;
}

template <Space S>
std::uint64_t ColumnSolver<S>::take_applications() {
    auto count = A_.take_applications();
    std::visit(
        [&]<class Inner>(Inner& inner) {
            if constexpr (!std::is_same_v<Inner, std::monostate>) count += inner.A.take_applications();
        },
        inner_);
    return count;
}

template <Space S>
std::vector<SolveLog> ColumnSolver<S>::solve(std::vector<ResidentField<S>>& b, std::vector<ResidentField<S>>& x,
                                             const krylov::StopFunction& stop) {
    KS_REQUIRE(b.size() == x.size() && static_cast<int>(b.size()) <= columns(),
               fmt::format("{} right-hand sides and {} solutions are given to a solver of {} columns", b.size(), x.size(), columns()));
    Stopwatch watch;
    take_applications();
    std::vector<Column> all(b.size());
    const auto at = [](int c) { return static_cast<std::size_t>(c); };
    ColumnSet together, alone;
    std::vector<Field<S, outer>*> even;
    for (int c = 0; c < static_cast<int>(b.size()); ++c) {
        (prepare(c, b[at(c)], x[at(c)], all[at(c)]) ? together : alone).push_back(c);
        even.push_back(&x[at(c)].even);
    }
    const std::size_t untried = alone.size();  // at the front of `alone`: columns that were not solved together
    FieldColumns<S, outer> x_even(std::move(even));
    constexpr int most_corrections = 4;
    while (!together.empty()) {
        krylov::ColumnCourses courses(stop);
        for (const auto& column : all) {
            const double scale =
                column.gain * column.b_hat_norm / column.b_norm;  // from the even system's relative residual to the full one's
            krylov::Options how;
            how.rtol = scale > 0 ? std::min(0.9 * solver_.options.rtol / scale, 1.) : 1;
            how.iteration_limit = solver_.options.iteration_limit - std::max(column.log.iterations, column.log.inner_iterations);
            if (nested()) how.stagnation_limit = 5;
            courses.add(how, column.b_hat_norm);
        }
        std::visit(
            [&]<class Inner>(Inner& inner) {
                if constexpr (!std::is_same_v<Inner, std::monostate>) iterate(inner, together, x_even, courses);
            },
            inner_);
        ColumnSet again;
        for (const int c : together) {
            auto& [log, b_norm, b_hat_norm, gain, relative, corrections, next] = all[at(c)];
            auto& x_here = x[at(c)];
            const auto& part = courses[c].log;
            const double scale = gain * b_hat_norm / b_norm;
            log.iterations += part.iterations;
            log.inner_iterations += part.inner_iterations;
            log.updates += part.updates;
            log.restarts += part.restarts;
            for (const double r : part.residuals) log.residuals.push_back(r * scale);
            log.notes.insert(log.notes.end(), part.notes.begin(), part.notes.end());
            solver_.A->reconstruct(x_here.even, x_here.odd);
            relative = solver_.full_residual(b[at(c)], 1, x_here) / b_norm;
            log.end = part.end;
            if (relative <= solver_.options.rtol) {
                log.end = krylov::Outcome::converged;
            } else if (std::max(log.iterations, log.inner_iterations) >= solver_.options.iteration_limit) {
                log.end = krylov::Outcome::iteration_limit;
            } else if (part.converged() && corrections < most_corrections) {
                ++corrections;
                gain = std::max(1.1 * relative * b_norm / (part.true_residual * b_hat_norm), 1.1 * gain);
                solver_.algebra.axpby(1, b[at(c)].odd, 0, x_here.odd);
                solver_.A->divide_odd(x_here.odd);
                again.push_back(c);
            } else if (part.end != krylov::Outcome::stopped) {
                log.notes.push_back(fmt::format("together with other columns it ended at residual {:.1e} ({}): it continues alone",
                                                relative, krylov::name(part.end)));
                next = detail::after({nested() ? Method::nested_bicgstab : Method::bicgstab, solver_.options.inner, false}, solver_.options,
                                     part.converged() ? krylov::Outcome::stagnated : part.end, relative, log.notes);
                if (!(relative <= 1)) solver_.zero(x_here), relative = 1;
                alone.push_back(c);
            }
            log.true_residual = relative;
        }
        together = std::move(again);
    }
    synchronize(solver_.domain.space());
    // Useful flop of the columns together, and their time.
    double iterations = 0;
    for (const auto& column : all) iterations += std::max(column.log.iterations, column.log.inner_iterations);
    const double per_application = 2 * 1320 + 48 + (solver_.A->has_clover() ? 2 * 504 : 0);
    const double flops = (static_cast<double>(take_applications()) * per_application + iterations * detail::bicgstab_flops) *
                         static_cast<double>(solver_.domain.volume()) / 2;
    const double seconds = watch.seconds();
    solver_.take_applications();
    std::vector<SolveLog> logs;
    for (auto& column : all) {
        if (!column.log.residuals.empty()) column.log.residuals.push_back(column.log.true_residual);
        column.log.seconds = seconds / static_cast<double>(all.size());
        column.log.gflops = seconds > 0 ? flops / seconds * 1e-9 : 0;
        logs.push_back(std::move(column.log));
    }
    const int limit = solver_.options.iteration_limit;
    for (std::size_t k = 0; k < alone.size(); ++k) {
        const int c = alone[k];
        auto& before = logs[at(c)];
        solver_.options.iteration_limit = limit - std::max(before.iterations, before.inner_iterations);
        auto log = solver_.solve(b[at(c)], x[at(c)], stop, all[at(c)].next);
        log.iterations += before.iterations;
        log.inner_iterations += before.inner_iterations;
        log.updates += before.updates;
        log.restarts += before.restarts;
        log.seconds += before.seconds;
        log.residuals.insert(log.residuals.begin(), before.residuals.begin(), before.residuals.end());
        log.notes.insert(log.notes.begin(), before.notes.begin(), before.notes.end());
        before = std::move(log);
        // The other columns that failed together would fail alone as this one, after as long a time.
        if (k >= untried && !before.converged() && before.end != krylov::Outcome::not_finite) break;
    }
    solver_.options.iteration_limit = limit;
    return logs;
}

extern template class ColumnSolver<Cpu>;
#if defined(KASANE_CUDA)
extern template class ColumnSolver<Cuda>;
#endif

}  // namespace kasane::lattice
