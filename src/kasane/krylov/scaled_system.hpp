// The system A x = b in units in which no square of an entry vanishes or overflows, whatever the size of b.
// Invariant: the units are powers of two, so that scaling does not round; x is in them from begin() to end().
#pragma once

#include <kasane/krylov/watch.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::krylov {

/// How b is scaled: by a power of two. A b whose norm is near 1 is not scaled.
struct Unit {
    double unit = 1;  ///< factor for b
    double norm = 0;  ///< |b| in the unit; NaN or infinite where b is
};

/// The scale of b. @param scratch  a vector of b's size
template <class Algebra>
Unit unit_of(Algebra& algebra, const typename Algebra::Vector& b, typename Algebra::Vector& scratch) {
    // An algebra of floats squares in float.
    const auto in_range = [](double square) { return square > 1e-30 && square < 1e30; };
    double square = algebra.norm2(b);
    int exponent = 0;  // of the unit
    const int sign = square < 1 ? 1 : -1;
    // Steps below 2^99, the width of the range of norms. The first two are powers of two of floats, too.
    for (const int step : {60, 120, 210, 300, 390, 480, 570, 660, 750, 840, 930, 1020}) {
        if (in_range(square)) break;
        algebra.axpby(std::ldexp(1., sign * step), b, 0, scratch);
        if (const double scaled = algebra.norm2(scratch); in_range(scaled)) square = scaled, exponent = sign * step;
    }
    const double norm = std::sqrt(square), unit = std::ldexp(1., exponent);
    if (!(norm > 0) || !std::isfinite(norm) || (exponent == 0 && norm > 1e-8 && norm < 1e8)) return {unit, norm};
    // The unit and its inverse are normal numbers.
    const int to_one = std::clamp(exponent - std::ilogb(norm), -1022, 1022) - exponent;
    return {std::ldexp(unit, to_one), std::ldexp(norm, to_one)};
}

/// Scales A x = b, computes true residuals and writes them to the log while a method runs.
template <class Algebra, class Operator>
class ScaledSystem {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra

    /// Keeps references to all arguments.
    ScaledSystem(Algebra& algebra, const Operator& A, const Vector& b, Vector& x, Watch& watch)
        : algebra_(algebra), A_(A), b_(b), x_(x), watch_(watch) {}

    /// r = b - A x, scaled; false where the solve has ended: b = 0 gives x = 0, and a number that is not finite ends it.
    bool begin(Vector& r) {
        const auto found = unit_of(algebra_, b_, r);
        unit_ = found.unit;
        if (found.norm == 0) {
            algebra_.zero(x_);
            if (watch_.options().history) watch_.log().residuals.push_back(0);
            return watch_.end(Outcome::converged);
        }
        if (!std::isfinite(found.norm)) return watch_.end(Outcome::not_finite);
        watch_.set_b_norm(found.norm);
        const double x2 = algebra_.norm2(x_);
        if (x2 == 0) {
            // An x whose squares vanish is not a better start than zero.
            algebra_.zero(x_);
            algebra_.axpby(unit_, b_, 0, r);
            norm_ = found.norm;
        } else {
            if (unit_ != 1) algebra_.axpby(0, b_, unit_, x_);
            update(r);
        }
        if (std::isfinite(norm_)) return true;
        if (unit_ != 1) algebra_.axpby(0, b_, 1 / unit_, x_);
        return watch_.end(Outcome::not_finite);
    }
    /// r = b - A x with the present x; returns |r|.
    double update(Vector& r) {
        A_.apply(algebra_, x_, r);
        algebra_.axpby(unit_, b_, -1, r);
        ++watch_.log().updates;
        return norm_ = std::sqrt(algebra_.norm2(r));
    }
    /// |r| of the last update().
    double norm() const { return norm_; }
    /// Whether the norm of the last update() is within the tolerance.
    bool converged() const { return norm_ <= watch_.target(); }
    /// Writes the true residual to the log, and undoes the scale of x. @param known  the last update() was of this x
    void end(Vector& r, bool known) {
        SolveLog& log = watch_.log();
        if (!known) update(r);
        log.true_residual = norm_ / watch_.b_norm();
        if (watch_.options().history) log.residuals.push_back(log.true_residual);
        if (unit_ != 1) algebra_.axpby(0, b_, 1 / unit_, x_);
    }

   private:
    Algebra& algebra_;
    const Operator& A_;
    const Vector& b_;
    Vector& x_;
    Watch& watch_;
    double unit_ = 1, norm_ = 0;
};

}  // namespace kasane::krylov
