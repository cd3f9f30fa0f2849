#include <kasane/sparse/distributed/part_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/distributed/subdomain.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <variant>

namespace kasane::sparse {
namespace {

template <Space S>
class PartSolverOn final : public PartSolver {
   public:
    PartSolverOn(S on, comm::Worker& worker, const RowPart& part, const PartSetup& setup)
        : on_(on),
          worker_(worker),
          setup_(setup),
          algebra_(on, worker),
          operator_(on, worker, part),
          b_(on, part.own()),
          x_(on, part.own()) {
        std::string problem;
        try {
            preconditioner_.emplace(on, worker, part, setup.precondition, setup.positive != 0);
        } catch (const PreconditionError& error) {
            problem = error.what();
        }
        if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw PreconditionError(reason);
        if (setup.conjugate != 0)
            cg_.emplace(algebra_.like(b_), algebra_.like(b_), algebra_.like(b_), algebra_.like(b_));
        else
            bicgstab_.emplace(algebra_, b_, true);
    }

    SolveLog solve(const std::vector<double>& b, std::vector<double>& x, const StopFunction& stop) override {
        copy_from_host(on_, b_.view(), view(b));
        copy_from_host(on_, x_.view(), view(x));
        krylov::Options how;
        how.rtol = setup_.rtol;
        how.iteration_limit = static_cast<int>(setup_.iteration_limit);
        how.true_residual_slack = 1;
        how.stop = comm::agreed(worker_, stop);
        SolveLog log;
        static_cast<krylov::SolveLog&>(log) = cg_ ? krylov::conjugate_gradients(algebra_, operator_, *preconditioner_, b_, x_, *cg_, how)
                                                  : krylov::bicgstab(algebra_, operator_, *preconditioner_, b_, x_, *bicgstab_, how);
        copy_to_host(on_, view(x), View<const double>(x_.view()));
        return log;
    }
    std::uint64_t bytes() const override {
        const std::uint64_t vectors = 2 + (cg_ ? 4 : 6);
        return operator_.bytes() + preconditioner_->bytes() + vectors * 8 * static_cast<std::uint64_t>(b_.size());
    }
    double shift() const override { return preconditioner_->shift(); }

   private:
    S on_;
    comm::Worker& worker_;
    PartSetup setup_;
    DistributedAlgebra<S> algebra_;
    PartOperator<S> operator_;
    std::optional<SubdomainPreconditioner<S>> preconditioner_;
    Buffer<double, S> b_, x_;
    std::optional<krylov::CgWorkspace<Buffer<double, S>>> cg_;
    std::optional<krylov::BicgstabWorkspace<DistributedAlgebra<S>>> bicgstab_;
};

/// Bytes that a worker needs on its space.
std::uint64_t memory_of_part(const RowPart& part, const PartSetup& setup) {
    const auto of_matrix = [](const CsrMatrix& A) {
        return static_cast<std::uint64_t>(A.nonzeros()) * 12 + static_cast<std::uint64_t>(A.rows()) * 24;
    };
    const CsrMatrix& subdomain = part.extended.rows() > 0 ? part.extended : part.inner;
    // Multigrid: the matrix, its copy in single precision, prolongators and coarse levels.
    const std::uint64_t preconditioner = of_matrix(subdomain) * (setup.precondition == Precondition::multigrid ? 4 : 2);
    return of_matrix(part.inner) * 11 / 10 + of_matrix(part.outer) + preconditioner + static_cast<std::uint64_t>(part.own()) * 8 * 10;
}

std::string memory_problem(const AnySpace& on, comm::Worker& worker, const RowPart& part, const PartSetup& setup) {
    const int sharing = std::holds_alternative<Cpu>(on) ? worker.ranks().local_size() * worker.communicator().workers_per_rank() : 1;
    const auto needed = memory_of_part(part, setup), there = available_memory(on) / static_cast<std::uint64_t>(sharing);
    if (needed <= there) return {};
    return fmt::format("{} rows need about {} MiB of memory on {}, and {} MiB are free: take more workers", part.own(), needed >> 20,
                       name(on), there >> 20);
}

}  // namespace

std::unique_ptr<PartSolver> part_solver(const AnySpace& on, comm::Worker& worker, const RowPart& part, const PartSetup& setup) {
    const auto agree = [&](const std::string& problem) {
        if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw InputError(reason);
    };
    agree(on.index() == setup.kind ? "" : "another kind of device than worker 0's: take cpu for all, or cuda for all");
    agree(memory_problem(on, worker, part, setup));
    return std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<PartSolver> { return std::make_unique<PartSolverOn<S>>(space, worker, part, setup); }, on);
}

}  // namespace kasane::sparse
