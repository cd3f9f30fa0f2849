// Solves of Dhat^+ Dhat x = phi by inexact deflation (solve/two_level.hpp), on one device. As Dhat^+ = g5 Dhat g5, two flexible solves of
// Dhat with one subspace give x:
//   Dhat z = i g5 phi,   y = -i g5 z,   so that Dhat^+ y = phi;   Dhat x = y.
// The subspace is computed from the links of the first solve after forget(), and follows them: links that changed give it another little
// operator, and where solves converge slower than those at its start, a step of inverse iteration improves it. Invariant: residuals are
// true ones in double, so that the subspace changes iterations, and solutions within their tolerance alone.
#pragma once

#include <kasane/krylov/log.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/hmc/schur_operator.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/coherent_options.hpp>

#include <cstdint>
#include <memory>

namespace kasane::lattice {

template <Space S>
class QuarkDeflation {
   public:
    using Vector = Field<S, Precision::double_>;

    /// Takes the memory at the first solve. @param options  with vectors   @throws InputError: options out of range on this lattice
    QuarkDeflation(std::shared_ptr<const Lattice<S>> lattice, const DiracParameters& parameters, const CoherentOptions& options);
    ~QuarkDeflation();
    QuarkDeflation(QuarkDeflation&&) noexcept;

    /// Discards the subspace: the next solve computes one from its links alone.
    void forget();

    /// Solves from the x that is given, until |phi - Dhat^+ Dhat x| <= rtol |phi|. Where that is not reached, the log states this, and x is
    /// the best that was found.
    /// @param D       of the links u   @param A  their clover term; null: 1   @param packing  a number of these links, another for others
    /// @return the log; iterations are those of both solves, updates the applications of Dhat^+ Dhat
    krylov::SolveLog solve(const SchurOperator<S, Precision::double_>& D, const Links<S>& u, const CloverTerm<S>* A, std::uint64_t packing,
                           const Vector& phi, Vector& x, double rtol, int iteration_limit);

    /// Whether a solve did not converge since forget(): later solves on nearby links would not converge either.
    bool given_up() const;
    /// Steps of inverse iteration since the subspace was computed.
    int improvements() const;

    /// Memory of subspace, preconditioner and vectors [bytes per site].
    static double bytes_per_site(const DiracParameters& parameters, const CoherentOptions& options, const Extents& lattice);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kasane::lattice
