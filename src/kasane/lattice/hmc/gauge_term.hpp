// The gauge action as a term of hybrid Monte Carlo.
#pragma once

#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/action_term.hpp>

namespace kasane::lattice {

/// S of gauge_action() and its force; it has no random fields.
template <Space S>
class GaugeTerm : public ActionTerm<S> {
   public:
    explicit GaugeTerm(const GaugeAction& action) : action_(action) {}
    std::string name() const override { return "gauge"; }
    void refresh(const Links<S>&, std::uint64_t, std::uint64_t) override {}
    double value(const Links<S>& u) override { return gauge_action(u, action_); }
    void add_force(const Links<S>& u, double factor, Links<S>& force) override { add_gauge_force(u, action_, factor, force); }

   private:
    GaugeAction action_;
};

}  // namespace kasane::lattice
