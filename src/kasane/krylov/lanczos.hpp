// The lowest eigenpairs of a Hermitian positive definite operator by thick-restart Lanczos with a Chebyshev filter.
// Invariants: basis vectors are orthonormal up to rounding (each is orthogonalised twice against all others); values and residuals of the
// result are those of A itself, not of the filter.
#pragma once

#include <kasane/krylov/symmetric_eigen.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace kasane::krylov {

/// Options of lowest_eigenpairs().
struct LanczosOptions {
    int wanted = 10;          ///< number of eigenpairs
    double rtol = 1e-8;       ///< of the residual |A v - lambda v|, as a fraction of lambda
    int restart_limit = 200;  ///< of the basis, those that adapt the filter counted
};

/// Eigenpairs in ascending order.
template <class Vector>
struct LowestEigenpairs {
    std::vector<double> values;      ///< Rayleigh quotients
    std::vector<double> residuals;   ///< |A v - value v|, of unit vectors
    std::vector<Vector> vectors;     ///< orthonormal
    int restarts = 0;                ///< of the basis
    std::uint64_t applications = 0;  ///< of A
    bool converged = false;          ///< all residuals are within the tolerance
};

/// The polynomial T_degree((2 A - above - below) / (above - below)): its modulus is at most 1 on [below, above], and it grows monotonically
/// from `below` to 0 where the degree is even. Degree 0 stands for -A.                            [Saad 2011, section 7.4]
struct ChebyshevFilter {
    double below = 0;  ///< lower end of the interval that is damped
    double above = 0;  ///< upper end
    int degree = 0;    ///< even

    /// The eigenvalue of A that belongs to one of the filter; `below` where that lies in the damped interval.
    double inverse(double value) const {
        if (degree == 0) return -value;
        if (!(value > 1)) return below;
        return 0.5 * (above + below - (above - below) * std::cosh(std::acosh(value) / degree));
    }
    /// Modulus of the filter's derivative there.
    double slope(double value) const {
        if (degree == 0 || !(value > 1)) return 1;
        const double angle = std::acosh(value);
        return 2 * degree * std::sinh(angle) / (std::sinh(angle / degree) * (above - below));
    }
};

/// Vectors and projected matrix of lowest_eigenpairs(). The first Ritz pairs are those of the largest values of the filter.
template <class Algebra, class Operator, class Randomise>
class ThickRestartLanczos {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra

    /// Arguments as those of lowest_eigenpairs().
    ThickRestartLanczos(Algebra& algebra, const Operator& A, const Randomise& randomise, const Vector& like, const LanczosOptions& options,
                        std::size_t size)
        : algebra_(algebra), A_(A), randomise_(randomise), options_(options), wanted_(static_cast<std::size_t>(options.wanted)), m_(size) {
        for (std::size_t i = 0; i <= m_; ++i) v_.push_back(algebra.like(like));
        for (int i = 0; i < 3; ++i) work_.push_back(algebra.like(like)), algebra.zero(work_.back());
        T_.assign(m_ * m_, 0.);
    }

    /// Finds the eigenpairs.
    LowestEigenpairs<Vector> find() {
        LowestEigenpairs<Vector> found;
        randomise_(random_vectors_++, v_[0]);
        scale(v_[0], 1 / std::sqrt(algebra_.norm2(v_[0])));
        extend(0);
        if (!std::isfinite(beta_)) return found;
        // An upper bound of the spectrum: the largest Ritz value and the norm of the remainder.                      [Zhou & Li 2011]
        filter_.below = filter_.above = 1.01 * (beta_ - pairs_.values.front());
        for (; found.restarts < options_.restart_limit && adapt_filter(); ++found.restarts) {
            begin_again();
            extend(0);
        }
        double tolerance = 0.5 * options_.rtol;
        while (std::isfinite(beta_)) {
            const bool last = found.restarts >= options_.restart_limit;
            if (last || within(tolerance)) {
                found.converged = measure(found);
                if (found.converged || last) break;
                tolerance *= 0.3;
            }
            const std::size_t kept = wanted_ + (m_ - wanted_) / 2;
            rotate(kept);
            extend(kept);
            ++found.restarts;
        }
        found.applications = applications_;
        return found;
    }

   private:
    double& T(std::size_t i, std::size_t j) { return T_[i * m_ + j]; }
    /// Component j of Ritz vector i, its value, and the norm of its residual.
    double ritz(std::size_t j, std::size_t i) const { return pairs_.vectors[j * m_ + (m_ - 1 - i)]; }
    double ritz_value(std::size_t i) const { return pairs_.values[m_ - 1 - i]; }
    double ritz_residual(std::size_t i) const { return beta_ * std::fabs(ritz(m_ - 1, i)); }

    void scale(Vector& x, double factor) { algebra_.axpby(0, work_[2], factor, x); }
    /// out = the filter of A times in
    void apply(const Vector& in, Vector& out) {
        if (filter_.degree == 0) {
            A_.apply(algebra_, in, out);
            ++applications_;
            scale(out, -1);
            return;
        }
        const double half_width = 0.5 * (filter_.above - filter_.below), centre = 0.5 * (filter_.above + filter_.below);
        algebra_.copy(in, work_[0]);
        A_.apply(algebra_, in, out);
        algebra_.axpby(-centre / half_width, in, 1 / half_width, out);
        for (int k = 1; k < filter_.degree; ++k) {  // T_k+1 = 2 x T_k - T_k-1
            A_.apply(algebra_, out, work_[1]);
            algebra_.axpby(-2 * centre / half_width, out, 2 / half_width, work_[1]);
            algebra_.axpby(-1, work_[0], 1, work_[1]);
            std::swap(work_[0], out);
            std::swap(out, work_[1]);
        }
        applications_ += static_cast<std::uint64_t>(filter_.degree);
    }
    /// Orthogonalises w against the first n vectors, twice; the real parts of the products are added to a column of T.
    void orthogonalise(std::size_t n, Vector& w, bool keep) {
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t i = 0; i < n; ++i) {
                const auto product = algebra_.dot(v_[i], w);
                algebra_.axpby(-product, v_[i], 1, w);
                if (keep) T(i, n - 1) += std::real(product);
            }
    }
    /// Extends the basis from n + 1 vectors to m + 1, and computes the Ritz pairs.
    void extend(std::size_t n) {
        for (std::size_t j = n; j < m_; ++j) {
            auto& w = v_[j + 1];
            apply(v_[j], w);
            const double before = std::sqrt(algebra_.norm2(w));
            orthogonalise(j + 1, w, true);
            beta_ = std::sqrt(algebra_.norm2(w));
            if (!std::isfinite(beta_)) return;
            for (std::size_t i = 0; i < j; ++i) T(j, i) = T(i, j);
            if (beta_ <= 1e-12 * before) {  // the basis spans an invariant space: another one continues
                beta_ = 0;
                randomise_(random_vectors_++, w);
                scale(w, 1 / std::sqrt(algebra_.norm2(w)));
                orthogonalise(j + 1, w, false);
                scale(w, 1 / std::sqrt(algebra_.norm2(w)));
            } else {
                scale(w, 1 / beta_);
            }
        }
        pairs_ = symmetric_eigen(T_, m_);
    }
    /// Moves the damped interval's lower end to the Ritz value after the wanted ones; returns whether it moved much.
    bool adapt_filter() {
        const std::size_t behind = std::min(wanted_ + std::max<std::size_t>(4, wanted_ / 4), m_ - 1);
        const double found = filter_.inverse(ritz_value(behind));
        if (!(found > 0 && found < 0.7 * filter_.below)) return false;
        filter_.below = found;
        // At 0 the filter is about cosh 8: larger ratios of its values cost digits, smaller ones restarts.
        filter_.degree = 2 * std::clamp(static_cast<int>(2 * std::sqrt(filter_.above / filter_.below)), 2, 1000);
        return true;
    }
    /// The sum of the first Ritz vectors becomes the first vector of a new basis.
    void begin_again() {
        auto& sum = work_[0];
        algebra_.zero(sum);
        for (std::size_t i = 0; i < wanted_; ++i)
            for (std::size_t j = 0; j < m_; ++j) algebra_.axpby(ritz(j, i), v_[j], 1, sum);
        algebra_.axpby(1 / std::sqrt(algebra_.norm2(sum)), sum, 0, v_[0]);
        std::fill(T_.begin(), T_.end(), 0.);
    }
    /// The first n Ritz vectors become the first vectors of the basis, followed by the remainder.         [Wu & Simon 2000]
    void rotate(std::size_t n) {
        while (rotated_.size() < n) rotated_.push_back(algebra_.like(v_[0]));
        for (std::size_t i = 0; i < n; ++i) {
            algebra_.axpby(ritz(0, i), v_[0], 0, rotated_[i]);
            for (std::size_t j = 1; j < m_; ++j) algebra_.axpby(ritz(j, i), v_[j], 1, rotated_[i]);
        }
        for (std::size_t i = 0; i < n; ++i) std::swap(v_[i], rotated_[i]);
        std::swap(v_[n], v_[m_]);
        std::fill(T_.begin(), T_.end(), 0.);
        for (std::size_t i = 0; i < n; ++i) T(i, i) = ritz_value(i);
    }
    /// Whether the estimated residuals of A's eigenpairs are below that fraction of their values.
    bool within(double tolerance) const {
        for (std::size_t i = 0; i < wanted_; ++i) {
            const double lambda = filter_.inverse(ritz_value(i));
            if (!(ritz_residual(i) <= tolerance * lambda * filter_.slope(ritz_value(i)))) return false;
        }
        return true;
    }
    /// Rayleigh quotients and residuals of A; the basis itself does not change. Returns whether all residuals are within the tolerance.
    bool measure(LowestEigenpairs<Vector>& found) {
        std::vector<std::pair<double, double>> measured;
        std::vector<Vector> vectors;
        for (std::size_t i = 0; i < wanted_; ++i) {
            auto& x = vectors.emplace_back(algebra_.like(v_[0]));
            algebra_.axpby(ritz(0, i), v_[0], 0, x);
            for (std::size_t j = 1; j < m_; ++j) algebra_.axpby(ritz(j, i), v_[j], 1, x);
            scale(x, 1 / std::sqrt(algebra_.norm2(x)));
            A_.apply(algebra_, x, work_[0]);
            ++applications_;
            const double value = std::real(algebra_.dot(x, work_[0]));
            algebra_.axpby(-value, x, 1, work_[0]);
            measured.emplace_back(value, std::sqrt(algebra_.norm2(work_[0])));
        }
        std::vector<std::size_t> order(wanted_);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return measured[i].first < measured[j].first; });
        found.values.clear(), found.residuals.clear(), found.vectors.clear();
        bool good = true;
        for (const std::size_t i : order) {
            found.values.push_back(measured[i].first);
            found.residuals.push_back(measured[i].second);
            found.vectors.push_back(std::move(vectors[i]));
            good = good && measured[i].second <= options_.rtol * measured[i].first;
        }
        return good;
    }

    Algebra& algebra_;
    const Operator& A_;
    const Randomise& randomise_;
    const LanczosOptions& options_;
    std::size_t wanted_, m_;  ///< m: vectors of the basis beside the remainder
    ChebyshevFilter filter_;
    std::vector<Vector> v_, work_, rotated_;  ///< work[2]: zero
    std::vector<double> T_;                   ///< the filter, projected on the basis
    SymmetricEigen pairs_;
    double beta_ = 0;  ///< norm of the remainder
    int random_vectors_ = 0;
    std::uint64_t applications_ = 0;
};

/// Finds the lowest eigenpairs of A. First a few short Lanczos processes adapt the filter: their Ritz values bound the eigenvalues from
/// above, so that the lower end of the damped interval comes down to the eigenvalue after the wanted ones; then one process is restarted
/// from its best Ritz vectors until every residual, measured with A, is within the tolerance.
///                                       [Wu & Simon 2000; Saad 2011, sections 6.7 and 7.4]
/// A step of Lanczos applies A `degree` times and reads the basis four times; a restart reads it once per vector that is kept.
/// @param randomise  randomise(number, vector) fills a vector with Gaussian numbers, others for every number
/// @param like  a vector of the system's size   @param dimension  of the space of vectors
/// @return converged = false where the restarts did not suffice or numbers are not finite. An eigenvalue that occurs several times to
/// within rounding may be found fewer times
template <class Algebra, class Operator, class Randomise>
LowestEigenpairs<typename Algebra::Vector> lowest_eigenpairs(Algebra& algebra, const Operator& A, const Randomise& randomise,
                                                             const typename Algebra::Vector& like, std::size_t dimension,
                                                             const LanczosOptions& options) {
    const auto wanted = static_cast<std::size_t>(options.wanted);
    const std::size_t size = std::min(2 * wanted + 12, dimension);
    return ThickRestartLanczos(algebra, A, randomise, like, options, size).find();
}

}  // namespace kasane::krylov
