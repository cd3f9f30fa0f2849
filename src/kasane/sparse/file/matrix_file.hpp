// Matrices and vectors from files: Matrix Market and PETSc binary, recognised by the first bytes of the file.
// Invariants: a file is hostile until checked: sizes are compared with the file's length before memory is allocated; a returned matrix is
// canonical (columns ascend, entries of one place summed) and square; a written file appears complete or not at all (see AtomicFile).
#pragma once

#include <kasane/sparse/matrix/complex_csr.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <complex>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::sparse {

/// A matrix from a file.
struct MatrixFile {
    CsrMatrix matrix;        ///< canonical
    std::string format;      ///< "Matrix Market" | "PETSc binary"
    index_t duplicates = 0;  ///< entries that were summed into another entry of their place
    bool symmetric = false;  ///< the file held one triangle, mirrored here
};

/// Reads a matrix. Matrix Market: `matrix coordinate real|integer general|symmetric`; of a symmetric file either triangle (or entries of
/// both, each off-diagonal place once). pattern, complex, skew-symmetric, hermitian and array are refused with the reason. PETSc binary: a
/// Mat (class id 1211216) with 32- or 64-bit indices, real double values, big endian.
/// @throws InputError naming file and line (Matrix Market) or row (PETSc): not there, truncated, wrong counts, index out of range, not a
///   number, NaN, not square, empty, larger than the memory
MatrixFile read_matrix(const std::filesystem::path& path);

/// Reads a vector: Matrix Market `matrix array real general` of one column, or `matrix coordinate real general` n x 1; PETSc binary Vec
/// (1211214).
/// @param rows  expected; 0: any   @throws InputError as above, and for another size
std::vector<double> read_vector(const std::filesystem::path& path, index_t rows = 0);

/// Vectors of one size, column after column.
struct VectorColumns {
    std::vector<double> values;  ///< [columns * rows]
    index_t columns = 1;         ///< at least 1
};
/// As read_vector(); an array in a Matrix Market file may have several columns.
VectorColumns read_columns(const std::filesystem::path& path, index_t rows = 0);

/// A complex matrix from a file.
struct ComplexMatrixFile {
    ComplexCsrMatrix matrix;  ///< canonical
    index_t duplicates = 0;   ///< entries that were summed into another entry of their place
    bool symmetric = false;   ///< the file held one triangle, mirrored here
};
/// Complex vectors of one size, column after column.
struct ComplexColumns {
    std::vector<std::complex<double>> values;  ///< [columns * rows]
    index_t columns = 1;                       ///< at least 1
};
/// Whether a file is Matrix Market with the field complex. @throws InputError where it cannot be read
bool holds_complex_numbers(const std::filesystem::path& path);
/// Reads Matrix Market `matrix coordinate complex|real|integer general|symmetric|hermitian|skew-symmetric`, as read_matrix().
ComplexMatrixFile read_complex_matrix(const std::filesystem::path& path);
/// As read_columns(), of real or complex numbers.
ComplexColumns read_complex_columns(const std::filesystem::path& path, index_t rows = 0);

/// Writes Matrix Market with as many digits (17 at most) as restore every number exactly. @param path  replaced as a whole
/// @param A  [n x n]   @param symmetric  write the lower triangle alone
/// @throws InputError before anything is written, for what the reader would refuse or lose: no rows, offsets that fall, a column out of
///   range, a value that is not finite; with `symmetric` an entry that differs from its partner by more than 1e-12 of the larger and more
///   than the rounding of the diagonal (check())   @throws ComputationError where the file cannot be written
void write_matrix_market(const std::filesystem::path& path, const CsrView& A, bool symmetric);
/// Writes a vector as Matrix Market array, with digits and errors as write_matrix_market: it has a number, and all are finite.
/// @param columns  that x consists of, one after the other
void write_vector_market(const std::filesystem::path& path, View<const double> x, index_t columns = 1);
/// The same of complex numbers. @param hermitian  write the lower triangle alone; partners are conjugate, and the diagonal is real
void write_matrix_market(const std::filesystem::path& path, const ComplexCsrView& A, bool hermitian);
/// The same of complex numbers.
void write_vector_market(const std::filesystem::path& path, View<const std::complex<double>> x, index_t columns = 1);
/// Writes PETSc binary with 32-bit indices (64-bit where the counts need them), with errors as write_matrix_market.
void write_matrix_petsc(const std::filesystem::path& path, const CsrView& A);
/// Writes a vector as PETSc binary Vec, with errors as write_vector_market.
void write_vector_petsc(const std::filesystem::path& path, View<const double> x);

}  // namespace kasane::sparse
