// The output of a Poisson run: solution.hdf5, solution.xmf, which ParaView opens, and checkpoints, which are iterates.
// Invariants: a file appears whole or not at all (AtomicFile); what read_solution returns is exactly what was written.
#pragma once

#include <kasane/run/driver/checkpoint.hpp>
#include <kasane/run/poisson/poisson_record.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// An iterate: the solution, or the state of a checkpoint.
struct Solution : Checkpoint {
    std::array<index_t, 3> cells{};
    std::array<std::vector<double>, 3> faces;    ///< of the cells along x, y, z from 0, [cells + 1] each
    std::vector<double> potential;               ///< [nz][ny][nx]
    std::vector<sparse::ResidualPoint> history;  ///< of all segments
};

/// Writes an HDF5 file with this layout:
///   /Potential /Source /Coefficient  (nz, ny, nx); /Coefficient only where it varies
///   /Tensor   (nz, ny, nx, 6) xx, xy, xz, yy, yz, zz, only where there is one
///   /Spacing/x y z   cell widths; /Faces/x y z   faces of the cells, from 0
///   /Residual/Iteration Relative Preconditioned   the history; NaN where a residual was not formed
///   /Run/Record /Run/File   record.json and the run file with every key spelled out, as bytes
///   attributes of /: Problem Layout Title Cells Checksum; of /Boundary: one per face; of /Solver: choices, iterations, seconds
/// @throws ComputationError when the disk is full: a file that was there before is untouched
void write_solution(const std::filesystem::path& path, const Solution& solution, const sparse::PoissonProblem& problem,
                    const PoissonRecord& record, const std::string& run_file);
/// Writes the same without source, coefficients, spacing and run file.
void write_iterate(const std::filesystem::path& path, const Solution& solution);
/// Reads either. @throws InputError: missing, truncated, of another problem or layout, or the checksum does not fit
Solution read_solution(const std::filesystem::path& path);

/// XDMF 3 that describes a solution as cell data on a rectilinear grid; opens in ParaView and VisIt.
/// @param hdf5  name of the solution, from where `path` is   @param title  of the grid
void write_xdmf(const std::filesystem::path& path, const std::string& hdf5, const sparse::PoissonProblem& problem,
                const std::string& title);

}  // namespace kasane::run
