// The terms of the action of hybrid Monte Carlo, and the conventions of momenta and forces.
// A momentum field and a force field are Links whose matrices are traceless and anti-Hermitian, P = i pi_a T_a with tr T_a T_b = delta_ab
// / 2.
//   H = -sum tr P^2 + S[U],   -tr P^2 = sum_a pi_a^2 / 2   (sum over links)
//   dU / dtau = P U,   dP / dtau = -F
// The force F = i f_a T_a of an action S is
//   f_a = d/domega S[exp(i omega T_a) U]  at omega = 0,   that is   dS = -2 sum tr(F dX)  for  U -> exp(dX) U,
// so that dH / dtau = 2 sum tr(P F) - 2 sum tr(F P) = 0.
// Invariant: values and forces have the same bits for any number of threads; nothing but scalars leaves the space of the links.
#pragma once

#include <kasane/lattice/links.hpp>

#include <cstdint>
#include <string>

namespace kasane::lattice {

/// One term of the action: of the gauge field, or of a pseudofermion field.
template <Space S>
class ActionTerm {
   public:
    virtual ~ActionTerm() = default;
    /// Name in logs and tables: "gauge", "quark 1".
    virtual std::string name() const = 0;
    /// Draws the term's pseudofermion fields at the start of a trajectory; a function of (u, seed, trajectory) alone. Terms without such
    /// fields do nothing.
    virtual void refresh(const Links<S>& u, std::uint64_t seed, std::uint64_t trajectory) = 0;
    /// S[u], summed in one order.
    virtual double value(const Links<S>& u) = 0;
    /// force += factor F[u].   @param force  of the same extents and space as u
    virtual void add_force(const Links<S>& u, double factor, Links<S>& force) = 0;
    /// Discards solutions of earlier forces. Called at the start of each molecular dynamics, which is therefore a function of links and
    /// momenta alone.
    virtual void forget() {}
    /// Iterations of all solves since the last call.
    virtual int take_iterations() { return 0; }
};

}  // namespace kasane::lattice
