// Inputs from which fuzzing starts, and inputs that it found: each is read or refused with an InputError.
#include <test/fuzz/read_bytes.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace {

using namespace kasane;

/// Names of the seeds that were read. The memory has their exact length, so that a sanitizer detects an access beyond it.
std::set<std::string> replay(const std::string& target, bool (*read)(View<const char>)) {
    std::set<std::string> good;
    std::size_t count = 0;
    for (const auto& seed : std::filesystem::directory_iterator(std::string(KASANE_SOURCE_DIR) + "/test/fuzz/seeds/" + target)) {
        std::ifstream file(seed.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        ++count;
        try {
            if (read(view(bytes))) good.insert(seed.path().filename().string());
        } catch (const std::exception& error) {
            ADD_FAILURE() << seed.path() << ": " << error.what();
        }
    }
    EXPECT_GE(count, 10u) << "the seeds are not where they were";
    return good;
}

TEST(Seeds, Matrices) {
    const auto good = replay("matrix", test::read_matrix_bytes);
    for (const char* name : {"general.mtx", "symmetric.mtx", "upper.mtx", "duplicates.mtx", "one.mtx", "petsc.bin", "petsc64.bin",
                             "petsc-with-vector.bin", "petsc-unsorted.bin", "complex.mtx", "hermitian.mtx", "skew.mtx"})
        EXPECT_TRUE(good.contains(name)) << name;
    for (const char* name : {"truncated.mtx", "promises.mtx", "pattern.mtx", "both-triangles.mtx", "numbers.mtx", "gzip.bin",
                             "petsc-dense.bin", "petsc-truncated.bin", "petsc-promises.bin", "petsc-complex.bin"})
        EXPECT_FALSE(good.contains(name)) << name;
}

TEST(Seeds, Vectors) {
    const auto good = replay("vector", test::read_vector_bytes);
    for (const char* name :
         {"array.mtx", "sparse.mtx", "one.mtx", "petsc.bin", "petsc64.bin", "petsc-behind-matrix.bin", "petsc64-behind-matrix.bin"})
        EXPECT_TRUE(good.contains(name)) << name;
    for (const char* name :
         {"promises.mtx", "sparse-promises.mtx", "columns.mtx", "petsc-truncated.bin", "petsc-matrix-only.bin", "petsc-nan.bin"})
        EXPECT_FALSE(good.contains(name)) << name;
}

/// Every cut of every small seed, and every single byte changed, as by a broken disk or transfer.
TEST(Seeds, CutAndChanged) {
    for (const std::string target : {"matrix", "vector"}) {
        const auto read = target == "matrix" ? test::read_matrix_bytes : test::read_vector_bytes;
        for (const char* name : {"petsc.bin", "petsc64.bin", target == "matrix" ? "symmetric.mtx" : "array.mtx",
                                 target == "matrix" ? "hermitian.mtx" : "sparse.mtx"}) {
            std::ifstream file(std::string(KASANE_SOURCE_DIR) + "/test/fuzz/seeds/" + target + "/" + name, std::ios::binary);
            const std::vector<char> whole{std::istreambuf_iterator<char>(file), {}};
            ASSERT_FALSE(whole.empty()) << name;
            for (std::size_t length = 0; length < whole.size(); ++length) {
                const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
                EXPECT_NO_THROW(read(view(cut))) << name << " cut to " << length;
                for (const int bit : {0, 4, 7}) {
                    auto changed = whole;
                    changed[length] = static_cast<char>(changed[length] ^ 1 << bit);
                    EXPECT_NO_THROW(read(view(changed))) << name << ", byte " << length << ", bit " << bit;
                }
            }
        }
    }
}

}  // namespace
