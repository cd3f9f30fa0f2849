// The run record of a Poisson run: the part of record.json after the common part.
#pragma once

#include <kasane/run/driver/record.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct PoissonRecord : Record {
    std::array<index_t, 3> cells{};
    std::array<double, 3> size{};                ///< of the box [length]
    std::array<std::string, 3> spacing;          ///< in words: "1", "0.1 to 2"
    std::array<sparse::Boundary, 6> boundary{};  ///< as in PoissonProblem
    std::string source, coefficient;             ///< formula, or data set and file; components of a tensor
    bool tensor = false;                         ///< the coefficient is one
    double rtol = 0;
    int iteration_limit = 0;

    sparse::SetupFacts setup;                  ///< of the last segment
    sparse::SolveLog log;                      ///< of all segments; its history is in the solution, not in the record
    double assembly_seconds = 0;               ///< source, coefficients, matrix and right-hand side, of the last segment
    double least = 0, greatest = 0, mean = 0;  ///< of the potential
    std::vector<std::string> notes;            ///< on the choices of the solver
};

/// "neumann", "dirichlet", "robin" or "periodic".
const char* boundary_name(sparse::BoundaryKind kind);

/// The part of record.json after the common part.
io::Json part_of(const PoissonRecord& record);
/// @throws InputError when the text is not the record of a Poisson run
PoissonRecord poisson_record_from_json(const std::string& text, const std::filesystem::path& file);

}  // namespace kasane::run
