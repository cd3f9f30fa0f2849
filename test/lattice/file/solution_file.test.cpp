// Solutions come back bit by bit, and are stored in the file as the layout states.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/lattice/file/solution_file.hpp>

#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace kasane::lattice {
namespace {

namespace fs = std::filesystem;

class SolutionFiles : public testing::Test {
   protected:
    void SetUp() override {
        directory = fs::path(testing::TempDir()) / ("kasane.solution." + std::to_string(getpid()));
        fs::create_directories(directory);
    }
    void TearDown() override { fs::remove_all(directory); }
    fs::path directory;
};

const Extents extents{{2, 4, 6, 4}};

TEST_F(SolutionFiles, PropagatorsComeBackFromTheirPlaces) {
    std::vector<SpinorField> columns;
    for (std::uint64_t c = 0; c < 12; ++c) columns.push_back(test::random_spinor(extents, 40 + c));
    SolutionFacts facts{{0.13, 1.5, Boundary::periodic}, GammaBasis::ukqcd, "point:1,2,3,0", "a.lime", 0.6, "cg",
                        std::vector<double>(12, 1e-11),  {4, 3, 2, 1},      {1, 2, 3, 4}};
    write_solution(directory / "p.h5", columns, facts);
    const auto back = read_solution(directory / "p.h5");
    ASSERT_EQ(back.columns.size(), 12U);
    for (std::size_t c = 0; c < 12; ++c) EXPECT_EQ(back.columns[c].values, columns[c].values);
    EXPECT_EQ(back.facts.parameters.kappa, 0.13);
    EXPECT_EQ(back.facts.parameters.csw, 1.5);
    EXPECT_EQ(back.facts.parameters.boundary, Boundary::periodic);
    EXPECT_EQ(back.facts.basis, GammaBasis::ukqcd);
    EXPECT_EQ(back.facts.source, "point:1,2,3,0");
    EXPECT_EQ(back.facts.pion, facts.pion);
    EXPECT_EQ(back.facts.vector, facts.vector);
    EXPECT_EQ(back.facts.relative_residuals, facts.relative_residuals);
    const auto all = hdf5::File::open(directory / "p.h5").read_array<double>("/propagator", {4, 6, 4, 2, 4, 3, 4, 3, 2});
    const std::size_t t = 3, z = 1, y = 2, x = 1, spin = 2, colour = 1, source_spin = 3, source_colour = 2;
    const auto place = (((((((t * 6 + z) * 4 + y) * 2 + x) * 4 + spin) * 3 + colour) * 4 + source_spin) * 3 + source_colour) * 2;
    const auto expected = columns[11].at(extents.lexicographic({{1, 2, 1, 3}}), 2, 1);
    EXPECT_EQ(all[place], expected.real());
    EXPECT_EQ(all[place + 1], expected.imag());
}

TEST_F(SolutionFiles, SingleSolutionsComeBack) {
    const auto x = test::random_spinor(extents, 60);
    SolutionFacts facts;
    facts.source = "random:1";
    facts.relative_residuals = {1e-12};
    write_solution(directory / "x.h5", {x}, facts);
    const auto back = read_solution(directory / "x.h5");
    ASSERT_EQ(back.columns.size(), 1U);
    EXPECT_EQ(back.columns[0].values, x.values);
    EXPECT_TRUE(back.facts.pion.empty());
    EXPECT_LE(fs::file_size(directory / "x.h5"), solution_file_bytes(extents, 1));
}

TEST_F(SolutionFiles, OtherFilesAreRefused) {
    EXPECT_THROW(read_solution(directory / "none.h5"), InputError);
    auto file = hdf5::File::create(directory / "other.h5");
    file.write("/numbers", std::vector<double>{1, 2});
    file.close();
    EXPECT_THROW(read_solution(directory / "other.h5"), InputError);
}

}  // namespace
}  // namespace kasane::lattice
