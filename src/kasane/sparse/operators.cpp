#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/matrix/findings.hpp>
#include <kasane/sparse/operators.hpp>

#include <cmath>

namespace kasane::sparse {
namespace {

std::size_t as_size(index_t i) { return static_cast<std::size_t>(i); }

/// Sums of the entries on the diagonal, all positive, of a matrix whose offsets and columns are checked here.
std::vector<double> diagonal_of(const CsrView& A) {
    detail::Problems problems("the matrix");
    detail::check_size(A, problems);
    std::vector<double> diagonal(as_size(A.n), 0.);
    for (index_t i = 0; i < A.n; ++i) {
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            KS_VALIDATE(A.column(e) >= 0 && A.column(e) < A.n,
                        "row " + std::to_string(i + 1) + " has a column index " + std::to_string(A.column(e)) +
                            ": in memory they go from 0 to " + std::to_string(A.n - 1),
                        {"the matrix", 0, 0, ""});
            if (A.column(e) == i) diagonal[as_size(i)] += A.value[e];
        }
        KS_VALIDATE(diagonal[as_size(i)] > 0, "the matrix has no positive diagonal entry in row " + std::to_string(i + 1) +
                                                  ": it is not positive definite, and no preconditioner can be made of it");
    }
    return diagonal;
}

CsrMatrix lower_triangle(const CsrView& A) {
    auto L = canonical(A);
    index_t kept = 0;
    for (index_t i = 0, first = 0; i < A.n; ++i) {
        const index_t last = L.begin[as_size(i + 1)];
        for (index_t e = first; e < last && L.column[as_size(e)] < i; ++e, ++kept) {
            L.column[as_size(kept)] = L.column[as_size(e)];
            L.value[as_size(kept)] = L.value[as_size(e)];
        }
        L.begin[as_size(i + 1)] = kept;
        first = last;
    }
    L.column.resize(as_size(kept));
    L.value.resize(as_size(kept));
    return L;
}

/// L and the inverse of D from A's triangle and diagonal, in place. False where a pivot is lost.
bool factorise(CsrMatrix& L, const std::vector<double>& diagonal, double shift, std::vector<double>& inverse) {
    for (index_t i = 0; i < L.rows(); ++i) {
        double pivot = diagonal[as_size(i)] * (1 + shift);
        const auto first = as_size(L.begin[as_size(i)]), last = as_size(L.begin[as_size(i + 1)]);
        for (auto e = first; e < last; ++e) {
            const auto j = as_size(L.column[e]);
            // l_ij = a_ij - sum_k l_ik l_jk / d_k over the columns k < j that both rows have.
            auto mine = first, other = as_size(L.begin[j]);
            while (mine < e && other < as_size(L.begin[j + 1])) {
                const auto k = L.column[mine], m = L.column[other];
                if (k == m) L.value[e] -= L.value[mine] * L.value[other] * inverse[as_size(k)];
                mine += k <= m;
                other += m <= k;
            }
            pivot -= L.value[e] * L.value[e] * inverse[j];
        }
        // A pivot that cancels to rounding is noise, and later rows would be divided by it.
        if (!(pivot > 1e-12 * diagonal[as_size(i)]) || !std::isfinite(pivot)) return false;
        inverse[as_size(i)] = 1 / pivot;
    }
    return true;
}

}  // namespace

void MatrixOperator::multiply(const std::vector<double>& in, std::vector<double>& out) const {
    KS_REQUIRE(static_cast<index_t>(in.size()) == A_.n && in.size() == out.size() && &in != &out,
               "a matrix of " + std::to_string(A_.n) + " rows cannot multiply a vector of " + std::to_string(in.size()) + " into one of " +
                   std::to_string(out.size()) + " (in and out must be different vectors)");
    const double* x = in.data();
    double* y = out.data();
    parallel_for(Cpu{threads_}, A_.n, [A = A_, x, y](index_t i) {
        double sum = 0;
        for (index_t e = A.begin(i); e < A.end(i); ++e) sum += A.value[e] * x[A.column(e)];
        y[i] = sum;
    });
}

Jacobi::Jacobi(const CsrView& A) : inverse_(diagonal_of(A)) {
    for (auto& d : inverse_) d = 1 / d;
}

void Jacobi::solve(const std::vector<double>& in, std::vector<double>& out) const {
    require_sizes(static_cast<index_t>(inverse_.size()), view(in), view(out));
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = inverse_[i] * in[i];
}

void TriangularProduct::solve(const std::vector<double>& in, std::vector<double>& out) const {
    const index_t n = lower_.rows();
    require_sizes(n, view(in), view(out));
    for (index_t i = 0; i < n; ++i) {
        double sum = in[as_size(i)];
        for (auto e = as_size(lower_.begin[as_size(i)]); e < as_size(lower_.begin[as_size(i + 1)]); ++e)
            sum -= lower_.value[e] * out[as_size(lower_.column[e])];
        out[as_size(i)] = sum * inverse_[as_size(i)];
    }
    // L^T by the rows of L: each final unknown is subtracted from the equations of earlier ones.
    for (index_t i = n - 1; i >= 0; --i) {
        const double known = out[as_size(i)];
        for (auto e = as_size(lower_.begin[as_size(i)]); e < as_size(lower_.begin[as_size(i + 1)]); ++e) {
            const auto j = as_size(lower_.column[e]);
            out[j] -= lower_.value[e] * known * inverse_[j];
        }
        out[as_size(i)] = scale_ * known;
    }
}

IncompleteCholesky::IncompleteCholesky(const CsrView& A) {
    const auto diagonal = diagonal_of(A);
    const auto triangle = lower_triangle(A);
    inverse_.resize(diagonal.size());
    for (double next = 1e-3; shift_ < 2; shift_ = next, next *= 2) {
        lower_ = triangle;
        if (factorise(lower_, diagonal, shift_, inverse_)) return;
    }
    throw ComputationError(
        "the incomplete Cholesky factorisation loses its pivots even with the diagonal doubled: the matrix is far from "
        "positive definite, or not at all. Try Jacobi, or check the matrix");
}

Ssor::Ssor(const CsrView& A, double omega) {
    KS_VALIDATE(omega > 0 && omega < 2, "omega = " + std::to_string(omega) + ": SSOR is positive definite only between 0 and 2. Try 1");
    inverse_ = diagonal_of(A);
    lower_ = lower_triangle(A);
    for (auto& d : inverse_) d = omega / d;
    // (D/w + L) (D/w)^-1 (D/w + L)^T = (2 - w) M.
    scale_ = 2 - omega;
}

}  // namespace kasane::sparse
