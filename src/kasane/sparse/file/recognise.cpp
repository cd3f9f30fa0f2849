#include <kasane/core/base/error.hpp>
#include <kasane/sparse/file/readers.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace kasane::sparse {
namespace {

using namespace std::string_view_literals;

enum class Wanted { matrix, vector };

/// Lines of Python that convert a file of NumPy, SciPy or MATLAB to Matrix Market; empty for other files.
std::string python_remedy(const std::string& head, const std::string& name, Wanted wanted) {
    const bool matrix = wanted == Wanted::matrix, quotable = name.find_first_of("'\"\\`$!") == std::string::npos;
    const auto file = quotable ? name : "FILE", market = std::filesystem::path(file).replace_extension(".mtx").string();
    const auto with = [&](const std::string& kind, const std::string& imports, const std::string& value) {
        return fmt::format(
            "is {}: matrices and vectors are read from Matrix Market or PETSc binary files. Convert it: "
            "python3 -c \"import scipy.io, {}; scipy.io.mmwrite('{}', {})\"",
            kind, imports, market, value);
    };
    const std::string sparse = "scipy.sparse", numpy = "numpy";
    if (head.starts_with("\x93NUMPY"sv)) {
        const auto load = fmt::format("numpy.load('{}')", file);
        return matrix ? with("a NumPy array", numpy + ", " + sparse, fmt::format("scipy.sparse.coo_matrix({})", load))
                      : with("a NumPy array", numpy, load + ".reshape(-1, 1)");
    }
    if (head.starts_with("PK\x03\x04"sv) && head.find(".npy") != std::string::npos)
        return matrix ? with("a NumPy archive", sparse, fmt::format("scipy.sparse.load_npz('{}')", file))
                      : with("a NumPy archive", numpy, fmt::format("numpy.load('{}')['NAME'].reshape(-1, 1)", file)) +
                            ", where NAME is the array's name (arr_0 if none was given)";
    if (head.starts_with("MATLAB 7.3"sv))
        return "is a MATLAB 7.3 file: save it in MATLAB with save('FILE.mat', 'NAME', '-v7') and give it again";
    if (head.starts_with("MATLAB 5.0"sv))
        return with("a MATLAB file", sparse,
                    matrix ? fmt::format("scipy.sparse.coo_matrix(scipy.io.loadmat('{}')['NAME'])", file)
                           : fmt::format("scipy.io.loadmat('{}')['NAME'].reshape(-1, 1)", file)) +
               ", where NAME is the variable's name in MATLAB";
    return "";
}

/// Names the kind of a file that is in neither format, and the remedy.
std::string refusal(const std::string& head, const std::string& file, Wanted wanted) {
    const struct {
        std::string_view magic, why;
    } known[] = {
        {"\x89HDF"sv, "is an HDF5 file: matrices are read from Matrix Market or PETSc binary files"},
        {"\x50\x7b\x12\x00"sv,
         "looks like a PETSc Mat of little-endian numbers: PETSc binary files are big endian, so this was not written "
         "by PETSc's binary viewer"},
        {"\x4e\x7b\x12\x00"sv,
         "looks like a PETSc Vec of little-endian numbers: PETSc binary files are big endian, so this was not written "
         "by PETSc's binary viewer"},
        {"\xef\xbb\xbf"sv, "begins with a byte order mark, which Matrix Market has not: save it as plain text"},
    };
    if (head.empty()) return "is empty: it holds no bytes";
    if (auto remedy = python_remedy(head, file, wanted); !remedy.empty()) return remedy;
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
    throw InputError(refusal(head, source.name(), Wanted::matrix), {source.name(), 0, 0, ""});
}

std::vector<double> read_vector(ByteSource& source, index_t rows, std::uint64_t memory) {
    const auto head = source.head();
    if (is_matrix_market(head)) return read_vector_market(source, rows, memory);
    if (is_petsc_binary(head)) return read_vector_petsc(source, rows, memory);
    throw InputError(refusal(head, source.name(), Wanted::vector), {source.name(), 0, 0, ""});
}

VectorColumns read_columns(ByteSource& source, index_t rows, std::uint64_t memory) {
    if (is_matrix_market(source.head())) return read_columns_market(source, rows, memory);
    return {read_vector(source, rows, memory), 1};
}

ComplexColumns read_complex_columns(ByteSource& source, index_t rows, std::uint64_t memory) {
    if (is_matrix_market(source.head())) return read_complex_columns_market(source, rows, memory);
    const auto real = read_vector(source, rows, memory);
    return {{real.begin(), real.end()}, 1};
}

}  // namespace kasane::sparse
