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
#include <kasane/lattice/solution_rows.hpp>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
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

/// Writes a file of solutions part by part; the file appears when it is complete.
class SolutionWriter {
   public:
    /// @param file  replaced as a whole   @param columns  twelve or one
    /// @throws InputError or ComputationError where the file cannot be written
    SolutionWriter(const std::filesystem::path& file, const Extents& extents, int columns);
    /// Removes a file that is not finished.
    ~SolutionWriter();
    SolutionWriter(const SolutionWriter&) = delete;
    SolutionWriter& operator=(const SolutionWriter&) = delete;

    /// Writes the sites of a part (solution_rows.hpp). @param first  the first site   @param rows  in the basis of the file
    /// @throws ComputationError (disk full)
    void write(index_t first, View<const std::complex<double>> rows);
    /// Writes the facts after all sites, and puts the file in place. @throws ComputationError
    void finish(const SolutionFacts& facts);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Writes solutions as HDF5. @param file  replaced as a whole
/// @param columns  twelve, 3 * spin + colour of the source, or one, in the basis of the facts
/// @param facts  written with them   @throws InputError or ComputationError where the file cannot be written
void write_solution(const std::filesystem::path& file, const std::vector<SpinorField>& columns, const SolutionFacts& facts);

/// An upper bound of the length of the file. [bytes]
std::uint64_t solution_file_bytes(const Extents& extents, int columns);

/// Solutions from a file.
struct SolutionFile {
    std::vector<SpinorField> columns;  ///< twelve or one
    SolutionFacts facts;               ///< facts about the file
};
/// Reads a file that write_solution() wrote. @throws InputError: no such file, or not of this layout
SolutionFile read_solution(const std::filesystem::path& file);

}  // namespace kasane::lattice
