// Sources and solutions that stay on a space. The oracle is the solver with fields of the host, which other tests hold to the textbook.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

namespace kasane::lattice {
namespace {

class ResidentColumns : public LatticeOnEverySpace {
   protected:
    AnySpace any() {
        return on_space([](auto on) -> AnySpace { return on; });
    }
};
KS_ON_LATTICE_SPACES(ResidentColumns);

constexpr DiracParameters resident_operator{.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic};

/// The columns of the rows that a solver passes on.
std::vector<SpinorField> columns_of(const WilsonSolver& solver, const Extents& n, double factor) {
    std::vector<SpinorField> columns(12, SpinorField(n));
    index_t next = 0;
    View<std::complex<double>> before;
    std::vector<std::complex<double>> copy;
    solver.each_part(factor, [&](index_t first, View<std::complex<double>> rows) {
        EXPECT_EQ(first, next);
        EXPECT_EQ(rows.n % 144, 0);
        for (std::size_t i = 0; i < copy.size(); ++i)
            EXPECT_EQ(before.ptr[i], copy[i]) << "a part must stay until the next call has returned";
        for (index_t i = 0; i < rows.n; ++i)
            columns[static_cast<std::size_t>(i % 12)].values[static_cast<std::size_t>(12 * first + i / 12)] = rows.ptr[i];
        next += rows.n / 144;
        before = rows;
        copy.assign(rows.ptr, rows.ptr + rows.n);
    });
    EXPECT_EQ(next, n.volume());
    return columns;
}

TEST_P(ResidentColumns, HaveTheBitsOfFieldsOfTheHost) {
    const double factor = 0.22;
    const Extents n{{4, 6, 4, 8}};
    const auto u = test::random_gauge(n, 3, 0.4);
    for (const auto& source : {PropagatorSource{{{3, 4, 1, 6}}}, PropagatorSource{{{0, 0, 0, 5}}, true}})
        for (const auto& options :
             {SolverOptions{}, SolverOptions{.inner = Precision::single, .rtol = 1e-11}, SolverOptions{.method = Method::bicgstab},
              SolverOptions{.method = Method::refinement}, SolverOptions{.method = Method::cg, .inner = Precision::double_}}) {
            SCOPED_TRACE(std::string(name(options.method)) + (source.wall ? ", wall" : ", point"));
            WilsonSolver solver(any(), u, resident_operator, options);
            std::vector<SpinorField> b(12, SpinorField(n)), x(12, SpinorField(n));
            for (int c = 0; c < 12; ++c) source.fill(c, b[static_cast<std::size_t>(c)]);
            const auto want = solver.solve(b, x);
            const auto got = solver.solve(source);
            ASSERT_EQ(got.size(), 12U);
            const auto rows = columns_of(solver, n, factor);
            for (std::size_t c = 0; c < 12; ++c) {
                EXPECT_TRUE(got[c].converged());
                EXPECT_EQ(got[c].true_residual, want[c].true_residual);
                EXPECT_EQ(got[c].residuals, want[c].residuals);
                for (auto& z : x[c].values) z *= factor;
                EXPECT_EQ(rows[c].values, x[c].values) << c;
            }
        }
}

TEST_P(ResidentColumns, ComeInPartsOfALargeLattice) {
    // 16 MiB are 7281 sites: slices of 6912 sites fit, slices of 8448 are divided into planes of 384.
    for (const Extents n : {Extents{{24, 16, 18, 4}}, Extents{{24, 16, 22, 2}}}) {
        WilsonSolver solver(any(), test::unit_gauge(n), {.kappa = 0.05}, {.rtol = 1e-3});
        const PropagatorSource source{{{1, 2, 3, 1}}};
        for (const auto& log : solver.solve(source)) EXPECT_TRUE(log.converged());
        const auto rows = columns_of(solver, n, 1);
        for (const int c : {0, 7, 11}) {
            SpinorField b(n), x(n);
            source.fill(c, b);
            solver.solve(b, x);
            EXPECT_EQ(rows[static_cast<std::size_t>(c)].values, x.values) << c;
        }
    }
}

TEST_P(ResidentColumns, EndWithTheFirstThatFails) {
    const Extents n{{4, 4, 4, 4}};
    WilsonSolver solver(any(), test::random_gauge(n, 3, 0.4), resident_operator, {.method = Method::cg, .iteration_limit = 2});
    const auto logs = solver.solve(PropagatorSource{});
    ASSERT_EQ(logs.size(), 1U);
    EXPECT_EQ(logs[0].end, krylov::Outcome::iteration_limit);
    EXPECT_THROW(solver.each_part(1, [](index_t, View<std::complex<double>>) {}), LogicError);
}

TEST_P(ResidentColumns, AreRefusedWhereTheyCannotStay) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::random_gauge(n, 3, 0.4);
    const auto nothing = [](index_t, View<std::complex<double>>) {};
    WilsonSolver solver(any(), u, resident_operator, {.rtol = 1e-6});
    EXPECT_THROW(solver.each_part(1, nothing), LogicError) << "nothing is solved";
    EXPECT_THROW(solver.solve(PropagatorSource{{{0, 0, 4, 0}}}), LogicError) << "outside";
    EXPECT_THROW(solver.solve(PropagatorSource{{{0, 0, 0, -1}}, true}), LogicError) << "outside";
    solver.solve(PropagatorSource{});
    std::vector<SpinorField> b(12, SpinorField(n)), x = b;
    b[0].values[0] = b[1].values[1] = 1;
    solver.solve(b, x);  // takes their memory
    EXPECT_THROW(solver.each_part(1, nothing), LogicError) << "overwritten";
    SolverOptions temporal;
    temporal.inner_links.temporal_gauge = true;
    EXPECT_THROW(WilsonSolver(any(), u, resident_operator, temporal).solve(PropagatorSource{}), LogicError);
    EXPECT_FALSE(keeps_solutions(any(), n, resident_operator, temporal));
    EXPECT_EQ(keeps_solutions(any(), n, resident_operator, {}), GetParam() == "cuda");
}

}  // namespace
}  // namespace kasane::lattice
