// The scalars of BiCGStab's recurrence for one right-hand side, which follow from inner products, and the test where it breaks down.
// The vectors are those of BicgstabRecurrence (bicgstab.hpp), or of one of several columns (bicgstab_columns.hpp), so that both take the
// same decisions. Host and device code: on a device the scalars may stay where the vectors are (resident_bicgstab.hpp).
//                                                                                      [van der Vorst 1992; Saad 2003, algorithm 7.7]
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/complex.hpp>

#include <cmath>

namespace kasane::krylov {

/// Functions that return bool return false where the recurrence ends: vanished() is then the quantity that vanished.
template <class Scalar>
class BicgstabScalars {
   public:
    /// |r|
    KS_FN double norm() const { return sqrt(r2_); }
    /// Whether the next direction is r itself.
    KS_FN bool fresh() const { return fresh_; }
    /// Step along the direction.
    KS_FN Scalar alpha() const { return alpha_; }
    /// Step along s.
    KS_FN Scalar omega() const { return omega_; }
    /// Factor of the old direction in the next one.
    KS_FN Scalar beta() const { return rho_ / rho_before_ * (alpha_ / omega_); }
    /// The quantity that vanished; empty where none did.
    const char* vanished() const {
        constexpr const char* names[] = {"", "shadow.v", "A p", "omega", "rho"};
        return names[static_cast<int>(vanished_)];
    }

    /// Begins with a residual of this norm, which is the shadow vector, too.
    KS_FN void start(double norm) {
        r2_ = norm * norm, shadow2_ = r2_, rho_ = r2_;
        fresh_ = true;
    }
    /// Sets the norm of the residual that has replaced the present one.
    KS_FN void replaced(double norm) { r2_ = norm * norm; }
    /// Sets shadow.r of the residual that has replaced the earlier one.
    KS_FN void set_rho(Scalar rho) { rho_ = rho; }

    /// Computes alpha from v.shadow and |v|^2.
    KS_FN bool take_v(Scalar v_shadow, double v2) {
        if (!(square(v_shadow) > tiny2 * (shadow2_ * v2))) return broken(Quantity::shadow_v);  // rounding alone
        alpha_ = rho_ / conjugate(v_shadow);
        if (square(alpha_) * largest_gain2_ > 1 / tiny2) return broken(Quantity::A_p);  // x would become too large
        return true;
    }
    /// Takes |r|^2 after r -= alpha v. If it returns false, the caller undoes that by r += alpha v and calls undo_half().
    KS_FN bool take_half(double r2) {
        const double before2 = r2_;
        r2_ = r2;
        return r2_ <= 1e12 * before2 || broken(Quantity::shadow_v);
    }
    /// Takes |r|^2 after the caller has undone a half step.
    KS_FN void undo_half(double r2) { r2_ = r2; }
    /// Whether the half step made the residual smaller than `enough`: the iteration then ends without a breakdown.
    KS_FN bool is_enough(double enough) {
        if (!(r2_ <= enough * enough)) return false;
        broken(Quantity::none);
        return true;
    }
    /// Computes omega from t.r and |t|^2.
    KS_FN bool take_t(Scalar ts, double t2) {
        omega_ = ts / t2;
        const double gain2 = t2 / r2_;
        if (largest_gain2_ < gain2) largest_gain2_ = gain2;
        if (!(square(ts) > tiny2 * (t2 * r2_)) || square(omega_) * largest_gain2_ > 1 / tiny2) return broken(Quantity::omega);
        return true;
    }
    /// Takes shadow.r and |r|^2 at the end of an iteration.
    KS_FN bool take_rest(Scalar rho, double r2) {
        rho_before_ = rho_;
        rho_ = rho, r2_ = r2;
        fresh_ = false;
        return square(rho_) > tiny2 * (shadow2_ * r2_) || broken(Quantity::rho);
    }

   private:
    enum class Quantity { none, shadow_v, A_p, omega, rho };

    KS_FN bool broken(Quantity what) {
        vanished_ = what;
        return false;
    }

    static constexpr double tiny2 = 1e-26;  // of squares; the norms are near 1, so that no square vanishes
    double r2_ = 0, shadow2_ = 0;
    double largest_gain2_ = 0;  // of |A s|^2 / |s|^2 so far
    Scalar rho_{}, rho_before_{}, alpha_{}, omega_{};
    bool fresh_ = true;
    Quantity vanished_ = Quantity::none;
};

}  // namespace kasane::krylov
