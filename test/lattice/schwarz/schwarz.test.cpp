// Schwarz preconditioners: against the textbook form of test/reference/schwarz.hpp with exact block solves, their identities, and inside
// the solver. In double, 60 minimal residual steps at the small kappa used here leave 1e-10 of a block's residual.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>
#include <kasane/lattice/solve/schwarz_preconditioner.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/solver.hpp>
#include <lattice/lattice_space.hpp>
#include <lattice/random_fields.hpp>
#include <lattice/schwarz/apply_blocks.hpp>
#include <reference/schwarz.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace kasane::lattice {
namespace {

using reference::WilsonClover;
using test::random_gauge;
using test::random_spinor;
using Blocks = SchwarzOptions;
using enum SchwarzMethod;

constexpr DiracParameters heavy{.kappa = 0.07, .csw = 1.2, .boundary = Boundary::antiperiodic};
constexpr double rough_links = 0.4;

class SchwarzOnSpaces : public LatticeOnEverySpace {
   protected:
    template <Precision P = Precision::double_>
    SpinorField apply(const GaugeField& u, const DiracParameters& parameters, const SchwarzOptions& options, const SpinorField& b,
                      Schur schur = Schur::asymmetric) {
        return on_space([&](auto on) { return preconditioned<P>(on, u, parameters, options, b, schur); });
    }
    AnySpace space() {
        return on_space([](auto on) -> AnySpace { return on; });
    }
};
KS_ON_LATTICE_SPACES(SchwarzOnSpaces);

TEST_P(SchwarzOnSpaces, AgreesWithTheTextbookForm) {
    struct Case {
        Extents n;
        Blocks options;
    };
    // Blocks that span some directions and have faces in others, in time too, where the boundary condition changes a sign inside a block;
    // an odd overlap in one direction, whose extended blocks begin on odd sites; an overlap that makes a block span its direction.
    const Case cases[] = {{{{4, 2, 2, 8}}, {sap, {2, 2, 2, 4}, 0, 2, 60}},
                          {{{4, 2, 2, 8}}, {additive, {4, 2, 2, 2}, 0, 2, 60}},
                          {{{2, 2, 4, 8}}, {ras, {2, 2, 4, 2}, 1, 1, 60}},
                          {{{2, 2, 4, 8}}, {ras, {2, 2, 4, 2}, 1, 2, 60}},
                          {{{2, 2, 4, 8}}, {multiplicative, {2, 2, 4, 4}, 1, 2, 60}},
                          {{{2, 2, 4, 8}}, {multiplicative, {2, 2, 2, 4}, 2, 2, 60}},
                          {{{8, 2, 2, 6}}, {multiplicative, {2, 2, 2, 6}, 1, 1, 60}}};
    for (const auto& [n, options] : cases) {
        auto parameters = heavy;
        if (options.method == ras) parameters.csw = 0;
        const auto u = random_gauge(n, 3, rough_links);
        const auto b = even_half(random_spinor(n, 4));
        const WilsonClover D(u, parameters.kappa, parameters.csw, true);
        const reference::Schwarz M{D,
                                   {{options.block[0], options.block[1], options.block[2], options.block[3]}},
                                   options.overlap,
                                   colours_of(options.method),
                                   options.cycles};
        const auto what = std::string(name(options.method)) + ", " + text(n);
        const auto expected = M.apply(b);
        EXPECT_LT(reference::relative_difference(apply(u, parameters, options, b), expected), 1e-9) << what;
        EXPECT_LT(reference::relative_difference(apply<Precision::single>(u, parameters, options, b), expected), 1e-5) << what;
        // Half rounds at 3e-5, several times over.
        EXPECT_LT(reference::relative_difference(apply<Precision::half>(u, parameters, options, b), expected), 1e-2) << what;
    }
}

TEST_P(SchwarzOnSpaces, OneBlockIsTheExactSolve) {
    const Extents n{{4, 2, 4, 4}};
    const auto u = random_gauge(n, 5, rough_links);
    const auto b = even_half(random_spinor(n, 6));
    const WilsonClover D(u, heavy.kappa, heavy.csw, true);
    for (const auto method : {additive, ras, sap, multiplicative}) {
        const auto x = apply(u, heavy, {method, {4, 2, 4, 4}, 0, 1, 60}, b);
        // Dhat x = b on even sites: D (x, x_o) = (b, 0) where x_o = kappa A_oo^-1 H x.
        const auto x_odd = D.clover(D.only(Parity::odd, reference::combination(heavy.kappa, D.hop(x), 0, x)), true);
        EXPECT_LT(reference::relative_difference(D.apply(reference::combination(1, x, 1, x_odd)), b), 1e-9) << name(method);
    }
}

TEST_P(SchwarzOnSpaces, SymmetricFormIsPrecededByTheCloverTerm) {
    const Extents n{{4, 2, 4, 4}};
    const auto u = random_gauge(n, 5, rough_links);
    const auto b = even_half(random_spinor(n, 6));
    const WilsonClover D(u, heavy.kappa, heavy.csw, true);
    const Blocks options{sap, {2, 2, 2, 4}, 0, 2, 60};
    const auto divided = even_half(D.clover(b, true));
    EXPECT_LT(reference::relative_difference(apply(u, heavy, options, divided, Schur::symmetric), apply(u, heavy, options, b)), 1e-12);
}

TEST_P(SchwarzOnSpaces, MethodsAgreeWhereTheyMust) {
    const Extents n{{4, 4, 4, 8}};
    const auto u = random_gauge(n, 7, rough_links);
    const auto b = even_half(random_spinor(n, 8));
    const auto same = [&](const Blocks& one, const Blocks& other) {
        return apply<Precision::single>(u, heavy, one, b).values == apply<Precision::single>(u, heavy, other, b).values;
    };
    // No overlap: RAS is block Jacobi, and the multiplicative form is SAP. One block has one colour and no neighbour.
    EXPECT_TRUE(same({ras, {4, 4, 2, 4}, 0, 2, 4}, {additive, {4, 4, 2, 4}, 0, 2, 4}));
    EXPECT_TRUE(same({multiplicative, {4, 4, 2, 4}, 0, 2, 4}, {sap, {4, 4, 2, 4}, 0, 2, 4}));
    EXPECT_TRUE(same({sap, {4, 4, 4, 8}, 0, 2, 4}, {additive, {4, 4, 4, 8}, 0, 2, 4}));
    EXPECT_FALSE(same({sap, {4, 4, 2, 4}, 0, 2, 4}, {additive, {4, 4, 2, 4}, 0, 2, 4}));
}

// On a CUDA device blocks of more than 512 even sites are divided into chunks, here three, the last of 56 sites.
TEST_P(SchwarzOnSpaces, LargeBlocksAgreeWithThoseOfOneThread) {
    const Extents n{{6, 6, 6, 20}};
    const auto u = random_gauge(n, 7, rough_links);
    const auto b = even_half(random_spinor(n, 8));
    for (const Blocks& options : {Blocks{sap, {6, 6, 6, 10}, 0, 2, 4}, Blocks{ras, {6, 6, 6, 10}, 1, 2, 3}}) {
        const auto expected = preconditioned<Precision::double_>(Cpu{1}, u, heavy, options, b);
        EXPECT_LT(reference::relative_difference(apply(u, heavy, options, b), expected), 1e-13) << name(options.method);
        EXPECT_LT(reference::relative_difference(apply<Precision::single>(u, heavy, options, b), expected), 1e-5) << name(options.method);
        EXPECT_LT(reference::relative_difference(apply<Precision::half>(u, heavy, options, b), expected), 1e-2) << name(options.method);
    }
}

TEST_P(SchwarzOnSpaces, RegionsSumToTheIdentity) {
    // At kappa = 0 the operator is 1 and so is every block's: the restricted solutions, each from an extended block, add up to b.
    const Extents n{{8, 4, 2, 8}};
    const auto u = random_gauge(n, 9);
    const auto b = even_half(random_spinor(n, 10));
    for (int overlap = 0; overlap < 3; ++overlap)
        EXPECT_LT(reference::relative_difference(apply(u, {.kappa = 1e-30}, {ras, {2, 4, 2, 4}, overlap, 1, 1}, b), b), 1e-15) << overlap;
}

TEST_P(SchwarzOnSpaces, EveryScaleOfTheResidual) {
    const Extents n{{4, 2, 2, 4}};
    const auto u = random_gauge(n, 9);
    auto b = even_half(random_spinor(n, 10));
    const Blocks options{sap, {2, 2, 2, 2}, 0, 2, 3};
    const auto x = apply<Precision::single>(u, heavy, options, b);
    for (const double scale : {1e-30, 1e30}) {
        const auto scaled = apply<Precision::single>(u, heavy, options, reference::combination(scale, b, 0, b));
        EXPECT_LT(reference::relative_difference(reference::combination(1 / scale, scaled, 0, b), x), 1e-5);
    }
    for (auto& value : b.values) value = 0;
    EXPECT_EQ(reference::norm(apply<Precision::single>(u, heavy, options, b)), 0);
}

TEST(Schwarz, DoesNotDependOnThreads) {
    const Extents n{{8, 4, 4, 8}};
    const auto u = random_gauge(n, 11, rough_links);
    const auto b = even_half(random_spinor(n, 12));
    for (const Blocks& options :
         {Blocks{sap, {4, 4, 2, 4}, 0, 2, 3}, Blocks{ras, {4, 4, 4, 4}, 1, 2, 3}, Blocks{sap, {8, 4, 4, 8}, 0, 1, 3}})
        EXPECT_EQ(preconditioned<Precision::single>(Cpu{1}, u, heavy, options, b).values,
                  preconditioned<Precision::single>(Cpu{3}, u, heavy, options, b).values)
            << name(options.method);
}

TEST_P(SchwarzOnSpaces, SolversReachTheTrueResidual) {
    const Extents n{{4, 4, 4, 8}};
    const DiracParameters light{.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic};
    const auto u = random_gauge(n, 5, rough_links);
    const WilsonClover D(u, light.kappa, light.csw, true);
    const auto b = random_spinor(n, 6);
    SpinorField plain(n);
    WilsonSolver(space(), u, light, {.inner = Precision::double_}).solve(b, plain);
    for (const auto method : {Method::gcr, Method::fgmres, Method::nested_bicgstab, Method::refinement})
        for (const auto inner : {Precision::half, Precision::single, Precision::double_})
            for (const auto schur : {Schur::symmetric, Schur::asymmetric})
                for (const auto& blocks : {Blocks{sap, {2, 4, 4, 4}}, Blocks{ras, {2, 4, 4, 4}, 1}}) {
                    SpinorField x(n);
                    SolverOptions options{.method = method, .schur = schur, .inner = inner, .schwarz = blocks};
                    options.inner_links = {.reals = LinkReals::parameters, .temporal_gauge = inner == Precision::single};
                    const auto log = WilsonSolver(space(), u, light, options).solve(b, x);
                    const auto what = std::string(name(method)) + ", " + name(inner) + ", " + name(blocks.method);
                    EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
                    EXPECT_TRUE(log.notes.empty()) << what << ": " << log.notes.front();
                    EXPECT_LE(log.true_residual, 1e-10) << what;
                    const double residual = reference::norm(reference::combination(1, b, -1, D.apply(x))) / reference::norm(b);
                    EXPECT_LE(residual, 1.01e-10) << what;  // the two operators differ by rounding
                    EXPECT_LT(reference::relative_difference(x, plain), 40e-10) << what;
                    EXPECT_GT(log.inner_iterations, log.iterations) << what;
                    EXPECT_GT(log.gflops, 0) << what;
                }
}

TEST(Schwarz, OverlapSavesIterations) {
    const Extents n{{4, 4, 4, 16}};
    const DiracParameters light{.kappa = 0.125, .csw = 0, .boundary = Boundary::antiperiodic};
    const auto u = random_gauge(n, 5, 0.25);
    const auto b = random_spinor(n, 6);
    const auto iterations = [&](SchwarzMethod method, int overlap) {
        SpinorField x(n);
        const SolverOptions options{.method = Method::gcr, .inner = Precision::single, .schwarz = {method, {4, 4, 4, 4}, overlap, 1, 12}};
        return WilsonSolver(Cpu{1}, u, light, options).solve(b, x).iterations;
    };
    EXPECT_GT(iterations(ras, 0), iterations(ras, 1));
    EXPECT_GT(iterations(ras, 1), iterations(ras, 3));
    EXPECT_GT(iterations(additive, 0), iterations(sap, 0));
    EXPECT_GT(iterations(sap, 0), iterations(multiplicative, 2));
}

TEST(Schwarz, FallsBackToTheInnerSolver) {
    // Far beyond the critical kappa a refinement with SAP gains nothing; the solver says so and continues.
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough_links);
    SpinorField x(n);
    const SolverOptions options{.method = Method::refinement, .inner = Precision::single, .schwarz = {sap, {2, 2, 2, 2}, 0, 1, 1}};
    const auto log = WilsonSolver(Cpu{1}, u, {.kappa = 0.18}, options).solve(random_spinor(n, 6), x);
    ASSERT_FALSE(log.notes.empty());
    EXPECT_NE(log.notes.front().find("inner BiCGStab continues"), std::string::npos) << log.notes.front();
}

TEST(BlockGrid, OwnRegionsCoverTheLatticeOnce) {
    const Extents n{{8, 4, 12, 16}};
    for (int overlap = 0; overlap < 4; ++overlap) {
        const auto grid = block_grid(n, {multiplicative, {4, 4, 6, 8}, overlap, 1, 1});
        std::vector<int> owners(static_cast<std::size_t>(n.volume()));
        for (index_t block = 0; block < grid.blocks(); ++block) {
            const Site start = grid.start(block);
            EXPECT_EQ(start.parity(), grid.start_parity());
            for (index_t s = 0; s < grid.extended.volume(); ++s) {
                const Site local = grid.extended.site(s);
                if (!grid.owns(block, local)) continue;
                Site site = local;
                for (int mu = 0; mu < 4; ++mu) site[mu] = (site[mu] + start[mu]) % n[mu];
                ++owners[static_cast<std::size_t>(n.lexicographic(site))];
            }
        }
        EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), n.volume()) << overlap;
    }
}

TEST(BlockGrid, NeighboursDifferInColour) {
    const Extents n{{8, 4, 12, 16}};
    const auto grid = block_grid(n, {sap, {4, 4, 6, 4}, 0, 1, 1});
    for (index_t block = 0; block < grid.blocks(); ++block)
        for (int mu = 0; mu < 4; ++mu)
            if (grid.count[mu] > 1) {
                const index_t next = grid.count.lexicographic(grid.count.shifted(grid.count.site(block), mu, 1));
                EXPECT_NE(grid.colour(block), grid.colour(next));
            }
}

TEST(SchwarzOptions, DefaultsFitEveryLattice) {
    for (const Extents n : {Extents{{2, 4, 6, 8}}, Extents{{10, 12, 14, 22}}, Extents{{24, 24, 24, 48}}, Extents{{18, 26, 32, 64}}})
        for (const auto method : {additive, ras, sap, multiplicative}) {
            const auto options = chosen({method}, n);
            const auto problems = problems_of(options, n);
            EXPECT_TRUE(problems.empty()) << text(n) << ": " << problems.front();
        }
}

TEST(SchwarzOptions, ProblemsNameUsableBlocks) {
    const Extents n{{8, 4, 12, 16}};
    const auto problems = [&](const Blocks& options) { return problems_of(chosen(options, n), n); };
    // 12 / 4 = 3 blocks cannot alternate in colour; one colour may have them.
    const auto odd_number = problems({sap, {4, 4, 4, 4}});
    ASSERT_EQ(odd_number.size(), 1u);
    EXPECT_NE(odd_number.front().find("x: 2 4 8; y: 2 4; z: 2 6 12; t: 2 4 8 16"), std::string::npos) << odd_number.front();
    EXPECT_TRUE(problems({ras, {4, 4, 4, 4}}).empty());
    for (const Blocks& bad : {Blocks{sap, {4, 4, 6, 5}}, Blocks{sap, {4, 4, 6, 0}}, Blocks{sap, {4, 4, 6, -2}}, Blocks{sap, {4, 4, 6, 32}},
                              Blocks{sap, {4, 4, 6, 4}, 1}, Blocks{ras, {4, 4, 6, 4}, 5}, Blocks{sap, {4, 4, 6, 4}, 0, -1},
                              Blocks{sap, {4, 4, 6, 4}, 0, 1, -1}})
        EXPECT_EQ(problems(bad).size(), 1u);
    // Methods without a preconditioner.
    for (const auto method : {Method::cg, Method::bicgstab})
        EXPECT_THROW(check_solver(test::unit_gauge(n), {}, {.method = method, .schwarz = {sap}}), InputError);
}

TEST(SchwarzOptions, MemoryCountsTheBlocks) {
    const Extents n{{16, 16, 16, 16}};
    const auto bytes = [&](const Blocks& blocks) {
        return memory_per_site({.csw = 1}, {.method = Method::gcr, .inner = Precision::single, .schwarz = blocks}, n).device;
    };
    EXPECT_GT(bytes({sap}), bytes({}));
    EXPECT_GT(bytes({ras, {8, 8, 8, 8}, 3}), 2 * bytes({ras, {8, 8, 8, 8}, 0}));
    EXPECT_THROW(memory_per_site({}, {.schwarz = {sap}}), LogicError);
    EXPECT_THROW(bytes({sap, {0, 4, 4, 4}}), LogicError);
}

}  // namespace
}  // namespace kasane::lattice
