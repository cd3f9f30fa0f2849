// Quark propagators and single solutions in HDF5.
// Invariants: whole or not at all; numbers are doubles; the fields solve (D / 2 kappa) x = b, D as in dirac/parameters.hpp, so that a free
// propagator is the textbook's S(x). Layout, row-major:
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

struct SolutionFacts {
    DiracParameters parameters;
    GammaBasis basis = GammaBasis::degrand_rossi;  ///< that the file's fields are in
    std::string source;                            ///< "point:0,0,0,0"
    std::string gauge_file;
    double plaquette = 0;  ///< mean Re tr / 3 of the gauge field
    std::string solver;
    std::vector<double> relative_residuals;
    std::vector<double> pion, vector;  ///< empty where there is one column
};

/// @param columns  twelve, 3 * spin + colour of the source, or one, in the basis of the facts; they are given away and freed on the way
void write_solution(const std::filesystem::path& file, std::vector<SpinorField> columns, const SolutionFacts& facts);

/// Memory that write_solution takes beside the columns, at its most, and the length of the file. [bytes]
std::uint64_t solution_file_bytes(const Extents& extents, int columns);

struct SolutionFile {
    std::vector<SpinorField> columns;
    SolutionFacts facts;
};
/// @throws InputError: no such file, or not of this layout
SolutionFile read_solution(const std::filesystem::path& file);

}  // namespace kasane::lattice
