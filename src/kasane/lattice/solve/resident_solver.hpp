// D x = b with b and x on the space: WilsonSolver is built from it, and benchmarks time it.
// Invariants: only scalars leave the space during a solve; see solve/solver.hpp for the rest.
#pragma once

#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/solve/solver.hpp>

namespace kasane::lattice {

/// A quark field on a space, in double.
template <Space S>
struct ResidentField {
    Field<S, Precision::double_> even, odd;
    explicit ResidentField(std::shared_ptr<const Lattice<S>> lattice) : even(lattice), odd(std::move(lattice)) {}  ///< uninitialised
};

template <Space S>
class ResidentSolver {
   public:
    /// @param links  already in the temporal gauge where options require it: solve/temporal_gauge.hpp
    /// @throws InputError as WilsonSolver; ComputationError where memory or device fail
    ResidentSolver(S on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options = {});
    ~ResidentSolver();
    ResidentSolver(ResidentSolver&&) noexcept;

    const std::shared_ptr<const Lattice<S>>& lattice() const;
    /// Solves from the x that is given; its odd half is not read.
    SolveLog solve(const ResidentField<S>& b, ResidentField<S>& x, const krylov::StopFunction& stop = {});
    /// out = D in or D^+ in.
    void apply(const ResidentField<S>& in, ResidentField<S>& out, bool adjoint = false) const;
    /// x = 0.
    void zero(ResidentField<S>& x) const;

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kasane::lattice
