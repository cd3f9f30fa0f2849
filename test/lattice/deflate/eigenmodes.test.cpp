// The lowest eigenmodes of Dhat^+ Dhat: against the dense textbook operator by counts of eigenvalues below a shift (Sylvester's law of
// inertia), in deflated solves, and in files that are damaged or belong to another field.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>
#include <kasane/lattice/file/eigenmode_file.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include "lattice/hmc/dense_quarks.hpp"
#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace kasane::lattice {
namespace {

namespace fs = std::filesystem;

class LowestEigenmodes : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(LowestEigenmodes);

/// Number of eigenvalues of a Hermitian matrix below the shift: negative pivots of m - shift.
int count_below(test::DenseMatrix m, double shift) {
    int negative = 0;
    for (std::size_t i = 0; i < m.n; ++i) m.at(i, i) -= shift;
    for (std::size_t k = 0; k < m.n; ++k) {
        negative += m.at(k, k).real() < 0;
        for (std::size_t i = k + 1; i < m.n; ++i) {
            const auto factor = m.at(i, k) / m.at(k, k);
            for (std::size_t j = k; j < m.n; ++j) m.at(i, j) -= factor * m.at(k, j);
        }
    }
    return negative;
}

// Every eigenvalue of the dense matrix is found once and in order: between value i minus and plus its error bound, the count grows from i
// to i + 1. 1e-6 covers the elimination without pivots.
TEST_P(LowestEigenmodes, AreThoseOfTheDenseMatrix) {
    const auto n = test::smallest;
    const auto u = test::random_gauge(n, 601, 0.6);
    for (const double csw : {0., 1.2}) {
        const auto square = test::DenseBlocks(reference::WilsonClover(u, 0.13, csw, true)).schur().normal(0);
        on_space([&](auto on) {
            const auto modes = lowest_eigenmodes(on, u, {0.13, csw, Boundary::antiperiodic}, {.count = 8, .rtol = 1e-9});
            ASSERT_EQ(modes.values.size(), 8U);
            for (int i = 0; i < 8; ++i) {
                const double value = modes.values[static_cast<std::size_t>(i)];
                EXPECT_EQ(count_below(square, value * (1 - 1e-6)), i) << csw;
                EXPECT_EQ(count_below(square, value * (1 + 1e-6)), i + 1) << csw;
                // The vector is the dense matrix' eigenvector.
                const auto v = test::half_of(modes.field(static_cast<std::size_t>(i)), Parity::even);
                auto image = square.times(v);
                for (std::size_t k = 0; k < v.size(); ++k) image[k] -= value * v[k];
                EXPECT_LE(std::sqrt(test::norm2(image)), 1e-7 * value);
                EXPECT_NEAR(test::norm2(v), 1, 1e-12);
            }
        });
    }
}

const Extents extents{{4, 6, 4, 8}};
constexpr DiracParameters light{.kappa = 0.142, .csw = 1, .boundary = Boundary::antiperiodic};

/// A thermalised field, whose quarks are light at kappa 0.142: the lowest eigenvalue of Dhat^+ Dhat is about 0.03, the 24th 0.1.
GaugeField thermalised(std::uint64_t seed) {
    Links<Cpu> u(Cpu{1}, extents);
    hot_start(u, seed);
    for (std::uint64_t sweep = 0; sweep < 30; ++sweep) {
        heatbath_sweep(u, 6, seed, sweep);
        overrelaxation_sweep(u);
    }
    reunitarise(u);
    return to_gauge_field(u);
}

SolverOptions deflated(Precision inner) {
    SolverOptions options;
    options.method = Method::cg, options.schur = Schur::asymmetric, options.inner = inner;
    return options;
}

TEST_P(LowestEigenmodes, MakeSolvesShorterAndChangeNoSolution) {
    const auto u = thermalised(602);
    const auto b = test::random_spinor(extents, 603);
    on_space([&](auto on) {
        const auto modes = lowest_eigenmodes(on, u, light, {.count = 24});
        for (const auto inner : {Precision::double_, Precision::single, Precision::half}) {
            WilsonSolver solver(on, u, light, deflated(inner));
            SpinorField plain(extents), x(extents);
            const auto before = solver.solve(b, plain);
            solver.deflate(modes);
            const auto after = solver.solve(b, x);
            ASSERT_TRUE(before.converged() && after.converged()) << name(inner);
            // CG's iterations follow the square root of the condition number.
            EXPECT_LT(after.iterations, 0.8 * before.iterations) << name(inner);
            EXPECT_LE(after.true_residual, 1e-10);
            // Both residuals are 1e-10; |x| / |b| and the inverse's norm differ by at most 1 / sqrt(lowest value).
            const double allowed = 2e-10 * reference::norm(b) / std::sqrt(modes.values.front()) * 10;
            EXPECT_LE(reference::norm(reference::combination(1, x, -1, plain)), allowed) << name(inner);
        }
    });
}

TEST_P(LowestEigenmodes, OfAnotherFieldOrOperatorAreRefused) {
    const Extents n{{4, 4, 2, 4}};
    const auto u = test::random_gauge(n, 604, 0.3), other = test::random_gauge(n, 605, 0.3);
    on_space([&](auto on) {
        const DiracParameters heavy{.kappa = 0.12, .csw = 1, .boundary = Boundary::antiperiodic};
        const auto modes = lowest_eigenmodes(on, u, heavy, {.count = 3});
        const auto refused = [&](const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
            EXPECT_THROW(WilsonSolver(on, links, parameters, options).deflate(modes), InputError);
        };
        const auto good = deflated(Precision::single);
        WilsonSolver(on, u, heavy, good).deflate(modes);
        refused(other, heavy, good);
        refused(u, {.kappa = 0.121, .csw = 1, .boundary = Boundary::antiperiodic}, good);
        refused(u, {.kappa = 0.12, .csw = 1.1, .boundary = Boundary::antiperiodic}, good);
        refused(u, {.kappa = 0.12, .csw = 1, .boundary = Boundary::periodic}, good);
        refused(test::random_gauge({{4, 4, 4, 4}}, 604, 0.3), heavy, good);
        refused(u, heavy, {});
        auto symmetric = good;
        symmetric.schur = Schur::symmetric;
        refused(u, heavy, symmetric);
        EXPECT_THROW(lowest_eigenmodes(on, u, heavy, {.count = 0}), InputError);
        EXPECT_THROW(lowest_eigenmodes(on, u, heavy, {.count = 12 * 64}), InputError);
        EXPECT_THROW(lowest_eigenmodes(on, u, heavy, {.count = 4, .restart_limit = 1}), ComputationError);
        EXPECT_THROW(lowest_eigenmodes(on, u, heavy, {.rtol = 0}), InputError);
    });
}

class EigenmodeFiles : public testing::Test {
   protected:
    void SetUp() override {
        directory_ = fs::path(testing::TempDir()) / ("kasane.modes." + std::to_string(getpid()));
        fs::create_directories(directory_);
        modes_ = lowest_eigenmodes(Cpu{1}, test::random_gauge({{2, 2, 2, 4}}, 606, 0.5), {0.12, 0, Boundary::periodic}, {.count = 3});
    }
    void TearDown() override { fs::remove_all(directory_); }
    fs::path file() const { return directory_ / "modes.h5"; }
    fs::path directory_;
    Eigenmodes modes_;
};

TEST_F(EigenmodeFiles, ComeBackBitByBit) {
    write_eigenmodes(file(), modes_);
    const auto back = read_eigenmodes(file(), 3);
    EXPECT_EQ(back.extents, modes_.extents);
    EXPECT_EQ(back.parameters.kappa, 0.12);
    EXPECT_EQ(back.parameters.csw, 0);
    EXPECT_EQ(back.parameters.boundary, Boundary::periodic);
    EXPECT_EQ(back.plaquette, modes_.plaquette);
    EXPECT_EQ(back.values, modes_.values);
    EXPECT_EQ(back.residuals, modes_.residuals);
    EXPECT_EQ(back.vectors, modes_.vectors);
    const auto two = read_eigenmodes(file(), 2);
    EXPECT_EQ(two.values, std::vector(modes_.values.begin(), modes_.values.begin() + 2));
    EXPECT_EQ(two.vectors.size(), 2U);
}

TEST_F(EigenmodeFiles, ThatAreWrongAreRefused) {
    const auto refused = [&](const char* what) { EXPECT_THROW(read_eigenmodes(file(), 3), InputError) << what; };
    refused("missing");
    write_eigenmodes(file(), modes_);
    EXPECT_THROW(read_eigenmodes(file(), 4), InputError);
    EXPECT_THROW(read_eigenmodes(file(), 0), InputError);
    const auto changed = [&](const char* what, const auto& change) {
        auto modes = modes_;
        change(modes);
        write_eigenmodes(file(), modes);
        refused(what);
    };
    changed("a value of 0", [](Eigenmodes& m) { m.values[0] = 0; });
    changed("order", [](Eigenmodes& m) { std::swap(m.values[0], m.values[2]); });
    changed("NaN", [](Eigenmodes& m) { m.vectors[1][5] = std::numeric_limits<double>::quiet_NaN(); });
    changed("not orthonormal", [](Eigenmodes& m) { m.vectors[1] = m.vectors[0]; });
    changed("residuals", [](Eigenmodes& m) { m.residuals.pop_back(); });
    changed("extents", [](Eigenmodes& m) { m.extents = {{2, 2, 2, 2}}; });
    hdf5::File::create(file()).close();
    refused("empty");
    // A changed byte anywhere in the vectors fails their checksum; a truncated file is refused.
    write_eigenmodes(file(), modes_);
    const auto size = fs::file_size(file());
    const double number = modes_.vectors[2][11].real();
    std::string bytes(size, '\0');
    std::ifstream(file(), std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(size));
    const auto at = bytes.find(std::string(reinterpret_cast<const char*>(&number), sizeof number));
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(file(), std::ios::binary) << bytes;
    refused("a changed bit");
    fs::resize_file(file(), size / 2);
    refused("truncated");
}

}  // namespace
}  // namespace kasane::lattice
