// The run file of a Poisson problem, read and checked as a whole: grid, boundary, coefficient, source, solver, output.
// Invariants: every value is in range and every file has the needed shape; reading evaluates no formula and writes nothing.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/run/driver/kind.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// One number for each cell: by a formula, or from an HDF5 data set of shape (nz, ny, nx) or (nz ny nx).
struct CellField {
    std::string formula;  ///< empty: from the file
    std::filesystem::path file;
    std::string dataset;
    Where where;  ///< of the key that gives it
};

struct PoissonFile : RunFile {
    sparse::PoissonProblem problem;  ///< source and coefficient still empty: see load()
    CellField source, coefficient;
    /// Components of the tensor in the order of PoissonProblem::tensor, where formulas give it. `problem` then has placeholders of one
    /// number, which say which components there are; so it has where `coefficient` is a file of tensors.
    std::array<CellField, 6> tensor;
    /// Solved by a PoissonSolver with rtol and iteration_limit of `solver`, whose other options are used for a tensor alone, where
    /// geometric_multigrid_pays() is false.
    bool multigrid = false;
    sparse::SolverOptions solver;
    Where cells;  ///< of the key that sets the size of the problem
    std::array<Where, 6> faces;
};

/// @throws InputError with everything that is wrong with the file, with line and column
PoissonFile read_poisson_file(const RunSource& source);

/// The problem with its source and coefficients. @throws InputError naming the key: a formula that is not finite somewhere, a file that is
/// damaged, a coefficient or tensor that is not positive, magnitudes beyond the range of doubles, sources and fluxes that do not balance
/// where no face holds phi
sparse::PoissonProblem load(const PoissonFile& file);

/// Peak memory of the run on one worker, and free memory.
RunMemory memory(const PoissonFile& file);
/// Does the same for each rank of several workers.
std::vector<RunMemory> memory_on_workers(const PoissonFile& file, const RankCoordinator& ranks);
/// A formula, or a data set and the name of its file.
std::string field_text(const CellField& field);
/// The coefficient, or the components of the tensor that are not 0, in words.
std::string coefficient_text(const PoissonFile& file);
/// "128 x 128 x 128"
std::string cell_text(const sparse::PoissonProblem& problem);

/// Sources of the methods, in the order: problem, iteration, preconditioner, ordering, format. "auto" gives the papers of all methods that
/// it may choose.
std::vector<std::string> papers(bool multigrid, const sparse::SolverOptions& solver);

}  // namespace kasane::run
