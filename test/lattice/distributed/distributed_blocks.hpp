// Schwarz preconditioners whose blocks overlap the lattices of other workers, against one device with the same blocks: cases for workers in
// one process and for ranks.
#pragma once

#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/local_part.hpp>

#include "lattice/random_fields.hpp"
#include "lattice/schwarz/apply_blocks.hpp"

namespace kasane::lattice {

struct DistributedBlocksCase {
    Extents n;
    GridShape shape;
    SchwarzOptions options;
    DiracParameters parameters{.kappa = 0.1, .csw = 1.2, .boundary = Boundary::antiperiodic};
    Schur schur = Schur::symmetric;

    RankGrid grid() const { return RankGrid::given(n, shape[0] * shape[1] * shape[2] * shape[3], shape); }
    std::string text() const {
        return std::string(name(options.method)) + " with overlap " + std::to_string(options.overlap) + ", " + grid().text();
    }
};

/// Links and source of a case, and the preconditioned source on one device in double, single and half.
struct DistributedBlocksReference {
    DistributedBlocksCase of;
    GaugeField u;
    SpinorField b;
    SpinorField expected[3];

    explicit DistributedBlocksReference(const DistributedBlocksCase& given)
        : of(given), u(test::random_gauge(of.n, 3, 0.4)), b(even_half(test::random_spinor(of.n, 4))) {}
    template <Space S>
    DistributedBlocksReference(S on, const DistributedBlocksCase& given) : DistributedBlocksReference(given) {
        expected[0] = preconditioned<Precision::double_>(on, u, of.parameters, of.options, b, of.schur);
        expected[1] = preconditioned<Precision::single>(on, u, of.parameters, of.options, b, of.schur);
        expected[2] = preconditioned<Precision::half>(on, u, of.parameters, of.options, b, of.schur);
    }
};

/// The worker's part of the preconditioned source is that part of `expected`. Collective.
template <Precision P, Space S>
void expect_blocks(S on, comm::Worker& worker, const DistributedBlocksReference& one, const SpinorField& expected, double tolerance) {
    const auto& of = one.of;
    const auto grid = of.grid();
    LocalLattice<S> local(on, worker, grid);
    const auto packed = local.pack(local_part(grid, worker.index(), one.u), of.parameters);
    const LinkStorage storage{.half = P == Precision::half};
    const EvenOdd<S, P, DistributedDirac<S, P>> whole(local.template dirac<P>(packed, of.parameters.boundary, storage), local.lattice(),
                                                      of.parameters, of.schur, packed.clover.has_value());
    const auto M = local.template schwarz<P>(whole, packed, of.parameters, storage, of.schur, of.options);
    auto algebra = local.template algebra<Precision::double_>();
    const auto b = local_part(grid, worker.index(), one.b);
    const auto x = apply_preconditioner(*M, algebra, local.lattice(), chosen(of.options, grid.local()), b);
    EXPECT_LT(reference::relative_difference(x, local_part(grid, worker.index(), expected)), tolerance) << of.text();
}

/// In every precision; half rounds at 3e-5, several times over.
template <Space S>
void expect_blocks_of_one_device(S on, comm::Worker& worker, const DistributedBlocksReference& one) {
    expect_blocks<Precision::double_>(on, worker, one, one.expected[0], 1e-12);
    expect_blocks<Precision::single>(on, worker, one, one.expected[1], 1e-5);
    expect_blocks<Precision::half>(on, worker, one, one.expected[2], 1e-2);
}

}  // namespace kasane::lattice
