// Each part of a solve replaced by the user's own: an operator without a matrix, another preconditioner, and kasane's parts
// against textbook algorithms on dense matrices. Also the example that the documentation points to.
#include <kasane/core/base/error.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/krylov/host_algebra.hpp>
#include <kasane/sparse/operators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

namespace {

using namespace kasane;
using krylov::conjugate_gradients, krylov::HostAlgebra;
using Vector = std::vector<double>;
using Dense = std::vector<Vector>;

// --- The user's own parts ---------------------------------------------------------------------------------------------------------------

/// The unit box of side^3 cells without a matrix: zero flux on all faces but the last in z, where phi = 0 half a cell away.
struct Box {
    index_t side;
    std::size_t row(index_t i, index_t j, index_t k) const { return static_cast<std::size_t>(i + side * (j + side * k)); }
    /// visit(column, coefficient) for the entries of a row, the diagonal last.
    template <class Visit>
    void entries(index_t i, index_t j, index_t k, const Visit& visit) const {
        const std::array<std::array<index_t, 3>, 6> around{
            {{i, j, k - 1}, {i, j - 1, k}, {i - 1, j, k}, {i + 1, j, k}, {i, j + 1, k}, {i, j, k + 1}}};
        double diagonal = k == side - 1 ? 2 : 0;
        for (const auto& [a, b, c] : around)
            if (std::min({a, b, c}) >= 0 && std::max({a, b, c}) < side) visit(row(a, b, c), -1.), ++diagonal;
        visit(row(i, j, k), diagonal);
    }
    template <class F>
    void cells(const F& f) const {
        for (index_t k = 0; k < side; ++k)
            for (index_t j = 0; j < side; ++j)
                for (index_t i = 0; i < side; ++i) f(i, j, k);
    }
    void apply(HostAlgebra&, const Vector& in, Vector& out) const {
        cells([&](index_t i, index_t j, index_t k) {
            double sum = 0;
            entries(i, j, k, [&](std::size_t column, double value) { sum += value * in[column]; });
            out[row(i, j, k)] = sum;
        });
    }
    sparse::CsrMatrix matrix() const {
        sparse::CsrMatrix A;
        A.begin.push_back(0);
        cells([&](index_t i, index_t j, index_t k) {
            std::map<std::size_t, double> sorted;
            entries(i, j, k, [&](std::size_t column, double value) { sorted[column] = value; });
            for (const auto& [column, value] : sorted) {
                A.column.push_back(static_cast<std::int32_t>(column));
                A.value.push_back(value);
            }
            A.begin.push_back(static_cast<index_t>(A.column.size()));
        });
        return A;
    }
    /// i + j + k with indices from 1.
    Vector source() const {
        Vector b;
        cells([&](index_t i, index_t j, index_t k) { b.push_back(static_cast<double>(i + j + k + 3)); });
        return b;
    }
};

/// A few damped Jacobi sweeps for the box, without a matrix.
struct Sweeps {
    Box box;
    Vector diagonal;
    explicit Sweeps(const Box& b) : box(b) {
        box.cells([&](index_t i, index_t j, index_t k) {
            double last = 0;
            box.entries(i, j, k, [&](std::size_t, double value) { last = value; });
            diagonal.push_back(last);
        });
    }
    void apply(HostAlgebra& algebra, const Vector& in, Vector& out) const {
        Vector product(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) out[i] = 0.7 * in[i] / diagonal[i];
        for (int sweep = 0; sweep < 2; ++sweep) {
            box.apply(algebra, out, product);
            for (std::size_t i = 0; i < in.size(); ++i) out[i] += 0.7 * (in[i] - product[i]) / diagonal[i];
        }
    }
};

TEST(OwnParts, AnOperatorWithoutAMatrixWithKasanesFactor) {
    const Box box{32};
    const auto A = box.matrix();
    const sparse::IncompleteCholesky M(A.view());
    EXPECT_EQ(M.shift(), 0);
    HostAlgebra algebra;
    const auto b = box.source();
    Vector x(b.size());
    const auto log = conjugate_gradients(algebra, box, M, b, x);
    EXPECT_TRUE(log.converged());
    // Measured with other codes: natural order, 75 iterations to 1e-8, and these two cells.
    EXPECT_NEAR(log.iterations, 75, 2);
    EXPECT_NEAR(x.front() / 2.012056e4, 1, 1e-6);
    EXPECT_NEAR(x.back() / 9.297409e2, 1, 1e-6);
}

TEST(OwnParts, ThePreconditionerIsOneArgument) {
    const Box box{12};
    const auto A = box.matrix();
    const sparse::MatrixOperator op(A.view());
    const auto b = box.source();
    HostAlgebra algebra;
    const auto solve = [&](const auto& M, const auto& of) {
        Vector x(b.size());
        const auto log = conjugate_gradients(algebra, of, M, b, x, {.rtol = 1e-12});
        EXPECT_TRUE(log.converged());
        return std::pair{x, log.iterations};
    };
    const auto [x, plain] = solve(krylov::NoPreconditioner{}, box);
    const auto same = [&, &x = x](const auto& M) {
        const auto [y, iterations] = solve(M, op);
        // ||x - y|| <= cond(A) (2e-12) ||x||, cond(A) about 4 * 12^2 * 3.
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i] / x[i], 1, 1e-8);
        return iterations;
    };
    same(sparse::Jacobi(A.view()));  // the same solution, but no fewer iterations: it breaks the symmetry of x and y
    EXPECT_LT(same(sparse::Ssor(A.view(), 1.4)), plain);
    EXPECT_LT(same(sparse::IncompleteCholesky(A.view())), plain);
    EXPECT_LT(same(Sweeps(box)), plain);
}

// --- kasane's parts against dense textbook algorithms --------------------------------------------------------------------------------

sparse::CsrMatrix csr(const Dense& a) {
    sparse::CsrMatrix A;
    A.begin.push_back(0);
    for (const auto& row : a) {
        for (std::size_t j = 0; j < row.size(); ++j)
            if (row[j] != 0) A.column.push_back(static_cast<std::int32_t>(j)), A.value.push_back(row[j]);
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    return A;
}

/// Sparse, diagonally dominant, with many triangles.
Dense random_matrix(std::size_t n) {
    RandomStream random(11, n);
    Dense a(n, Vector(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (random.uniform() < 0.3) a[i][j] = a[j][i] = 2 * random.uniform() - 1;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            if (j != i) a[i][i] += std::abs(a[i][j]);
        a[i][i] += 0.5;
    }
    return a;
}

Vector times(const Dense& a, const Vector& x) {
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i][j] * x[j];
    return y;
}

Vector random_vector(std::size_t n) {
    RandomStream random(12, n);
    Vector x(n);
    for (auto& v : x) v = 2 * random.uniform() - 1;
    return x;
}

/// C C^T with Cholesky's C, entries outside a's pattern dropped as they appear [Golub & Van Loan, algorithm 10.3.2 ("IC(0)")].
Dense incomplete_product(const Dense& a) {
    const auto n = a.size();
    Dense c = a;
    for (std::size_t k = 0; k < n; ++k) {
        c[k][k] = std::sqrt(c[k][k]);
        for (std::size_t i = k + 1; i < n; ++i) c[i][k] /= c[k][k];
        for (std::size_t j = k + 1; j < n; ++j)
            for (std::size_t i = j; i < n; ++i)
                if (a[i][j] != 0) c[i][j] -= c[i][k] * c[j][k];
    }
    Dense m(n, Vector(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k <= std::min(i, j); ++k) m[i][j] += c[i][k] * c[j][k];
    return m;
}

template <class Part>
Vector solved(const Part& M, const Vector& r) {
    HostAlgebra algebra;
    Vector z(r.size());
    M.apply(algebra, r, z);
    return z;
}

/// M M^-1 r = r. Rounding: n terms of some eps each, times the condition of M (dominant rows: below 100).
void expect_inverse(const Dense& m, const Vector& z, const Vector& r) {
    const auto back = times(m, z);
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(back[i], r[i], 1e-12) << i;
}

TEST(HostParts, IncompleteCholeskyIsTheTextbooks) {
    for (const std::size_t n : {1U, 2U, 17U, 40U}) {
        const auto a = random_matrix(n);
        const auto r = random_vector(n);
        const sparse::IncompleteCholesky M(csr(a).view());
        EXPECT_EQ(M.shift(), 0);
        expect_inverse(incomplete_product(a), solved(M, r), r);
    }
}

TEST(HostParts, IncompleteCholeskyOfAFullPatternIsExact) {
    auto a = random_matrix(20);
    for (std::size_t i = 0; i < 20; ++i)
        for (std::size_t j = 0; j < 20; ++j)
            if (a[i][j] == 0) a[i][j] = 1e-3;
    const auto r = random_vector(20);
    expect_inverse(a, solved(sparse::IncompleteCholesky(csr(a).view()), r), r);
}

TEST(HostParts, SsorIsItsDefinition) {
    const std::size_t n = 30;
    const double omega = 1.3;
    const auto a = random_matrix(n);
    Dense m(n, Vector(n));  // (D/w + L) w / (2 - w) D^-1 (D/w + L)^T
    const auto lower = [&](std::size_t i, std::size_t k) { return k == i ? a[i][i] / omega : k < i ? a[i][k] : 0; };
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k < n; ++k) m[i][j] += lower(i, k) * omega / (2 - omega) / a[k][k] * lower(j, k);
    const auto r = random_vector(n);
    expect_inverse(m, solved(sparse::Ssor(csr(a).view(), omega), r), r);
}

TEST(HostParts, JacobiDividesByTheDiagonal) {
    const auto a = random_matrix(9);
    const auto r = random_vector(9);
    const auto z = solved(sparse::Jacobi(csr(a).view()), r);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_DOUBLE_EQ(z[i] * a[i][i], r[i]);
}

TEST(HostParts, AProductWithThreadsIsTheSame) {
    const Box box{20};  // 8000 rows: more than one thread takes them
    const auto A = box.matrix();
    const auto x = random_vector(8000);
    Vector one(x.size()), three(x.size()), reference(x.size());
    HostAlgebra algebra;
    sparse::MatrixOperator(A.view(), 1).apply(algebra, x, one);
    sparse::MatrixOperator(A.view(), 3).apply(algebra, x, three);
    box.apply(algebra, x, reference);
    EXPECT_EQ(one, three);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(one[i], reference[i], 1e-14 * 12);  // seven terms, of 12 in all
}

TEST(HostParts, ALostPivotIsShiftedAway) {
    // Kershaw 1978: positive definite, but IC(0) gives the pivot -5.
    const Dense a{{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    const auto A = csr(a);
    const sparse::IncompleteCholesky M(A.view());
    EXPECT_GT(M.shift(), 0);
    EXPECT_LT(M.shift(), 1);
    auto shifted = a;
    for (std::size_t i = 0; i < 4; ++i) shifted[i][i] *= 1 + M.shift();
    const Vector b{1, 2, 3, 4};
    expect_inverse(incomplete_product(shifted), solved(M, b), b);
    HostAlgebra algebra;
    Vector x(4);
    EXPECT_TRUE(conjugate_gradients(algebra, sparse::MatrixOperator(A.view()), M, b, x).converged());
    const auto back = times(a, x);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(back[i], b[i], 1e-6);
}

TEST(HostParts, RefusesInvalidMatricesAndOptions) {
    const auto no_diagonal = csr({{1, 1}, {1, 0}}), negative = csr({{1, 0}, {0, -2}}), indefinite = csr({{1, 9, 0}, {9, 1, 9}, {0, 9, 1}});
    for (const auto* A : {&no_diagonal, &negative})
        for (const auto& make : std::vector<std::function<void()>>{
                 [&] { sparse::Jacobi{A->view()}; }, [&] { sparse::IncompleteCholesky{A->view()}; }, [&] { sparse::Ssor{A->view()}; }}) {
            try {
                make();
                ADD_FAILURE() << "was taken";
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find("row 2"), std::string::npos) << error.what();
            }
        }
    EXPECT_THROW(sparse::IncompleteCholesky{indefinite.view()}, ComputationError);
    const sparse::CsrMatrix outside{{0, 1, 3}, {0, 1, 7}, {1, 1, 1}}, falling{{0, 9, 2}, {0, 1}, {1, 1}};
    for (const auto* A : {&outside, &falling}) {
        EXPECT_THROW(sparse::Jacobi{A->view()}, InputError);
        EXPECT_THROW(sparse::IncompleteCholesky{A->view()}, InputError);
        EXPECT_THROW(sparse::Ssor{A->view()}, InputError);
    }
    const auto two = csr({{2, 1}, {1, 2}});
    Vector in(2), out(3);
    EXPECT_THROW(sparse::Jacobi(two.view()).solve(in, out), LogicError);
    EXPECT_THROW(sparse::IncompleteCholesky(two.view()).solve(out, in), LogicError);
    const auto fine = csr({{2, 1}, {1, 2}});
    for (const double omega : {0., 2., -1., std::nan("")}) EXPECT_THROW(sparse::Ssor(fine.view(), omega), InputError) << omega;
}

}  // namespace
