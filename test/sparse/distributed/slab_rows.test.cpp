// Tensors that couple directions on the workers of one process: the rows of slabs and their product against the assembled matrix, and the
// grids, iterations and solutions of one worker.
#include <test/sparse/distributed/distributed_poisson_solver.hpp>
#include <test/sparse/distributed/on_workers.hpp>

#include <kasane/sparse/distributed/slab_rows.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace {

using namespace kasane;
using namespace kasane::sparse;

/// Boxes with few and many planes, and one that is periodic along all directions.
std::vector<PoissonProblem> boxes() {
    return {box_of_tensors({5, 4, 17}),      box_of_tensors({4, 6, 16}, {1, 2, 4}, 7), box_of_tensors({3, 4, 18}, {4}, 4),
            box_of_tensors({4, 3, 16}, {1}), box_of_tensors({6, 4, 16}, {2}, 1, true), box_of_tensors({4, 4, 20}, {1, 4}, 6, true)};
}

TEST(SlabRows, OfAllWorkersAreThoseOfTheMatrix) {
    for (const auto& problem : boxes()) {
        const auto A = poisson_matrix(problem);
        const index_t plane = problem.cells[0] * problem.cells[1];
        std::map<std::pair<index_t, index_t>, double> expected;
        for (index_t row = 0; row < A.rows(); ++row)
            for (auto e = static_cast<std::size_t>(A.begin[static_cast<std::size_t>(row)]);
                 e < static_cast<std::size_t>(A.begin[static_cast<std::size_t>(row) + 1]); ++e)
                expected[{row, A.column[e]}] = A.value[e];
        for (const int workers : {1, 2, 3, 4, 8}) {
            const auto parts = divide_box(problem, slabs_of(problem.cells[2], workers));
            std::map<std::pair<index_t, index_t>, double> found;
            for (int w = 0; w < workers; ++w) {
                const auto& part = parts[static_cast<std::size_t>(w)];
                const auto own = part.own(w), there = part.there(w);
                const index_t first = plane * own.begin, planes = problem.cells[2];
                ASSERT_EQ(part.inner.rows(), plane * own.count());
                const auto add = [&](const CsrMatrix& of, const auto& row_of, const auto& column_of) {
                    for (index_t row = 0; row < of.rows(); ++row)
                        for (auto e = static_cast<std::size_t>(of.begin[static_cast<std::size_t>(row)]);
                             e < static_cast<std::size_t>(of.begin[static_cast<std::size_t>(row) + 1]); ++e)
                            EXPECT_TRUE(found.insert({{first + row_of(row), column_of(of.column[e])}, of.value[e]}).second);
                };
                add(part.inner, std::identity{}, [&](index_t column) { return first + column; });
                const index_t below = there.begin < own.begin ? plane : 0;
                add(
                    part.outer, [&](index_t row) { return part.outer_row[static_cast<std::size_t>(row)]; },
                    [&](index_t column) {
                        return column < below ? plane * ((own.begin - 1 + planes) % planes) + column
                                              : plane * (own.end % planes) + column - below;
                    });
            }
            EXPECT_EQ(found, expected) << workers << " workers";
        }
    }
}

TEST(SlabRows, MultiplyAsTheMatrixDoes) {
    for (const auto& problem : boxes()) {
        const auto A = poisson_matrix(problem);
        const auto x = test::waves(problem.rows());
        std::vector<double> expected, y(x.size());
        double size = 0;
        for (std::size_t row = 0; row < x.size(); ++row) {
            long double sum = 0;
            for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
                sum += static_cast<long double>(A.value[e]) * static_cast<long double>(x[static_cast<std::size_t>(A.column[e])]);
            expected.push_back(static_cast<double>(sum));
            size = std::max(size, std::fabs(expected.back()));
        }
        for (const int count : {1, 2, 3, 4, 8}) {
            const auto parts = divide_box(problem, slabs_of(problem.cells[2], count));
            on_workers(count, [&](comm::WorkerCommunicator& workers, const auto&) {
                workers.run([&](comm::Worker& worker) {
                    const auto& part = parts[static_cast<std::size_t>(worker.index())];
                    const index_t plane = problem.cells[0] * problem.cells[1];
                    const auto own = part.own(worker.index());
                    const Cpu on{1};
                    const SlabRows<Cpu> rows(on, worker, part, 0);
                    DistributedAlgebra<Cpu> algebra(on, worker);
                    const index_t n = plane * own.count();
                    Buffer<double, Cpu> in(on, n), out(on, n);
                    copy_from_host(on, in.view(), View<const double>(x.data() + plane * own.begin, n));
                    for (const int again : {0, 1}) {
                        static_cast<void>(again);
                        rows.apply(algebra, in, out);
                    }
                    copy_to_host(on, View<double>(y.data() + plane * own.begin, n), View<const double>(out.view()));
                });
            });
            for (std::size_t row = 0; row < y.size(); ++row) EXPECT_NEAR(y[row], expected[row], 1e-14 * size) << count << " workers";
            std::ranges::fill(y, 0);
        }
    }
}

TEST(DistributedPoisson, HasTheSolutionOfOneWorkerForTensorsThatCoupleDirections) {
    const auto all_boxes = boxes();
    for (const int workers : {1, 2, 3, 4, 8})
        on_workers(workers, [&](auto& all, const auto& here) {
            for (const auto& problem : all_boxes) expect_poisson_of_one_worker(all, here, problem, {.rtol = 1e-10});
        });
}

TEST(DistributedPoisson, DividesSeveralGridsOfATensor) {
    // 2^18 cells and more are divided: also 96 x 96 x 32, because flat cells are joined along z alone.
    PoissonProblem problem;
    problem.cells = {96, 96, 64};
    problem.spacing[2] = {0.2};
    problem.tensor = {{{3}, {1}, {}, {2}, {}, {1}}};
    on_workers(3, [&](auto& all, const auto& here) { expect_poisson_of_one_worker(all, here, problem, {.rtol = 1e-8}); });
}

}  // namespace
