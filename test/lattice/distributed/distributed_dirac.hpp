// The operator of many workers against that of one device on the same fields: cases for workers in one process and for ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/local_part.hpp>
#include <kasane/lattice/solve/one_device.hpp>
#include <kasane/lattice/solve/temporal_gauge.hpp>

#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kasane::lattice {

struct DistributedHopCase {
    Extents lattice;
    GridShape shape;
    double csw = 0;
    Boundary boundary = Boundary::antiperiodic;
    LinkStorage storage = {};
};

template <Space S, Precision P>
Field<S, P> loaded(const std::shared_ptr<const Lattice<S>>& lattice, const SpinorField& from, Parity parity) {
    Field<S, P> field(lattice);
    load(from, parity, field);
    return field;
}

/// The largest difference of a number on the sites of this parity, divided by the largest number of `expected`.
inline double largest_difference(const SpinorField& got, const SpinorField& expected, Parity parity) {
    double difference = 0, size = 0;
    for (index_t x = 0; x < expected.extents.volume(); ++x) {
        if (expected.extents.site(x).parity() != parity) continue;
        for (std::size_t i = 0; i < 12; ++i) {
            const auto a = got.values[static_cast<std::size_t>(12 * x) + i], b = expected.values[static_cast<std::size_t>(12 * x) + i];
            if (!(std::abs(a - b) <= difference)) difference = std::abs(a - b);  // NaN stays
            size = std::max(size, std::abs(b));
        }
    }
    return difference / size;
}

/// Every form of the hop, in both directions, against one device. Collective: call it on all workers of a communicator of the right size.
/// Rounding: of the sums, which add the terms of faces last; half rounds a site's sum once more and rounds the half spinors of the halo,
/// each by 2^-16 of the largest of its numbers, of which there are up to 8 neighbours.
template <Precision P, Space S>
void expect_hops_of_one_device(S on, comm::Worker& worker, const DistributedHopCase& of) {
    constexpr double tolerance = P == Precision::double_ ? 64 * 0x1p-53 : P == Precision::single ? 64 * 0x1p-24 : 12 * 0x1p-16;
    const DiracParameters parameters{.kappa = 0.12, .csw = of.csw, .boundary = of.boundary};
    // Links near 1, so that the clover term is positive definite.
    auto links = test::random_gauge(of.lattice, 5, 0.3);
    if (of.storage.temporal_gauge) links = temporal_gauge(links).links;
    const auto in = test::random_spinor(of.lattice, 6), x = test::random_spinor(of.lattice, 7);

    const OneDevice<S> whole(on, of.lattice);
    const auto packed = whole.pack(links, parameters);
    const auto expected_dirac = whole.template dirac<P>(packed, of.boundary, of.storage);

    const auto grid = RankGrid::given(of.lattice, worker.size(), of.shape);
    LocalLattice<S> local(on, worker, grid);
    const auto local_packed = local.pack(local_part(grid, worker.index(), links), parameters);
    const auto dirac = local.template dirac<P>(local_packed, of.boundary, of.storage);
    const auto local_in = local_part(grid, worker.index(), in), local_x = local_part(grid, worker.index(), x);

    for (const auto to : {Parity::even, Parity::odd})
        for (const bool adjoint : {false, true})
            for (const auto form : {HopForm::plain, HopForm::inverse, HopForm::clover}) {
                constexpr double c = -0.37;
                const auto psi = loaded<S, P>(whole.lattice(), in, other(to)), y = loaded<S, P>(whole.lattice(), x, to);
                Field<S, P> out(whole.lattice());
                expected_dirac.hop(form, to, adjoint, c, psi, &y, out);
                SpinorField all(of.lattice);
                store(out, to, all);
                const auto expected = local_part(grid, worker.index(), all);

                // x may be out.
                const auto here = loaded<S, P>(local.lattice(), local_in, other(to));
                auto got = loaded<S, P>(local.lattice(), local_x, to);
                dirac.hop(form, to, adjoint, c, here, &got, got);
                SpinorField part(grid.local());
                store(got, to, part);
                EXPECT_LE(largest_difference(part, expected, to), tolerance)
                    << text(of.lattice) << " on " << grid.text() << ", worker " << worker.index() << ", " << name(P, of.storage)
                    << ", form " << static_cast<int>(form) << (adjoint ? ", adjoint" : "") << ", csw " << of.csw;
            }
    const double before = local.exchange().bytes();
    // Without x, and the clover term of the local lattice.
    const auto psi = loaded<S, P>(whole.lattice(), in, Parity::odd);
    Field<S, P> out(whole.lattice());
    expected_dirac.hop(HopForm::inverse, Parity::even, false, 1, psi, nullptr, out);
    expected_dirac.clover(Parity::even, true, out, out);
    SpinorField all(of.lattice);
    store(out, Parity::even, all);
    const auto here = loaded<S, P>(local.lattice(), local_in, Parity::odd);
    Field<S, P> got(local.lattice());
    dirac.hop(HopForm::inverse, Parity::even, false, 1, here, nullptr, got);
    constexpr int bytes = P == Precision::double_ ? 96 : P == Precision::single ? 48 : 28;
    EXPECT_EQ(local.exchange().bytes() - before, static_cast<double>(bytes * grid.face_sites())) << "12 numbers a site of a face";
    dirac.clover(Parity::even, true, got, got);
    SpinorField part(grid.local());
    store(got, Parity::even, part);
    EXPECT_LE(largest_difference(part, local_part(grid, worker.index(), all), Parity::even), tolerance) << grid.text();
}

template <Space S>
void expect_hops_of_every_precision(S on, comm::Worker& worker, const DistributedHopCase& of) {
    expect_hops_of_one_device<Precision::double_>(on, worker, of);
    expect_hops_of_one_device<Precision::single>(on, worker, of);
    expect_hops_of_one_device<Precision::half>(on, worker, of);
}

}  // namespace kasane::lattice
