// The part of `kasane solve` for several workers: ranks of an MPI launcher, or GPUs of a rank.
#pragma once

#include <app/solve_general.hpp>
#include <app/solved.hpp>
#include <app/workers.hpp>
#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <complex>
#include <optional>
#include <string>
#include <vector>

namespace kasane::app {

/// Options as given.
struct WorkerChoices {
    int gpus_per_rank = 1;
    int overlap = 0;
    std::optional<int> coarse;
};

/// Adds --gpus-per-rank, --overlap and --coarse.
void add_worker_options(CLI::App& app, WorkerChoices& choices);

bool has_several_workers(const Common& common, const WorkerChoices& choices);

/// Options of a DistributedSolver. @param general  has method and restart   @param precondition  of --precondition
/// @param shared  has tolerance and limit   @param complex  the matrix is
/// @throws InputError naming each option that one worker, or a real matrix, alone has
sparse::DistributedOptions distributed_options(const WorkerChoices& choices, const GeneralChoices& general, std::string precondition,
                                               const sparse::SolverOptions& shared, const CLI::App& app, bool complex);
/// The same for eigenvalues. @param how  preconditioner, tolerance and limit
sparse::DistributedOptions distributed_options(const WorkerChoices& choices, const sparse::EigenOptions& how, int block,
                                               const CLI::App& app);

/// Options for multigrid of a complex matrix on one worker: the matrix is the subdomain. @throws InputError as the other functions
sparse::DistributedOptions complex_multigrid_options(const GeneralChoices& general, const sparse::SolverOptions& shared,
                                                     const CLI::App& app);

/// @throws InputError where one worker was given an option of several
void refuse_options_of_workers(const CLI::App& app);

/// @param file  of A   @throws InputError naming the file, ComputationError
Solved solve_on_workers(const Common& common, const std::string& file, const Workers& workers, const sparse::CsrMatrix& A,
                        const sparse::DistributedOptions& options, const sparse::VectorColumns& b, std::vector<double>& x);
Solved solve_on_workers(const Common& common, const std::string& file, const Workers& workers, const sparse::ComplexCsrMatrix& A,
                        const sparse::DistributedOptions& options, const sparse::ComplexColumns& b, std::vector<std::complex<double>>& x);

/// @param file  of A   @throws InputError naming the file, ComputationError
sparse::Eigenpairs eigenpairs_on_workers(const Common& common, const std::string& file, const Workers& workers, const sparse::CsrMatrix& A,
                                         const sparse::DistributedOptions& options, int count, const sparse::StopFunction& stop);

/// The worker loops of `kasane solve` for the ranks but the root rank: of real and of complex matrices.
inline constexpr const char *solve_loop = "solve", *complex_solve_loop = "complex solve";
void run_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);
void run_complex_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

}  // namespace kasane::app
