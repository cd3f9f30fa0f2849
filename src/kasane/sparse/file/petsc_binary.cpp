// Reads and writes PETSc's binary files: big endian; a Mat is {1211216, rows, columns, nonzeros}, entries of each row, columns (from 0),
// values; a Vec is {1211214, rows}, values. Integers have 32 bits, or 64 where PETSc was configured so (then the class id too).
//                                                                             [PETSc manual pages MatLoad and VecLoad]
// Invariants: memory is allocated only after the size in a header was compared with the rest of the file.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/file/assemble.hpp>
#include <kasane/sparse/file/check_written.hpp>
#include <kasane/sparse/file/readers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kasane::sparse {
namespace {

constexpr std::int64_t matrix_id = 1211216, vector_id = 1211214;
static_assert(std::endian::native == std::endian::little, "numbers are turned around between file and memory");

std::uint32_t turned(std::uint32_t bits) { return __builtin_bswap32(bits); }
std::uint64_t turned(std::uint64_t bits) { return __builtin_bswap64(bits); }

/// 4 or 8: the width of the file's integers; 0 where it does not begin with a class id.
std::size_t integer_bytes(const std::string& head, std::int64_t& id) {
    std::uint32_t words[2]{};
    std::memcpy(words, head.data(), std::min(head.size(), sizeof words));
    const auto known = [&](std::uint32_t word) {
        id = turned(word);
        return id == matrix_id || id == vector_id;
    };
    if (head.size() >= 4 && known(words[0])) return 4;
    return head.size() >= 8 && words[0] == 0 && known(words[1]) ? 8 : 0;
}

class PetscFile {
   public:
    PetscFile(ByteSource& source, std::uint64_t memory) : source_(source), memory_(memory) {
        std::int64_t id = 0;
        width_ = integer_bytes(source.head(), id);
    }

    /// The id of the next object: a Mat or a Vec, 0 at the end of the file.
    std::int64_t next_id(const char* behind) {
        const auto left = source_.left();
        if (left == 0) return 0;
        const auto id = left < width_ ? 0 : integer();
        if (id != matrix_id && id != vector_id)
            fail(
                fmt::format("holds {} bytes after {} that are neither a Mat nor a Vec of PETSc: was it written by a PETSc of complex "
                            "numbers (not read: systems are real), or damaged?",
                            left, behind));
        return id;
    }

    struct MatrixHeader {
        index_t rows = 0, columns = 0, entries = 0;
    };
    MatrixHeader matrix_header() {
        MatrixHeader h;
        h.rows = integer(), h.columns = integer(), h.entries = integer();
        if (h.entries == -1) fail("holds a dense matrix: a sparse one (Mat of type aij) is needed");
        if (h.rows < 0 || h.columns < 0 || h.entries < 0)
            fail(fmt::format("has a header of {} rows, {} columns and {} entries: it is damaged", h.rows, h.columns, h.entries));
        // Divided, since a hostile product may overflow.
        const auto left = source_.left();
        const auto row_bytes = width_, entry_bytes = width_ + sizeof(double);
        const auto most_here = left / row_bytes;
        if (static_cast<std::uint64_t>(h.rows) > most_here ||
            static_cast<std::uint64_t>(h.entries) > (left - static_cast<std::uint64_t>(h.rows) * row_bytes) / entry_bytes)
            fail(
                fmt::format("states {} rows and {} entries, and {} bytes follow: it is truncated, or was written in single precision (not "
                            "read)",
                            h.rows, h.entries, left));
        return h;
    }
    void skip_matrix() {
        const auto h = matrix_header();
        source_.skip(static_cast<std::uint64_t>(h.rows) * width_ + static_cast<std::uint64_t>(h.entries) * (width_ + sizeof(double)));
    }

    MatrixFile matrix() {
        const auto h = matrix_header();
        if (h.rows == 0 || h.columns == 0) fail(fmt::format("is empty: it has {} rows and {} columns", h.rows, h.columns));
        if (h.rows != h.columns) fail(fmt::format("is not square: it has {} rows and {} columns", h.rows, h.columns));
        if (h.rows > most_rows) fail(fmt::format("has {} rows, and at most {} can be", h.rows, most_rows));
        constexpr std::uint64_t entry = sizeof(std::int32_t) + sizeof(double);  // once as read, once canonical
        check_file_memory(source_.name(), fmt::format("{} rows with {} entries", h.rows, h.entries),
                          2 * (static_cast<std::uint64_t>(h.entries) * entry + static_cast<std::uint64_t>(h.rows + 1) * sizeof(index_t)),
                          memory_);
        CsrMatrix A;
        row_lengths(h, A);
        columns(h, A);
        values(h, A);
        MatrixFile result;
        result.format = "PETSc binary";
        result.matrix = assemble(std::move(A), result.duplicates);
        return result;
    }

    std::vector<double> vector(index_t expected) {
        const auto rows = integer();
        if (rows < 0) fail(fmt::format("has a header of {} numbers: it is damaged", rows));
        if (static_cast<std::uint64_t>(rows) > source_.left() / sizeof(double))
            fail(fmt::format("states {} numbers, and {} bytes follow: it is truncated, or was written in single precision (not read)", rows,
                             source_.left()));
        if (rows == 0) fail("is empty: it holds a vector of no numbers");
        check_vector_size(source_.name(), rows, expected);
        check_file_memory(source_.name(), fmt::format("{} numbers", rows), static_cast<std::uint64_t>(rows) * sizeof(double), memory_);
        std::vector<double> x(static_cast<std::size_t>(rows));
        for_each<std::uint64_t>(rows, [&](index_t i, std::uint64_t bits) {
            const auto value = std::bit_cast<double>(bits);
            if (!std::isfinite(value)) fail(fmt::format("row {} is {}: every value must be a finite number", i + 1, value));
            x[static_cast<std::size_t>(i)] = value;
        });
        return x;
    }

    [[noreturn]] void fail(const std::string& message) const { throw InputError(message, {source_.name(), 0, 0, ""}); }

   private:
    std::int64_t integer() {
        std::uint64_t wide = 0;
        std::uint32_t narrow = 0;
        const auto came = width_ == 8 ? source_.read(&wide, 8) : source_.read(&narrow, 4);
        if (came < width_) fail("ends inside a header: it is truncated");
        return width_ == 8 ? static_cast<std::int64_t>(turned(wide)) : static_cast<std::int32_t>(turned(narrow));
    }

    /// Calls take(i, bits) for the next `count` numbers of that width, read in blocks.
    template <class Bits, class Take>
    void for_each(index_t count, Take take) {
        constexpr index_t block = (1 << 20) / sizeof(Bits);
        std::vector<Bits> numbers(static_cast<std::size_t>(std::min(block, count)));
        for (index_t first = 0; first < count; first += block) {
            const auto here = std::min(block, count - first);
            const auto bytes = static_cast<std::size_t>(here) * sizeof(Bits);
            if (source_.read(numbers.data(), bytes) < bytes) fail("ends before its last number: it is truncated");
            for (index_t i = 0; i < here; ++i) take(first + i, turned(numbers[static_cast<std::size_t>(i)]));
        }
    }
    template <class Take>
    void for_each_integer(index_t count, Take take) {
        if (width_ == 8)
            for_each<std::uint64_t>(count, [&](index_t i, std::uint64_t bits) { take(i, static_cast<std::int64_t>(bits)); });
        else
            for_each<std::uint32_t>(count, [&](index_t i, std::uint32_t bits) { take(i, static_cast<std::int32_t>(bits)); });
    }

    void row_lengths(const MatrixHeader& h, CsrMatrix& A) {
        A.begin.assign(static_cast<std::size_t>(h.rows) + 1, 0);
        for_each_integer(h.rows, [&](index_t row, std::int64_t length) {
            const auto before = A.begin[static_cast<std::size_t>(row)];
            if (length < 0 || length > h.entries - before)
                fail(fmt::format("row {} has {} entries, where {} of the header's {} are left: it is damaged", row + 1, length,
                                 h.entries - before, h.entries));
            A.begin[static_cast<std::size_t>(row) + 1] = before + length;
        });
        if (A.nonzeros() != h.entries)
            fail(fmt::format("has {} entries in its rows and {} by its header: it is damaged", A.nonzeros(), h.entries));
    }
    index_t row_of(const CsrMatrix& A, index_t entry) const {
        return std::upper_bound(A.begin.begin(), A.begin.end(), entry) - A.begin.begin() - 1;
    }
    void columns(const MatrixHeader& h, CsrMatrix& A) {
        A.column.resize(static_cast<std::size_t>(h.entries));
        for_each_integer(h.entries, [&](index_t k, std::int64_t column) {
            if (column < 0 || column >= h.columns)
                fail(fmt::format("row {} has a column index {} (counted from 0): it must be from 0 to {}", row_of(A, k) + 1, column,
                                 h.columns - 1));
            A.column[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(column);
        });
    }
    void values(const MatrixHeader& h, CsrMatrix& A) {
        A.value.resize(static_cast<std::size_t>(h.entries));
        for_each<std::uint64_t>(h.entries, [&](index_t k, std::uint64_t bits) {
            const auto value = std::bit_cast<double>(bits);
            if (!std::isfinite(value))
                fail(fmt::format("entry ({}, {}) is {}: every value must be a finite number", row_of(A, k) + 1,
                                 A.column[static_cast<std::size_t>(k)] + 1, value));
            A.value[static_cast<std::size_t>(k)] = value;
        });
    }

    ByteSource& source_;
    std::uint64_t memory_;
    std::size_t width_ = 4;
};

/// Collects big-endian numbers and writes them in blocks.
class PetscWriter {
   public:
    PetscWriter(const std::filesystem::path& path, bool wide, std::uint64_t bytes) : file_(path, bytes), wide_(wide) {}
    void integer(std::int64_t number) {
        if (wide_)
            put(turned(static_cast<std::uint64_t>(number)));
        else
            put(turned(static_cast<std::uint32_t>(number)));
    }
    void value(double number) { put(turned(std::bit_cast<std::uint64_t>(number))); }
    void commit() {
        flush();
        file_.commit();
    }

   private:
    template <class Bits>
    void put(Bits bits) {
        std::memcpy(block_.data() + used_, &bits, sizeof bits);
        used_ += sizeof bits;
        if (used_ + sizeof(std::uint64_t) > block_.size()) flush();
    }
    void flush() {
        file_.write(block_.data(), used_);
        used_ = 0;
    }
    AtomicFile file_;
    bool wide_;
    std::vector<char> block_ = std::vector<char>(std::size_t{1} << 20);
    std::size_t used_ = 0;
};

}  // namespace

bool is_petsc_binary(const std::string& head) {
    std::int64_t id = 0;
    return integer_bytes(head, id) != 0;
}

MatrixFile read_matrix_petsc(ByteSource& source, std::uint64_t memory) {
    PetscFile file(source, memory);
    if (file.next_id("nothing") == vector_id) file.fail("begins with a vector (Vec): a matrix (Mat) is needed");
    auto result = file.matrix();
    file.next_id("its matrix");  // more objects may follow, and nothing else
    return result;
}

std::vector<double> read_vector_petsc(ByteSource& source, index_t rows, std::uint64_t memory) {
    PetscFile file(source, memory);
    auto id = file.next_id("nothing");
    if (id == matrix_id) {
        file.skip_matrix();
        id = file.next_id("its matrix");
        if (id != vector_id) file.fail("holds a matrix (Mat) and no vector (Vec) after it");
    }
    auto x = file.vector(rows);
    file.next_id("its vector");
    return x;
}

void write_matrix_petsc(const std::filesystem::path& path, const CsrView& A) {
    check_written(A, false);
    const auto entries = A.begin(A.n);
    const bool wide = entries > std::numeric_limits<std::int32_t>::max();
    const std::uint64_t integer = wide ? 8 : 4;
    PetscWriter file(path, wide,
                     4 * integer + static_cast<std::uint64_t>(A.n) * integer + static_cast<std::uint64_t>(entries) * (integer + 8));
    file.integer(matrix_id), file.integer(A.n), file.integer(A.n), file.integer(entries);
    for (index_t row = 0; row < A.n; ++row) file.integer(A.end(row) - A.begin(row));
    for (index_t k = 0; k < entries; ++k) file.integer(A.column(k));
    for (index_t k = 0; k < entries; ++k) file.value(A.value[k]);
    file.commit();
}

void write_vector_petsc(const std::filesystem::path& path, View<const double> x) {
    KS_VALIDATE(x.n > 0, "is empty: it has no numbers, and a file of it cannot be read", {"the vector", 0, 0, ""});
    require_finite(x, "the vector");
    const bool wide = x.n > std::numeric_limits<std::int32_t>::max();
    PetscWriter file(path, wide, 16 + static_cast<std::uint64_t>(x.n) * sizeof(double));
    file.integer(vector_id), file.integer(x.n);
    for (const double value : x) file.value(value);
    file.commit();
}

}  // namespace kasane::sparse
