// ComplexSolver against elimination and solutions in closed form; its choices, its scales, its refusals.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/columns.hpp>
#include <kasane/sparse/complex_solver.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <gtest/gtest.h>
#include <sparse/complex_systems.hpp>
#include <test/reference/dense_complex_lu.hpp>

#include <cmath>
#include <map>
#include <string>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

struct NamedSystem {
    const char* name;
    ComplexCsrMatrix A;
};
std::vector<NamedSystem> small_systems() {
    return {{"Helmholtz", helmholtz_with_loss(14, {0.9, 0.2})},
            {"magnetic field", in_magnetic_field(15, 0.31, 0.2)},
            {"without symmetry", without_symmetry(190)}};
}

TEST(ComplexSolver, AgreesWithElimination) {
    for (const auto& [label, A] : small_systems())
        for (const auto method : {GeneralMethod::automatic, GeneralMethod::bicgstab, GeneralMethod::gmres})
            for (const auto precondition :
                 {GeneralPrecondition::automatic, GeneralPrecondition::ilu0, GeneralPrecondition::jacobi, GeneralPrecondition::none}) {
                GeneralOptions options{.method = method, .precondition = precondition, .restart = 60};
                options.rtol = 1e-11;
                const Values b = complex_waves(A.rows());
                ComplexSolver solver(Cpu{2}, A.view(), options);
                SolveLog log;
                const Values x = solver.solve(b, &log);
                const auto what = std::string(label) + ", " + name(method) + " with " + name(precondition);
                ASSERT_TRUE(log.converged()) << what;
                EXPECT_LE(relative_distance(times(A, x), b), 1e-11 * (1 + 1e-3)) << what;
                EXPECT_NEAR(log.true_residual, relative_distance(times(A, x), b), 1e-14) << what;
                EXPECT_LE(relative_distance(x, reference::complex_lu_solve(A, b)), 1e-8) << what;
            }
}

TEST(ComplexSolver, ConjugateGradientsSolveHermitianSystems) {
    const auto A = in_magnetic_field(40, 0.2, 0.05);
    const Values b = complex_waves(A.rows());
    std::map<std::string, int> iterations;
    for (const auto precondition : {GeneralPrecondition::ilu0, GeneralPrecondition::jacobi, GeneralPrecondition::none}) {
        ComplexSolver solver(Cpu{1}, A.view(), {.method = GeneralMethod::cg, .precondition = precondition});
        SolveLog log;
        const Values x = solver.solve(b, &log);
        EXPECT_TRUE(log.converged());
        EXPECT_LE(relative_distance(times(A, x), b), 1e-8 * (1 + 1e-6));
        iterations[name(precondition)] = log.iterations;
    }
    EXPECT_LT(iterations["ilu0"], iterations["none"] / 2) << "the factors of a Hermitian matrix are a Cholesky factorisation";
}

TEST(ComplexSolver, HoldsAPlaneWave) {
    // u = exp(i (k x + q y)) on a unit grid solves the discrete equation with the value of the operator on the wave as its source; the
    // values on the points around the grid are in b.
    constexpr index_t m = 40;
    constexpr double k = 0.35, q = -0.2;
    const Value loss{0.2, 0.03};
    const auto A = helmholtz_with_loss(m, loss);
    const auto wave = [&](index_t x, index_t y) { return std::polar(1., k * static_cast<double>(x) + q * static_cast<double>(y)); };
    Values b, exact;
    for (index_t y = 0; y < m; ++y)
        for (index_t x = 0; x < m; ++x) {
            exact.push_back(wave(x, y));
            Value right = (4. - loss - 2 * std::cos(k) - 2 * std::cos(q)) * wave(x, y);
            for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}})
                if (x + dx < 0 || x + dx == m || y + dy < 0 || y + dy == m) right += wave(x + dx, y + dy);
            b.push_back(right);
        }
    ComplexSolver solver(Cpu{2}, A.view(), {.rtol = 1e-11});
    EXPECT_EQ(solver.setup().iteration, "bicgstab");
    EXPECT_TRUE(solver.kind().symmetric);
    EXPECT_FALSE(solver.kind().hermitian);
    SolveLog log;
    EXPECT_LE(relative_distance(solver.solve(b, &log), exact), 1e-8);
    EXPECT_TRUE(log.converged());
}

TEST(ComplexSolver, ChoosesByTheMatrix) {
    const ComplexSolver hermitian(Cpu{1}, in_magnetic_field(12, 0.3, 1).view());
    EXPECT_EQ(hermitian.setup().iteration, "cg");
    EXPECT_EQ(hermitian.setup().decision.reason, "the matrix is Hermitian");
    EXPECT_TRUE(hermitian.kind().positive);
    const ComplexSolver general(Cpu{1}, without_symmetry(100).view());
    EXPECT_EQ(general.setup().iteration, "bicgstab");
    EXPECT_EQ(general.setup().precondition, "ilu0");
    EXPECT_FALSE(general.kind().symmetric);
    // An indefinite Hermitian matrix: conjugate gradients fail where the diagonal does not show it, and gmres solves.
    const auto A = in_magnetic_field(14, 0.3, -3);
    ComplexSolver indefinite(Cpu{1}, A.view(), {.restart = 200});
    SolveLog log;
    const Values b = complex_waves(A.rows()), x = indefinite.solve(b, &log);
    EXPECT_TRUE(log.converged());
    EXPECT_LE(relative_distance(times(A, x), b), 1e-8 * (1 + 1e-6));
}

TEST(ComplexSolver, ResultsDoNotDependOnThreads) {
    for (const auto& [label, A] :
         {NamedSystem{"Helmholtz", helmholtz_with_loss(200, {0.05, 0.05})}, NamedSystem{"Hermitian", in_magnetic_field(200, 0.1, 0.1)}}) {
        const Values b = complex_waves(A.rows());
        const Values one = ComplexSolver(Cpu{1}, A.view()).solve(b);
        EXPECT_EQ(ComplexSolver(Cpu{2}, A.view()).solve(b), one) << label;
        EXPECT_EQ(ComplexSolver(Cpu{3}, A.view()).solve(b), one) << label;
    }
}

TEST(ComplexSolver, IsTheGeneralSolverOnRealSystems) {
    const auto A = on_square(20, 4.2, [](index_t, index_t, int dx, int dy) { return Value(-1 + 0.4 * dx - 0.2 * dy); });
    CsrMatrix real{A.begin, A.column, {}};
    for (const Value& value : A.value) real.value.push_back(value.real());
    const auto waves = complex_waves(A.rows());
    std::vector<double> b;
    for (const Value& value : waves) b.push_back(value.real());
    const Values x = ComplexSolver(Cpu{1}, A.view(), {.rtol = 1e-12}).solve(Values(b.begin(), b.end()));
    const auto y = GeneralSolver(Cpu{1}, real.view(), {.rtol = 1e-12}).solve(b);
    EXPECT_LE(relative_distance(x, Values(y.begin(), y.end())), 1e-10);
}

TEST(ComplexSolver, ScalesAndPermutes) {
    auto A = without_symmetry(150);
    // Rows and columns in units that differ by 30 orders of magnitude, and rows in another order, so that the diagonal is zero somewhere.
    for (index_t i = 0; i < 150; ++i)
        for (auto e = A.begin[static_cast<std::size_t>(i)]; e < A.begin[static_cast<std::size_t>(i) + 1]; ++e)
            A.value[static_cast<std::size_t>(e)] *= std::pow(
                10., 15 * std::sin(static_cast<double>(i)) + 5 * std::cos(static_cast<double>(A.column[static_cast<std::size_t>(e)])));
    ComplexCsrMatrix turned;
    turned.begin = {0};
    for (index_t i = 0; i < 150; ++i) {
        const auto row = static_cast<std::size_t>((i + 40) % 150);
        for (auto e = A.begin[row]; e < A.begin[row + 1]; ++e)
            turned.column.push_back(A.column[static_cast<std::size_t>(e)]), turned.value.push_back(A.value[static_cast<std::size_t>(e)]);
        turned.begin.push_back(std::ssize(turned.value));
    }
    Values b = times(turned, Values(150, Value(1, -2)));
    ComplexSolver solver(Cpu{1}, turned.view(), {.rtol = 1e-12});
    SolveLog log;
    const Values x = solver.solve(b, &log);
    EXPECT_TRUE(log.converged());
    EXPECT_LE(relative_distance(times(turned, x), b), 1.001e-12);
    std::string notes;
    for (const auto& note : solver.setup().notes) notes += note + "\n";
    EXPECT_NE(notes.find("scaled by powers of two"), std::string::npos) << notes;
    EXPECT_NE(notes.find("rows were permuted"), std::string::npos) << notes;
}

TEST(ComplexSolver, TakesEntriesInAnyOrderAndSumsThem) {
    const std::vector<std::int32_t> begin{0, 3, 5}, column{1, 0, 1, 1, 0};
    const Values value{{1, 1}, {4, 0}, {1, -3}, {5, 2}, {0, 1}};  // (0, 1) twice: 2 - 2 i
    ComplexSolver solver(Cpu{1}, ComplexCsrView(2, begin.data(), column.data(), value.data()), {.rtol = 1e-13});
    EXPECT_EQ(solver.setup().nonzeros, 4);
    const Values x = solver.solve({Value(4, 0) * Value(1, 1) + Value(2, -2), Value(0, 1) * Value(1, 1) + Value(5, 2)});
    EXPECT_LE(relative_distance(x, {{1, 1}, 1.}), 1e-12);
}

TEST(ComplexSolver, UpdatesAreNewSetUps) {
    const auto A = helmholtz_with_loss(20, {0.5, 0.1}), other = helmholtz_with_loss(20, {0.1, 0.4});
    const Values b = complex_waves(A.rows());
    ComplexSolver solver(Cpu{1}, A.view());
    solver.solve(b);
    solver.update(other.view());
    EXPECT_EQ(solver.solve(b), ComplexSolver(Cpu{1}, other.view()).solve(b));
    EXPECT_THROW(solver.update(helmholtz_with_loss(19, 1).view()), LogicError);
}

TEST(ComplexSolver, SolvesSeveralColumnsAndBeginsWithTheGuess) {
    const auto A = without_symmetry(80);
    ComplexSolver solver(Cpu{1}, A.view());
    Values B = complex_waves(80), X(160, Value(0));
    B.insert(B.end(), 80, Value(0, 1));
    const auto logs = solve_columns(solver, View<const Value>(view(B)), view(X), 2);
    ASSERT_EQ(logs.size(), 2u);
    EXPECT_TRUE(logs[1].converged());
    EXPECT_LE(relative_distance(times(A, {X.begin() + 80, X.end()}), Values(80, Value(0, 1))), 1.001e-8);
    Values x(X.begin(), X.begin() + 80);
    const Values before = x;
    EXPECT_EQ(solver.solve(View<const Value>(B.data(), 80), view(x)).iterations, 0);
    EXPECT_LE(relative_distance(x, before), 1e-15);
    const Values nothing(80, Value(0));
    Values zero(80, Value(1));
    EXPECT_TRUE(solver.solve(view(nothing), view(zero)).converged());
    EXPECT_EQ(zero, nothing);
}

TEST(ComplexSolver, RefusesWhatCannotBeSolved) {
    const auto refusal = [](const ComplexCsrMatrix& A, const GeneralOptions& options = {}) -> std::string {
        try {
            ComplexSolver solver(Cpu{1}, A.view(), options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "taken";
    };
    const auto contains = [](const std::string& text, const std::string& words) {
        EXPECT_NE(text.find(words), std::string::npos) << "no '" << words << "' in " << text;
    };
    const auto A = without_symmetry(30);
    contains(refusal(A, {.method = GeneralMethod::minres}), "for real matrices");
    contains(refusal(A, {.method = GeneralMethod::cg}), "neither Hermitian nor symmetric");
    contains(refusal(A, {.precondition = GeneralPrecondition::ilut}), "Take ilu0");
    contains(refusal(A, {.rtol = 2}), "rtol");
    auto broken = A;
    broken.value[4] = {1, std::nan("")};
    contains(refusal(broken), "finite");
    broken = A;
    for (auto e = broken.begin[7]; e < broken.begin[8]; ++e) broken.value[static_cast<std::size_t>(e)] = 0;
    contains(refusal(broken), "row 8 has no entry other than zero");
    ComplexSolver solver(Cpu{1}, A.view());
    EXPECT_THROW(solver.solve(Values(29)), LogicError);
    EXPECT_THROW(solver.solve(Values(30, Value(0, std::nan("")))), InputError);
    CsrMatrix real{{0, 1}, {0}, {1.}};
    EXPECT_THROW(GeneralSolver(Cpu{1}, real.view(), {.method = GeneralMethod::cg}), InputError);
}

}  // namespace
