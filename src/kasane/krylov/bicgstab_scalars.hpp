// The scalars of BiCGStab's recurrence for one right-hand side: what is computed from inner products, and where the recurrence breaks down.
// The vectors are those of BicgstabRecurrence (bicgstab.hpp), or of one of several columns (bicgstab_columns.hpp), so that both take the
// same decisions.                                                                      [van der Vorst 1992; Saad 2003, algorithm 7.7]
#pragma once

#include <kasane/krylov/algebra.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::krylov {

/// Functions that return bool return false where the recurrence ends: vanished() is then the quantity that vanished.
template <class Scalar>
class BicgstabScalars {
   public:
    /// |r|
    double norm() const { return std::sqrt(r2_); }
    /// Whether the next direction is r itself.
    bool fresh() const { return fresh_; }
    /// Step along the direction.
    Scalar alpha() const { return alpha_; }
    /// Step along s.
    Scalar omega() const { return omega_; }
    /// Factor of the old direction in the next one.
    Scalar beta() const { return rho_ / rho_before_ * (alpha_ / omega_); }
    /// The quantity that vanished; empty where none did.
    const char* vanished() const { return vanished_; }

    /// Begins with a residual of this norm, which is the shadow vector, too.
    void start(double norm) {
        r2_ = norm * norm, shadow2_ = r2_, rho_ = r2_;
        fresh_ = true;
    }
    /// The residual was replaced by another one of this norm.
    void replaced(double norm) { r2_ = norm * norm; }
    /// shadow.r of the residual that was replaced.
    void set_rho(Scalar rho) { rho_ = rho; }

    /// From v.shadow and |v|^2: alpha.
    bool take_v(Scalar v_shadow, double v2) {
        if (!(std::abs(v_shadow) > tiny * std::sqrt(shadow2_ * v2))) return broken("shadow.v");  // rounding alone
        alpha_ = rho_ / conjugate(v_shadow);
        if (std::abs(alpha_) * std::sqrt(largest_gain2_) > 1 / tiny) return broken("A p");  // x would become too large
        return true;
    }
    /// From |r|^2 after r -= alpha v. Where it returns false, r += alpha v undoes that, and undo_half() follows.
    bool take_half(double r2) {
        const double before2 = r2_;
        r2_ = r2;
        return r2_ <= 1e12 * before2 || broken("shadow.v");
    }
    /// From |r|^2 of a half step that was undone.
    void undo_half(double r2) { r2_ = r2; }
    /// Whether the half step made the residual smaller than `enough`: the iteration then ends as sound as it began.
    bool is_enough(double enough) {
        if (!(r2_ <= enough * enough)) return false;
        broken("");
        return true;
    }
    /// From t.r and |t|^2: omega.
    bool take_t(Scalar ts, double t2) {
        omega_ = ts / t2;
        largest_gain2_ = std::max(largest_gain2_, t2 / r2_);
        if (!(std::abs(ts) > tiny * std::sqrt(t2 * r2_)) || std::abs(omega_) * std::sqrt(largest_gain2_) > 1 / tiny) return broken("omega");
        return true;
    }
    /// From shadow.r and |r|^2 at the end of an iteration.
    bool take_rest(Scalar rho, double r2) {
        rho_before_ = rho_;
        rho_ = rho, r2_ = r2;
        fresh_ = false;
        return std::abs(rho_) > tiny * std::sqrt(shadow2_ * r2_) || broken("rho");
    }

   private:
    bool broken(const char* what) {
        vanished_ = what;
        return false;
    }

    static constexpr double tiny = 1e-13;
    double r2_ = 0, shadow2_ = 0;
    double largest_gain2_ = 0;  // of |A s|^2 / |s|^2 so far
    Scalar rho_{}, rho_before_{}, alpha_{}, omega_{};
    bool fresh_ = true;
    const char* vanished_ = "";
};

}  // namespace kasane::krylov
