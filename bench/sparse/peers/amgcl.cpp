#include <bench/sparse/peers/amgcl.hpp>

#if defined(KASANE_PEER_AMGCL)
#include <bench/sparse/processor_clock.hpp>
#include <kasane/core/base/timer.hpp>

#include <omp.h>

#define AMGCL_NO_BOOST
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>

#include <exception>
#include <tuple>

namespace kasane::bench {
namespace {

using Backend = amgcl::backend::builtin<double>;
using Aggregation = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;

template <class Iteration>
PeerSolve solve_by(const std::string& method, const PeerProblem& problem) {
    using Solver = amgcl::make_solver<Aggregation, Iteration>;
    PeerSolve out;
    out.name = "AMGCL " + method + ", smoothed aggregation";
    out.version = "AMGCL, SPAI-0";
    typename Solver::params how;
    how.solver.tol = problem.rtol;
    how.solver.maxiter = 10000;
    const ProcessorClock clock;
    Stopwatch watch;
    try {
        const auto& A = problem.matrix;
        const auto rows = static_cast<std::ptrdiff_t>(A.rows());
        Solver solver(std::tie(rows, A.begin, A.column, A.value), how);
        out.setup_seconds = watch.seconds();
        watch.restart();
        std::vector<double> x(problem.b.size(), 0.);
        const auto [iterations, error] = solver(problem.b, x);
        out.solve_seconds = watch.seconds();
        out.processor_seconds = clock.seconds();
        out.iterations = static_cast<double>(iterations);
        out.true_residual = relative_residual(A, problem.b, x);
    } catch (const std::exception& failed) {
        out.failure = failed.what();
    }
    return out;
}

}  // namespace

void solve_with_amgcl(const PeerProblem& problem, Cpu on, const std::function<void(const PeerSolve&)>& report) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(thread_count(on));
    const auto done = problem.symmetric ? solve_by<amgcl::solver::cg<Backend>>("cg", problem)
                                        : solve_by<amgcl::solver::bicgstab<Backend>>("bicgstab", problem);
    omp_set_num_threads(before);
    report(done);
}

}  // namespace kasane::bench
#else
namespace kasane::bench {
void solve_with_amgcl(const PeerProblem&, Cpu, const std::function<void(const PeerSolve&)>&) {}
}  // namespace kasane::bench
#endif
