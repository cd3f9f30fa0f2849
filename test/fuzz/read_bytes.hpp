// What fuzzing and its replay ask of the readers: any bytes are read or refused with an InputError, and what is read is as promised.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/file/readers.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace kasane::test {

/// Little, so that a promise of much is seen.
inline constexpr std::uint64_t fuzz_memory = 1 << 20;

inline void promised(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
}

/// Offsets and columns of a canonical matrix. @tparam Matrix  sparse::CsrMatrix or ComplexCsrMatrix
template <class Matrix>
void promised_rows(const Matrix& A) {
    const auto n = A.rows();
    promised(n >= 1 && n <= sparse::most_rows, "rows");
    promised(A.begin[0] == 0 && static_cast<std::size_t>(A.nonzeros()) == A.column.size() && A.column.size() == A.value.size(), "lengths");
    for (index_t row = 0; row < n; ++row) {
        const auto first = A.begin[static_cast<std::size_t>(row)], last = A.begin[static_cast<std::size_t>(row) + 1];
        promised(first <= last, "offsets ascend");
        for (auto k = first; k < last; ++k) {
            const auto column = A.column[static_cast<std::size_t>(k)];
            promised(column >= 0 && column < n && (k == first || A.column[static_cast<std::size_t>(k) - 1] < column), "columns ascend");
        }
    }
}

/// @returns whether it was read as a complex matrix   @throws std::logic_error where a promise is broken
inline bool read_complex_bytes(View<const char> bytes) {
    using namespace kasane::sparse;
    ComplexMatrixFile file;
    try {
        ByteSource source(bytes, "bytes");
        if (!is_complex_market(source)) return false;
        file = read_complex_market(source, fuzz_memory);
    } catch (const InputError&) {
        return false;
    }
    promised_rows(file.matrix);
    promised(file.duplicates >= 0, "duplicates");
    return true;
}

/// @returns whether it was read, as a real or a complex matrix   @throws std::logic_error where a promise is broken
inline bool read_matrix_bytes(View<const char> bytes) {
    using namespace kasane::sparse;
    MatrixFile file;
    try {
        ByteSource source(bytes, "bytes");
        file = read_matrix(source, fuzz_memory);
    } catch (const InputError&) {
        return read_complex_bytes(bytes);
    }
    const auto& A = file.matrix;
    const auto n = A.rows();
    promised_rows(A);
    promised(file.duplicates >= 0, "duplicates");
    try {
        const auto facts = check(A.view());
        promised(facts.rows == n && facts.sorted && facts.duplicates == 0 && facts.components >= 1 && facts.components <= n, "facts");
    } catch (const InputError&) {  // a file may hold what cannot be solved
    }
    return true;
}

inline bool read_vector_bytes(View<const char> bytes) {
    using namespace kasane::sparse;
    std::vector<double> x;
    try {
        ByteSource source(bytes, "bytes");
        x = read_vector(source, 0, fuzz_memory);
    } catch (const InputError&) {
        return false;
    }
    promised(!x.empty() && x.size() * sizeof(double) <= fuzz_memory, "size");
    ByteSource again(bytes, "bytes");
    const auto rows = static_cast<index_t>(x.size());
    promised(read_vector(again, rows, fuzz_memory).size() == x.size(), "the same again");
    try {
        ByteSource other(bytes, "bytes");
        read_vector(other, rows + 1, fuzz_memory);
    } catch (const InputError&) {
        return true;
    }
    throw std::logic_error("another size was taken");
}

}  // namespace kasane::test
