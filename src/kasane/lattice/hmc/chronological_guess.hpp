// First guesses of the solves of a molecular dynamics from the solutions of earlier ones: the combination x = sum_i c_i v_i of the last
// solutions with the least error in the norm of A = Dhat^+ Dhat + mu^2, that is sum_j (v_i^+ A v_j) c_j = v_i^+ phi
//                                                                                     [Brower et al. 1997, hep-lat/9509012, eqs. 12, 13].
// Invariants: a guess is a function of the solutions since the last clear(); sums have one order, so it has the same bits for any number of
// threads.
#pragma once

#include <kasane/lattice/hmc/quark_operator.hpp>

#include <vector>

namespace kasane::lattice {

template <Space S, class Part = QuarkLattice<S>>
class ChronologicalGuess {
   public:
    using Operator = QuarkOperator<S, Part>;
    using Vector = typename Operator::Vector;

    /// @param most  solutions that are kept; 0: none, and every guess is 0
    explicit ChronologicalGuess(int most) : most_(static_cast<std::size_t>(most)) {}

    /// Discards all solutions.
    void clear() { count_ = 0; }
    /// Keeps a copy of a solution, in place of the oldest where there are `most`.
    void add(const Operator& D, const Vector& x);
    /// x = the guess for (Dhat^+ Dhat + mu^2) x = phi with the links that D has packed; 0 without solutions. An application of
    /// Dhat^+ Dhat for each solution. Solutions that are combinations of newer ones to rounding are left out.
    void guess(const Operator& D, double mu, const Vector& phi, Vector& x);

    /// Memory of the solutions and of one more field [bytes per site].
    static double bytes_per_site(int most) { return most > 0 ? (most + 1) * 12 * sizeof(double) : 0; }

   private:
    /// The i-th newest solution.
    const Vector& newest(std::size_t i) const { return kept_[(newest_ + kept_.size() - i) % kept_.size()]; }

    std::size_t most_, count_ = 0, newest_ = 0;
    std::vector<Vector> kept_;   ///< a ring, as long as there were solutions
    std::vector<Vector> image_;  ///< A v of one solution; empty before the first guess
};

}  // namespace kasane::lattice
