// The readers of matrix_file.hpp, for bytes from any source and any limit of memory: fuzzing and tests use them.
#pragma once

#include <kasane/core/io/byte_source.hpp>
#include <kasane/sparse/file/matrix_file.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Recognises the format by the first bytes. @param memory  bytes that may be used; a larger file is refused with both numbers
MatrixFile read_matrix(ByteSource& source, std::uint64_t memory);
std::vector<double> read_vector(ByteSource& source, index_t rows, std::uint64_t memory);
VectorColumns read_columns(ByteSource& source, index_t rows, std::uint64_t memory);

bool is_matrix_market(const std::string& head);
MatrixFile read_matrix_market(ByteSource& source, std::uint64_t memory);
std::vector<double> read_vector_market(ByteSource& source, index_t rows, std::uint64_t memory);
VectorColumns read_columns_market(ByteSource& source, index_t rows, std::uint64_t memory);

/// Whether it is a Matrix Market file of complex numbers.
bool is_complex_market(ByteSource& source);
ComplexMatrixFile read_complex_market(ByteSource& source, std::uint64_t memory);
ComplexColumns read_complex_columns_market(ByteSource& source, index_t rows, std::uint64_t memory);
ComplexColumns read_complex_columns(ByteSource& source, index_t rows, std::uint64_t memory);

bool is_petsc_binary(const std::string& head);
MatrixFile read_matrix_petsc(ByteSource& source, std::uint64_t memory);
std::vector<double> read_vector_petsc(ByteSource& source, index_t rows, std::uint64_t memory);

/// @throws InputError where `needed` bytes for `what` ("1000 rows with 5000 entries") exceed the limit
void check_file_memory(const std::string& file, const std::string& what, std::uint64_t needed, std::uint64_t memory);
/// @throws InputError where a vector has another size than `rows` (0: any)
void check_vector_size(const std::string& file, index_t size, index_t rows);

}  // namespace kasane::sparse
