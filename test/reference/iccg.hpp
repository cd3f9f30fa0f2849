// Conjugate gradients with incomplete Cholesky by the textbook, on the host, one row after the other: the slow oracle of the sparse module.
// Invariants: shares no code with it; the factor is the plain Cholesky form L L^T on the pattern of A with values of its own, so that it
// holds with and without triangles in the graph, and in any order of elimination.                     [Saad 2003, algorithms 9.1 and 10.4]
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace kasane::reference {

/// The matrix's own order.
inline std::vector<std::int32_t> natural_order(index_t n) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// y = A x
inline std::vector<double> product(const sparse::CsrView& A, const std::vector<double>& x) {
    std::vector<double> y(static_cast<std::size_t>(A.n), 0.);
    for (index_t i = 0; i < A.n; ++i)
        for (index_t e = A.begin(i); e < A.end(i); ++e)
            y[static_cast<std::size_t>(i)] += A.value[e] * x[static_cast<std::size_t>(A.column(e))];
    return y;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.);
}

/// ||b - A x|| / ||b||
inline double relative_residual(const sparse::CsrView& A, const std::vector<double>& b, const std::vector<double>& x) {
    auto r = product(A, x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    return std::sqrt(dot(r, r) / dot(b, b));
}

/// L L^T ~ P A P^T with the pattern of A's lower triangle, where row order[i] of A is eliminated as the i-th.
class IncompleteCholesky {
   public:
    /// @param A      entries of one place are summed   @param order  each row once
    /// @param shift  A's diagonal is taken (1 + shift) times
    IncompleteCholesky(const sparse::CsrView& A, const std::vector<std::int32_t>& order, double shift = 0)
        : order_(order), lower_(order.size()), diagonal_(order.size()) {
        std::vector<std::size_t> place(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
        std::vector<double> row(order.size(), 0.);  // of A, then of L; only places of the pattern are read or written
        std::vector<char> in_row(order.size(), 0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto& mine = lower_[i];
            double pivot = 0;
            for (index_t e = A.begin(order[i]); e < A.end(order[i]); ++e) {
                const auto j = place[static_cast<std::size_t>(A.column(e))];
                if (j == i) pivot += A.value[e] * (1 + shift);
                if (j >= i) continue;
                if (!in_row[j]) mine.emplace_back(j, 0.), in_row[j] = 1;
                row[j] += A.value[e];
            }
            std::sort(mine.begin(), mine.end());
            for (auto& [j, l] : mine) {
                for (const auto& [k, other] : lower_[j])
                    if (in_row[k]) row[j] -= row[k] * other;  // L_ik is done: k < j
                row[j] /= diagonal_[j];
                l = row[j];
                pivot -= l * l;
            }
            for (const auto& [j, l] : mine) row[j] = 0, in_row[j] = 0;
            if (!(pivot > 0)) {
                broken_ = static_cast<index_t>(order[i]);
                return;
            }
            diagonal_[i] = std::sqrt(pivot);
        }
    }

    /// The row of A whose pivot was not positive; -1: the factorisation went through.
    index_t broken() const { return broken_; }

    /// z = (L L^T)^-1 r, both in A's own numbering
    std::vector<double> solve(const std::vector<double>& r) const {
        std::vector<double> y(order_.size()), z(order_.size());
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] = r[static_cast<std::size_t>(order_[i])];
            for (const auto& [j, l] : lower_[i]) y[i] -= l * y[j];
            y[i] /= diagonal_[i];
        }
        for (std::size_t i = y.size(); i-- > 0;) {
            y[i] /= diagonal_[i];
            for (const auto& [j, l] : lower_[i]) y[j] -= l * y[i];
        }
        for (std::size_t i = 0; i < y.size(); ++i) z[static_cast<std::size_t>(order_[i])] = y[i];
        return z;
    }

   private:
    std::vector<std::int32_t> order_;
    std::vector<std::vector<std::pair<std::size_t, double>>> lower_;  ///< (place, L_ij), j ascending
    std::vector<double> diagonal_;
    index_t broken_ = -1;
};

struct IccgResult {
    bool converged = false;
    int iterations = 0;
    index_t broken = -1;  ///< row of A at which the factorisation failed; the rest is then empty
    std::vector<double> x;
    std::vector<double> residuals;  ///< ||r|| / ||b|| before iteration 0, 1, ...
};

/// x0 = 0; ends when ||r|| / ||b|| < tolerance.
/// @param solve  z = solve(r), the preconditioner
template <class Solve>
IccgResult conjugate_gradients(const sparse::CsrView& A, const std::vector<double>& b, const Solve& solve, double tolerance = 1e-8,
                               int limit = 10000) {
    IccgResult out;
    out.x.assign(b.size(), 0.);
    auto r = b;
    std::vector<double> p(b.size(), 0.);
    const double b2 = dot(b, b);
    double rz_before = 0;
    for (int k = 0;; ++k) {
        out.iterations = k;
        out.residuals.push_back(b2 > 0 ? std::sqrt(dot(r, r) / b2) : 0);
        out.converged = out.residuals.back() < tolerance;
        if (out.converged || k == limit) return out;
        const auto z = solve(r);
        const double rz = dot(r, z), beta = k == 0 ? 0 : rz / rz_before;
        rz_before = rz;
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
        const auto q = product(A, p);
        const double alpha = rz / dot(p, q);
        for (std::size_t i = 0; i < p.size(); ++i) out.x[i] += alpha * p[i], r[i] -= alpha * q[i];
    }
}

/// The same with IC(0) in that order of elimination.
inline IccgResult iccg(const sparse::CsrView& A, const std::vector<double>& b, const std::vector<std::int32_t>& order,
                       double tolerance = 1e-8, int limit = 10000) {
    const IncompleteCholesky factor(A, order);
    if (factor.broken() >= 0) {
        IccgResult out;
        out.broken = factor.broken();
        return out;
    }
    return conjugate_gradients(A, b, [&](const std::vector<double>& r) { return factor.solve(r); }, tolerance, limit);
}

}  // namespace kasane::reference
