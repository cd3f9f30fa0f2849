#include <kasane/core/device/space.hpp>
#include <kasane/sparse/file/matrix_file.hpp>
#include <kasane/sparse/file/readers.hpp>

namespace kasane::sparse {

MatrixFile read_matrix(const std::filesystem::path& path) {
    ByteSource source(path);
    return read_matrix(source, available_memory(Cpu{}));
}

std::vector<double> read_vector(const std::filesystem::path& path, index_t rows) {
    ByteSource source(path);
    return read_vector(source, rows, available_memory(Cpu{}));
}

VectorColumns read_columns(const std::filesystem::path& path, index_t rows) {
    ByteSource source(path);
    return read_columns(source, rows, available_memory(Cpu{}));
}

bool holds_complex_numbers(const std::filesystem::path& path) {
    ByteSource source(path);
    return is_complex_market(source);
}

ComplexMatrixFile read_complex_matrix(const std::filesystem::path& path) {
    ByteSource source(path);
    return read_complex_market(source, available_memory(Cpu{}));
}

ComplexColumns read_complex_columns(const std::filesystem::path& path, index_t rows) {
    ByteSource source(path);
    return read_complex_columns(source, rows, available_memory(Cpu{}));
}

}  // namespace kasane::sparse
