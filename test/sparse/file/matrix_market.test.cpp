// Matrix Market files: accepted forms, every problem with its line, and round trips to the last bit.
#include <test/sparse/file/files.hpp>

#include <cmath>
#include <complex>
#include <fstream>
#include <iterator>
#include <limits>
#include <sys/stat.h>

namespace {

using namespace kasane;
using namespace kasane::sparse;

const std::string coordinate = "%%MatrixMarket matrix coordinate ";
const std::string general = coordinate + "real general\n";
const std::string symmetric = coordinate + "real symmetric\n";

class MatrixMarket : public test::FileTest {
   protected:
    std::string refused(const std::string& text) const { return matrix_complaint(put(text)); }
    std::string vector_refused(const std::string& text, index_t rows = 0) const { return vector_complaint(put(text), rows); }
};

TEST_F(MatrixMarket, General) {
    const auto file = read_matrix(put(general + "3 3 5\n1 1 2\n1 3 -1\n3 1 -1.5\n2 2 4e-3\n3 3 +7.25\n"));
    EXPECT_EQ(file.format, "Matrix Market");
    EXPECT_FALSE(file.symmetric);
    EXPECT_EQ(file.duplicates, 0);
    EXPECT_EQ(file.matrix.begin, (std::vector<index_t>{0, 2, 3, 5}));
    EXPECT_EQ(file.matrix.column, (std::vector<std::int32_t>{0, 2, 1, 0, 2}));
    EXPECT_EQ(file.matrix.value, (std::vector<double>{2, -1, 4e-3, -1.5, 7.25}));
}

TEST_F(MatrixMarket, SymmetricOfEitherTriangleIsMirrored) {
    const auto lower = read_matrix(put(symmetric + "3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n"));
    const auto upper = read_matrix(put(symmetric + "3 3 5\n2 3 -1\n1 1 2\n1 2 -1\n2 2 2\n3 3 2\n"));
    const auto mixed = read_matrix(put(symmetric + "3 3 5\n1 1 2\n1 2 -1\n2 2 2\n3 2 -1\n3 3 2\n"));
    EXPECT_TRUE(lower.symmetric);
    EXPECT_EQ(lower.matrix.begin, (std::vector<index_t>{0, 2, 5, 7}));
    EXPECT_EQ(lower.matrix.column, (std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2}));
    EXPECT_EQ(lower.matrix.value, (std::vector<double>{2, -1, -1, 2, -1, -1, 2}));
    expect_same(upper.matrix, lower.matrix);
    expect_same(mixed.matrix, lower.matrix);
}

TEST_F(MatrixMarket, AcceptsAnyCaseCommentsBlankLinesWhiteSpaceAndLineEnds) {
    const auto plain = read_matrix(put(symmetric + "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n"));
    const auto odd =
        read_matrix(put("%%matrixMARKET Matrix  COORDINATE\tInteger Symmetric \r\n% by hand\r\n%\r\n\r\n  2\t2 3 \r\n\r\n"
                        " 1 1 2\r\n% between\r\n\t2   1 -1\t\r\n2 2 2"));
    expect_same(odd.matrix, plain.matrix);
}

TEST_F(MatrixMarket, NumbersAsFortranAndOthersWriteThem) {
    const auto file = read_matrix(put(general + "9 9 9\n1 1 1.5D+03\n2 2 1.5d3\n3 3 .5\n4 4 5.\n5 5 1.25-103\n6 6 1.25+103\n7 7 1e-400\n"
                                                "8 8 0.1000000000000000055511151231257827021181583404541015625\n9 9 2E+2\n"));
    EXPECT_EQ(file.matrix.value, (std::vector<double>{1500, 1500, 0.5, 5, 1.25e-103, 1.25e103, 0, 0.1, 200}));
}

TEST_F(MatrixMarket, DuplicatesAreSummedAndCounted) {
    const auto one = read_matrix(put(general + "2 2 6\n1 1 1\n2 2 2\n1 1 0.25\n1 2 -1\n2 1 -1\n1 1 0.5\n"));
    EXPECT_EQ(one.duplicates, 2);
    EXPECT_EQ(one.matrix.value, (std::vector<double>{1.75, -1, -1, 2}));
    // In a symmetric file an off-diagonal entry counts once, though it is stored twice.
    const auto other = read_matrix(put(symmetric + "2 2 5\n1 1 2\n2 1 -1\n2 2 1\n2 1 -0.5\n2 2 1\n"));
    EXPECT_EQ(other.duplicates, 2);
    EXPECT_EQ(other.matrix.value, (std::vector<double>{2, -1.5, -1.5, 2}));
}

TEST_F(MatrixMarket, ARowOfThousandsOfEntriesInAnyOrder) {
    constexpr int n = 5000;
    std::string text = general + "5000 5000 14998\n";
    for (int i = n; i >= 1; --i) text += "1 " + std::to_string(i) + " " + std::to_string(i) + "\n";
    for (int i = 2; i <= n; ++i) text += std::to_string(i) + " " + std::to_string(i) + " 1\n" + std::to_string(i) + " 1 1\n";
    const auto file = read_matrix(put(text));
    EXPECT_EQ(file.matrix.begin[1], n);
    for (int i = 0; i < n; ++i) {
        ASSERT_EQ(file.matrix.column[static_cast<std::size_t>(i)], i);
        ASSERT_EQ(file.matrix.value[static_cast<std::size_t>(i)], i + 1);
    }
}

TEST_F(MatrixMarket, ReadsBackToTheLastBit) {
    const auto A = test::awkward_matrix();
    const auto path = directory / "B.mtx";
    for (const bool half : {false, true}) {
        write_matrix_market(path, A.view(), half);
        const auto file = read_matrix(path);
        EXPECT_EQ(file.symmetric, half);
        EXPECT_EQ(file.duplicates, 0);
        expect_same(file.matrix, A);
    }
    write_vector_market(path, view(A.value));
    EXPECT_EQ(read_vector(path, A.nonzeros()), A.value);
    EXPECT_EQ(bytes_of(path).substr(0, 46), "%%MatrixMarket matrix array real general\n" + std::to_string(A.nonzeros()) + " 1");
}

/// Larger than the reader's block of a million bytes, so that lines cross its ends.
TEST_F(MatrixMarket, LinesAcrossBlocks) {
    constexpr index_t n = 90000;
    CsrMatrix A;
    A.begin = {0};
    for (index_t i = 0; i < n; ++i) {
        A.column.push_back(static_cast<std::int32_t>(i));
        A.value.push_back(1 / (3. + static_cast<double>(i)));
        A.begin.push_back(i + 1);
    }
    const auto path = directory / "B.mtx";
    write_matrix_market(path, A.view(), false);
    ASSERT_GT(std::filesystem::file_size(path), 2u << 20);
    EXPECT_EQ(read_matrix(path).matrix.value, A.value);
}

TEST_F(MatrixMarket, RefusesOtherKindsWithTheReason) {
    const std::string rest = "1 1 1\n1 1 1\n";
    expect_words(refused(coordinate + "pattern symmetric\n1 1 1\n1 1\n"), {"1: ", "pattern", "'real' is needed"});
    expect_words(refused(coordinate + "complex general\n1 1 1\n1 1 1 0\n"), {"1: ", "complex", "real"});
    expect_words(refused(coordinate + "complex hermitian\n1 1 1\n1 1 1 0\n"), {"complex", "hermitian"});
    expect_words(refused(coordinate + "real skew-symmetric\n" + rest), {"skew-symmetric", "not positive definite"});
    expect_words(refused(coordinate + "real banded\n" + rest), {"symmetry 'banded'", "'general' or 'symmetric'"});
    expect_words(refused(coordinate + "quaternion general\n" + rest), {"field 'quaternion'", "'integer'"});
    expect_words(refused("%%MatrixMarket matrix array real general\n1 1\n1\n"), {"array", "coordinate real symmetric"});
    expect_words(refused("%%MatrixMarket vector coordinate real general\n" + rest), {"object 'vector'"});
    expect_words(refused("%%MatrixMarket matrix coordinate real\n" + rest), {"1: ", "cut off"});
    expect_words(refused("%%MatrixMarket"), {"1: ", "cut off"});
}

TEST_F(MatrixMarket, ComplexNumbersOfEverySymmetry) {
    using Value = std::complex<double>;
    using Values = std::vector<Value>;
    const std::string entries = "3 3 4\n1 1 2 0\n2 1 1 -3\n3 2 0.5d0 4\n3 3 1 0\n";
    const auto all = read_complex_matrix(put(coordinate + "complex general\n" + entries));
    EXPECT_FALSE(all.symmetric);
    EXPECT_EQ(all.matrix.begin, (std::vector<index_t>{0, 1, 2, 4}));
    EXPECT_EQ(all.matrix.value, (Values{2, {1, -3}, {0.5, 4}, 1}));
    const auto hermitian = read_complex_matrix(put(coordinate + "complex Hermitian\n" + entries));
    EXPECT_TRUE(hermitian.symmetric);
    EXPECT_EQ(hermitian.matrix.column, (std::vector<std::int32_t>{0, 1, 0, 2, 1, 2}));
    EXPECT_EQ(hermitian.matrix.value, (Values{2, {1, 3}, {1, -3}, {0.5, -4}, {0.5, 4}, 1}));
    EXPECT_EQ(read_complex_matrix(put(coordinate + "complex symmetric\n" + entries)).matrix.value,
              (Values{2, {1, -3}, {1, -3}, {0.5, 4}, {0.5, 4}, 1}));
    const auto skew = read_complex_matrix(put(coordinate + "complex skew-symmetric\n2 2 1\n2 1 1 -3\n"));
    EXPECT_EQ(skew.matrix.value, (Values{{-1, 3}, {1, -3}}));
    EXPECT_EQ(read_complex_matrix(put(general + "1 1 1\n1 1 7\n")).matrix.value, Values{7});
    // Duplicates of a hermitian file are counted once for each pair.
    const auto twice = read_complex_matrix(put(coordinate + "complex hermitian\n2 2 4\n1 1 1 0\n2 1 1 1\n2 1 0 1\n2 2 1 0\n"));
    EXPECT_EQ(twice.duplicates, 1);
    EXPECT_EQ(twice.matrix.value, (Values{1, {1, -2}, {1, 2}, 1}));
    EXPECT_TRUE(holds_complex_numbers(put(coordinate + "complex general\n" + entries)));
    EXPECT_FALSE(holds_complex_numbers(put(general + "1 1 1\n1 1 7\n")));
}

/// Bad arrays of a caller are refused before the file is touched; with one triangle no entry is lost.
TEST_F(MatrixMarket, WritersRefuseWhatReadersWould) {
    using Value = std::complex<double>;
    const auto path = put("kept", "kept.mtx");
    const auto refusal = [&](const auto& A, bool half) {
        const auto words = [](const auto& write) {
            try {
                write();
            } catch (const InputError& error) {
                return std::string(error.what());
            }
            return std::string();
        };
        const auto market = words([&] { write_matrix_market(path, A.view(), half); });
        if constexpr (std::same_as<std::remove_cvref_t<decltype(A)>, CsrMatrix>)
            if (!half) {
                EXPECT_EQ(words([&] { write_matrix_petsc(path, A.view()); }), market);
            }
        EXPECT_EQ(bytes_of(path), "kept");
        return market;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_words(refusal(CsrMatrix{{0, 1, 2}, {0, 5}, {1, 1}}, false), {"the matrix", "row 2", "column index 5", "from 0 to 1"});
    expect_words(refusal(CsrMatrix{{0, 1, 2}, {0, -1}, {1, 1}}, false), {"row 2", "column index -1"});
    expect_words(refusal(CsrMatrix{{0, 2, 1}, {0, 1}, {1, 1}}, false), {"offsets that fall", "row 2 from 2 to 1"});
    expect_words(refusal(CsrMatrix{{0, 2'000'000'000, 2}, {0, 1}, {1, 1}}, false), {"offsets that fall", "row 2"});
    expect_words(refusal(CsrMatrix{{1, 1, 2}, {0, 1}, {1, 1}}, false), {"begin at 1"});
    expect_words(refusal(CsrMatrix{{0, 1, 2}, {0, 1}, {1, nan}}, false), {"entry (2, 2)", "finite"});
    expect_words(refusal(CsrMatrix{{0}, {}, {}}, false), {"no rows"});
    expect_words(refusal(CsrMatrix{{0, 2, 3}, {0, 1, 1}, {1, 5, 1}}, true), {"not symmetric", "(1, 2) = 5", "(2, 1) = 0"});
    expect_words(refusal(CsrMatrix{{0, 1, 3}, {0, 0, 1}, {1, 5, 1}}, true), {"not symmetric", "(2, 1) = 5", "(1, 2) = 0"});
    expect_words(refusal(ComplexCsrMatrix{{0, 1, 2}, {0, 1}, {Value(0, 1), 1}}, true), {"not Hermitian", "(1, 1)", "imaginary part"});
    expect_words(refusal(ComplexCsrMatrix{{0, 2, 4}, {0, 1, 0, 1}, {1, Value(0, 1), Value(0, 1), 1}}, true),
                 {"not Hermitian", "(1, 2) = (0, 1)", "(2, 1) = (0, 1)"});
    expect_words(refusal(ComplexCsrMatrix{{0, 1}, {0}, {Value(0, nan)}}, false), {"entry (1, 1)", "finite"});
    expect_words(refusal(ComplexCsrMatrix{{0, 1}, {3}, {1}}, false), {"column index 3"});
    // Rows in any order, entries of one place that are summed, and rounding of the size that the solvers allow.
    const CsrMatrix good{{0, 3, 5}, {1, 0, 1, 1, 0}, {1, 2, 2, 2, 3 * (1 + 1e-15)}};
    write_matrix_market(path, good.view(), true);
    EXPECT_EQ(read_matrix(path).matrix.nonzeros(), 4);

    const auto vector_refusal = [&](std::vector<double> x) {
        EXPECT_THROW(write_vector_petsc(path, view(x)), InputError);
        try {
            write_vector_market(path, view(x));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    expect_words(vector_refusal({1, nan}), {"the vector", "row 2"});
    expect_words(vector_refusal({}), {"the vector", "empty"});
    const Value bad[] = {{1, nan}};
    EXPECT_THROW(write_vector_market(path, View<const Value>(bad, 1)), InputError);
}

TEST_F(MatrixMarket, ComplexNumbersAreWrittenToTheLastBit) {
    using Value = std::complex<double>;
    ComplexCsrMatrix A{{0, 2, 4}, {0, 1, 0, 1}, {Value(1. / 3, 0), Value(0.1, -2e-300), Value(0.1, 2e-300), Value(-7, 0)}};
    const auto path = directory / "C.mtx";
    for (const bool hermitian : {false, true}) {
        write_matrix_market(path, A.view(), hermitian);
        const auto again = read_complex_matrix(path);
        EXPECT_EQ(again.symmetric, hermitian);
        EXPECT_EQ(again.matrix.column, A.column);
        EXPECT_EQ(again.matrix.value, A.value);
        // Every truncation is refused, or it gives the same matrix without its last line end.
        std::ifstream in(path, std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(in)), {});
        for (std::size_t length = 0; length + 3 < text.size(); ++length)
            EXPECT_THROW(read_complex_matrix(put(text.substr(0, length))), InputError) << length;
    }
    const std::vector<Value> x{{1, 2}, {-0.1, 1e-17}, {0, 0}, {3, 1. / 7}};
    write_vector_market(path, View<const Value>(x.data(), 4), 2);
    const auto columns = read_complex_columns(path, 2);
    EXPECT_EQ(columns.columns, 2);
    EXPECT_EQ(columns.values, x);
    EXPECT_EQ(read_complex_columns(put("%%MatrixMarket matrix array real general\n2 1\n3\n4\n"), 2).values, (std::vector<Value>{3, 4}));
}

TEST_F(MatrixMarket, RefusesComplexNumbersThatAreWrong) {
    const auto complex_refused = [&](const std::string& text) -> std::string {
        try {
            read_complex_matrix(put(text));
        } catch (const InputError& error) {
            return error.what();
        }
        return "taken";
    };
    const std::string head = coordinate + "complex ";
    expect_words(complex_refused(head + "general\n1 1 1\n1 1 1.500\n"), {"3: ", "ends before its value"});
    expect_words(complex_refused(head + "general\n1 1 1\n1 1 1 2 3\n"), {"3: ", "one word too many", "row column real imaginary"});
    expect_words(complex_refused(head + "general\n1 1 1\n1 1 1 nan\n"), {"3: ", "finite"});
    expect_words(complex_refused(head + "general\n1 1 1000\n1 1 1 2\n"), {"2: ", "1000 entries"});
    expect_words(complex_refused(head + "hermitian\n1 1 1\n1 1 1 2\n"), {"3: ", "imaginary part 2", "real"});
    expect_words(complex_refused(head + "skew-symmetric\n1 1 1\n1 1 1 2\n"), {"3: ", "diagonal"});
    expect_words(complex_refused(head + "hermitian\n2 2 2\n1 2 1 2\n2 1 1 -2\n"), {"1: ", "says 'hermitian'", "'general'"});
    expect_words(complex_refused(coordinate + "real hermitian\n1 1 1\n1 1 1\n"), {"hermitian", "'symmetric'"});
    expect_words(vector_refused("%%MatrixMarket matrix array complex general\n1 1\n1 2\n"), {"complex", "two columns"});
}

TEST_F(MatrixMarket, RefusesOtherFiles) {
    expect_words(matrix_complaint(directory / "missing.mtx"), {"no such file"});
    expect_words(matrix_complaint(directory), {"directory"});
    expect_words(refused(""), {"empty"});
    expect_words(refused("1 1 1\n1 1 2\n"), {"neither Matrix Market", "%%MatrixMarket matrix coordinate real symmetric"});
    expect_words(refused(std::string("\x1f\x8b\x08\x00", 4) + "..."), {"gzip", "gunzip"});
    expect_words(refused("\x89HDF\r\n\x1a\n"), {"HDF5"});
    expect_words(refused("\xef\xbb\xbf" + general), {"byte order mark"});
    expect_words(refused(general.substr(0, 35) + std::string(2 << 20, 'x')), {"1: ", "more than a million characters"});
    const auto pipe = directory / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_words(matrix_complaint(pipe), {"not a regular file"});
}

TEST_F(MatrixMarket, SizeLines) {
    expect_words(refused(general + "% only a comment\n"), {"2: ", "before its size line", "truncated"});
    expect_words(refused(general + "0 0 0\n"), {"2: ", "empty"});
    expect_words(refused(general + "% one\n\n3 4 5\n"), {"4: ", "not square", "3 rows and 4 columns"});
    expect_words(refused(general + "3 3\n1 1 1\n"), {"2: ", "'rows columns entries'", "''"});
    expect_words(refused(general + "3 3 3 3\n1 1 1\n"), {"2: ", "'3' is one word too many"});
    expect_words(refused(general + "3 3 three\n"), {"'three'"});
    expect_words(refused(general + "-3 -3 3\n"), {"'-3'"});
    expect_words(refused(general + "3 3 1e1\n"), {"'1e1'"});
    expect_words(refused(general + "3 3 9223372036854775808\n"), {"2: ", "9223372036854775808", "too large"});
    expect_words(refused(general + "2147483648 2147483648 3\n"), {"2147483648 rows", "at most 2147483647"});
}

TEST_F(MatrixMarket, SizesBeyondTheFilesLengthAllocateNoMemory) {
    // 10 bytes hold one entry and a half; the stated numbers would take 16 EiB, or 16 GiB of row offsets.
    expect_words(refused(general + "3 3 1000000000000000000\n1 1 1\n2 2\n"),
                 {"2: ", "states 1000000000000000000 entries", "10 bytes", "truncated"});
    expect_words(refused(general + "2000000000 2000000000 1\n1 1 1\n"), {"2: ", "states 2000000000 rows", "diagonal"});
}

TEST_F(MatrixMarket, FieldsOfIntegersHoldIntegers) {
    const std::string head = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 2\n";
    expect_words(refused(head + "2 2 3.5\n"), {"4: '3.5' is not a whole number", "'real'"});
}

TEST_F(MatrixMarket, EntriesThatAreWrongNameTheirLines) {
    const auto one = [&](const std::string& line) { return refused(general + "2 2 2\n1 1 1.00000000000000\n" + line + "\n"); };
    expect_words(one("3 1 1"), {"4: row '3' is out of range", "from 1 to 2"});
    expect_words(one("1 0 1"), {"4: column '0' is out of range", "counts from 1"});
    expect_words(one("-1 1 1"), {"4: row '-1' is out of range"});
    expect_words(one("99999999999999999999 1 1"), {"4: row '99999999999999999999' is out of range"});
    expect_words(one("1.0 1 1"), {"4: row '1.0' is not a whole number"});
    expect_words(one("2"), {"4: column '' is not a whole number"});
    expect_words(one("2 2"), {"4: ends before its value"});
    expect_words(one("2 2 x"), {"4: 'x' is not a number"});
    expect_words(one("2 2 1.5e"), {"4: '1.5e' is not a number"});
    expect_words(one("2 2 1-2"), {"4: '1-2' is not a number"});
    expect_words(one("2 2 nan"), {"4: 'nan'", "finite"});
    expect_words(one("2 2 -inf"), {"4: '-inf'", "finite"});
    expect_words(one("2 2 1e400"), {"4: '1e400' is too large for a double"});
    expect_words(one("2 2 1 0"), {"4: '0' is one word too many"});
    expect_words(one("2 2 \x01\xff"), {"4: '\?\?' is not a number"});
    expect_words(one("2 2 " + std::string(50, '.')), {"4: '" + std::string(32, '.') + "...' is not a number"});
}

TEST_F(MatrixMarket, AllWrongLinesAtOnceUpToEight) {
    std::string text = general + "2 2 20\n";
    for (int i = 0; i < 20; ++i) text += i % 2 ? "1 1 1\n" : "3 1 1\n";
    const auto complaints = refused(text);
    expect_words(complaints, {"3: ", "5: ", "17: "});
    EXPECT_EQ(std::count(complaints.begin(), complaints.end(), '\n'), 8) << complaints;
}

TEST_F(MatrixMarket, TooFewAndTooManyEntries) {
    expect_words(refused(general + "3 3 4\n1 1 1.5\n2 2 1.5\n3 3 1.5\n"),
                 {"5: ", "after 3 of the 4 entries that line 2 states", "truncated"});
    expect_words(refused(general + "2 2 2\n1 1 1\n2 2 1\n1 2 1\n"), {"5: ", "continues after the 2 entries that line 2 states"});
    EXPECT_EQ(refused(general + "2 2 2\n1 1 1\n2 2 1\n\n% the end\n"), "");
    EXPECT_EQ(refused(general + "2 2 2\n1 1 1\n2 2 1"), "") << "the last line may lack its end";
}

TEST_F(MatrixMarket, SymmetricFilesOfBothTrianglesAreRefused) {
    // Readers that mirror such entries without a check double them; here the file is refused.
    expect_words(refused(symmetric + "2 2 4\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n"), {"1: ", "symmetric", "(2, 1)", "(1, 2)", "'general'"});
    expect_words(refused(symmetric + "2 2 4\n1 1 2\n1 2 -1\n2 1 -3\n2 2 2\n"), {"(2, 1)", "(1, 2)"});
}

TEST_F(MatrixMarket, RefusesFilesTooLargeForTheMemoryBeforeAllocation) {
    // Files of 8 TiB without a block on the disk: the first states more entries than that holds, the second fewer.
    const auto path = put(general + "2000000000 2000000000 4000000000000\n");
    std::error_code error;
    std::filesystem::resize_file(path, std::uintmax_t{1} << 43, error);
    if (error)
        GTEST_SKIP() << "the file system of " << path << " has no files of 8 TiB: " << error.message()
                     << ". Set TMPDIR to a folder on another one";
    expect_words(matrix_complaint(path), {"states 4000000000000 entries"});
    const auto fits = put(general + "2000000000 2000000000 1000000000000\n", "B.mtx");
    std::filesystem::resize_file(fits, std::uintmax_t{1} << 43, error);
    expect_words(matrix_complaint(fits), {"2000000000 rows with 1000000000000 entries need", "GiB", "are free"});
}

TEST_F(MatrixMarket, Vectors) {
    const std::string array = "%%MatrixMarket matrix array real general\n";
    EXPECT_EQ(read_vector(put(array + "% b\n3 1\n1\n-2.5D-1\n3\n")), (std::vector<double>{1, -0.25, 3}));
    EXPECT_EQ(read_vector(put(coordinate + "real general\n4 1 2\n3 1 2\n1 1 -1\n"), 4), (std::vector<double>{-1, 0, 2, 0}));
    EXPECT_EQ(read_vector(put("%%MatrixMarket matrix array real symmetric\n1 1\n7\n")), (std::vector<double>{7}));
    expect_words(vector_refused(array + "3 1\n1\n2\n3\n", 4), {"holds 3 numbers", "4 rows"});
    expect_words(vector_refused(array + "3 2\n1\n2\n3\n4\n5\n6\n"), {"2: ", "3 rows and 2 columns", "file of its own"});
    expect_words(vector_refused(array + "3 1\n1.5\n2.5\n"), {"4: ", "after 2 of the 3 entries that line 2 states"});
    expect_words(vector_refused(array + "2 1\n1\n2\n3\n"), {"5: ", "continues after the 2 entries"});
    expect_words(vector_refused(array + "2 1\n1\n2 3\n"), {"4: '3' is one word too many"});
    expect_words(vector_refused(array + "2 1\n1\nnan\n"), {"4: 'nan'", "finite"});
    expect_words(vector_refused(array + "0 1\n"), {"2: ", "empty"});
    expect_words(vector_refused(array + "2000000000 1\n1\n"), {"2: ", "states 2000000000 entries"});
    expect_words(vector_refused("%%MatrixMarket matrix array complex general\n1 1\n1 0\n"), {"complex"});
    expect_words(vector_refused(coordinate + "real general\n3 1 1\n3 2 1\n"), {"3: column '2' is out of range"});
}

}  // namespace
