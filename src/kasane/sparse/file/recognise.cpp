#include <kasane/core/base/error.hpp>
#include <kasane/sparse/file/readers.hpp>

#include <fmt/format.h>

#include <string_view>

namespace kasane::sparse {
namespace {

using namespace std::string_view_literals;

/// What a file is that is neither of both, and what to do about it.
std::string refusal(const std::string& head) {
    const struct {
        std::string_view magic, why;
    } known[] = {
        {"\x89HDF"sv, "is an HDF5 file: matrices are read from Matrix Market or PETSc binary files"},
        {"MATLAB 5.0"sv, "is a MATLAB file: save the matrix as Matrix Market (mmwrite) or PETSc binary (PetscBinaryWrite)"},
        {"\x50\x7b\x12\x00"sv,
         "looks like a PETSc Mat of little-endian numbers: PETSc binary files are big endian, so this was not written "
         "by PETSc's binary viewer"},
        {"\x4e\x7b\x12\x00"sv,
         "looks like a PETSc Vec of little-endian numbers: PETSc binary files are big endian, so this was not written "
         "by PETSc's binary viewer"},
        {"\xef\xbb\xbf"sv, "begins with a byte order mark, which Matrix Market has not: save it as plain text"},
    };
    if (head.empty()) return "is empty: it holds no bytes";
    if (const auto how = how_to_unpack(head); !how.empty()) return std::string(how);
    for (const auto& [magic, why] : known)
        if (head.starts_with(magic)) return std::string(why);
    return "is neither Matrix Market (a first line like '%%MatrixMarket matrix coordinate real symmetric') nor PETSc binary (Mat or Vec): "
           "write it as one of them";
}

}  // namespace

void check_file_memory(const std::string& file, const std::string& what, std::uint64_t needed, std::uint64_t memory) {
    const auto gibibytes = [](std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); };
    KS_VALIDATE(needed <= memory,
                fmt::format("{} need {} of memory to be read, and {} are free: take a machine with more memory, or a smaller system", what,
                            gibibytes(needed), gibibytes(memory)),
                {file, 0, 0, ""});
}

void check_vector_size(const std::string& file, index_t size, index_t rows) {
    KS_VALIDATE(rows == 0 || size == rows, fmt::format("holds {} numbers, and the matrix has {} rows: they must be as many", size, rows),
                {file, 0, 0, ""});
}

MatrixFile read_matrix(ByteSource& source, std::uint64_t memory) {
    const auto head = source.head();
    if (is_matrix_market(head)) return read_matrix_market(source, memory);
    if (is_petsc_binary(head)) return read_matrix_petsc(source, memory);
    throw InputError(refusal(head), {source.name(), 0, 0, ""});
}

std::vector<double> read_vector(ByteSource& source, index_t rows, std::uint64_t memory) {
    const auto head = source.head();
    if (is_matrix_market(head)) return read_vector_market(source, rows, memory);
    if (is_petsc_binary(head)) return read_vector_petsc(source, rows, memory);
    throw InputError(refusal(head), {source.name(), 0, 0, ""});
}

}  // namespace kasane::sparse
