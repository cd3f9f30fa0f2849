// `kasane solve`: input and output files, printed results, and all refusals and failures.
#include <kasane/sparse/file/matrix_file.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>
#include <test/sparse/complex_systems.hpp>

#include <cmath>
#include <complex>
#include <cstdlib>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string array = "%%MatrixMarket matrix array real general\n";

class Solve : public test::CommandTest {
   protected:
    /// Keeps its tuned choices in the test's directory.
    test::Outcome solve(std::vector<std::string> arguments) { return start_solve(std::move(arguments)).wait(); }
    Process start_solve(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"solve", "--device", "cpu", "--threads", "2"});
        const auto cache = directory / "cache";
        return start(arguments, [cache] { setenv("XDG_CACHE_HOME", cache.c_str(), 1); });
    }
    void put(const std::string& name, const std::string& text) { test::write_file(directory / name, text); }

    /// -1, `diagonal`, -1 along a chain of n; the two ends less by `ends`.
    static sparse::CsrMatrix chain(int n, double diagonal = 2.5, double ends = 0) {
        sparse::CsrMatrix A;
        A.begin = {0};
        for (int i = 0; i < n; ++i) {
            if (i > 0) A.column.push_back(i - 1), A.value.push_back(-1);
            A.column.push_back(i), A.value.push_back(diagonal - (i == 0 || i == n - 1 ? ends : 0));
            if (i + 1 < n) A.column.push_back(i + 1), A.value.push_back(-1);
            A.begin.push_back(static_cast<index_t>(A.column.size()));
        }
        return A;
    }
    static std::vector<double> product(const sparse::CsrMatrix& A, const std::vector<double>& x) {
        std::vector<double> y(x.size(), 0);
        for (std::size_t i = 0; i < x.size(); ++i)
            for (auto k = static_cast<std::size_t>(A.begin[i]); k < static_cast<std::size_t>(A.begin[i + 1]); ++k)
                y[i] += A.value[k] * x[static_cast<std::size_t>(A.column[k])];
        return y;
    }
    static std::vector<double> waves(int n) {
        std::vector<double> x(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = std::sin(0.3 * i) + 2;
        return x;
    }
    /// The eigenvalues of the chain of 2.5 lie in [0.5, 4.5]: an error of x is at most 9 times the relative residual.
    static void expect_near(const std::vector<double>& x, const std::vector<double>& exact, double rtol) {
        ASSERT_EQ(x.size(), exact.size());
        double error = 0, size = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            error += (x[i] - exact[i]) * (x[i] - exact[i]);
            size += exact[i] * exact[i];
        }
        EXPECT_LE(std::sqrt(error), 9 * rtol * std::sqrt(size));
    }
    void put_chain(int n) {
        const auto A = chain(n);
        sparse::write_matrix_market(directory / "A.mtx", A.view(), true);
        sparse::write_vector_market(directory / "b.mtx", view(static_cast<const std::vector<double>&>(product(A, waves(n)))));
    }
    /// Refused with these words, and no x.mtx.
    void expect_refused(std::vector<std::string> arguments, const std::vector<std::string>& words) {
        arguments.insert(arguments.end(), {"-o", "x.mtx", "--json"});
        test::expect_bad_input(solve(arguments), words);
        EXPECT_FALSE(fs::exists(directory / "x.mtx"));
    }
};

TEST_F(Solve, RowsOfBlocks) {
    // [[4, 1], [1, 3]] on the diagonal of 20 points and -1 between the same unknowns of neighbours.
    sparse::CsrMatrix A;
    A.begin = {0};
    for (int i = 0; i < 40; ++i) {
        const auto put = [&](int j, double value) { A.column.push_back(j), A.value.push_back(value); };
        if (i > 1) put(i - 2, -1);
        put(i - i % 2, i % 2 == 0 ? 4 : 1), put(i - i % 2 + 1, i % 2 == 0 ? 1 : 3);
        if (i < 38) put(i + 2, -1);
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    sparse::write_matrix_market(directory / "A.mtx", sparse::canonical(A.view()).view(), false);
    sparse::write_vector_market(directory / "b.mtx", view(static_cast<const std::vector<double>&>(product(A, waves(40)))));
    for (const std::string block : {"2", "4"}) {
        const auto outcome = solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--force", "--block", block, "--rtol", "1e-11", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["format"], "bsr:" + block);
        EXPECT_EQ(outcome.json()["method"], "cg");
        const auto x = sparse::read_vector(directory / "x.mtx"), exact = waves(40);
        for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(x[i], exact[i], 1e-9);
    }
    EXPECT_EQ(solve({"A.mtx", "--block", "auto"}).status, 0);
    fs::remove(directory / "x.mtx");
    expect_refused({"A.mtx", "--block", "3"}, {"not a multiple"});
    expect_refused({"A.mtx", "--block", "7"}, {"--block", "1 (scalar rows) to 6"});
    expect_refused({"A.mtx", "--block", "2", "--precondition", "ict"}, {"--block", "no effect with --precondition ict"});
    expect_refused({"A.mtx", "--block", "2", "--format", "csr"}, {"--format", "no effect with blocks"});
    expect_refused({"A.mtx", "--block", "2", "--method", "gmres"}, {"--block", "no effect with --method gmres"});
}

TEST_F(Solve, MultigridOfAHermitianMatrix) {
    using sparse::test::Values;
    const auto A = sparse::test::in_magnetic_field_with_jump(20, 60, 0.005, 1000);
    sparse::write_matrix_market(directory / "A.mtx", A.view(), false);
    const auto ic0 = solve({"A.mtx", "--json"}), multigrid = solve({"A.mtx", "-o", "x.mtx", "--precondition", "multigrid", "--json"});
    ASSERT_EQ(ic0.status, 0) << ic0.err;
    ASSERT_EQ(multigrid.status, 0) << multigrid.err;
    EXPECT_EQ(multigrid.json()["method"], "cg");
    EXPECT_EQ(multigrid.json()["precondition"], "multigrid");
    EXPECT_LT(2 * multigrid.json()["iterations"].get<int>(), ic0.json()["iterations"].get<int>());
    const auto x = sparse::read_complex_columns(directory / "x.mtx", A.rows()).values;
    EXPECT_LE(sparse::test::relative_distance(sparse::test::times(A, x), Values(x.size(), 1.)), 1.01e-8);
    EXPECT_EQ(solve({"A.mtx", "--precondition", "multigrid"}).out.find("workers"), std::string::npos);
    const auto gmres = solve({"A.mtx", "--precondition", "multigrid", "--method", "gmres", "--restart", "20", "--json"});
    ASSERT_EQ(gmres.status, 0) << gmres.err;
    EXPECT_EQ(gmres.json()["method"], "gmres");
    sparse::write_matrix_market(directory / "loss.mtx", sparse::test::helmholtz_with_loss(8, {0.9, 0.2}).view(), false);
    const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string>& words) {
        arguments.insert(arguments.end(), {"--precondition", "multigrid", "--json"});
        test::expect_bad_input(solve(arguments), words);
    };
    refused({"loss.mtx"}, {"loss.mtx", "for Hermitian matrices"});
    refused({"A.mtx", "--smoother", "jacobi"}, {"--smoother", "no effect on multigrid of a complex matrix"});
    refused({"A.mtx", "--overlap", "1"}, {"--overlap", "one worker"});
    refused({"A.mtx", "--block", "2"}, {"--block", "no effect with --precondition multigrid"});
}

TEST_F(Solve, ComplexMatrices) {
    using Value = std::complex<double>;
    const std::string head = "%%MatrixMarket matrix coordinate complex ";
    const auto solved = [&](const std::string& matrix, const std::vector<std::string>& options, const std::string& method) {
        put("C.mtx", matrix);
        std::vector<std::string> arguments{"C.mtx", "-b", "c.mtx", "-o", "x.mtx", "--force", "--rtol", "1e-12", "--json"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const auto outcome = solve(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["method"], method);
        EXPECT_LE(outcome.json()["relative_residual"], 1e-12);
        return sparse::read_complex_columns(directory / "x.mtx", 2).values;
    };
    const auto expect_x = [](const std::vector<Value>& x, Value first, Value second) {
        EXPECT_LE(std::abs(x[0] - first), 1e-11);
        EXPECT_LE(std::abs(x[1] - second), 1e-11);
    };
    // [[2, i], [-i, 2]] (1 + i, 3) = (2 + 5 i, 7 - i)
    const auto hermitian = head + "hermitian\n2 2 3\n1 1 2 0\n2 1 0 -1\n2 2 2 0\n";
    put("c.mtx", "%%MatrixMarket matrix array complex general\n2 1\n2 5\n7 -1\n");
    expect_x(solved(hermitian, {}, "cg"), {1, 1}, 3);
    expect_x(solved(hermitian, {"--method", "gmres"}, "gmres"), {1, 1}, 3);
    expect_x(solved(hermitian, {"--method", "cg", "--precondition", "jacobi"}, "cg"), {1, 1}, 3);
    // [[2, i], [i, 2 + i]] (1, -i) = (3, 1 - i)
    put("c.mtx", "%%MatrixMarket matrix array complex general\n2 1\n3 0\n1 -1\n");
    const auto symmetric_complex = head + "symmetric\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 2 1\n";
    expect_x(solved(symmetric_complex, {}, "bicgstab"), 1, {0, -1});
    expect_x(solved(symmetric_complex, {"--precondition", "none"}, "bicgstab"), 1, {0, -1});
    // A real right-hand side, and ones.
    put("c.mtx", array + "2 1\n2\n3\n");
    expect_x(solved(head + "general\n2 2 2\n1 1 0 2\n2 2 1 1\n", {}, "bicgstab"), {0, -1}, {1.5, -1.5});
    fs::remove(directory / "x.mtx");

    expect_refused({"C.mtx", "--method", "minres"}, {"minres", "real matrices"});
    expect_refused({"C.mtx", "--method", "cg"}, {"C.mtx", "cg needs a Hermitian matrix"});
    expect_refused({"C.mtx", "--precondition", "ic0"}, {"--precondition", "not for complex matrices", "ilu0"});
    expect_refused({"C.mtx", "--single-factor"}, {"--single-factor", "no effect on a complex matrix"});
    expect_refused({"C.mtx", "-b", "b3.mtx"}, {"b3.mtx"});
    const auto petsc = solve({"C.mtx", "-o", "x.petsc"});
    EXPECT_EQ(petsc.status, 2);
    EXPECT_NE(petsc.err.find("cannot hold complex numbers"), std::string::npos) << petsc.err;
    put("S.mtx", head + "general\n2 2 2\n1 1 1 1\n2 1 1 1\n");
    expect_refused({"S.mtx"}, {"S.mtx", "column 2 has no entry"});
}

TEST_F(Solve, MatrixMarketInAndOut) {
    put_chain(501);
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_near(sparse::read_vector(directory / "x.mtx", 501), waves(501), 1e-8);
    const auto object = outcome.json();
    EXPECT_EQ(object["n"], 501);
    EXPECT_EQ(object["nonzeros"], 1501);
    EXPECT_EQ(object["converged"], true);
    EXPECT_EQ(object["end"], "converged");
    EXPECT_LE(object["relative_residual"].get<double>(), 1e-8 * 10);
    EXPECT_GT(object["iterations"], 0);
    EXPECT_GT(object["colors"], 0);
    EXPECT_EQ(object["color_sizes"].size(), object["colors"].get<std::size_t>());
    EXPECT_EQ(object["history"]["relative"].size(), object["history"]["iteration"].size());
    EXPECT_EQ(object["history"]["iteration"].back(), object["iterations"]);
    EXPECT_EQ(object["history"]["preconditioned"].front(), 1);
    EXPECT_EQ(object["solution"], "x.mtx");
    for (const char* key : {"ordering", "format", "numbering", "precondition", "iteration"}) EXPECT_TRUE(object[key].is_string()) << key;
    for (const char* key : {"setup_seconds", "solve_seconds", "bytes_per_unknown", "bytes_per_iteration", "barriers_per_iteration"})
        EXPECT_GT(object[key], 0) << key;
    EXPECT_TRUE(object["setup_parts"].is_object());
}

TEST_F(Solve, PetscInAndOutWithTheVectorBehindTheMatrix) {
    const auto A = chain(77);
    const auto b = product(A, waves(77));
    sparse::write_matrix_petsc(directory / "A.petsc", A.view());
    sparse::write_vector_petsc(directory / "b.petsc", view(b));
    put("both.petsc", test::read_file(directory / "A.petsc") + test::read_file(directory / "b.petsc"));
    const auto outcome = solve({"both.petsc", "-b", "both.petsc", "-o", "x.bin", "--rtol", "1e-10"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto bytes = test::read_file(directory / "x.bin");
    EXPECT_EQ(bytes.substr(0, 4), std::string("\x00\x12\x7b\x4e", 4));
    expect_near(sparse::read_vector(directory / "x.bin", 77), waves(77), 1e-10);
}

TEST_F(Solve, PrintsChoicesAndOutcome) {
    put_chain(300);
    const auto outcome = solve({"A.mtx", "--ordering", "mc:2", "--format", "csr", "--iteration", "plain"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const char* words : {"300 unknowns, 898 entries", "mc:2: 2 colours of 150 rows", "format csr", "preconditioner ic0", "set-up",
                              "bytes per unknown", "no right-hand side was given (-b): it is 1 in every row", "converged after",
                              "MB per iteration", "barriers per iteration", "||r||/||b||"})
        EXPECT_NE(outcome.out.find(words), std::string::npos) << "no '" << words << "' in " << outcome.out;
    EXPECT_NE(outcome.err.find("A.mtx: 300 rows with 898 entries, read in"), std::string::npos) << outcome.err;
    const auto quiet = solve({"A.mtx", "--quiet"});
    EXPECT_EQ(quiet.status, 0);
    EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(Solve, PrintsTheHistoryOfGeneralMethodsWithoutThePreconditionedNorm) {
    put_chain(300);
    const auto outcome = solve({"A.mtx", "--method", "gmres", "--precondition", "jacobi", "--restart", "20"});
    EXPECT_NE(outcome.out.find("||r||/||b||"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("sqrt(r.M^-1 r)"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("nan"), std::string::npos) << outcome.out;
    const auto cg = solve({"A.mtx"});
    EXPECT_NE(cg.out.find("sqrt(r.M^-1 r)"), std::string::npos) << cg.out;
}

TEST_F(Solve, UsesTheGivenOptions) {
    put_chain(120);
    const std::vector<std::vector<std::string>> choices{{"--ordering", "natural"},
                                                        {"--ordering", "cm-rcm:3", "--numbering", "sequential"},
                                                        {"--format", "sell:4:16"},
                                                        {"--precondition", "none"},
                                                        {"--precondition", "ssor", "--ssor-omega", "1.2"},
                                                        {"--iteration", "plain"},
                                                        {"--iteration", "eisenstat"},
                                                        {"--single-factor", "--iteration", "plain"},
                                                        {"--no-tune"},
                                                        {"--tuning-file", "tuned.json"}};
    for (auto arguments : choices) {
        const auto asked = arguments;
        arguments.insert(arguments.begin(), {"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--force", "--json"});
        const auto outcome = solve(arguments);
        ASSERT_EQ(outcome.status, 0) << asked[0] << outcome.err;
        expect_near(sparse::read_vector(directory / "x.mtx", 120), waves(120), 1e-8);
        const auto key = asked[0].substr(2);
        const auto object = outcome.json();
        if (object.contains(key)) {
            EXPECT_EQ(object[key], asked[1]);
        }
    }
}

TEST_F(Solve, OneByOneAndZeroRightHandSide) {
    put("A.mtx", general + "1 1 1\n1 1 4\n");
    put("b.mtx", array + "1 1\n10\n");
    ASSERT_EQ(solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx"}).status, 0);
    EXPECT_NEAR(sparse::read_vector(directory / "x.mtx")[0], 2.5, 1e-8 * 2.5);
    put("b.mtx", array + "1 1\n0\n");
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--force", "--json"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.json()["iterations"], 0);
    EXPECT_EQ(sparse::read_vector(directory / "x.mtx")[0], 0);
}

TEST_F(Solve, DuplicatesAndSingularMatricesAreReported) {
    put("A.mtx", symmetric + "2 2 5\n1 1 1\n1 1 1\n2 1 -0.5\n2 2 2\n2 1 -0.5\n");
    const auto summed = solve({"A.mtx"});
    EXPECT_EQ(summed.status, 0);
    EXPECT_NE(summed.out.find("2 duplicate entries"), std::string::npos) << summed.out;

    const auto A = chain(50, 2, 1);  // a chain with free ends: constants are its null space
    auto exact = waves(50);
    double mean = 0;
    for (const double value : exact) mean += value / 50;
    for (auto& value : exact) value -= mean;
    sparse::write_matrix_market(directory / "A.mtx", A.view(), true);
    sparse::write_vector_market(directory / "b.mtx", view(static_cast<const std::vector<double>&>(product(A, waves(50)))));
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["singular"], true);
    const auto x = sparse::read_vector(directory / "x.mtx", 50);
    // The least eigenvalue beside 0 is 4 sin^2(pi / 100) = 0.004, the largest 4: a thousand times the residual.
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(x[i], exact[i], 1e-8 * 1000 * 10) << i;
}

TEST_F(Solve, ARightHandSideOutsideTheRangeOfASingularMatrixFails) {
    sparse::write_matrix_market(directory / "A.mtx", chain(50, 2, 1).view(), true);
    const auto failed = [&](std::vector<std::string> arguments, const std::string& mean) {
        arguments.insert(arguments.end(), {"-o", "x.mtx", "--json"});
        const auto outcome = solve(arguments);
        EXPECT_EQ(outcome.status, 1) << outcome.err;
        EXPECT_EQ(outcome.json()["converged"], false);
        EXPECT_GT(outcome.json()["relative_residual"], 1e-8);
        for (const auto& words :
             {std::string("A.mtx: not solved: the matrix is singular"), "its mean is " + mean, std::string("Subtract the mean")})
            EXPECT_NE(outcome.err.find(words), std::string::npos) << "no '" << words << "' in " << outcome.err;
        EXPECT_FALSE(fs::exists(directory / "x.mtx"));
        arguments.pop_back();
        EXPECT_EQ(solve(arguments).out.find("was taken from"), std::string::npos);
    };
    failed({"A.mtx"}, "1,");  // 1 in every row
    auto b = product(chain(50, 2, 1), waves(50));
    for (auto& value : b) value += 1e-3;
    sparse::write_vector_market(directory / "b.mtx", view(static_cast<const std::vector<double>&>(b)));
    failed({"A.mtx", "-b", "b.mtx"}, "0.001,");
    // Two chains, each with a mean of its own, which cancel in the sum.
    put("A.mtx", symmetric + "4 4 6\n1 1 1\n2 1 -1\n2 2 1\n3 3 1\n4 3 -1\n4 4 1\n");
    put("b.mtx", array + "4 1\n2\n2\n-2\n-2\n");
    failed({"A.mtx", "-b", "b.mtx"}, "2,");
    put("b.mtx", array + "4 1\n2\n-2\n3\n-3\n");
    EXPECT_EQ(solve({"A.mtx", "-b", "b.mtx"}).status, 0);
}

TEST_F(Solve, OtherSingularMatricesNeverSucceedWithoutASolution) {
    // Graph Laplacians scaled on both sides by 1, 2, 3, ...: singular, though no row sums to zero.
    auto A = chain(40, 2, 1);
    for (std::size_t i = 0; i < 40; ++i)
        for (auto k = static_cast<std::size_t>(A.begin[i]); k < static_cast<std::size_t>(A.begin[i + 1]); ++k)
            A.value[k] *= static_cast<double>(i + 1) * static_cast<double>(A.column[k] + 1);
    sparse::write_matrix_market(directory / "A.mtx", A.view(), true);
    const auto outside = waves(40), inside = product(A, waves(40));
    for (const char* by : {"ic0", "ssor", "jacobi", "none"}) {
        sparse::write_vector_market(directory / "b.mtx", view(outside));
        const auto failed = solve({"A.mtx", "-b", "b.mtx", "--precondition", by, "--json"});
        EXPECT_EQ(failed.status, 1) << by << failed.out;
        EXPECT_GT(failed.json()["relative_residual"], 1e-8) << by;
        sparse::write_vector_market(directory / "b.mtx", view(inside));
        const auto solved = solve({"A.mtx", "-b", "b.mtx", "--precondition", by, "--json"});
        EXPECT_EQ(solved.status, 0) << by << solved.err;
        EXPECT_LE(solved.json()["relative_residual"], 1e-8) << by;
    }
}

TEST_F(Solve, AFactorisationThatFailsNamesTheFileAndTheOption) {
    put("A.mtx", general + "2 2 4\n1 1 1\n1 2 10\n2 1 10\n2 2 1\n");
    const auto outcome = solve({"A.mtx", "--method", "cg", "--json"});
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    for (const char* words : {"A.mtx: the incomplete Cholesky factorisation", "not positive", "--precondition jacobi"})
        EXPECT_NE((outcome.out + outcome.err).find(words), std::string::npos) << "no '" << words << "' in " << outcome.out << outcome.err;
}

TEST_F(Solve, FilesOfPythonAndMatlabComeWithTheLineThatConvertsThem) {
    using namespace std::string_literals;
    const auto zip = "PK\x03\x04"s + std::string(26, '\0') + "indices.npy" + std::string(40, '\0');
    put("A.npz", zip);
    put("A.npy", "\x93NUMPY\x01\0"s + std::string(60, ' '));
    put("A.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64" + std::string(60, ' '));
    put("B.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64" + std::string(60, ' '));
    expect_refused({"A.npz"}, {"A.npz", "scipy.io.mmwrite('A.mtx', scipy.sparse.load_npz('A.npz'))"});
    expect_refused({"A.npy"}, {"A.npy", "scipy.io.mmwrite('A.mtx', scipy.sparse.coo_matrix(numpy.load('A.npy')))"});
    expect_refused({"A.mat"}, {"A.mat", "scipy.io.loadmat('A.mat')['NAME']", "NAME is the variable's name"});
    expect_refused({"B.mat"}, {"B.mat", "-v7"});
    put_chain(4);
    expect_refused({"A.mtx", "-b", "A.npy"}, {"A.npy", "scipy.io.mmwrite('A.mtx', numpy.load('A.npy').reshape(-1, 1))"});
    expect_refused({"A.mtx", "-b", "A.npz"}, {"A.npz", "numpy.load('A.npz')['NAME'].reshape(-1, 1)"});
    put("other.zip", "PK\x03\x04"s + std::string(26, '\0') + "matrix.mtx" + std::string(40, '\0'));
    expect_refused({"other.zip"}, {"other.zip", "zip archive"});
}

TEST_F(Solve, BadMatrixFilesNameFileAndLine) {
    const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
        put("A.mtx", text);
        auto all = words;
        all.push_back("A.mtx");
        expect_refused({"A.mtx"}, all);
    };
    const auto refused_by_cg = [&](const std::string& text, const std::vector<std::string>& words) {
        put("A.mtx", text);
        expect_refused({"A.mtx", "--method", "cg"}, words);
    };
    expect_refused({"missing.mtx"}, {"missing.mtx", "no such file"});
    refused("", {"empty"});
    refused(general + "0 0 0\n", {" 2 ", "empty"});
    refused(general + "2 2 2\n1 1 1\n3 2 1\n", {" 4 ", "row '3' is out of range"});
    refused(general + "2 2 2\n1 1 1\n2 2 nan\n", {" 4 ", "finite"});
    refused(general + "2 2 3\n1 1 1.50000\n2 2 1.50000\n", {" 4 ", "2 of the 3 entries"});
    refused(general + "2 2 1000000\n1 1 1\n2 2 1\n", {" 2 ", "states 1000000 entries"});
    refused("%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1\n", {" 1 ", "pattern"});
    refused_by_cg(general + "3 3 4\n1 1 1\n1 2 1\n2 1 1\n3 3 1\n", {"row 2 has no diagonal entry"});
    refused_by_cg(general + "2 2 2\n1 1 1\n2 2 0\n", {"diagonal entry of row 2 is 0"});
    refused_by_cg(general + "2 2 2\n1 1 1\n2 2 -4\n", {"diagonal entry of row 2 is -4"});
    refused_by_cg(general + "2 2 4\n1 1 2\n1 2 -1\n2 1 1\n2 2 2\n", {"(1, 2) = -1 and (2, 1) = 1 differ"});
    refused_by_cg(general + "3 3 6\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n2 3 -1\n3 3 2\n", {"(2, 3) = -1 has no partner (3, 2)"});
    refused(symmetric + "2 2 4\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n", {" 1 ", "symmetric", "general"});
    refused(std::string("\x1f\x8b\x08", 3), {"gzip", "gunzip"});
}

TEST_F(Solve, BadRightHandSides) {
    put_chain(4);
    put("short.mtx", array + "3 1\n1\n2\n3\n");
    put("nan.mtx", array + "4 1\n1\n2\ninf\n4\n");
    expect_refused({"A.mtx", "-b", "short.mtx"}, {"short.mtx", "holds 3 numbers", "4 rows"});
    expect_refused({"A.mtx", "-b", "nan.mtx"}, {"nan.mtx", " 5 ", "finite"});
    expect_refused({"A.mtx", "-b", "missing.mtx"}, {"missing.mtx", "no such file"});
    expect_refused({"A.mtx", "-b", "A.mtx"}, {"A.mtx", "4 columns"});
}

TEST_F(Solve, BadOptionsAreNamed) {
    put_chain(4);
    const auto refused = [&](std::vector<std::string> options, const std::vector<std::string>& words) {
        options.insert(options.begin(), "A.mtx");
        expect_refused(options, words);
    };
    for (const char* rtol : {"0", "-1e-8", "1", "nan", "1e-300"}) refused({"--rtol", rtol}, {"--rtol", "at least 1e-15 and below 1"});
    for (const char* omega : {"0", "2", "-1", "nan"})
        refused({"--precondition", "ssor", "--ssor-omega", omega}, {"--ssor-omega", "below 2"});
    refused({"--ssor-omega", "1.5"}, {"--ssor-omega", "no effect", "ic0"});
    refused({"--max-iterations", "0"}, {"--max-iterations", "whole number from 1"});
    refused({"--max-iterations", "1e3"}, {"--max-iterations", "whole number"});
    refused({"--ordering", "natrual"}, {"--ordering", "natural"});
    refused({"--ordering", "cm-rcm:0"}, {"--ordering"});
    refused({"--numbering", "coalesce"}, {"--numbering", "coalesced"});
    refused({"--format", "sell:0:1"}, {"--format", "sell"});
    refused({"--precondition", "ilu"}, {"--precondition", "ic0"});
    refused({"--precondition", "amg"},
            {"--precondition", "is not known. There are none, jacobi, ssor, ic0, ict, ick, multigrid, auto. And ilu0, ilut and spai"});
    refused({"--format", "zzz"}, {"--format", "is not known. There are auto"});
    refused({"--iteration", "eisenstadt"}, {"--iteration", "eisenstat"});
    refused({"--launch", "graf"}, {"--launch", "graph"});
    refused({"--no-tune", "--tuning-file", "t.json"}, {"--no-tune", "--tuning-file"});
    refused({"--tuning-file", "A.mtx"}, {"A.mtx", "--tuning-file", "is not replaced", "ends in .json"});
    refused({"--no-tune", "--tune"}, {"--no-tune", "--tune"});
    refused({"--frobnicate"}, {"--frobnicate"});
    const auto outcome = solve({"A.mtx", "--rtol", "0", "--format", "dense", "--json"});
    EXPECT_EQ(outcome.json()["problems"].size(), 2u) << "all at once: " << outcome.out;
}

TEST_F(Solve, TakesMultigridWithItsLevels) {
    const int n = 5000;
    const auto A = chain(n, 2.0001);
    sparse::write_matrix_market(directory / "A.mtx", A.view(), true);
    const auto x = waves(n);
    const auto b = product(A, x);
    sparse::write_vector_market(directory / "b.mtx", view(b));
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--precondition", "multigrid", "--rtol", "1e-10", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["precondition"], "multigrid");
    for (const auto& norm : json["history"]["preconditioned"]) EXPECT_TRUE(norm.is_null()) << "it is not stored";
    EXPECT_FALSE(json["history"]["relative"].back().is_null());
    EXPECT_EQ(solve({"A.mtx", "--precondition", "multigrid"}).out.find("sqrt(r.M^-1 r)"), std::string::npos);
    EXPECT_NE(solve({"A.mtx", "--precondition", "ic0"}).out.find("sqrt(r.M^-1 r)"), std::string::npos);
    EXPECT_LE(json["iterations"], 25);
    EXPECT_GT(json["stored_entries"], json["nonzeros"]);
    const auto found = sparse::read_vector(directory / "x.mtx", n);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], x[i], 1e-4);
    fs::remove(directory / "x.mtx");
    for (const char* option : {"--ordering", "--format", "--numbering", "--iteration", "--launch"})
        expect_refused({"A.mtx", "--precondition", "multigrid", option, "auto"}, {option, "has no effect with --precondition multigrid"});
    expect_refused({"A.mtx", "--precondition", "multigrid", "--tune"}, {"--tune", "has no effect"});
}

TEST_F(Solve, FindsTheSmallestEigenvalues) {
    const int n = 400;
    sparse::write_matrix_market(directory / "A.mtx", chain(n, 2).view(), true);
    const auto outcome = solve({"A.mtx", "--eigenvalues", "4", "--rtol", "1e-8", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["precondition"], "multigrid");
    ASSERT_EQ(json["eigenvalues"].size(), 4u);
    for (int m = 1; m <= 4; ++m) {
        const double exact = 4 * std::pow(std::sin(M_PI * m / (2. * (n + 1))), 2);
        EXPECT_NEAR(json["eigenvalues"][static_cast<std::size_t>(m - 1)].get<double>(), exact, 1e-8 * exact * 16) << m;
    }
    EXPECT_EQ(solve({"A.mtx", "--eigenvalues", "2", "--precondition", "none", "--max-iterations", "2"}).status, 1);
    test::expect_bad_input(solve({"A.mtx", "--eigenvalues", "0", "--json"}), {"--eigenvalues", "whole number from 1"});
    test::expect_bad_input(solve({"A.mtx", "--eigenvalues", "200", "--json"}),
                           {"--eigenvalues", "200 eigenvalues of 400 rows", "at most a fifth of the rows, 80"});
    test::expect_bad_input(solve({"A.mtx", "--eigenvalues", "2", "--precondition", "ssor", "--json"}), {"multigrid, jacobi and none"});
    const auto refused = [&](std::vector<std::string> options, const std::vector<std::string>& words) {
        options.insert(options.begin(), {"A.mtx", "--eigenvalues", "3", "--json"});
        test::expect_bad_input(solve(options), words);
    };
    test::expect_bad_input(solve({"A.mtx", "--eigenvalues", "401", "--json"}), {"--eigenvalues", "401 eigenvalues of 400 rows"});
    for (const char* precondition : {"ilu0", "auto"})
        refused({"--precondition", precondition}, {"--precondition", "multigrid, jacobi and none, not " + std::string(precondition)});
    refused({"--smoother", "jacobi"}, {"--smoother", "has no effect with --eigenvalues"});
    refused({"--block", "2"}, {"--block", "has no effect with --eigenvalues"});
    refused({"--tuning-file", "t.json"}, {"--tuning-file", "has no effect with --eigenvalues"});
    test::write_file(directory / "U.mtx",
                     "%%MatrixMarket matrix coordinate real general\n5 5 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n5 5 2\n"
                     "1 2 1\n2 1 0.5\n");
    test::expect_bad_input(solve({"U.mtx", "--eigenvalues", "1", "--json"}), {"U.mtx", "eigenvalues need a symmetric matrix"});
    test::expect_bad_input(solve({"A.mtx", "--block", "3", "--json"}), {"--block", "is 3, and the matrix has 400 rows"});
    expect_refused({"A.mtx", "--eigenvalues", "2"}, {"--output", "has no effect with --eigenvalues"});
}

TEST_F(Solve, TakesTheRuleFirstAndTimesCandidatesInATenthOfTheTime) {
    put_chain(60'000);
    const auto decision = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"A.mtx", "--json", "--tuning-file", "t.json"});
        const auto outcome = solve(more);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.json()["decision"];
    };
    for (int program = 0; program < 3; ++program) {  // a set-up alone is more than a tenth of these solves
        const auto quick = decision({});
        EXPECT_EQ(quick["by"], "rule");
        EXPECT_EQ(quick["trials"], 0) << quick;
        EXPECT_NE(quick["reason"], "");
    }
    const auto full = decision({"--tune"});
    EXPECT_EQ(full["by"], "trials");
    EXPECT_GT(full["trials"], 2) << full;
    EXPECT_GT(full["seconds"], 0);
    EXPECT_EQ(decision({"--ordering", "cm-rcm:2", "--format", "csr", "--numbering", "coalesced"})["by"], "options");
}

TEST_F(Solve, OutputsThatCannotBeAreRefusedBeforeTheWork) {
    put_chain(4);
    const auto refused = [&](const std::string& file, const std::vector<std::string>& words, const std::string& matrix = "missing.mtx") {
        test::expect_bad_input(solve({matrix, "-o", file, "--json"}), words);
    };
    put("there.mtx", "mine");
    refused("there.mtx", {"there.mtx", "exists already", "--force"});
    EXPECT_EQ(test::read_file(directory / "there.mtx"), "mine");
    refused("x.txt", {"-o", "x.txt", ".mtx", ".petsc"});
    refused("nowhere/x.mtx", {"nowhere", "no directory"});
    fs::create_directory(directory / "folder.mtx");
    test::expect_bad_input(solve({"A.mtx", "-o", "folder.mtx", "--force", "--json"}), {"folder.mtx", "is a directory"});
    test::expect_bad_input(solve({"A.mtx", "-o", "./A.mtx", "--force", "--json"}), {"A.mtx", "also an input"});
    EXPECT_EQ(solve({"A.mtx", "-o", "there.mtx", "--force"}).status, 0);
    EXPECT_EQ(sparse::read_vector(directory / "there.mtx").size(), 4u);
}

TEST_F(Solve, NotConvergedIsAFailureWithReasonAndFiles) {
    put_chain(400);
    const auto outcome =
        solve({"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--precondition", "none", "--max-iterations", "3", "--rtol", "1e-12", "--json"});
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    const auto object = outcome.json();
    EXPECT_EQ(object["converged"], false);
    EXPECT_EQ(object["end"], "iteration limit");
    EXPECT_EQ(object["iterations"], 3);
    EXPECT_GT(object["relative_residual"], 1e-12);
    EXPECT_EQ(object["solution"], "x.mtx");
    EXPECT_EQ(sparse::read_vector(directory / "x.mtx").size(), 400u);
    EXPECT_NE(outcome.err.find("A.mtx: not solved: the limit of iterations"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("the last x was written"), std::string::npos) << outcome.err;
}

TEST_F(Solve, AnIndefiniteMatrixFails) {
    put("A.mtx", general + "2 2 4\n1 1 1\n1 2 3\n2 1 3\n2 2 1\n");  // eigenvalues 4 and -2
    put("b.mtx", array + "2 1\n1\n-1\n");
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "--method", "cg", "--json", "--precondition", "none"});
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_EQ(outcome.json()["end"], "operator not positive definite");
    EXPECT_NE(outcome.err.find("not positive definite"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("take --method minres or gmres"), std::string::npos) << outcome.err;
}

TEST_F(Solve, TheMethodFollowsFromTheMatrix) {
    const auto solved = [&](const std::string& text, std::vector<std::string> options, const std::string& method) {
        put("A.mtx", text);
        put("b.mtx", array + "2 1\n3\n-1\n");
        options.insert(options.begin(), {"A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--force", "--json"});
        const auto outcome = solve(options);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["method"], method);
        EXPECT_LE(outcome.json()["relative_residual"], 1e-8);
        return sparse::read_vector(directory / "x.mtx", 2);
    };
    const auto expect_x = [](const std::vector<double>& x, double first, double second) {
        EXPECT_NEAR(x[0], first, 1e-6);
        EXPECT_NEAR(x[1], second, 1e-6);
    };
    const auto positive = general + "2 2 4\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n";
    expect_x(solved(positive, {}, "cg"), 5. / 3, 1. / 3);
    expect_x(solved(positive, {"--precondition", "ilu0"}, "bicgstab"), 5. / 3, 1. / 3);
    expect_x(solved(positive, {"--precondition", "ilut"}, "bicgstab"), 5. / 3, 1. / 3);
    expect_x(solved(positive, {"--precondition", "spai"}, "bicgstab"), 5. / 3, 1. / 3);
    expect_x(solved(positive, {"--precondition", "ilut", "--method", "gmres", "--drop-tolerance", "0.1", "--fill", "3"}, "gmres"), 5. / 3,
             1. / 3);
    expect_x(solved(positive, {"--precondition", "ick", "--level", "2"}, "cg"), 5. / 3, 1. / 3);
    expect_x(solved(positive, {"--precondition", "ict", "--drop-tolerance", "0.1", "--fill", "0"}, "cg"), 5. / 3, 1. / 3);
    const auto nonsymmetric = general + "2 2 4\n1 1 2\n1 2 -1\n2 1 1\n2 2 2\n";
    expect_x(solved(nonsymmetric, {}, "bicgstab"), 1, -1);
    expect_x(solved(nonsymmetric, {"--precondition", "auto"}, "bicgstab"), 1, -1);
    expect_x(solved(positive, {"--precondition", "auto"}, "cg"), 5. / 3, 1. / 3);
    expect_x(solved(nonsymmetric, {"--method", "gmres", "--restart", "2", "--precondition", "none"}, "gmres"), 1, -1);
    const auto indefinite = general + "2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n";
    expect_x(solved(indefinite, {}, "minres"), -5. / 3, 7. / 3);
    expect_x(solved(general + "2 2 2\n1 2 3\n2 1 -1\n", {}, "bicgstab"), 1, 1);  // no diagonal
}

TEST_F(Solve, AnIndefiniteMatrixThatLooksPositiveIsSolvedAfterConjugateGradientsFail) {
    // Every 2 x 2 minor is positive, and the eigenvalues are -0.8, 1.9, 1.9.
    put("A.mtx", general + "3 3 9\n1 1 1\n1 2 -0.9\n1 3 -0.9\n2 1 -0.9\n2 2 1\n2 3 -0.9\n3 1 -0.9\n3 2 -0.9\n3 3 1\n");
    put("b.mtx", array + "3 1\n1\n2\n4\n");
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "--precondition", "none", "-o", "x.mtx", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["method"], "minres");
    EXPECT_NE(outcome.json()["notes"].dump().find("conjugate gradients failed"), std::string::npos) << outcome.json()["notes"];
    const auto x = sparse::read_vector(directory / "x.mtx", 3);
    EXPECT_NEAR(x[0] - 0.9 * (x[1] + x[2]), 1, 1e-6);
    EXPECT_NEAR(x[2] - 0.9 * (x[0] + x[1]), 4, 1e-6);
}

TEST_F(Solve, MethodsThatDoNotApplyAreRefused) {
    put("A.mtx", general + "2 2 4\n1 1 2\n1 2 -1\n2 1 1\n2 2 2\n");
    expect_refused({"A.mtx", "--method", "minres"},
                   {"method", "minres needs a symmetric matrix", "(1, 2) = -1 and (2, 1) = 1", "bicgstab"});
    expect_refused({"A.mtx", "--method", "gmress"}, {"--method", "gmres", "minres, cg"});
    expect_refused({"A.mtx", "--method", "gmres", "--precondition", "ic0"}, {"--precondition", "none, jacobi, ilu0, ilut and spai"});
    expect_refused({"A.mtx", "--method", "cg", "--precondition", "ilu0"}, {"--precondition", "take ic0 with cg"});
    expect_refused({"A.mtx", "--method", "minres", "--precondition", "ilu0"}, {"precondition", "positive definite"});
    expect_refused({"A.mtx", "--method", "minres", "--precondition", "spai"}, {"precondition", "positive definite"});
    expect_refused({"A.mtx", "--method", "cg", "--precondition", "ilut"}, {"--precondition", "take ict with cg"});
    expect_refused({"A.mtx", "--precondition", "ick", "--ordering", "rcm"}, {"--ordering", "no effect", "ick"});
    expect_refused({"A.mtx", "--precondition", "ic0", "--level", "2"}, {"--level", "no effect", "take ick"});
    expect_refused({"A.mtx", "--precondition", "ict", "--ordering", "rcm"}, {"--ordering", "no effect", "ict"});
    expect_refused({"A.mtx", "--precondition", "ilu0", "--fill", "3"}, {"--fill", "no effect", "take ilut or ict"});
    expect_refused({"A.mtx", "--precondition", "ilut", "--fill", "-1"}, {"--fill", "whole number"});
    expect_refused({"A.mtx", "--precondition", "ilut", "--drop-tolerance", "1"}, {"--drop-tolerance", "from 0 to below 1", "1e-3"});
    expect_refused({"A.mtx", "--method", "bicgstab", "--restart", "10"}, {"--restart", "no effect"});
    expect_refused({"A.mtx", "--method", "gmres", "--restart", "0"}, {"--restart", "whole number"});
    expect_refused({"A.mtx", "--method", "gmres", "--format", "csr"}, {"--format", "no effect", "take cg"});
    expect_refused({"A.mtx", "--method", "gmres", "--ordering", "block:4:4"}, {"ordering", "no block orderings"});
    put("A.mtx", general + "3 3 4\n1 1 1\n1 2 1\n2 3 1\n3 3 1\n");
    expect_refused({"A.mtx"}, {"A.mtx", "structurally singular", "column"});
    put("A.mtx", general + "3 3 4\n1 1 1\n1 2 1\n1 3 1\n3 3 1\n");
    expect_refused({"A.mtx"}, {"A.mtx", "row 2 has no entry other than zero"});
    put("A.mtx", general + "3 3 4\n1 1 1\n2 1 1\n2 3 1\n3 3 1\n");
    expect_refused({"A.mtx"}, {"A.mtx", "column 2 has no entry other than zero"});
}

TEST_F(Solve, SeveralRightHandSidesAreColumnsOfOneFile) {
    const auto A = chain(40);
    sparse::write_matrix_market(directory / "A.mtx", A.view(), true);
    std::vector<double> all, exact;
    for (const double factor : {1., -3., 0.}) {
        auto x = waves(40);
        for (auto& one : x) one *= factor;
        const auto b = product(A, x);
        exact.insert(exact.end(), x.begin(), x.end());
        all.insert(all.end(), b.begin(), b.end());
    }
    sparse::write_vector_market(directory / "b.mtx", view(static_cast<const std::vector<double>&>(all)), 3);
    for (const char* method : {"cg", "gmres"}) {
        const auto outcome = solve({"A.mtx", "-b", "b.mtx", "--method", method, "-o", "all.mtx", "--force", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        ASSERT_EQ(outcome.json()["columns"].size(), 3u);
        EXPECT_EQ(outcome.json()["columns"][2]["iterations"], 0) << "a right-hand side of zero";
        EXPECT_NE(outcome.json()["notes"].dump().find("of 3 right-hand sides"), std::string::npos);
        const auto x = sparse::read_columns(directory / "all.mtx", 40);
        EXPECT_EQ(x.columns, 3);
        expect_near(x.values, exact, 1e-8);
    }
    const auto refused = solve({"A.mtx", "-b", "b.mtx", "-o", "x.petsc"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("cannot hold 3 columns"), std::string::npos) << refused.err;
    put("b.mtx", array + "40 2\n1\n2\n");
    expect_refused({"A.mtx", "-b", "b.mtx"}, {"b.mtx", "states 80 entries"});
    put(
        "b.mtx", array + "20 2\n" + []() {
            std::string t;
            for (int i = 0; i < 40; ++i) t += "1\n";
            return t;
        }());
    expect_refused({"A.mtx", "-b", "b.mtx"}, {"b.mtx", "20 numbers", "40 rows"});
    const auto failed = solve({"A.mtx", "-b", "all.mtx", "--max-iterations", "1", "--precondition", "none", "--json"});
    EXPECT_EQ(failed.status, 1);
    EXPECT_EQ(failed.json()["converged"], false);
    EXPECT_EQ(failed.json()["columns"][2]["converged"], true);
}

TEST_F(Solve, ABreakdownIsNamedWithARemedy) {
    put("A.mtx", general + "2 2 4\n1 1 1e-15\n1 2 1\n2 1 -1\n2 2 1e-15\n");
    put("b.mtx", array + "2 1\n1\n2\n");
    const auto outcome = solve({"A.mtx", "-b", "b.mtx", "--method", "bicgstab", "--precondition", "none", "--json"});
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    EXPECT_EQ(outcome.json()["end"], "breakdown");
    EXPECT_EQ(outcome.json()["converged"], false);
    for (const char* words : {"A.mtx: not solved", "denominator", "--method gmres"})
        EXPECT_NE(outcome.err.find(words), std::string::npos) << words << " in " << outcome.err;
}

TEST_F(Solve, AnInterruptWritesNothing) {
    // As many iterations as rows, and more.
    sparse::write_matrix_market(directory / "A.mtx", chain(200000, 2).view(), true);
    auto process =
        start_solve({"A.mtx", "-o", "x.mtx", "--precondition", "none", "--rtol", "1e-14", "--max-iterations", "100000000", "--no-tune"});
    ASSERT_TRUE(wait_for([&] { return test::read_file(directory / ".err").find("read in") != std::string::npos || !process.running(); }));
    process.signal(SIGINT);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_NE(outcome.err.find("interrupted: nothing was written"), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "x.mtx"));
    for (const auto& left : fs::directory_iterator(directory))
        EXPECT_EQ(left.path().string().find(".tmp"), std::string::npos) << left.path();
}

}  // namespace
