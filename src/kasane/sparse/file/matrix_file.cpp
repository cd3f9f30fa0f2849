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

}  // namespace kasane::sparse
