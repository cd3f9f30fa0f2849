#include <kasane/sparse/distributed/part_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/comm/worker_memory.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/distributed/slab_multigrid.hpp>
#include <kasane/sparse/distributed/subdomain.hpp>
#include <kasane/sparse/distributed/two_level_preconditioner.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <variant>

namespace kasane::sparse {
namespace {

/// Solves with vectors on a space. @param run  the method: from vectors and options to a log
template <Space S, class Run>
SolveLog solve_on(S on, comm::Worker& worker, const std::vector<double>& b, std::vector<double>& x, Buffer<double, S>& rhs,
                  Buffer<double, S>& solution, const Tolerance& tolerance, const StopFunction& stop, const Run& run) {
    copy_from_host(on, rhs.view(), view(b));
    copy_from_host(on, solution.view(), view(x));
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
    copy_to_host(on, view(x), View<const double>(solution.view()));
    return log;
}

template <Space S>
class RowsOn final : public PartSolver {
   public:
    RowsOn(S on, comm::Worker& worker, const RowPart& part, const PartSetup& setup)
        : on_(on), worker_(worker), algebra_(on, worker), operator_(on, worker, part), b_(on, part.own()), x_(on, part.own()) {
        std::string problem;
        std::unique_ptr<SubdomainPreconditioner<S>> subdomain;
        try {
            subdomain = std::make_unique<SubdomainPreconditioner<S>>(on, worker, part, setup.precondition, setup.positive != 0);
        } catch (const PreconditionError& error) {
            problem = error.what();
        }
        if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw PreconditionError(reason);
        std::optional<CoarseSystem<S>> coarse;
        if (setup.coarse_rows > 0) coarse.emplace(on, worker, part, setup.coarse_rows);
        if (coarse && !coarse->usable()) coarse.reset();
        preconditioner_.emplace(operator_, std::move(subdomain), std::move(coarse), b_);
        if (setup.conjugate != 0)
            cg_.emplace(algebra_.like(b_), algebra_.like(b_), algebra_.like(b_), algebra_.like(b_));
        else
            bicgstab_.emplace(algebra_, b_, true);
    }

    SolveLog solve(const std::vector<double>& b, std::vector<double>& x, const Tolerance& tolerance, const StopFunction& stop) override {
        return solve_on(on_, worker_, b, x, b_, x_, tolerance, stop, [&](const krylov::Options& how) {
            preconditioner_->prepare(algebra_, b_, x_, how.rtol, cg_ ? cg_->r : bicgstab_->r);
            return cg_ ? krylov::conjugate_gradients(algebra_, operator_, *preconditioner_, b_, x_, *cg_, how)
                       : krylov::bicgstab(algebra_, operator_, *preconditioner_, b_, x_, *bicgstab_, how);
        });
    }
    std::uint64_t bytes() const override {
        const std::uint64_t vectors = 2 + (cg_ ? 4 : 6);
        return operator_.bytes() + preconditioner_->bytes() + vectors * 8 * static_cast<std::uint64_t>(b_.size());
    }
    double shift() const override { return preconditioner_->subdomains().shift(); }
    index_t coarse_rows() const override { return preconditioner_->coarse_rows(); }

   private:
    S on_;
    comm::Worker& worker_;
    DistributedAlgebra<S> algebra_;
    PartOperator<S> operator_;
    std::optional<TwoLevelPreconditioner<S>> preconditioner_;
    Buffer<double, S> b_, x_;
    std::optional<krylov::CgWorkspace<Buffer<double, S>>> cg_;
    std::optional<krylov::BicgstabWorkspace<DistributedAlgebra<S>>> bicgstab_;
};

template <Space S>
class SlabOn final : public PartSolver {
   public:
    SlabOn(S on, comm::Worker& worker, const BoxPart& part)
        : on_(on),
          worker_(worker),
          algebra_(on, worker),
          operator_(on, worker, part),
          preconditioner_(on, worker, part, operator_),
          b_(on, operator_.cells().plane() * operator_.own().count()),
          x_(on, b_.size()),
          work_{algebra_.like(b_), algebra_.like(b_), algebra_.like(b_), algebra_.like(b_)} {}

    SolveLog solve(const std::vector<double>& b, std::vector<double>& x, const Tolerance& tolerance, const StopFunction& stop) override {
        return solve_on(on_, worker_, b, x, b_, x_, tolerance, stop, [&](const krylov::Options& how) {
            return krylov::conjugate_gradients(algebra_, operator_, preconditioner_, b_, x_, work_, how);
        });
    }
    std::uint64_t bytes() const override {
        return operator_.bytes() + preconditioner_.bytes() + 6 * 8 * static_cast<std::uint64_t>(b_.size());
    }
    std::vector<std::array<int, 3>> grids() const override {
        std::vector<std::array<int, 3>> all;
        for (const auto& cells : preconditioner_.grids()) all.push_back({cells.n[0], cells.n[1], cells.n[2]});
        return all;
    }

   private:
    S on_;
    comm::Worker& worker_;
    DistributedAlgebra<S> algebra_;
    SlabOperator<S> operator_;
    SlabMultigrid<S> preconditioner_;
    Buffer<double, S> b_, x_;
    krylov::CgWorkspace<Buffer<double, S>> work_;
};

/// Bytes that a worker needs on its space.
std::uint64_t memory_of_part(const RowPart& part, const PartSetup& setup) {
    const auto of_matrix = [](const CsrMatrix& A) {
        return static_cast<std::uint64_t>(A.nonzeros()) * 12 + static_cast<std::uint64_t>(A.rows()) * 24;
    };
    const CsrMatrix& subdomain = part.extended.rows() > 0 ? part.extended : part.inner;
    // Multigrid: the matrix, its copy in single precision, prolongators and coarse levels.
    const std::uint64_t preconditioner = of_matrix(subdomain) * (setup.precondition == Precondition::multigrid ? 4 : 2);
    // The inverse of the coarse system and three tables of rows.
    const auto coarse_rows = static_cast<std::uint64_t>(setup.coarse_rows);
    const std::uint64_t coarse = coarse_rows * coarse_rows * 8 + static_cast<std::uint64_t>(part.own()) * (coarse_rows > 0 ? 20 : 0);
    return of_matrix(part.inner) * 11 / 10 + of_matrix(part.outer) + preconditioner + coarse +
           static_cast<std::uint64_t>(part.own()) * 8 * 10;
}

std::uint64_t memory_of_part(const BoxPart& part, const PartSetup&) {
    // As poisson_solver_memory(): conductances 24, of the grids 60, vectors 48.
    return static_cast<std::uint64_t>(part.face[0].size()) * (24 + 60 + 48);
}

/// Ends all workers alike where one has another kind of space than worker 0, or less memory than its part needs. @throws InputError
template <class Part>
void agree_on_space(const AnySpace& on, comm::Worker& worker, const Part& part, const PartSetup& setup) {
    std::string problem;
    const auto needed = memory_of_part(part, setup), there = comm::available_memory(worker, on);
    if (on.index() != setup.kind)
        problem = "another kind of device than worker 0's: take cpu for all, or cuda for all";
    else if (needed > there)
        problem = fmt::format("its part needs about {} MiB of memory on {}, and {} MiB are free: take more workers", needed >> 20, name(on),
                              there >> 20);
    if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw InputError(reason);
}

}  // namespace

std::unique_ptr<PartSolver> part_solver(const AnySpace& on, comm::Worker& worker, const RowPart& part, const PartSetup& setup) {
    agree_on_space(on, worker, part, setup);
    return std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<PartSolver> { return std::make_unique<RowsOn<S>>(space, worker, part, setup); }, on);
}

std::unique_ptr<PartSolver> part_solver(const AnySpace& on, comm::Worker& worker, const BoxPart& part, const PartSetup& setup) {
    agree_on_space(on, worker, part, setup);
    return std::visit([&]<Space S>(S space) -> std::unique_ptr<PartSolver> { return std::make_unique<SlabOn<S>>(space, worker, part); },
                      on);
}

}  // namespace kasane::sparse
