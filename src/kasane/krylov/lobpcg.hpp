// The smallest eigenvalues of a symmetric positive semi-definite operator with any preconditioner: the locally optimal block preconditioned
// conjugate gradient method.                                                                                             [Knyazev 2001]
// Invariants: no exception for a numerical reason: the outcome is in the log; values and residuals of the log belong to the vectors that
// are returned, with A applied to them.
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/operator_ref.hpp>
#include <kasane/krylov/outcome.hpp>
#include <kasane/krylov/options.hpp>
#include <kasane/krylov/symmetric_eigen.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace kasane::krylov {

/// Result of lobpcg() in addition to the vectors.
struct EigenLog {
    Outcome end = Outcome::iteration_limit;  ///< converged, iteration_limit, stagnated, breakdown, not_finite, or stopped
    int iterations = 0;                      ///< each with one A and one M for each pair that has not converged
    std::vector<double> values;              ///< ascending, of all vectors of the block
    std::vector<double> residuals;           ///< ||A x - value x|| of each
    double scale = 0;                        ///< the largest wanted eigenvalue, to which rtol refers
};

namespace detail {

/// Coefficients of the Ritz vectors of the smallest values in a basis with Gram matrix G = S^T S and projection H = S^T A S, [m][m] each.
/// Directions that depend linearly on others, up to rounding, are left out.                                        [Stathopoulos & Wu 2002]
struct Ritz {
    std::vector<double> values;        ///< [count] ascending
    std::vector<double> coefficients;  ///< [m][count]
    std::size_t count = 0;             ///< number of vectors: `wanted`, or fewer if there are fewer independent directions

    /// @param G  Gram matrix   @param H  projection   @param m  size of the basis   @param wanted  number of vectors
    Ritz(const std::vector<double>& G, const std::vector<double>& H, std::size_t m, std::size_t wanted) {
        constexpr double dependent = 1e-13;
        std::vector<double> unit(m), scaled(m * m);
        for (std::size_t i = 0; i < m; ++i) unit[i] = G[i * m + i] > 0 ? 1 / std::sqrt(G[i * m + i]) : 0;
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < m; ++j) scaled[i * m + j] = unit[i] * G[i * m + j] * unit[j];
        const auto gram = symmetric_eigen(std::move(scaled), m);
        std::vector<std::size_t> kept;
        for (std::size_t j = 0; j < m; ++j)
            if (gram.values[j] > dependent * gram.values[m - 1]) kept.push_back(j);
        const std::size_t r = kept.size();
        std::vector<double> T(m * r), HT(m * r, 0.), projected(r * r, 0.);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t a = 0; a < r; ++a) T[i * r + a] = unit[i] * gram.vectors[i * m + kept[a]] / std::sqrt(gram.values[kept[a]]);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t a = 0; a < r; ++a) HT[i * r + a] += H[i * m + j] * T[j * r + a];
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t a = 0; a < r; ++a)
                for (std::size_t b = 0; b < r; ++b) projected[a * r + b] += T[i * r + a] * HT[i * r + b];
        for (std::size_t a = 0; a < r; ++a)
            for (std::size_t b = 0; b < a; ++b)
                projected[a * r + b] = projected[b * r + a] = (projected[a * r + b] + projected[b * r + a]) / 2;
        const auto ritz = symmetric_eigen(std::move(projected), r);
        count = std::min(wanted, r);
        values.assign(ritz.values.begin(), ritz.values.begin() + static_cast<std::ptrdiff_t>(count));
        coefficients.assign(m * count, 0.);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t a = 0; a < r; ++a)
                for (std::size_t j = 0; j < count; ++j) coefficients[i * count + j] += T[i * r + a] * ritz.vectors[a * r + j];
        largest = r > 0 ? ritz.values[r - 1] : 0;
    }
    double largest = 0;  ///< Ritz value
};

/// Computes the dot of each pair, with algebra.dots() if the algebra has it.
template <class Algebra, class Vector>
std::vector<double> dots(Algebra& algebra, const std::vector<std::pair<const Vector*, const Vector*>>& pairs) {
    if constexpr (requires { algebra.dots(pairs); }) {
        return algebra.dots(pairs);
    } else {
        std::vector<double> all;
        for (const auto& [x, y] : pairs) all.push_back(algebra.dot(*x, *y));
        return all;
    }
}

/// y_j += factors[i][j] x_i, with algebra.add_products() if the algebra has it.   @param factors  [size of x][size of y]
template <class Algebra, class Vector>
void add_products(Algebra& algebra, const std::vector<const Vector*>& x, const double* factors, std::vector<Vector>& y) {
    if constexpr (requires { algebra.add_products(x, factors, y); }) {
        algebra.add_products(x, factors, y);
    } else {
        for (std::size_t j = 0; j < y.size(); ++j)
            for (std::size_t i = 0; i < x.size(); ++i) algebra.axpby(factors[i * y.size() + j], *x[i], 1, y[j]);
    }
}

}  // namespace detail

/// Finds the `wanted` smallest eigenvalues and their vectors: ||A x - value x|| <= rtol times the largest wanted value, or 1e-14 times the
/// largest Ritz value that occurred, where rounding allows no less. The vectors of the block beyond the wanted ones speed up the others.
/// @param algebra  has like, copy, dot and axpby, and optionally dots and add_products (algebra.hpp)
/// @param A        symmetric positive semi-definite, apply(algebra, in, out)
/// @param M        symmetric positive definite, or the inverse of A on its range; NoPreconditioner: none
/// @param X        start in, independent; orthonormal eigenvectors out
/// @param wanted   from 1 to the size of X
/// @param options  rtol, iteration_limit, stop: called with the largest residual of a wanted pair over the scale
template <class Algebra, class Operator>
EigenLog lobpcg(Algebra& algebra, const Operator& A, AnyOperator<Algebra> M, std::vector<typename Algebra::Vector>& X, std::size_t wanted,
                const Options& options) {
    using Vector = typename Algebra::Vector;
    const std::size_t block = X.size();
    const auto vectors = [&] {
        std::vector<Vector> all;
        for (std::size_t j = 0; j < block; ++j) all.push_back(algebra.like(X[0]));
        return all;
    };
    std::vector<Vector> AX = vectors(), W = vectors(), AW = vectors(), P = vectors(), AP = vectors(), next = vectors(), Anext = vectors();
    EigenLog log;
    double largest = 0;
    for (std::size_t j = 0; j < block; ++j) A.apply(algebra, X[j], AX[j]);

    // The basis: vectors and A times them.
    std::vector<std::pair<const Vector*, const Vector*>> basis;
    // X and P from the least Ritz vectors of the basis, of which the first `block` are X. @return false: fewer directions than vectors
    const auto project = [&] {
        const std::size_t m = basis.size();
        std::vector<double> G(m * m), H(m * m);
        std::vector<std::pair<const Vector*, const Vector*>> factors;
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                factors.emplace_back(basis[i].first, basis[j].first);
                factors.emplace_back(basis[i].first, basis[j].second);
            }
        const auto products = detail::dots(algebra, factors);
        for (std::size_t i = 0, k = 0; i < m; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                G[i * m + j] = G[j * m + i] = products[k++];
                H[i * m + j] = H[j * m + i] = products[k++];
            }
        if (!std::all_of(G.begin(), G.end(), [](double g) { return std::isfinite(g); }) ||
            !std::all_of(H.begin(), H.end(), [](double h) { return std::isfinite(h); })) {
            log.end = Outcome::not_finite;
            return false;
        }
        const detail::Ritz ritz(G, H, m, block);
        log.end = Outcome::breakdown;
        if (ritz.count < block) return false;
        largest = std::max(largest, ritz.largest);
        const auto add = [&](std::size_t from, std::size_t to) {
            std::vector<const Vector*> some, images;
            for (std::size_t i = from; i < to; ++i) some.push_back(basis[i].first), images.push_back(basis[i].second);
            detail::add_products(algebra, some, ritz.coefficients.data() + from * block, next);
            detail::add_products(algebra, images, ritz.coefficients.data() + from * block, Anext);
        };
        // Directions: the part of the new vectors outside the old ones.
        for (std::size_t j = 0; j < block; ++j) {
            algebra.axpby(0, X[j], 0, next[j]);
            algebra.axpby(0, X[j], 0, Anext[j]);
        }
        add(block, m);
        std::swap(P, next);
        std::swap(AP, Anext);
        for (std::size_t j = 0; j < block; ++j) {
            algebra.copy(P[j], next[j]);
            algebra.copy(AP[j], Anext[j]);
        }
        add(0, block);
        std::swap(X, next);
        std::swap(AX, Anext);
        log.values = ritz.values;
        return true;
    };
    // Residuals into W.
    const auto residuals = [&] {
        std::vector<std::pair<const Vector*, const Vector*>> squares;
        for (std::size_t j = 0; j < block; ++j) {
            algebra.copy(AX[j], W[j]);
            algebra.axpby(-log.values[j], X[j], 1, W[j]);
            squares.emplace_back(&W[j], &W[j]);
        }
        log.residuals = detail::dots(algebra, squares);
        for (double& one : log.residuals) one = std::sqrt(one);
        log.scale = log.values[wanted - 1];
    };
    const auto bound = [&] { return std::max(options.rtol * log.scale, 1e-14 * largest); };
    const auto worst = [&] {
        return *std::max_element(log.residuals.begin(), log.residuals.begin() + static_cast<std::ptrdiff_t>(wanted));
    };

    for (std::size_t j = 0; j < block; ++j) basis.emplace_back(&X[j], &AX[j]);
    bool going = project(), have_directions = false;
    int confirmations = 0;
    while (going) {
        residuals();
        if (worst() <= bound()) {
            // A times the vectors is a recurrence: the residuals that count are those of A itself.
            for (std::size_t j = 0; j < block; ++j) A.apply(algebra, X[j], AX[j]);
            residuals();
            have_directions = false;
            log.end = worst() <= bound() ? Outcome::converged : Outcome::stagnated;
            if (log.end == Outcome::converged || ++confirmations > 3) return log;
        }
        log.end = Outcome::iteration_limit;
        if (log.iterations >= options.iteration_limit) break;
        if (options.stop && options.stop(log.iterations, log.scale > 0 ? worst() / log.scale : worst())) {
            log.end = Outcome::stopped;
            break;
        }
        basis.clear();
        for (std::size_t j = 0; j < block; ++j) basis.emplace_back(&X[j], &AX[j]);
        for (std::size_t j = 0; j < block; ++j) {
            if (log.residuals[j] <= 0.1 * bound()) continue;
            M.apply(algebra, W[j], AW[j]);
            std::swap(W[j], AW[j]);
            A.apply(algebra, W[j], AW[j]);
            basis.emplace_back(&W[j], &AW[j]);
            if (have_directions) basis.emplace_back(&P[j], &AP[j]);
        }
        going = project();
        have_directions = true;
        if (going) ++log.iterations;
    }
    if (!log.values.empty() && log.end != Outcome::not_finite) {
        for (std::size_t j = 0; j < block; ++j) A.apply(algebra, X[j], AX[j]);
        residuals();
    }
    return log;
}

}  // namespace kasane::krylov
