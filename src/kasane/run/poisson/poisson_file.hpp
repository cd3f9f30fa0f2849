// A run file of a Poisson problem, read and checked as a whole: the box, what holds it, what drives it, how it is solved.
// Invariants: every value is in range and every file named has the wanted shape; reading evaluates no formula and writes nothing.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
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

struct PoissonFile {
    std::filesystem::path path;
    std::string title;
    AnySpace space;
    sparse::PoissonProblem problem;  ///< source and coefficient still empty: see load()
    CellField source, coefficient;
    sparse::SolverOptions solver;
    std::filesystem::path directory;  ///< output; relative to the working directory
    double checkpoint_every = 0;      ///< [s] of wall time; 0: only when interrupted
    bool report = true;
    Where cells;  ///< of the key that makes the problem as large as it is
    std::array<Where, 6> faces;
    std::string resolved;  ///< the run file with every key spelled out
    std::vector<std::string> unused_keys;
    std::vector<std::string> notes;  ///< what the user should know of these choices, one sentence each
};

/// @throws InputError with everything that is wrong with the file, with line and column
PoissonFile read_poisson_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings = {});

/// The problem with its source and coefficients. @throws InputError naming the key: a formula that is not finite somewhere, a file that is
/// damaged, a coefficient that is not positive, magnitudes beyond the range of doubles, sources and fluxes that do not balance where no
/// face holds phi
sparse::PoissonProblem load(const PoissonFile& file);

/// Memory that the run takes at its peak, and that there is.
struct PoissonMemory {
    std::uint64_t host_bytes = 0, host_available = 0;
    std::uint64_t device_bytes = 0, device_available = 0;  ///< zero on the CPU
};
PoissonMemory memory(const PoissonFile& file);
/// @throws InputError naming the key that asks for too many cells, with both numbers
void check_memory(const PoissonFile& file);

/// What the choices rest on, in the order: problem, iteration, preconditioner, ordering, format. "auto" stands for all it may choose.
std::vector<std::string> papers(const sparse::SolverOptions& solver);

}  // namespace kasane::run
