// The structures of OpenMP of `kasane bench sparse.openmp`: the iterates of the library's own structure, and the constructs of an
// iteration.
#include <bench/sparse/openmp_structures.hpp>
#include <kasane/sparse/order/orders.hpp>
#include <kasane/sparse/prepared_system.hpp>
#include <sparse/box.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kasane::sparse {
namespace {

using bench::OpenMpConstructs;
using bench::OpenMpStructure;

PreparedSystem<Cpu> twelve_colours(Cpu on) {
    SolverOptions options;
    options.ordering = Ordering::parse("cm-rcm:12");
    options.numbering = Numbering::coalesced;
    options.format = Format::parse("csr");
    const auto A = box_matrix({17, 15, 16});
    auto order = order_rows(A.view(), options.ordering);
    PartTimes times;
    return prepare_system(on, A.view(), {to_space(on, order.row), order.color_begin, order.steps}, options, times);
}

void begin(PreparedSystem<Cpu>& of) {
    for (index_t i = 0; i < of.system.layout.padded; ++i) {
        of.vectors.x.data()[i] = 0;
        of.vectors.b.data()[i] = of.system.layout.old_row.data()[i] < 0 ? 0 : std::cos(static_cast<double>(i));
    }
}

TEST(OpenMpStructures, HaveTheIteratesOfTheLibrary) {
    for (const int threads : {1, 2, 3}) {
        auto of = twelve_colours(Cpu{threads});
        ASSERT_EQ(of.system.layout.colors, 12);
        IterationTask task;
        task.limit = 10;
        begin(of);
        iterate(of.system, of.vectors, task);
        const auto x = to_host(of.vectors.x);
        for (const auto structure : bench::openmp_structures) {
            begin(of);
            const auto run = bench::run_structure(structure, of.system, of.vectors, task);
            EXPECT_EQ(run.iterations, 10);
            const auto other = to_host(of.vectors.x);
            for (std::size_t i = 0; i < x.size(); ++i)
                ASSERT_NEAR(other[i], x[i], 1e-12 * (1 + std::fabs(x[i]))) << static_cast<int>(structure) << ", " << threads;
        }
    }
}

/// Twelve colours: 12 forward loops with sums, 12 backward ones, the product with a sum.
TEST(OpenMpStructures, CountConstructsAsTable4) {
    auto of = twelve_colours(Cpu{2});
    IterationTask task;
    task.limit = 4;
    const auto counted = [&](OpenMpStructure structure) {
        begin(of);
        return bench::run_structure(structure, of.system, of.vectors, task).constructs;
    };
    // parallel for, parallel, for, reduction, barriers, implicit barriers
    EXPECT_EQ(counted(OpenMpStructure::loops), (OpenMpConstructs{25, 0, 0, 13, 0, 38}));
    EXPECT_EQ(counted(OpenMpStructure::regions), (OpenMpConstructs{0, 2, 25, 13, 0, 40}));
    EXPECT_EQ(counted(OpenMpStructure::one_region), (OpenMpConstructs{0, 0, 25, 13, 0, 38}));
    EXPECT_EQ(counted(OpenMpStructure::loops_by_hand), (OpenMpConstructs{0, 0, 13, 13, 12, 26}));
    EXPECT_EQ(counted(OpenMpStructure::sums_by_hand), (OpenMpConstructs{0, 0, 0, 0, 25, 0}));
}

}  // namespace
}  // namespace kasane::sparse
