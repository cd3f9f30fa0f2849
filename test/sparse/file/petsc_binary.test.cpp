// PETSc binary files: both widths of integers, a vector after a matrix, round trips, and damage of every kind.
#include <test/sparse/file/files.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

using namespace kasane;
using namespace kasane::sparse;

/// Bytes as PETSc writes them; integers of 4 or 8 bytes.
struct Bytes {
    std::size_t width = 4;
    std::string text = {};

    Bytes& integers(const std::vector<std::int64_t>& numbers) {
        for (const auto number : numbers) big_endian(static_cast<std::uint64_t>(number), width);
        return *this;
    }
    Bytes& values(const std::vector<double>& numbers) {
        for (const double number : numbers) big_endian(std::bit_cast<std::uint64_t>(number), 8);
        return *this;
    }

   private:
    void big_endian(std::uint64_t bits, std::size_t bytes) {
        for (auto i = bytes; i > 0; --i) text += static_cast<char>(bits >> 8 * (i - 1) & 0xff);
    }
};

constexpr std::int64_t mat = 1211216, vec = 1211214;

/// 2 -1 0 / -1 2 -1 / 0 -1 2
Bytes chain(std::size_t width = 4) {
    return Bytes{width}.integers({mat, 3, 3, 7, 2, 3, 2, 0, 1, 0, 1, 2, 1, 2}).values({2, -1, -1, 2, -1, -1, 2});
}

class PetscBinary : public test::FileTest {
   protected:
    std::string refused(const Bytes& bytes) const { return matrix_complaint(put(bytes.text, "A.petsc")); }
    std::string vector_refused(const Bytes& bytes, index_t rows = 0) const { return vector_complaint(put(bytes.text, "b.petsc"), rows); }
};

TEST_F(PetscBinary, MatricesOfBothWidths) {
    for (const std::size_t width : {4u, 8u}) {
        const auto file = read_matrix(put(chain(width).text));
        EXPECT_EQ(file.format, "PETSc binary");
        EXPECT_FALSE(file.symmetric);
        EXPECT_EQ(file.duplicates, 0);
        EXPECT_EQ(file.matrix.begin, (std::vector<index_t>{0, 2, 5, 7}));
        EXPECT_EQ(file.matrix.column, (std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2}));
        EXPECT_EQ(file.matrix.value, (std::vector<double>{2, -1, -1, 2, -1, -1, 2}));
    }
}

TEST_F(PetscBinary, RowsInAnyOrderWithDuplicates) {
    const auto file = read_matrix(put(Bytes{}.integers({mat, 2, 2, 5, 3, 2, 1, 0, 1, 1, 0}).values({-.5, 2, -.5, 2, -1}).text));
    EXPECT_EQ(file.duplicates, 1);
    EXPECT_EQ(file.matrix.begin, (std::vector<index_t>{0, 2, 4}));
    EXPECT_EQ(file.matrix.value, (std::vector<double>{2, -1, -1, 2}));
}

TEST_F(PetscBinary, VectorsAloneOrBehindTheMatrix) {
    for (const std::size_t width : {4u, 8u}) {
        const auto alone = Bytes{width}.integers({vec, 3}).values({1, -2, 0.1});
        EXPECT_EQ(read_vector(put(alone.text), 3), (std::vector<double>{1, -2, 0.1}));
        const auto both = put(chain(width).text + alone.text);
        EXPECT_EQ(read_vector(both), (std::vector<double>{1, -2, 0.1}));
        EXPECT_EQ(read_matrix(both).matrix.nonzeros(), 7);
    }
    expect_words(vector_refused(chain()), {"matrix (Mat) and no vector"});
    expect_words(refused(Bytes{}.integers({vec, 1}).values({1})), {"begins with a vector"});
}

TEST_F(PetscBinary, ReadsBackToTheLastBit) {
    const auto A = test::awkward_matrix();
    const auto path = directory / "A.petsc";
    write_matrix_petsc(path, A.view());
    expect_same(read_matrix(path).matrix, A);
    write_vector_petsc(path, view(A.value));
    EXPECT_EQ(read_vector(path, A.nonzeros()), A.value);
    write_matrix_petsc(path, read_matrix(put(chain().text)).matrix.view());
    EXPECT_EQ(bytes_of(path), chain().text) << "the same bytes as PETSc's";
}

/// Larger than the reader's block of a million bytes.
TEST_F(PetscBinary, NumbersAcrossBlocks) {
    std::vector<double> x(300001);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sqrt(static_cast<double>(i));
    const auto path = directory / "x.petsc";
    write_vector_petsc(path, view(x));
    EXPECT_EQ(read_vector(path, 300001), x);
}

TEST_F(PetscBinary, TruncatedAnywhere) {
    for (const std::size_t width : {4u, 8u}) {
        const auto whole = chain(width).text;
        for (std::size_t length = width; length < whole.size(); ++length)
            expect_words(matrix_complaint(put(whole.substr(0, length))), {"truncated"});
        const auto vector = Bytes{width}.integers({vec, 3}).values({1, 2, 3}).text;
        for (std::size_t length = width; length < vector.size(); ++length)
            expect_words(vector_complaint(put(vector.substr(0, length))), {"truncated"});
    }
}

TEST_F(PetscBinary, SizesBeyondTheFilesLengthAllocateNoMemory) {
    expect_words(refused(Bytes{}.integers({mat, 2147483647, 2147483647, 2147483647})), {"states 2147483647 rows", "0 bytes follow"});
    const auto most = std::numeric_limits<std::int64_t>::max();
    expect_words(refused(Bytes{8}.integers({mat, most, most, most, 1, 0}).values({1})), {"states 9223372036854775807 rows", "24 bytes"});
    expect_words(refused(Bytes{8}.integers({mat, 1, 1, most, 1, 0}).values({1})), {"9223372036854775807 entries"});
    expect_words(vector_refused(Bytes{8}.integers({vec, most}).values({1})), {"states 9223372036854775807 numbers", "8 bytes"});
}

TEST_F(PetscBinary, RefusesInvalidHeaders) {
    expect_words(refused(Bytes{}.integers({mat, 2, 2, -1}).values({1, 0, 0, 1})), {"dense", "aij"});
    expect_words(refused(Bytes{}.integers({mat, -2, 2, 1})), {"-2 rows", "damaged"});
    expect_words(refused(Bytes{}.integers({mat, 0, 0, 0})), {"empty"});
    expect_words(refused(Bytes{}.integers({mat, 1, 2, 1, 1, 0}).values({1})), {"not square", "1 rows and 2 columns"});
    expect_words(vector_refused(Bytes{}.integers({vec, -1})), {"-1 numbers", "damaged"});
    expect_words(vector_refused(Bytes{}.integers({vec, 0})), {"empty"});
    expect_words(vector_refused(Bytes{}.integers({vec, 2}).values({1, 2}), 3), {"holds 2 numbers", "3 rows"});
    expect_words(refused({4, std::string("\x50\x7b\x12\x00", 4) + chain().text}), {"little-endian", "big endian"});
}

TEST_F(PetscBinary, NamesDamagedRows) {
    expect_words(refused(Bytes{}.integers({mat, 2, 2, 2, 1, 2, 0, 1}).values({1, 1})), {"row 2 has 2 entries", "1 of the header's 2"});
    expect_words(refused(Bytes{}.integers({mat, 2, 2, 2, -1, 3, 0, 1}).values({1, 1})), {"row 1 has -1 entries"});
    expect_words(refused(Bytes{}.integers({mat, 2, 2, 2, 1, 0, 0, 1}).values({1, 1})), {"1 entries in its rows and 2 by its header"});
    expect_words(refused(Bytes{}.integers({mat, 3, 3, 3, 1, 0, 2, 0, 1, 3}).values({1, 1, 1})), {"row 3 has a column index 3", "0 to 2"});
    expect_words(refused(Bytes{}.integers({mat, 2, 2, 2, 1, 1, -1, 1}).values({1, 1})), {"row 1 has a column index -1"});
    expect_words(refused(Bytes{}.integers({mat, 2, 2, 2, 1, 1, 0, 1}).values({1, std::nan("")})), {"entry (2, 2) is nan"});
    expect_words(vector_refused(Bytes{}.integers({vec, 2}).values({1, std::numeric_limits<double>::infinity()})), {"row 2 is inf"});
}

TEST_F(PetscBinary, RefusesOtherDataBehindAnObject) {
    expect_words(refused(chain().values({0, 0, 0, 0, 0, 0, 0})), {"56 bytes after its matrix", "complex"});
    expect_words(refused({4, chain().text + "x"}), {"1 bytes after its matrix"});
    expect_words(vector_refused(Bytes{}.integers({vec, 1}).values({1, 0})), {"8 bytes after its vector", "complex"});
}

}  // namespace
