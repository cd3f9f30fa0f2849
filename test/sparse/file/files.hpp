// Files for the tests of readers and writers: a directory for each test, functions that write text and bytes, messages with file and line.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/file/matrix_file.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace kasane::test {

class FileTest : public ::testing::Test {
   protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        directory = std::filesystem::path(::testing::TempDir()) /
                    (std::string("kasane.") + info->test_suite_name() + "." + info->name() + "." + std::to_string(getpid()));
        std::filesystem::create_directories(directory);
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }
    std::filesystem::path put(const std::string& bytes, const std::string& name = "A.mtx") const {
        const auto path = directory / name;
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    static std::string bytes_of(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// "LINE: message" of each problem of a read, with the file's name checked; "" if it succeeds.
    template <class Read>
    static std::string complaint(const std::filesystem::path& path, Read read) {
        try {
            read(path);
        } catch (const InputError& error) {
            std::string text;
            for (const auto& problem : error.problems()) {
                EXPECT_EQ(problem.where.file, path.string());
                text += std::to_string(problem.where.line) + ": " + problem.message + "\n";
            }
            return text;
        }
        return "";
    }
    static std::string matrix_complaint(const std::filesystem::path& path) {
        return complaint(path, [](const auto& p) { sparse::read_matrix(p); });
    }
    static std::string vector_complaint(const std::filesystem::path& path, index_t rows = 0) {
        return complaint(path, [rows](const auto& p) { sparse::read_vector(p, rows); });
    }
    static void expect_words(const std::string& text, const std::vector<std::string>& words) {
        for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
    }
    static void expect_same(const sparse::CsrMatrix& A, const sparse::CsrMatrix& B) {
        EXPECT_EQ(A.begin, B.begin);
        EXPECT_EQ(A.column, B.column);
        ASSERT_EQ(A.value.size(), B.value.size());
        for (std::size_t k = 0; k < A.value.size(); ++k)
            EXPECT_EQ(std::bit_cast<std::uint64_t>(A.value[k]), std::bit_cast<std::uint64_t>(B.value[k])) << k;
    }

    std::filesystem::path directory;
};

/// Symmetric, 40 rows, values that need all 17 digits, are tiny, huge or negative zero.
inline sparse::CsrMatrix awkward_matrix() {
    sparse::CsrMatrix A;
    A.begin = {0};
    for (int row = 0; row < 40; ++row) {
        for (int column = 0; column < 40; ++column) {
            const int far = std::abs(row - column), low = std::min(row, column);
            if (far != 0 && far != 1 && far != 7) continue;
            double value = far == 0 ? 1e300 / (1 + low) : -1. / (3 + low) * (far == 7 ? 1e-300 : 1);
            if (far == 7 && low == 5) value = 5e-324;
            if (far == 7 && low == 6) value = -0.0;
            A.column.push_back(column);
            A.value.push_back(value);
        }
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    return A;
}

}  // namespace kasane::test
