// Quark propagators and single solutions in HDF5.
// Invariants: a file appears complete or not at all; numbers are doubles; the fields solve (D / 2 kappa) x = b, D as in
// dirac/parameters.hpp, so that a free propagator is the textbook's S(x). Layout, row-major:
//   /propagator      (T, Z, Y, X, sink spin 4, sink colour 3, source spin 4, source colour 3, 2: real and imaginary)   twelve columns, or
//   /solution        (T, Z, Y, X, spin 4, colour 3, 2)                                                                one
//   /correlators/pion, /correlators/vector   (T), t counted from the source; of a propagator
//   /relative_residuals   true ones, one per column
//   attributes of /: lattice (4: x, y, z, t), kappa, csw, boundary, source, gamma_basis, gauge_file, plaquette, solver, commit
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gamma_basis.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::lattice {

/// Facts about a file of solutions besides the fields.
struct SolutionFacts {
    DiracParameters parameters;                    ///< of D
    GammaBasis basis = GammaBasis::degrand_rossi;  ///< of the file's fields
    std::string source;                            ///< "point:0,0,0,0"
    std::string gauge_file;                        ///< its path
    double plaquette = 0;                          ///< mean Re tr / 3 of the gauge field
    std::string solver;                            ///< name of the method
    std::vector<double> relative_residuals;        ///< true residuals, one per column
    std::vector<double> pion;                      ///< correlator; empty where there is one column
    std::vector<double> vector;                    ///< correlator; empty where there is one column
};

/// Writes solutions as HDF5. @param file  replaced as a whole
/// @param columns  twelve, 3 * spin + colour of the source, or one, in the basis of the facts; freed while they are written
/// @param facts  written with them   @throws InputError or ComputationError where the file cannot be written
void write_solution(const std::filesystem::path& file, std::vector<SpinorField> columns, const SolutionFacts& facts);

/// Largest memory of write_solution() beside the columns, and the length of the file. [bytes]
std::uint64_t solution_file_bytes(const Extents& extents, int columns);

/// Solutions from a file.
struct SolutionFile {
    std::vector<SpinorField> columns;  ///< twelve or one
    SolutionFacts facts;               ///< facts about the file
};
/// Reads a file that write_solution() wrote. @throws InputError: no such file, or not of this layout
SolutionFile read_solution(const std::filesystem::path& file);

}  // namespace kasane::lattice
