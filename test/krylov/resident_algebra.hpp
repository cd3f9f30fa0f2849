// An algebra whose scalars stay with the vectors, on the host: its operations execute at once, as those of a device do before the host
// asks, and wait() gives out the state of the iteration that is asked for, although later ones may have been executed.
#pragma once

#include <kasane/krylov/complex.hpp>
#include <kasane/krylov/resident_bicgstab.hpp>
#include <kasane/krylov/resident_cg.hpp>
#include <kasane/krylov/resident_run.hpp>

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace kasane::krylov::test {

template <class Host>
class ResidentAlgebra : public Host {
   public:
    using Vector = typename Host::Vector;
    using Scalar = typename Host::Scalar;

    template <class StateType>
    class Reports {
       public:
        using State = StateType;
        void begin(const State& first) { state_ = first, reports_.clear(), ++runs; }
        template <class Submit>
        void iterate(Submit submit) {
            submit(), ++launched;
        }
        RunReport wait(int iteration) const {
            const auto found = reports_.find(iteration);
            if (found == reports_.end()) {
                ADD_FAILURE() << "iteration " << iteration << " was not launched";
                return {0, true};
            }
            return {found->second.norm(), !found->second.active()};
        }
        State state() const { return *state_; }
        int runs = 0;      ///< that were started
        int launched = 0;  ///< iterations, of all runs

       protected:
        void take(bool reports) {
            if (reports) reports_.insert_or_assign(state_->iterations, *state_);
        }
        std::optional<State> state_;

       private:
        std::map<int, State> reports_;
    };

    class Bicgstab : public Reports<BicgstabState<Complex>> {
       public:
        explicit Bicgstab(Host& host) : host_(host) {}
        void direction(const Vector& r, const Vector& v, Vector& p) {
            auto& s = *this->state_;
            if (!s.active()) return;
            if (s.scalars.fresh())
                host_.copy(r, p);
            else
                host_.direction(r, s.scalars.beta(), s.scalars.omega(), v, p);
        }
        void first_half(const Vector& shadow, const Vector& v, Vector& r) {
            auto& s = *this->state_;
            if (!s.active()) return;
            const auto [product, v2] = host_.dot_norm2(v, shadow);
            this->take(s.take_v(product, v2));
            if (s.active()) this->take(s.take_half(host_.axpy_norm2(-s.scalars.alpha(), v, r)));
        }
        void second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r) {
            auto& s = *this->state_;
            if (!s.active()) return;
            const auto [product, t2] = host_.dot_norm2(t, r);
            this->take(s.take_t(product, t2));
            if (!s.active()) return;
            const auto [rho, r2] = host_.finish(s.scalars.alpha(), p, s.scalars.omega(), t, shadow, x, r);
            this->take(s.take_rest(rho, r2));
        }

       private:
        Host& host_;
    };

    class Cg : public Reports<CgState> {
       public:
        explicit Cg(Host& host) : host_(host) {}
        void direction(const Vector& s, Vector& p) {
            if (this->state_->active() && this->state_->iterations > 0) host_.axpby(1, s, this->state_->course.beta(), p);
        }
        void curvature(const Vector& image, double shift, const Vector& p) {
            if (this->state_->active())
                this->take(this->state_->take_curvature(host_.norm2(image) + (shift != 0 ? shift * host_.norm2(p) : 0)));
        }
        void step(const Vector& p, const Vector& t, Vector& y, Vector& s) {
            if (this->state_->active()) this->take(this->state_->take_step(host_.step(this->state_->course.alpha, p, t, y, s)));
        }
        void along(const Vector& s, const Vector& t) {
            if (this->state_->active()) this->take(this->state_->take_along(host_.dot(s, t).real()));
        }

       private:
        Host& host_;
    };

    ResidentAlgebra() : bicgstab_(*this), cg_(*this) {}
    ResidentAlgebra(const ResidentAlgebra&) = delete;
    Bicgstab& resident_bicgstab() { return bicgstab_; }
    Cg& resident_cg() { return cg_; }

   private:
    Bicgstab bicgstab_;
    Cg cg_;
};

}  // namespace kasane::krylov::test
