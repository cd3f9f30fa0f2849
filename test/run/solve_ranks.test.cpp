// `mpirun -n R kasane solve`: the solution of one rank, refused options and matrices, interrupts.
#include <kasane/sparse/file/matrix_file.hpp>

#include <gtest/gtest.h>
#include <test/run/ranks.hpp>
#include <test/sparse/block/random_blocks.hpp>
#include <test/sparse/box.hpp>
#include <test/sparse/complex_systems.hpp>
#include <test/sparse/general_systems.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <tuple>

namespace {

using namespace kasane;
using test::count;
namespace fs = std::filesystem;

class ParallelSolve : public test::RanksTest {
   protected:
    static std::vector<std::string> solve(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"solve", "--device", "cpu", "--threads", "1"});
        return arguments;
    }
    void put(const std::string& name, const sparse::CsrMatrix& A) { sparse::write_matrix_market(directory / name, A.view(), false); }
    void put_complex(const std::string& name, const sparse::ComplexCsrMatrix& A) {
        sparse::write_matrix_market(directory / name, A.view(), false);
    }
    /// The true residual, for a right-hand side of ones.
    double residual(const sparse::CsrMatrix& A, const std::string& solution) {
        const auto x = sparse::read_columns(directory / solution, A.rows());
        return sparse::test::residual_of(A, std::vector<double>(x.values.size(), 1.), x.values);
    }
    void expect_refused(int n, const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
        const auto outcome = ranks(n, solve(arguments));
        test::expect_bad_input(outcome, words);
        EXPECT_EQ(count(outcome.out, "\"error\""), 1) << outcome.out;
        EXPECT_FALSE(fs::exists(directory / "x.mtx"));
    }
};

TEST_F(ParallelSolve, SolvesWhatOneRankSolves) {
    const auto box = sparse::box_matrix({6, 5, 20}), flow = sparse::test::convection(15, 0.05, 1, -2);
    put("box.mtx", box);
    put("flow.mtx", flow);
    for (const int n : {2, 3, 8}) {
        const auto spd = ranks(n, solve({"box.mtx", "--json", "-o", "x.mtx", "--force"}));
        ASSERT_EQ(spd.status, 0) << spd.err;
        const auto object = spd.json();
        EXPECT_EQ(object["method"], "cg");
        EXPECT_EQ(object["precondition"].get<std::string>().rfind("ic0 and a coarse system of ", 0), 0u) << object["precondition"];
        const auto one_level = ranks(n, solve({"box.mtx", "--json", "--coarse", "0"}));
        ASSERT_EQ(one_level.status, 0) << one_level.err;
        EXPECT_EQ(one_level.json()["precondition"], "ic0");
        EXPECT_GT(one_level.json()["iterations"].get<int>(), object["iterations"].get<int>());
        EXPECT_LE(object["relative_residual"].get<double>(), 1e-8);
        EXPECT_LE(residual(box, "x.mtx"), 1.01e-8);
        const auto overlap = ranks(n, solve({"box.mtx", "--json", "--precondition", "multigrid", "--overlap", "2"}));
        ASSERT_EQ(overlap.status, 0) << overlap.err;
        EXPECT_EQ(overlap.json()["method"], "bicgstab");
        const auto general = ranks(n, solve({"flow.mtx", "--json", "-o", "y.mtx", "--force"}));
        ASSERT_EQ(general.status, 0) << general.err;
        EXPECT_EQ(general.json()["precondition"], "ilu0");
        EXPECT_LE(residual(flow, "y.mtx"), 1.01e-8);
    }
}

TEST_F(ParallelSolve, TakesTheMethodThatWasAskedFor) {
    const std::tuple<const char*, sparse::CsrMatrix, std::vector<const char*>> systems[] = {
        {"box.mtx", sparse::box_matrix({6, 5, 20}), {"cg", "bicgstab", "gmres", "minres"}},
        {"flow.mtx", sparse::test::convection(15, 0.05, 1, -2), {"bicgstab", "gmres"}},
        {"indefinite.mtx", sparse::test::helmholtz(11, 0.7), {"minres"}},
        {"saddle.mtx", sparse::test::saddle_point(40), {"minres"}}};
    for (const auto& [file, A, methods] : systems) {
        put(file, A);
        for (const std::string method : methods) {
            std::vector<double> alone;
            for (const int n : {1, 2, 3, 4, 8}) {
                const auto outcome = ranks(n, solve({file, "--method", method, "--json", "--rtol", "1e-10", "-o", "x.mtx", "--force"}));
                ASSERT_EQ(outcome.status, 0) << file << ", " << method << ": " << outcome.err;
                EXPECT_EQ(outcome.json()["method"], method);
                EXPECT_LE(residual(A, "x.mtx"), 1.01e-10) << file << ", " << method << " on " << n << " ranks";
                const auto x = sparse::read_columns(directory / "x.mtx", A.rows()).values;
                if (n == 1) alone = x;
                double error = 0, size = 0;
                for (std::size_t i = 0; i < x.size(); ++i) {
                    error = std::max(error, std::fabs(x[i] - alone[i]));
                    size = std::max(size, std::fabs(alone[i]));
                }
                EXPECT_LE(error, 1e-7 * size) << file << ", " << method << " on " << n << " ranks";
            }
        }
    }
    for (const auto& more : {std::vector<std::string>{"--precondition", "multigrid", "--overlap", "1"}, {"--precondition", "jacobi"}}) {
        auto arguments = solve({"box.mtx", "--method", "gmres", "--restart", "20", "--json"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto outcome = ranks(3, arguments);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["method"], "gmres");
        EXPECT_LE(outcome.json()["relative_residual"].get<double>(), 1e-8);
    }
    const auto one = ranks(2, solve({"saddle.mtx", "--method", "minres", "--json"}));
    EXPECT_EQ(one.json()["precondition"], "jacobi");
    fs::remove(directory / "x.mtx");
    expect_refused(2, {"flow.mtx", "--json", "--method", "minres"}, {"method", "minres needs a symmetric matrix", "bicgstab"});
    expect_refused(2, {"flow.mtx", "--json", "--method", "cg"}, {"flow.mtx", "conjugate gradients need"});
    expect_refused(2, {"box.mtx", "--json", "--method", "gmress"}, {"--method", "gmres", "minres, cg"});
    expect_refused(2, {"box.mtx", "--json", "--method", "minres", "--precondition", "ilu0"}, {"--precondition", "positive definite"});
    expect_refused(2, {"box.mtx", "--json", "--method", "minres", "--coarse", "8"}, {"--coarse", "no effect with --method minres"});
    expect_refused(2, {"box.mtx", "--json", "--method", "cg", "--overlap", "1"}, {"--overlap", "not symmetric", "gmres"});
    expect_refused(2, {"box.mtx", "--json", "--method", "bicgstab", "--restart", "9"}, {"--restart", "no effect with --method bicgstab"});
    expect_refused(2, {"box.mtx", "--json", "--method", "gmres", "--precondition", "ilut"}, {"--precondition", "ilut", "one worker"});
}

TEST_F(ParallelSolve, NamesTheFailureOfAMethod) {
    // 2 x 2 blocks [d 1; -1 d] with a small d, on which BiCGStab breaks down, and a cyclic shift, on which GMRES gains nothing at first.
    sparse::test::Entries skew{40, {}}, shift{40, {}};
    for (index_t i = 0; i < 40; i += 2) {
        skew.at[{i, i}] = skew.at[{i + 1, i + 1}] = 1e-15;
        skew.at[{i, i + 1}] = 1, skew.at[{i + 1, i}] = -1;
    }
    for (index_t i = 0; i < 40; ++i) shift.at[{i, i}] = 1e-15, shift.at[{i, (i + 39) % 40}] = 1;
    put("skew.mtx", skew.matrix());
    put("shift.mtx", shift.matrix());
    put("indefinite.mtx", sparse::test::helmholtz(12, 1.3));
    std::vector<double> unit(40, 0.);
    unit[0] = 1;
    sparse::write_vector_market(directory / "b.mtx", view(static_cast<const std::vector<double>&>(unit)));
    for (const int n : {1, 2, 4}) {
        const auto failed = [&](std::vector<std::string> arguments, const std::string& end, const std::vector<std::string>& words) {
            arguments.insert(arguments.end(), {"--json", "--precondition", "jacobi"});
            const auto outcome = ranks(n, solve(arguments));
            EXPECT_EQ(outcome.status, 1) << outcome.err;
            EXPECT_EQ(outcome.json()["end"], end) << n << " ranks";
            for (const auto& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
        };
        failed({"skew.mtx", "--method", "bicgstab"}, "breakdown", {"skew.mtx: not solved", "denominator", "--method gmres"});
        failed({"shift.mtx", "-b", "b.mtx", "--method", "gmres", "--restart", "5"}, "stagnated", {"not solved", "larger --restart"});
        failed({"indefinite.mtx", "--method", "cg"}, "operator not positive definite", {"not solved", "p.Ap <= 0"});
    }
}

TEST_F(ParallelSolve, FindsEigenvalues) {
    const auto box = sparse::box_matrix({6, 5, 20});
    put("box.mtx", box);
    put("flow.mtx", sparse::test::convection(12, 0.05, 1, -2));
    std::vector<double> alone;
    for (const int n : {1, 2, 3, 4, 8})
        for (const auto& more : {std::vector<std::string>{}, {"--precondition", "jacobi"}}) {
            auto arguments = solve({"box.mtx", "--eigenvalues", "4", "--rtol", "1e-7", "--json"});
            arguments.insert(arguments.end(), more.begin(), more.end());
            const auto outcome = ranks(n, arguments);
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            const auto object = outcome.json();
            EXPECT_EQ(object["precondition"], more.empty() ? "multigrid" : "jacobi");
            EXPECT_TRUE(object["converged"].get<bool>());
            const auto values = object["eigenvalues"].get<std::vector<double>>();
            ASSERT_EQ(values.size(), 4u);
            if (alone.empty()) alone = values;
            for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(values[j], alone[j], 1e-7 * alone[3]) << n << " ranks";
            for (const double one : object["residuals"].get<std::vector<double>>()) EXPECT_LE(one, 1.01e-7 * alone[3]);
        }
    const auto brief = ranks(2, solve({"box.mtx", "--eigenvalues", "2", "--precondition", "jacobi", "--max-iterations", "2", "--json"}));
    EXPECT_EQ(brief.status, 1) << brief.err;
    EXPECT_EQ(brief.json()["end"], "iteration limit");
    EXPECT_NE(brief.err.find("box.mtx: the eigenvalues did not converge"), std::string::npos) << brief.err;
    expect_refused(2, {"box.mtx", "--json", "--eigenvalues", "500"}, {"a fifth of the rows"});
    expect_refused(2, {"box.mtx", "--json", "--eigenvalues", "2", "--overlap", "1"}, {"--overlap", "not symmetric"});
    expect_refused(2, {"box.mtx", "--json", "--eigenvalues", "2", "--precondition", "none"}, {"--precondition", "multigrid and jacobi"});
    expect_refused(2, {"box.mtx", "--json", "--eigenvalues", "2", "-o", "x.mtx"}, {"--output", "no effect with --eigenvalues"});
    expect_refused(2, {"box.mtx", "--json", "--eigenvalues", "2", "--method", "cg"}, {"--method", "no effect with --eigenvalues"});
    expect_refused(2, {"flow.mtx", "--json", "--eigenvalues", "2"}, {"flow.mtx", "symmetric"});
}

TEST_F(ParallelSolve, SolvesComplexMatrices) {
    using sparse::test::Values;
    const std::pair<const char*, sparse::ComplexCsrMatrix> systems[] = {{"field.mtx", sparse::test::in_magnetic_field(12, 0.3, 0.1)},
                                                                        {"loss.mtx", sparse::test::helmholtz_with_loss(12, {0.9, 0.2})}};
    for (const auto& [file, A] : systems) {
        put_complex(file, A);
        const Values ones(static_cast<std::size_t>(A.rows()), 1.);
        Values alone;
        for (const int n : {1, 2, 3, 4, 8}) {
            const auto outcome = ranks(n, solve({file, "--json", "--rtol", "1e-10", "-o", "x.mtx", "--force"}));
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            const auto object = outcome.json();
            EXPECT_EQ(object["method"], std::string(file) == "field.mtx" ? "cg" : "bicgstab");
            EXPECT_TRUE(object["converged"].get<bool>());
            EXPECT_EQ(object["solution"], "x.mtx");
            const auto x = sparse::read_complex_columns(directory / "x.mtx", A.rows()).values;
            EXPECT_LE(sparse::test::relative_distance(sparse::test::times(A, x), ones), 1.01e-10) << n << " ranks";
            if (n == 1) alone = x;
            EXPECT_LE(sparse::test::relative_distance(x, alone), 1e-7) << n << " ranks";
        }
        const auto overlap = ranks(3, solve({file, "--json", "--overlap", "2"}));
        ASSERT_EQ(overlap.status, 0) << overlap.err;
        EXPECT_EQ(overlap.json()["method"], "bicgstab");
        EXPECT_LE(overlap.json()["relative_residual"].get<double>(), 1e-8);
        fs::remove(directory / "x.mtx");
    }
    const auto sized = sparse::test::of_many_sizes(systems[0].second, 6, true);
    put_complex("sized.mtx", sized.A);
    for (const int n : {2, 3, 8}) {
        const auto outcome = ranks(n, solve({"sized.mtx", "--json", "--rtol", "1e-10", "-o", "x.mtx", "--force"}));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["method"], "cg");
        EXPECT_NE(outcome.out.find("scaled by powers of two"), std::string::npos) << outcome.out;
        const auto x = sparse::read_complex_columns(directory / "x.mtx", sized.A.rows()).values;
        EXPECT_LE(sparse::test::relative_distance(sparse::test::times(sized.A, x), Values(x.size(), 1.)), 1.01e-10) << n << " ranks";
    }
    fs::remove(directory / "x.mtx");
    expect_refused(2, {"loss.mtx", "--json", "--precondition", "multigrid"}, {"loss.mtx", "for Hermitian matrices"});
    const auto jump = sparse::test::in_magnetic_field_with_jump(10, 120, 0.005, 1000);
    put_complex("jump.mtx", jump);
    for (const int n : {2, 3, 8}) {
        const auto joined = ranks(n, solve({"jump.mtx", "--json", "-o", "x.mtx", "--force"}));
        ASSERT_EQ(joined.status, 0) << joined.err;
        EXPECT_EQ(joined.json()["method"], "cg");
        EXPECT_EQ(joined.json()["precondition"].get<std::string>().rfind("ic0 and a coarse system of ", 0), 0u) << joined.out;
        const auto x = sparse::read_complex_columns(directory / "x.mtx", jump.rows()).values;
        EXPECT_LE(sparse::test::relative_distance(sparse::test::times(jump, x), Values(x.size(), 1.)), 1.01e-8) << n << " ranks";
        const auto multigrid = ranks(n, solve({"jump.mtx", "--json", "--precondition", "multigrid", "-o", "x.mtx", "--force"}));
        ASSERT_EQ(multigrid.status, 0) << multigrid.err;
        EXPECT_EQ(multigrid.json()["precondition"].get<std::string>().rfind("multigrid and a coarse system of ", 0), 0u) << multigrid.out;
        const auto y = sparse::read_complex_columns(directory / "x.mtx", jump.rows()).values;
        EXPECT_LE(sparse::test::relative_distance(sparse::test::times(jump, y), Values(y.size(), 1.)), 1.01e-8) << n << " ranks";
        const auto one_level = ranks(n, solve({"jump.mtx", "--json", "--coarse", "0"}));
        ASSERT_EQ(one_level.status, 0) << one_level.err;
        EXPECT_EQ(one_level.json()["precondition"], "ic0");
        EXPECT_GT(one_level.json()["iterations"].get<int>(), 2 * joined.json()["iterations"].get<int>());
        EXPECT_GT(one_level.json()["iterations"].get<int>(), 2 * multigrid.json()["iterations"].get<int>());
    }
    fs::remove(directory / "x.mtx");
    for (const int n : {1, 2, 3, 4, 8}) {
        const auto gmres =
            ranks(n, solve({"loss.mtx", "--json", "--method", "gmres", "--restart", "40", "--rtol", "1e-10", "-o", "x.mtx", "--force"}));
        ASSERT_EQ(gmres.status, 0) << gmres.err;
        EXPECT_EQ(gmres.json()["method"], "gmres");
        const auto x = sparse::read_complex_columns(directory / "x.mtx", systems[1].second.rows()).values;
        EXPECT_LE(sparse::test::relative_distance(sparse::test::times(systems[1].second, x), Values(x.size(), 1.)), 1.01e-10) << n;
    }
    fs::remove(directory / "x.mtx");
    expect_refused(2, {"loss.mtx", "--json", "--restart", "40"}, {"--restart", "take gmres"});
    expect_refused(2, {"field.mtx", "--json", "--method", "cg", "--overlap", "1"}, {"--overlap", "bicgstab or gmres"});
    expect_refused(2, {"loss.mtx", "--json", "--method", "minres", "--precondition", "jacobi"}, {"minres", "real matrices"});
    expect_refused(2, {"loss.mtx", "--json", "--method", "cg"}, {"cg needs a Hermitian matrix"});
    const auto asked = ranks(2, solve({"field.mtx", "--json", "--method", "bicgstab"}));
    ASSERT_EQ(asked.status, 0) << asked.err;
    EXPECT_EQ(asked.json()["method"], "bicgstab");
    expect_refused(2, {"loss.mtx", "--json", "--block", "2"}, {"--block", "no effect on a complex matrix"});
    expect_refused(2, {"loss.mtx", "--json", "-o", "x.petsc"}, {"x.petsc", "cannot hold complex numbers"});
    const auto unsolved = ranks(2, solve({"loss.mtx", "--json", "--max-iterations", "2"}));
    EXPECT_EQ(unsolved.status, 1) << unsolved.err;
    EXPECT_NE(unsolved.err.find("loss.mtx: not solved"), std::string::npos) << unsolved.err;
}

TEST_F(ParallelSolve, SolvesRowsOfBlocks) {
    const auto A = sparse::test::random_blocks(9, 3);
    put("blocks.mtx", A);
    for (const int n : {2, 3, 8})
        for (const auto& more : {std::vector<std::string>{}, {"--overlap", "1"}, {"--precondition", "jacobi"}}) {
            std::vector<std::string> arguments{"blocks.mtx", "--block", "auto", "--rtol", "1e-10", "--json", "-o", "x.mtx", "--force"};
            arguments.insert(arguments.end(), more.begin(), more.end());
            const auto outcome = ranks(n, solve(arguments));
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            EXPECT_EQ(outcome.json()["format"], "bsr:3");
            EXPECT_LE(residual(A, "x.mtx"), 1.01e-10);
        }
    fs::remove(directory / "x.mtx");
    put("flow.mtx", sparse::test::convection(12, 0.05, 1, -2));
    expect_refused(2, {"blocks.mtx", "--json", "--block", "2"}, {"blocks.mtx", "--block", "is 2", "243 rows", "not a multiple"});
    expect_refused(2, {"flow.mtx", "--json", "--block", "2"}, {"flow.mtx", "--block", "may be positive definite"});
    expect_refused(2, {"blocks.mtx", "--json", "--block", "3", "--precondition", "multigrid"}, {"--block", "multigrid"});
}

TEST_F(ParallelSolve, RefusesWhatSeveralWorkersDoNotHave) {
    put("box.mtx", sparse::box_matrix({1, 1, 3}));
    put("saddle.mtx", sparse::test::saddle_point(20));
    expect_refused(4, {"box.mtx", "--json", "-o", "x.mtx"}, {"box.mtx", "3 rows", "4 workers", "take at most 3"});
    expect_refused(2, {"saddle.mtx", "--json", "-o", "x.mtx"}, {"saddle.mtx", "diagonal entries are zero"});
    expect_refused(2, {"box.mtx", "--json", "--tune"}, {"--tune", "one worker"});
    expect_refused(2, {"box.mtx", "--json", "--precondition", "ssor"}, {"--precondition", "ssor", "multigrid"});
    expect_refused(2, {"box.mtx", "--json", "--precondition", "jacobi", "--overlap", "1"}, {"--overlap", "jacobi"});
    expect_refused(2, {"none.mtx", "--json"}, {"none.mtx", "no such file"});
    for (const char* option : {"--overlap", "--coarse"})
        test::expect_bad_input(kasane(solve({"box.mtx", "--json", option, "1"})), {option, "one worker"});
}

TEST_F(ParallelSolve, SaysWhenItDoesNotConverge) {
    put("box.mtx", sparse::box_matrix({6, 5, 20}));
    const auto outcome = ranks(2, solve({"box.mtx", "--json", "--max-iterations", "3", "-o", "x.mtx"}));
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_FALSE(outcome.json()["converged"].get<bool>());
    EXPECT_NE(outcome.err.find("box.mtx: not solved"), std::string::npos) << outcome.err;
    EXPECT_TRUE(fs::exists(directory / "x.mtx"));
}

TEST_F(ParallelSolve, AnInterruptEndsAllRanks) {
    put("box.mtx", sparse::box_matrix({1, 1, 200000}));  // a chain: some 200,000 iterations
    auto process = start_ranks(2, solve({"box.mtx", "--precondition", "jacobi", "--max-iterations", "1000000000", "-o", "x.mtx"}));
    ASSERT_TRUE(wait_for([&] { return test::read_file(directory / ".err").find("entries, read in") != std::string::npos; }));
    process.signal(SIGINT);
    const auto outcome = process.wait();
    EXPECT_NE(outcome.status, 0);
    EXPECT_FALSE(fs::exists(directory / "x.mtx"));
}

}  // namespace
