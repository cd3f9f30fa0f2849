// Parts of the preconditioner of inexact deflation (solve/two_level.hpp) on one worker's part of a lattice. Blocks divide the local
// lattice, so that basis, restriction and prolongation are local. CPUs divide the little system too; every device has the whole little
// system.
#pragma once

#include <kasane/lattice/distributed/distributed_algebra.hpp>
#include <kasane/lattice/distributed/distributed_columns.hpp>
#include <kasane/lattice/distributed/distributed_dirac.hpp>
#include <kasane/lattice/distributed/distributed_little.hpp>
#include <kasane/lattice/distributed/distributed_little_operator.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/distributed/whole_little_operator.hpp>
#include <kasane/lattice/solve/two_level.hpp>

namespace kasane::lattice {

template <Space S, Precision P>
struct DistributedSubspace {
    using Real = typename DeviceSubspace<S, P>::Real;
    using Operator = DistributedDirac<S, P>;
    using Algebra = DistributedAlgebra<S, P>;
    using Columns = DistributedColumnAlgebra<S, P>;
    using Smoother = SchwarzPreconditioner<S, P, Operator, Algebra>;
    static constexpr bool divides_little = std::same_as<S, Cpu>;
    using Little = std::conditional_t<divides_little, DistributedLittleOperator<S, Real>, WholeLittleOperator<S, Real>>;
    using LittleSums = std::conditional_t<divides_little, DistributedLittleAlgebra<S, Real>, LittleAlgebra<S, Real>>;
    using Deflation = std::conditional_t<divides_little, DistributedLittleDeflation<S, Real>, LittleDeflation<S, Real>>;
    using LinksOf = LittleLinks<S>;

    static constexpr int together = 1;

    std::shared_ptr<const Lattice<S>> lattice;
    HaloExchange<S>* exchange;
    comm::Worker* worker;
    RankGrid grid;

    Algebra algebra() const { return {lattice, *worker, exchange->peers()}; }
    Columns columns() const { return {lattice, *worker}; }
    /// @param layout  of the local lattice's blocks
    Little little(const BlockLayout& layout) const {
        if constexpr (divides_little)
            return {lattice->space(), layout, *exchange, *worker};
        else
            return {lattice->space(), layout, *exchange, *worker, grid};
    }
    /// @param layout  of the little system
    LittleSums little_algebra(const BlockLayout& layout) const {
        if constexpr (divides_little)
            return {lattice->space(), layout, *worker};
        else
            return {lattice->space(), layout};
    }
    /// As little_algebra().
    Deflation deflation(const BlockLayout& layout, int most) const {
        if constexpr (divides_little)
            return {lattice->space(), layout, most, *worker};
        else
            return {lattice->space(), layout, most};
    }
    void random(int number, Field<S, P>& even) const { random_field(number, grid.lattice(), grid.origin(worker->index()), even); }
    double least(double here) const {
        worker->all_reduce({&here, 1}, comm::Reduce::min);
        return here;
    }
    int parts() const { return grid.size(); }
};

}  // namespace kasane::lattice
