// Inexact deflation by local coherence: basis and little operator against the textbook operator by explicit products, the deflation of the
// little system by its defining relations, and solves with it against solves without.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space_cuda.hpp>
#include <kasane/lattice/solve/little_deflation.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kasane::lattice {
namespace {

using reference::WilsonClover;
using test::random_gauge;
using test::random_spinor;

class CoherentDeflation : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(CoherentDeflation);

/// A basis of random vectors on a space, in double, and copies between its coefficients and fields and the host.
template <Space S>
struct RandomBasis {
    static constexpr auto precision = Precision::double_;
    std::shared_ptr<const Lattice<S>> lattice;
    std::vector<SpinorField> vectors;
    BlockVectors<S, double> basis;

    /// @param distance  of later vectors from the first one; 0: all are random
    RandomBasis(S on, const Extents& n, const Extents& block, int count, double distance = 0)
        : lattice(std::make_shared<const Lattice<S>>(on, n)), basis(lattice, block, count) {
        for (int k = 0; k < count; ++k) {
            const auto random = random_spinor(n, 700 + static_cast<std::uint64_t>(k));
            vectors.push_back(k > 0 && distance > 0 ? reference::combination(1, vectors.front(), distance, random) : random);
        }
        std::vector<Field<S, precision>> fields;
        for (int i = 0; i < 4; ++i) fields.emplace_back(lattice);
        for (int first = 0; first < count; first += 4)
            for (const auto parity : {Parity::even, Parity::odd}) {
                std::vector<const Field<S, precision>*> some;
                for (int k = first; k < std::min(first + 4, count); ++k) {
                    auto& field = fields[static_cast<std::size_t>(k - first)];
                    load(vectors[static_cast<std::size_t>(k)], parity, field);
                    some.push_back(&field);
                }
                basis.set(first, parity, some);
            }
        // Of the last of 9 random vectors in 96 dimensions more than half is left.
        const double left = basis.orthonormalise();
        EXPECT_GT(left, distance > 0 ? 0.3 * distance : 0.5);
        EXPECT_LT(left, distance > 0 ? 3 * distance : 1.0);
    }
    LittleVector<S, double> little() const { return {basis.space(), basis.layout()}; }
    /// Random coefficients, of blocks from `first` to before `last` and one chirality, or both where it is -1.
    LittleVector<S, double> random_coefficients(std::uint64_t seed, index_t first, index_t last, int chirality = -1) const {
        const auto& layout = basis.layout();
        std::mt19937_64 generator(seed);
        std::normal_distribution<double> normal;
        std::vector<double> c(static_cast<std::size_t>(layout.coefficients()));
        for (index_t block = first; block < last; ++block)
            for (int which = 0; which < 2; ++which)
                for (int k = 0; k < layout.count && (chirality < 0 || chirality == which); ++k) {
                    const auto at = static_cast<std::size_t>(((2 * block + which) * layout.packs + k / 8) * 16 + k % 8);
                    c[at] = normal(generator);
                    c[at + 8] = normal(generator);
                }
        auto out = little();
        copy_from_host(basis.space(), out.data.view(), view(c));
        return out;
    }
    SpinorField prolonged(const LittleVector<S, double>& c) const {
        SpinorField out(basis.layout().lattice);
        Field<S, precision> field(lattice);
        for (const auto parity : {Parity::even, Parity::odd}) {
            basis.prolong(parity, c.data.data(), field);
            store(field, parity, out);
        }
        return out;
    }
    LittleVector<S, double> restricted(const SpinorField& from) const {
        auto c = little();
        Field<S, precision> field(lattice);
        for (const auto parity : {Parity::even, Parity::odd}) {
            load(from, parity, field);
            basis.restrict_to(parity, field, parity == Parity::odd, c.data.data());
        }
        return c;
    }
};

template <Space S>
double relative_difference(const LittleVector<S, double>& a, const LittleVector<S, double>& b) {
    const auto x = to_host(a.data), y = to_host(b.data);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        difference += (x[i] - y[i]) * (x[i] - y[i]);
        size += y[i] * y[i];
    }
    return std::sqrt(difference / size);
}

struct Case {
    Extents lattice, block;
    int count;
    double csw;
};
// Two blocks, three, and one in a direction: a neighbour in two directions, in one, and the block itself. 5 vectors fill no pack, 9 not
// two.
const std::vector<Case> cases = {
    {{{4, 4, 4, 8}}, {{2, 2, 4, 4}}, 5, 1.2}, {{{6, 2, 4, 6}}, {{2, 2, 4, 2}}, 9, 0}, {{{2, 4, 6, 4}}, {{2, 4, 2, 4}}, 8, 0.7}};

TEST_P(CoherentDeflation, ProjectsOntoBlocksAndChiralities) {
    for (const auto& [n, block, count, csw] : cases)
        on_space([&]<Space S>(S on) {
            const RandomBasis<S> at(on, n, block, count);
            const auto blocks = at.basis.layout().blocks();
            const auto c = at.random_coefficients(1, 0, blocks);
            EXPECT_LT(relative_difference(at.restricted(at.prolonged(c)), c), 1e-13);  // P^+ P = 1
            const auto psi = random_spinor(n, 2);
            const auto once = at.prolonged(at.restricted(psi));
            EXPECT_LT(reference::relative_difference(at.prolonged(at.restricted(once)), once), 1e-13);  // (P P^+)^2 = P P^+
            for (const auto& vector : at.vectors)
                EXPECT_LT(reference::relative_difference(at.prolonged(at.restricted(vector)), vector), 1e-13);  // in the subspace
            // The coefficients of one block and chirality make a field of that block and chirality.
            for (const int chirality : {0, 1}) {
                const auto field = at.prolonged(at.random_coefficients(3, 1, 2, chirality));
                double inside = 0, outside = 0;
                const auto start = at.basis.layout().grid.site(1);
                for (index_t s = 0; s < n.volume(); ++s) {
                    bool in = true;
                    for (int mu = 0; mu < 4; ++mu) in = in && n.site(s)[mu] / block[mu] == start[mu];
                    for (int k = 0; k < 12; ++k) (in && k / 6 == chirality ? inside : outside) += std::norm(field.at(s, k / 3, k % 3));
                }
                EXPECT_GT(inside, 1);
                EXPECT_EQ(outside, 0);
            }
        });
}

// What distinguishes the vectors is 1e-5 of their norm: one pass leaves products of 1e-16 / 1e-5, or of 1e-16 / 1e-10 from a Gram matrix.
TEST_P(CoherentDeflation, BasisIsOrthonormalWhereVectorsAreNearlyParallel) {
    const auto& [n, block, count, csw] = cases[1];
    on_space([&, n = n, block = block, count = count]<Space S>(S on) {
        const RandomBasis<S> at(on, n, block, count, 1e-5);
        const auto c = at.random_coefficients(6, 0, at.basis.layout().blocks());
        EXPECT_LT(relative_difference(at.restricted(at.prolonged(c)), c), 1e-13);
        for (const auto& vector : at.vectors) EXPECT_LT(reference::relative_difference(at.prolonged(at.restricted(vector)), vector), 1e-13);
        const auto difference = reference::combination(1e5, at.vectors[1], -1e5, at.vectors[0]);
        EXPECT_LT(reference::relative_difference(at.prolonged(at.restricted(difference)), difference), 1e-9);
    });
}

TEST_P(CoherentDeflation, LittleOperatorIsTheProductOfTheThree) {
    for (const auto& [n, block, count, csw] : cases) {
        const auto u = random_gauge(n, 12);
        for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic}) {
            const DiracParameters parameters{.kappa = 0.13, .csw = csw, .boundary = boundary};
            const WilsonClover D(u, parameters.kappa, csw, boundary == Boundary::antiperiodic);
            on_space([&]<Space S>(S on) {
                const RandomBasis<S> at(on, n, block, count);
                const auto links = links_on(on, u);
                std::optional<CloverTerm<S>> A;
                if (csw != 0) A.emplace(clover_term(links, parameters.kappa * csw));
                LittleOperator<S, double> little(on, at.basis.layout());
                little.assemble(at.basis, links, A ? &*A : nullptr, parameters);
                const auto c = at.random_coefficients(4, 0, at.basis.layout().blocks());
                auto out = at.little(), between = at.little(), divided = at.little();
                little.apply(c, out);
                EXPECT_LT(relative_difference(out, at.restricted(D.apply(at.prolonged(c)))), 1e-13) << text(n) << name(boundary);
                // B^-1 c, then P^+ D P of it.
                little.apply_divided(c, between, divided);
                little.apply(between, out);
                EXPECT_LT(relative_difference(divided, out), 1e-12);
                // B (B^-1 c) = c: P^+ D P of one block, restricted to that block.
                const auto one = at.random_coefficients(5, 0, 1);
                little.divide(one, between);
                auto image = to_host(at.restricted(D.apply(at.prolonged(between))).data);
                const auto wanted = to_host(one.data);
                if (at.basis.layout().grid[0] > 1 && at.basis.layout().grid[3] > 1 && at.basis.layout().grid[1] > 1 &&
                    at.basis.layout().grid[2] > 1) {
                    for (std::size_t i = 0; i < static_cast<std::size_t>(at.basis.layout().block_words()); ++i)
                        EXPECT_NEAR(image[i], wanted[i], 1e-11);
                }
            });
        }
    }
}

TEST_P(CoherentDeflation, LittleSystemIsDeflatedByItsImages) {
    const Extents n{{4, 4, 4, 8}}, block{{2, 2, 4, 4}};
    const DiracParameters parameters{.kappa = 0.13};
    const auto u = random_gauge(n, 13, 0.5);
    on_space([&]<Space S>(S on) {
        const RandomBasis<S> at(on, n, block, 5);
        LittleOperator<S, double> A(on, at.basis.layout());
        A.assemble(at.basis, links_on(on, u), nullptr, parameters);
        LittleAlgebra<S, double> algebra(on, at.basis.layout());
        LittleDeflation<S, double> deflation(on, at.basis.layout(), 10);
        auto work = at.little(), image = at.little();
        for (std::uint64_t seed = 0; seed < 4; ++seed)
            for (const int chirality : {0, 1})
                deflation.add(algebra, A, at.random_coefficients(20 + seed, 0, at.basis.layout().blocks()), chirality, work, image);
        const auto c = at.random_coefficients(30, 0, at.basis.layout().blocks());
        const auto h = deflation.products(c);
        double size = 0;
        for (const auto& z : h) size += std::norm(z);
        EXPECT_GT(size, 1);
        // (1 - C C^+) c is orthogonal to C.
        auto rest = at.little();
        algebra.copy(c, rest);
        deflation.subtract_images(h, rest);
        for (const auto& z : deflation.products(rest)) EXPECT_LT(std::abs(z), 1e-12);
        // A U h = C h = c - (1 - C C^+) c
        auto x = at.little(), ax = at.little();
        algebra.zero(x);
        deflation.add_vectors(h, x);
        A.apply(x, ax);
        algebra.axpby(1, c, -1, rest);
        EXPECT_LT(relative_difference(ax, rest), 1e-12);
        // Vectors that are there already are left out; without vectors nothing changes.
        for (const int chirality : {0, 1})
            deflation.add(algebra, A, at.random_coefficients(20, 0, at.basis.layout().blocks()), chirality, work, image);
        const auto same = deflation.products(c);
        for (std::size_t j = 0; j < h.size(); ++j) EXPECT_LT(std::abs(same[j] - h[j]), 1e-12);
        deflation.clear();
        for (const auto& z : deflation.products(c)) EXPECT_EQ(z, 0.);
    });
}

AnySpace any(auto on) { return on; }

// 96 vectors span one chirality of the only block, 2^4 sites with 6 numbers each: the little operator is D itself.
TEST_P(CoherentDeflation, WholeSpaceIsSolvedExactly) {
    const Extents n{{2, 2, 2, 2}};
    const DiracParameters parameters{.kappa = 0.13, .csw = 1.1};
    const auto u = random_gauge(n, 14, 0.5);
    const auto b = random_spinor(n, 15);
    const WilsonClover D(u, parameters.kappa, parameters.csw, true);
    for (const auto schur : {Schur::symmetric, Schur::asymmetric}) {
        SolverOptions options{.method = Method::gcr, .schur = schur, .inner = Precision::double_};
        options.coherent = {
            .vectors = 96, .block = {2, 2, 2, 2}, .rounds = 1, .smoother_steps = 1, .little_rtol = 1e-12, .little_iteration_limit = 2000};
        SpinorField x(n);
        const auto log = on_space([&](auto on) { return WilsonSolver(any(on), u, parameters, options).solve(b, x); });
        ASSERT_TRUE(log.converged());
        EXPECT_LE(log.iterations, 2);
        EXPECT_LT(reference::norm(reference::combination(1, b, -1, D.apply(x))), 1e-9 * reference::norm(b));
    }
}

const Extents coherent_extents{{4, 8, 4, 8}};

/// A thermalised field, whose quarks are light at kappa 0.14; BiCGStab takes 10 times as many iterations at 0.15.
GaugeField thermalised_links(std::uint64_t seed) {
    Links<Cpu> u(Cpu{1}, coherent_extents);
    hot_start(u, seed);
    for (std::uint64_t sweep = 0; sweep < 30; ++sweep) {
        heatbath_sweep(u, 6, seed, sweep);
        overrelaxation_sweep(u);
    }
    reunitarise(u);
    return to_gauge_field(u);
}

TEST_P(CoherentDeflation, ChangesNoSolution) {
    const auto u = thermalised_links(611);
    const auto b = random_spinor(coherent_extents, 612);
    const DiracParameters light{.kappa = 0.14, .csw = 1};
    const WilsonClover D(u, light.kappa, light.csw, true);
    on_space([&](auto on) {
        SpinorField plain(coherent_extents);
        ASSERT_TRUE(WilsonSolver(any(on), u, light, {.method = Method::cg, .inner = Precision::double_}).solve(b, plain).converged());
        for (const auto inner : {Precision::half, Precision::single, Precision::double_})
            for (const auto schur : {Schur::symmetric, Schur::asymmetric})
                for (const auto smoother : {SchwarzMethod::none, SchwarzMethod::sap}) {
                    SolverOptions options{
                        .method = smoother == SchwarzMethod::none ? Method::fgmres : Method::gcr, .schur = schur, .inner = inner};
                    if (inner == Precision::half) options.method = Method::nested_bicgstab;
                    options.inner_links = {.reals = LinkReals::two_rows, .temporal_gauge = inner == Precision::single};
                    options.schwarz = {.method = smoother, .block = {2, 4, 2, 4}, .cycles = 2};
                    options.coherent = {.vectors = 6, .block = {2, 4, 4, 4}, .rounds = 1};
                    SpinorField x(coherent_extents);
                    WilsonSolver solver(any(on), u, light, options);
                    const auto log = solver.solve(b, x);
                    const auto what = std::string(name(options.method)) + ", " + name(inner) + ", " + name(smoother);
                    EXPECT_TRUE(log.converged()) << what;
                    EXPECT_TRUE(log.notes.empty()) << what << ": " << log.notes.front();
                    EXPECT_LT(reference::norm(reference::combination(1, b, -1, D.apply(x))), 1.01e-10 * reference::norm(b)) << what;
                    EXPECT_LT(reference::relative_difference(x, plain), 1e-8) << what;
                    const auto report = solver.coherent();
                    EXPECT_EQ(report.blocks, 2 * 2 * 1 * 2);
                    EXPECT_EQ(report.dimension, 2 * 6 * 8);
                    EXPECT_GT(report.seconds, 0);
                }
    });
}

// The eigenvalues of D near 0 belong to the subspace, so that lighter quarks cost hardly more iterations.
#if defined(KASANE_CUDA)
TEST(CoherentDeflationOnCuda, KeepsItsMemoryOnItsDevice) {
    if (cuda::device_count() < 2) GTEST_SKIP() << "there is no second CUDA device: use a machine with two";
    const auto u = thermalised_links(613);
    const auto b = random_spinor(coherent_extents, 614);
    SolverOptions options{.method = Method::gcr, .inner = Precision::single};
    options.coherent = {.vectors = 6, .block = {2, 4, 4, 4}, .rounds = 1};
    SpinorField x(coherent_extents);
    EXPECT_TRUE(WilsonSolver(Cuda{1}, u, {.kappa = 0.14, .csw = 1}, options).solve(b, x).converged());
}

// Enough couplings for several launches of narrow(), which is in place.
TEST(CoherentDeflationOnCuda, KeepsCouplingsIn16Bits) {
    if (const auto reason = why_no_cuda(); !reason.empty()) GTEST_SKIP() << reason;
    const Cuda on;
    const Extents n{{8, 4, 8, 8}}, block{{2, 2, 2, 4}};
    const RandomBasis<Cuda> at(on, n, block, 9);
    LittleOperator<Cuda, double> exact(on, at.basis.layout());
    exact.assemble(at.basis, links_on(on, random_gauge(n, 15)), nullptr, {.kappa = 0.13});
    LittleOperator<Cuda, float> little(on, at.basis.layout());
    const index_t numbers = at.basis.layout().blocks() * at.basis.layout().rows() * at.basis.layout().block_words();
    ASSERT_GE(8 * numbers, 1 << 20);
    const auto take = [&](const double* from, index_t count, float* to) {
        std::vector<double> values(static_cast<std::size_t>(count));
        copy_to_host(on, view(values), {from, count});
        const std::vector<float> narrower(values.begin(), values.end());
        copy_from_host(on, View<float>(to, count), view(narrower));
    };
    const auto fill = [&] {
        take(exact.own(), numbers, little.own());
        take(exact.inverse(), numbers, little.inverse());
        take(exact.hop(), 8 * numbers, little.hop());
    };
    const auto c = at.random_coefficients(4, 0, at.basis.layout().blocks());
    auto wanted = at.little(), between = at.little();
    exact.apply_divided(c, between, wanted);
    LittleVector<Cuda, float> in(on, at.basis.layout()), middle(on, at.basis.layout()), out(on, at.basis.layout());
    take(c.data.data(), c.data.size(), in.data.data());
    const auto error = [&] {
        little.apply_divided(in, middle, out);
        const auto got = to_host(out.data);
        const std::vector<double> wide(got.begin(), got.end());
        LittleVector<Cuda, double> result(on, at.basis.layout());
        copy_from_host(on, result.data.view(), view(wide));
        return relative_difference(result, wanted);
    };
    for (int round = 0; round < 2; ++round) {
        fill();
        EXPECT_LT(error(), 1e-6);
        little.narrow();
        EXPECT_LT(error(), 5e-4);
        EXPECT_GT(error(), 5e-6);
        little.narrow();
        EXPECT_LT(error(), 5e-4);
    }
}
#endif

TEST_P(CoherentDeflation, IterationsDoNotFollowTheMass) {
    const auto u = thermalised_links(613);
    const auto b = random_spinor(coherent_extents, 614);
    on_space([&](auto on) {
        const auto iterations = [&](double kappa, Method method, int vectors) {
            SolverOptions options{.method = method, .inner = Precision::single};
            options.coherent.vectors = vectors;
            SpinorField x(coherent_extents);
            const auto log = WilsonSolver(any(on), u, {.kappa = kappa, .csw = 1}, options).solve(b, x);
            EXPECT_TRUE(log.converged());
            return log.iterations;
        };
        const int heavy = iterations(0.146, Method::gcr, 16), light = iterations(0.15, Method::gcr, 16);
        const int plain_heavy = iterations(0.146, Method::bicgstab, 0), plain_light = iterations(0.15, Method::bicgstab, 0);
        EXPECT_LT(light, 1.5 * heavy) << heavy << " " << light;
        EXPECT_GT(plain_light, 4 * plain_heavy) << plain_heavy << " " << plain_light;
    });
}

// An eigenvalue of D crosses 0 at kappa 0.14943. Every step of inverse iteration makes near-null vectors more parallel to its eigenvector:
// without orthonormalisation what distinguished them was rounding (independence 2e-7), and the little system took four times as long.
TEST_P(CoherentDeflation, VectorsStayIndependentWhereDIsSingular) {
    const auto u = thermalised_links(5);
    const auto b = random_spinor(coherent_extents, 615);
    on_space([&](auto on) {
        const auto iterations = [&](double kappa) {
            SolverOptions options{.method = Method::gcr, .inner = Precision::single};
            options.coherent.vectors = 16;
            SpinorField x(coherent_extents);
            WilsonSolver solver(any(on), u, {.kappa = kappa, .csw = 1}, options);
            const auto log = solver.solve(b, x);
            EXPECT_TRUE(log.converged() && log.notes.empty());
            EXPECT_GT(solver.coherent().independence, 0.1);
            return log.iterations;
        };
        const int heavy = iterations(0.146), singular = iterations(0.14943);
        EXPECT_LT(singular, heavy + 15) << heavy;
    });
}

TEST(CoherentOptions, ProblemsNameUsableBlocks) {
    const Extents n{{8, 4, 12, 10}};
    const auto problems = [&](CoherentOptions options) { return problems_of(chosen(options, n), n); };
    EXPECT_TRUE(problems({.vectors = 20}).empty());
    const auto wrong = problems({.vectors = 20, .block = {4, 4, 4, 4}});
    ASSERT_EQ(wrong.size(), 1U);
    EXPECT_NE(wrong.front().find("x: 2 4 8; y: 2 4; z: 2 4 6 12; t: 2 10"), std::string::npos) << wrong.front();
    const CoherentOptions fits{.vectors = 96, .block = {2, 2, 2, 2}};
    EXPECT_TRUE(problems(fits).empty());
    const auto one = [&](auto change) {
        auto options = fits;
        change(options);
        EXPECT_EQ(problems(options).size(), 1U);
    };
    one([](auto& o) { o.vectors = 97; });
    one([](auto& o) { o.vectors = 0; });
    one([](auto& o) { o.vectors = -3; });
    one([](auto& o) { o.block[0] = 3; });
    one([](auto& o) { o.block[0] = 0; });
    one([](auto& o) { o.block[0] = -2; });
    one([](auto& o) { o.relaxation_steps = -1; });
    one([](auto& o) { o.rounds = -1; });
    one([](auto& o) { o.smoother_steps = -1; });
    one([](auto& o) { o.little_rtol = 1; });
    one([](auto& o) { o.little_iteration_limit = -1; });
    const auto u = test::unit_gauge({{4, 4, 4, 4}});
    for (const auto method : {Method::cg, Method::bicgstab, Method::automatic})
        EXPECT_THROW(check_solver(u, {}, {.method = method, .coherent = {.vectors = 4}}), InputError);
    EXPECT_THROW(check_solver(u, {}, {.coherent = {.vectors = 4, .block = {4, 4, 4, 3}}}), InputError);
    EXPECT_THROW(check_solver(u, {}, {.coherent = {.vectors = -4}}), InputError);
    EXPECT_FALSE(solves_columns({.coherent = {.vectors = 4}}));
    // Without vectors there is no deflation.
    EXPECT_EQ(WilsonSolver(Cpu{1}, u, {}, {}).coherent().dimension, 0);
}

TEST(CoherentOptions, MemoryIsThatOfTheSubspace) {
    const Extents n{{8, 8, 8, 8}};
    const auto u = random_gauge(n, 16, 0.3);
    for (const int vectors : {8, 11}) {
        const SolverOptions with{.method = Method::gcr, .inner = Precision::single, .coherent = {.vectors = vectors, .rounds = 1}};
        auto without = with;
        without.coherent = {};
        const double sites = static_cast<double>(n.volume());
        const double bytes = WilsonSolver(Cpu{1}, u, {}, with).coherent().bytes;
        EXPECT_NEAR(coherent_bytes_per_site(with.coherent, n) * sites, bytes, 1e-9 * bytes);
        EXPECT_GT((memory_per_site({}, with, n).device - memory_per_site({}, without, n).device) * sites, bytes);
    }
    EXPECT_THROW(memory_per_site({}, {.coherent = {.vectors = 4}}), LogicError);
}

}  // namespace
}  // namespace kasane::lattice
