// Options that the solver refuses, all problems at once, and its memory estimate before allocation.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <lattice/random_fields.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kasane::lattice {
namespace {

const Extents n{{4, 4, 4, 4}};

std::vector<InputProblem> problems(const GaugeField& u, const DiracParameters& parameters, const SolverOptions& options) {
    try {
        WilsonSolver(Cpu{1}, u, parameters, options);
    } catch (const InputError& error) {
        return error.problems();
    }
    return {};
}

bool mentions(const std::vector<InputProblem>& found, const std::string& what) {
    for (const auto& problem : found)
        if (problem.message.find(what) != std::string::npos) return true;
    return false;
}

TEST(SolverOptions, AllProblemsAreReportedAtOnce) {
    SolverOptions options{
        .method = Method::gcr, .inner = Precision::double_, .rtol = 1.5, .inner_rtol = -1, .iteration_limit = 0, .krylov_length = 1};
    options.outer_links.half = true;
    options.inner_links.half = true;
    const auto found = problems(test::unit_gauge(n), {.kappa = std::nan(""), .csw = -1}, options);
    EXPECT_EQ(found.size(), 8u);
    for (const auto* what :
         {"kappa", "csw", "rtol = 1.5", "inner_rtol", "iteration_limit", "krylov_length", "outer operator", "inner operator"})
        EXPECT_TRUE(mentions(found, what)) << what;
    EXPECT_TRUE(problems(test::unit_gauge(n), {}, {}).empty());
    for (const double kappa : {0., -0.1, std::numeric_limits<double>::infinity()})
        EXPECT_TRUE(mentions(problems(test::unit_gauge(n), {.kappa = kappa}, {}), "kappa"));
}

TEST(SolverOptions, DamagedLinksAreRefused) {
    auto u = test::random_gauge(n, 1);
    u.links[17].e[0][1].re = std::nan("");
    EXPECT_TRUE(mentions(problems(u, {}, {}), "not finite"));
    auto far = test::random_gauge(n, 1);
    far.links[17].e[2][1].re += 1e-3;
    EXPECT_TRUE(mentions(problems(far, {}, {}), "SU(3)"));
    SolverOptions all;
    all.inner_links.reals = LinkReals::all;
    EXPECT_TRUE(problems(far, {}, all).empty());  // nothing is reconstructed
    auto few = test::unit_gauge(n);
    few.links.pop_back();
    EXPECT_TRUE(mentions(problems(few, {}, {}), "links"));
    auto odd = test::unit_gauge(n);
    odd.extents.n[2] = 3;
    EXPECT_TRUE(mentions(problems(odd, {}, {}), "extents"));
}

TEST(SolverOptions, ACloverTermThatIsNotPositiveIsRefused) {
    // Haar-distributed links: |F| is of order one, and kappa csw = 2 makes eigenvalues of A negative.
    EXPECT_TRUE(mentions(problems(test::random_gauge(n, 2), {.kappa = 0.5, .csw = 4}, {}), "not positive definite"));
}

TEST(SolverOptions, FieldsOfOtherLatticesAreRefused) {
    WilsonSolver solver(Cpu{1}, test::unit_gauge(n), {});
    SpinorField good(n), bad(Extents{{4, 4, 4, 8}});
    EXPECT_THROW(solver.solve(bad, good), LogicError);
    EXPECT_THROW(solver.solve(good, bad), LogicError);
    EXPECT_THROW(solver.apply(bad, good), LogicError);
}

TEST(SolverOptions, TheInnerPrecisionOfADeviceFollowsTheSites) {
    const Extents few{{12, 12, 12, 12}}, most{{16, 16, 8, 12}}, many{{16, 16, 8, 14}};
    EXPECT_EQ(default_inner_precision(Cpu{1}, few), Precision::half);
    EXPECT_EQ(default_inner_precision(Cpu{1}, many), Precision::half);
#if defined(KASANE_CUDA)
    EXPECT_EQ(default_inner_precision(Cuda{}, few), Precision::single);
    EXPECT_EQ(default_inner_precision(Cuda{}, most), Precision::single);
    EXPECT_EQ(default_inner_precision(Cuda{}, many), Precision::half);
#endif
}

TEST(SolverMemory, IsThatOfTheFields) {
    // BiCGStab in double, no clover term: 4 links of 18 doubles; b, x, its right-hand side, a residual, a hop, five vectors: twelve
    // fields of one parity at 192 bytes a site.
    const SolverOptions plain{.method = Method::bicgstab, .inner = Precision::double_};
    EXPECT_EQ(memory_per_site({}, plain).device, 4 * 18 * 8 + 12 * 192 / 2);
    // The clover term adds 72 doubles.
    EXPECT_EQ(memory_per_site({.csw = 1}, plain).device, 4 * 18 * 8 + 72 * 8 + 12 * 192 / 2);
    const auto device = [](SolverOptions options) { return memory_per_site({.csw = 1}, options).device; };
    EXPECT_LT(device({.inner = Precision::half}), device({.inner = Precision::single}));
    EXPECT_EQ(device({.method = Method::gcr, .krylov_length = 20}) - device({.method = Method::gcr, .krylov_length = 10}), 20 * 192 / 2);
    EXPECT_LT(device({}), 4000);  // 48^3 x 96 on a device of 80 GB
}

TEST(SolverMemory, TooMuchIsRefusedBeforeAllocation) {
    try {
        check_memory(Cpu{1}, {{1024, 1024, 1024, 1024}}, {.csw = 1}, {});
        FAIL() << "2^40 sites fit";
    } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("bytes per site"), std::string::npos) << message;
        EXPECT_NE(message.find("1024x1024x1024x1024"), std::string::npos) << message;
    }
    EXPECT_NO_THROW(check_memory(Cpu{1}, n, {.csw = 1}, {}));
}

}  // namespace
}  // namespace kasane::lattice
