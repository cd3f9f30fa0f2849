#include <kasane/sparse/distributed/part_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/comm/worker_memory.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/lobpcg.hpp>
#include <kasane/krylov/minres.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/distributed/scaled_parts.hpp>
#include <kasane/sparse/distributed/slab_multigrid.hpp>
#include <kasane/sparse/distributed/slab_rows.hpp>
#include <kasane/sparse/distributed/subdomain.hpp>
#include <kasane/sparse/distributed/two_level_preconditioner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kasane::sparse {
namespace {

/// A type of this file, so that the methods' instances have internal linkage: object files become a third smaller.
template <Space S, class User = double>
struct PartAlgebra : DistributedAlgebra<S, User> {
    using DistributedAlgebra<S, User>::DistributedAlgebra;
};

/// Solves with vectors on a space. @param run  the method: from vectors and options to a log
template <Space S, class User, class Run>
SolveLog solve_on(S on, comm::Worker& worker, const std::vector<User>& b, std::vector<User>& x, Buffer<Number<User>, S>& rhs,
                  Buffer<Number<User>, S>& solution, const Tolerance& tolerance, const StopFunction& stop, const Run& run) {
    copy_from_host(on, rhs.view(), as_numbers(b));
    copy_from_host(on, solution.view(), as_numbers(std::as_const(x)));
    krylov::Options how;
    how.rtol = tolerance.rtol;
    how.iteration_limit = static_cast<int>(tolerance.iteration_limit);
    how.true_residual_slack = 1;
    how.stop = comm::agreed(worker, stop);
    SolveLog log;
    const Stopwatch iterations;
    static_cast<krylov::SolveLog&>(log) = run(how);
    synchronize(on);
    log.iteration_seconds = iterations.seconds();
    copy_to_host(on, as_numbers(x), View<const Number<User>>(solution.view()));
    return log;
}

/// Ends all workers alike where one has less memory than it needs. @param what  needs it   @throws InputError
void agree_on_memory(const AnySpace& on, comm::Worker& worker, std::uint64_t needed, const char* what) {
    std::string problem;
    if (const auto there = comm::available_memory(worker, on); needed > there)
        problem = fmt::format("{} needs about {} MiB of memory on {}, and {} MiB are free: take more workers", what, needed >> 20, name(on),
                              there >> 20);
    if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw InputError(reason);
}

/// Vectors of a worker's numbers that the method has beside b and x.
std::uint64_t vectors_of(const PartSetup& setup) {
    switch (setup.method) {
        case GeneralMethod::cg: return 4;
        case GeneralMethod::gmres: return 2 * static_cast<std::uint64_t>(setup.restart) + 1;
        case GeneralMethod::minres: return 7;
        default: return 6;
    }
}

template <Space S, class User>
class RowsOn final : public PartSolver<User> {
    static constexpr bool is_real = std::same_as<User, double>;
    using Algebra = PartAlgebra<S, User>;
    using Vector = typename Algebra::Vector;
    using Subdomain = SubdomainPreconditioner<S, User>;

   public:
    RowsOn(S on, comm::Worker& worker, const RowPartOf<User>& part, const PartSetup& setup)
        : on_(on),
          worker_(worker),
          algebra_(on, worker),
          setup_(setup),
          operator_(on, worker, part, static_cast<int>(setup.block)),
          row_scale_(part.row_scale),
          b_(on, part.own()),
          x_(on, part.own()) {
        std::string problem;
        std::unique_ptr<Subdomain> subdomain;
        try {
            const bool minres = setup.method == GeneralMethod::minres;
            subdomain = std::make_unique<Subdomain>(on, worker, part, setup.precondition, setup.positive != 0 || minres,
                                                    static_cast<int>(setup.block), minres || setup.method == GeneralMethod::gmres);
        } catch (const PreconditionError& error) {
            problem = error.what();
        }
        if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw PreconditionError(reason);
        shift_ = subdomain->shift();
        std::optional<CoarseSystem<S, User>> coarse;
        if (setup.coarse_rows > 0) coarse.emplace(on, worker, part, setup.coarse_rows, static_cast<int>(setup.block));
        if (coarse && !coarse->usable()) coarse.reset();
        preconditioner_.emplace(operator_, std::move(subdomain), std::move(coarse), b_);
        switch (setup.method) {
            case GeneralMethod::cg: cg_.emplace(algebra_.like(b_), algebra_.like(b_), algebra_.like(b_), algebra_.like(b_)); break;
            case GeneralMethod::gmres: gmres_.emplace(algebra_, b_, static_cast<int>(setup.restart)); break;
            case GeneralMethod::minres:
                if constexpr (is_real) minres_.emplace(algebra_, b_);
                break;
            default: bicgstab_.emplace(algebra_, b_, true);
        }
    }

    SolveLog solve(const std::vector<User>& b, std::vector<User>& x, const Tolerance& tolerance, const StopFunction& stop) override {
        return solve_on(on_, worker_, b, x, b_, x_, tolerance, stop, [&](const krylov::Options& how) {
            if constexpr (!is_real) {
                if (!row_scale_.empty()) return run_to_users_tolerance(b, how);
            }
            return run(how);
        });
    }
    Eigenpairs eigenpairs(const std::vector<std::vector<User>*>& X, int wanted, const Tolerance& tolerance,
                          const StopFunction& stop) override {
        if constexpr (!is_real) {
            return PartSolver<User>::eigenpairs(X, wanted, tolerance, stop);
        } else {
            constexpr std::uint64_t vectors_of_each = 8;  // of lobpcg
            const auto needed = vectors_of_each * X.size() * 8 * static_cast<std::uint64_t>(b_.size());
            agree_on_memory(on_, worker_, needed, "its part of the vectors of eigenvalues");
            std::vector<Vector> vectors;
            for (const auto* one : X) vectors.push_back(to_space(on_, *one));
            krylov::Options how;
            how.rtol = tolerance.rtol;
            how.iteration_limit = static_cast<int>(tolerance.iteration_limit);
            how.stop = comm::agreed(worker_, stop);
            const typename TwoLevelPreconditioner<S>::Symmetric M(*preconditioner_);
            const auto count = static_cast<std::size_t>(wanted);
            const Stopwatch watch;
            const auto log = krylov::lobpcg(algebra_, operator_, M, vectors, count, how);
            synchronize(on_);
            Eigenpairs found;
            found.seconds = watch.seconds();
            found.end = log.end;
            found.iterations = log.iterations;
            if (log.values.size() >= count) {
                found.values.assign(log.values.begin(), log.values.begin() + wanted);
                found.residuals.assign(log.residuals.begin(), log.residuals.begin() + wanted);
            }
            for (std::size_t j = 0; j < count; ++j) *X[j] = to_host(vectors[j]);
            return found;
        }
    }
    std::uint64_t bytes() const override {
        return operator_.bytes() + preconditioner_->bytes() +
               (2 + vectors_of(setup_)) * sizeof(User) * static_cast<std::uint64_t>(b_.size());
    }
    double shift() const override { return shift_; }
    index_t coarse_rows() const override { return preconditioner_->coarse_rows(); }

   private:
    /// Iterates from x_ on.
    krylov::SolveLog run(const krylov::Options& how) {
        if constexpr (is_real) {
            if (minres_) return krylov::minres(algebra_, operator_, *preconditioner_, b_, x_, *minres_, how);
        }
        preconditioner_->prepare(algebra_, b_, x_, how.rtol, cg_ ? cg_->r : gmres_ ? gmres_->v[0] : bicgstab_->r);
        if (gmres_) return krylov::fgmres(algebra_, operator_, *preconditioner_, b_, x_, *gmres_, how);
        if (cg_) return conjugate_gradients(how);
        return krylov::bicgstab(algebra_, operator_, *preconditioner_, b_, x_, *bicgstab_, how);
    }

    /// Of a scaled system: iterates again with a smaller tolerance where the residual in the user's units needs it; x_ is the best x then.
    /// @return the log, with the true residual in the user's units
    krylov::SolveLog run_to_users_tolerance(const std::vector<User>& b, krylov::Options how)
        requires(!is_real)
    {
        const double rtol = how.rtol;
        const int limit = how.iteration_limit;
        const auto stop = how.stop;
        Vector best = algebra_.like(x_), r = algebra_.like(x_);
        const auto residual = [&] {
            operator_.apply(algebra_, x_, r);
            algebra_.axpby(1, b_, -1, r);
            std::vector<User> on_host(b.size());
            copy_to_host(on_, as_numbers(on_host), View<const Number<User>>(r.view()));
            return relative_in_user_units(worker_, b, on_host, row_scale_);
        };
        krylov::SolveLog log;
        log.true_residual = residual();
        if (!std::isfinite(log.true_residual)) {
            algebra_.zero(x_);
            log.true_residual = residual();
        }
        algebra_.copy(x_, best);
        log.end = log.true_residual <= rtol ? krylov::Outcome::converged : krylov::Outcome::stagnated;
        for (int attempt = 0; attempt < 4 && how.rtol >= 1e-17 && log.end != krylov::Outcome::converged; ++attempt) {
            const int before = log.iterations;
            how.iteration_limit = limit - before;
            if (stop) how.stop = [&](int iteration, double relative) { return stop(before + iteration, relative); };
            const auto done = run(how);
            log.iterations += done.iterations;
            log.updates += done.updates;
            log.restarts += done.restarts;
            log.residuals.insert(log.residuals.end(), done.residuals.begin(), done.residuals.end());
            if (!log.residuals.empty()) log.residuals.pop_back();  // the true residual of the scaled system
            if (const double now = residual(); now <= log.true_residual) {
                log.true_residual = now;
                algebra_.copy(x_, best);
            } else {
                algebra_.copy(best, x_);
            }
            log.end = log.true_residual <= rtol                ? krylov::Outcome::converged
                      : done.end == krylov::Outcome::converged ? krylov::Outcome::stagnated
                                                               : done.end;
            if (done.end != krylov::Outcome::converged) break;
            if (log.iterations >= limit && log.end != krylov::Outcome::converged) log.end = krylov::Outcome::iteration_limit;
            if (log.iterations >= limit) break;
            how.rtol *= std::min(0.5, 0.5 * rtol / log.true_residual);
        }
        log.residuals.push_back(log.true_residual);
        return log;
    }

    krylov::SolveLog conjugate_gradients(const krylov::Options& how) {
        if constexpr (is_real) {
            return krylov::conjugate_gradients(algebra_, operator_, *preconditioner_, b_, x_, *cg_, how);
        } else {
            HermitianAlgebra real_products(algebra_);
            return krylov::conjugate_gradients(real_products, operator_, *preconditioner_, b_, x_, *cg_, how);
        }
    }

    S on_;
    comm::Worker& worker_;
    Algebra algebra_;
    PartSetup setup_;
    PartOperator<S, User> operator_;
    std::optional<TwoLevelPreconditioner<S, User>> preconditioner_;
    double shift_ = 0;
    std::vector<std::int32_t> row_scale_;  ///< of a scaled system
    Vector b_, x_;
    std::optional<krylov::CgWorkspace<Vector>> cg_;
    std::optional<krylov::BicgstabWorkspace<Algebra>> bicgstab_;
    std::optional<krylov::FgmresWorkspace<Algebra>> gmres_;
    std::optional<krylov::MinresWorkspace<Algebra>> minres_;
};

template <Space S>
class SlabOn final : public PartSolver<double> {
   public:
    SlabOn(S on, comm::Worker& worker, const BoxPart& part)
        : on_(on),
          worker_(worker),
          algebra_(on, worker),
          box_(std::in_place, on, worker, part),
          preconditioner_(on, worker, part, *box_),
          b_(on, box_->cells().plane() * box_->own().count()),
          x_(on, b_.size()),
          work_{algebra_.like(b_), algebra_.like(b_), algebra_.like(b_), algebra_.like(b_)} {
        if (!part.has_rows()) return;
        box_.reset();
        constexpr int behind_box_and_multigrid = 2 * PlaneExchange<S>::channels;
        rows_.emplace(on, worker, part, behind_box_and_multigrid);
    }

    /// The interface of krylov: out = A in.
    void apply(DistributedAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const {
        if (rows_)
            rows_->apply(algebra, in, out);
        else
            box_->apply(algebra, in, out);
    }

    SolveLog solve(const std::vector<double>& b, std::vector<double>& x, const Tolerance& tolerance, const StopFunction& stop) override {
        return solve_on(on_, worker_, b, x, b_, x_, tolerance, stop, [&](const krylov::Options& how) {
            return krylov::conjugate_gradients(algebra_, *this, preconditioner_, b_, x_, work_, how);
        });
    }
    std::uint64_t bytes() const override {
        return (rows_ ? rows_->bytes() : box_->bytes()) + preconditioner_.bytes() + 6 * 8 * static_cast<std::uint64_t>(b_.size());
    }
    std::vector<std::array<int, 3>> grids() const override {
        std::vector<std::array<int, 3>> all;
        for (const auto& cells : preconditioner_.grids()) all.push_back({cells.n[0], cells.n[1], cells.n[2]});
        return all;
    }

   private:
    S on_;
    comm::Worker& worker_;
    PartAlgebra<S> algebra_;
    std::optional<SlabOperator<S>> box_;
    std::optional<SlabRows<S>> rows_;  ///< of a tensor that couples directions, in place of box_
    SlabMultigrid<S> preconditioner_;
    Buffer<double, S> b_, x_;
    krylov::CgWorkspace<Buffer<double, S>> work_;
};

/// Bytes that a worker needs on its space.
template <class User>
std::uint64_t memory_of_part(const RowPartOf<User>& part, const PartSetup& setup) {
    const auto of_matrix = [](const MatrixOf<User>& A) {
        return static_cast<std::uint64_t>(A.nonzeros()) * (4 + sizeof(User)) + static_cast<std::uint64_t>(A.rows()) * 24;
    };
    const MatrixOf<User>& subdomain = part.extended.rows() > 0 ? part.extended : part.inner;
    // Multigrid: the matrix, its copy in single precision, prolongators and coarse levels; of complex numbers, of the real form, which has
    // four entries of 12 bytes for one of 20.
    const std::uint64_t of_multigrid = std::same_as<User, double> ? 4 : 10;
    const std::uint64_t preconditioner = of_matrix(subdomain) * (setup.precondition == Precondition::multigrid ? of_multigrid : 2);
    // The inverse of the coarse system, three tables of rows, and phases of complex numbers.
    const auto coarse_rows = static_cast<std::uint64_t>(setup.coarse_rows);
    const std::uint64_t coarse =
        coarse_rows * coarse_rows * sizeof(User) +
        static_cast<std::uint64_t>(part.own()) * (coarse_rows > 0 ? 12 + (std::same_as<User, double> ? 1 : 2) * sizeof(User) : 0);
    return of_matrix(part.inner) * 11 / 10 + of_matrix(part.outer) + preconditioner + coarse +
           static_cast<std::uint64_t>(part.own()) * sizeof(User) * (4 + vectors_of(setup) + (part.row_scale.empty() ? 0 : 3));
}

std::uint64_t memory_of_part(const BoxPart& part, const PartSetup&) {
    // As poisson_solver_memory(): conductances 24, vectors 48, the grids of the slab and those that workers have whole; and the rows of a
    // tensor, with their stencils.
    const auto entries = static_cast<std::uint64_t>(part.inner.nonzeros() + part.outer.nonzeros());
    const bool periodic = std::ranges::find(part.periodic, 1) != part.periodic.end();
    const auto cells = static_cast<index_t>(part.face[0].size());
    return static_cast<std::uint64_t>(cells) * (24 + 48) +
           grids_memory(cells + most_whole_cells(part.whole_box().count(), part.begin), periodic) + 12 * entries +
           5 * static_cast<std::uint64_t>(part.inner.rows());
}

/// Ends all workers alike where one has another kind of space than worker 0, or less memory than its part needs. @throws InputError
template <class Part>
void agree_on_space(const AnySpace& on, comm::Worker& worker, const Part& part, const PartSetup& setup) {
    const char* const problem = on.index() != setup.kind ? "another kind of device than worker 0's: take cpu for all, or cuda for all" : "";
    if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw InputError(reason);
    agree_on_memory(on, worker, memory_of_part(part, setup), "its part");
}

}  // namespace

template <class User>
std::unique_ptr<PartSolver<User>> part_solver(const AnySpace& on, comm::Worker& worker, const RowPartOf<User>& part,
                                              const PartSetup& setup) {
    agree_on_space(on, worker, part, setup);
    return std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<PartSolver<User>> {
            return std::make_unique<RowsOn<S, User>>(space, worker, part, setup);
        },
        on);
}

template std::unique_ptr<PartSolver<double>> part_solver(const AnySpace&, comm::Worker&, const RowPart&, const PartSetup&);
template std::unique_ptr<PartSolver<std::complex<double>>> part_solver(const AnySpace&, comm::Worker&,
                                                                       const RowPartOf<std::complex<double>>&, const PartSetup&);

std::unique_ptr<PartSolver<double>> part_solver(const AnySpace& on, comm::Worker& worker, const BoxPart& part, const PartSetup& setup) {
    agree_on_space(on, worker, part, setup);
    return std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<PartSolver<double>> { return std::make_unique<SlabOn<S>>(space, worker, part); }, on);
}

}  // namespace kasane::sparse
