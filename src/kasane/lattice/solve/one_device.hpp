// A whole lattice on one device, with the operators, algebras and clover term that ResidentSolver makes for it. LocalLattice
// (lattice/distributed/) has the same members for one worker's part of a lattice.
#pragma once

#include <kasane/krylov/options.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>
#include <kasane/lattice/solve/schwarz_preconditioner.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/solve/positive_clover.hpp>
#include <kasane/lattice/solve/two_level.hpp>

#include <concepts>
#include <memory>
#include <optional>

namespace kasane::lattice {

template <Space S>
class OneDevice {
   public:
    using On = S;
    template <Precision P>
    using Algebra = FieldAlgebra<S, P>;
    template <Precision P>
    using Operator = Dirac<S, P>;

    /// BiCGStab of one right-hand side, nested or with reliable updates, is that of a set of one column, unless its scalars stay on the
    /// space.
    static constexpr bool one_is_a_column = std::same_as<S, Cpu>;
    template <Precision P>
    using Schwarz = SchwarzPreconditioner<S, P>;
    template <Precision P>
    using TwoLevel = TwoLevelPreconditioner<S, P>;

    /// Links and clover term on the device, from which operators are packed.
    struct Packed {
        Links<S> links;
        std::optional<CloverTerm<S>> clover;
    };

    OneDevice(S on, const Extents& extents) : on_(on), lattice_(std::make_shared<const Lattice<S>>(on, extents)) {}

    S space() const { return on_; }
    const std::shared_ptr<const Lattice<S>>& lattice() const { return lattice_; }
    /// Sites of the whole lattice.
    index_t volume() const { return lattice_->extents().volume(); }

    /// @throws InputError where a clover term is not positive definite
    Packed pack(const GaugeField& links, const DiracParameters& parameters) const {
        Packed packed{links_on(on_, links), {}};
        if (parameters.csw != 0) {
            packed.clover = clover_term(packed.links, parameters.kappa * parameters.csw);
            if (!is_positive(*packed.clover)) refuse_clover_term(parameters);
        }
        return packed;
    }
    template <Precision P>
    Operator<P> dirac(const Packed& from, Boundary boundary, const LinkStorage& storage) const {
        return {lattice_, from.links, from.clover ? &*from.clover : nullptr, boundary, storage};
    }
    template <Precision P>
    Algebra<P> algebra() const {
        return Algebra<P>(lattice_);
    }
    /// @param whole  the operator of the lattice, which must outlive the result
    template <Precision P>
    std::unique_ptr<Schwarz<P>> schwarz(const EvenOdd<S, P>& whole, const Packed& from, const DiracParameters& parameters,
                                        const LinkStorage& storage, Schur schur, const SchwarzOptions& options) const {
        return std::make_unique<Schwarz<P>>(whole, from.links, from.clover ? &*from.clover : nullptr, parameters, storage, schur,
                                            chosen(options, lattice_->extents()));
    }
    /// @param whole, smoother  must outlive the result; a null smoother: minimal residual
    template <Precision P>
    std::unique_ptr<TwoLevel<P>> two_level(const EvenOdd<S, P>& whole, const Packed& from, const DiracParameters& parameters, Schur schur,
                                           const CoherentOptions& options, Schwarz<P>* smoother) const {
        return std::make_unique<TwoLevel<P>>(whole, from.links, from.clover ? &*from.clover : nullptr, parameters, schur,
                                             chosen(options, lattice_->extents()), smoother);
    }
    /// The stop function of a solve.
    const krylov::StopFunction& agreed(const krylov::StopFunction& stop) const { return stop; }

   private:
    S on_;
    std::shared_ptr<const Lattice<S>> lattice_;
};

}  // namespace kasane::lattice
