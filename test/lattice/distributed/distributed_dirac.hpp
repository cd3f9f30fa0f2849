// The operator of many workers against that of one device on the same fields: cases for workers in one process and for ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/local_part.hpp>
#include <kasane/lattice/solve/one_device.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>

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
/// each by 2^-16 of the largest of its numbers, of which there are up to 8 neighbours. Devices that write into each other's memory have the
/// bits of one.
template <Precision P, Space S>
void expect_hops_of_one_device(S on, comm::Worker& worker, const DistributedHopCase& of) {
    constexpr double of_messages = P == Precision::double_ ? 64 * 0x1p-53 : P == Precision::single ? 64 * 0x1p-24 : 12 * 0x1p-16;
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
    const bool halos = local.exchange().peers() != nullptr;
    const double tolerance = halos ? 0 : of_messages;
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
    constexpr int half_spinor = P == Precision::double_ ? 96 : P == Precision::single ? 48 : 28;
    constexpr int spinor = P == Precision::double_ ? 256 : P == Precision::single ? 128 : 80;
    EXPECT_EQ(local.exchange().bytes() - before, static_cast<double>((halos ? spinor : half_spinor) * grid.face_sites()))
        << "12 numbers a site of a face, 24 in a halo, with a ticket for each three words";
    dirac.clover(Parity::even, true, got, got);
    SpinorField part(grid.local());
    store(got, Parity::even, part);
    EXPECT_LE(largest_difference(part, local_part(grid, worker.index(), all), Parity::even), tolerance) << grid.text();
}

/// Many hops without a wait between them, each from what the hop before wrote, in every precision in turn, against one device: what a
/// device writes for a hop must not be seen by another one. For devices that write into each other's memory. Collective.
template <Space S>
void expect_chain_of_one_device(S on, comm::Worker& worker, const DistributedHopCase& of, int rounds) {
    const DiracParameters parameters{.kappa = 0.12, .csw = of.csw, .boundary = of.boundary};
    const auto links = test::random_gauge(of.lattice, 5, 0.3);
    const auto in = test::random_spinor(of.lattice, 6);
    const auto grid = RankGrid::given(of.lattice, worker.size(), of.shape);
    LocalLattice<S> local(on, worker, grid);
    ASSERT_TRUE(local.exchange().peers());
    const OneDevice<S> whole(on, of.lattice);

    const auto chain = [&](auto& domain, const GaugeField& u, const SpinorField& begin) {
        const auto packed = domain.pack(u, parameters);
        const auto& lattice = domain.lattice();
        const auto high = domain.template dirac<Precision::double_>(packed, of.boundary, of.storage);
        const auto low = domain.template dirac<Precision::single>(packed, of.boundary, of.storage);
        const auto half = domain.template dirac<Precision::half>(packed, of.boundary, of.storage);
        auto even = loaded<S, Precision::double_>(lattice, begin, Parity::even);
        auto low_even = loaded<S, Precision::single>(lattice, begin, Parity::even);
        auto half_even = loaded<S, Precision::half>(lattice, begin, Parity::even);
        Field<S, Precision::double_> odd(lattice);
        Field<S, Precision::single> low_odd(lattice);
        Field<S, Precision::half> half_odd(lattice);
        const auto apply = [](const auto& dirac, auto& e, auto& o) {
            dirac.hop(HopForm::inverse, Parity::odd, false, 0.2, e, nullptr, o);
            dirac.hop(HopForm::inverse, Parity::even, true, -0.01, o, &e, e);
        };
        for (int round = 0; round < rounds; ++round) {
            apply(high, even, odd);
            apply(half, half_even, half_odd);
            apply(low, low_even, low_odd);
            for (int twice = 0; twice < 2; ++twice) apply(half, half_even, half_odd);
        }
        std::vector<SpinorField> results(3, SpinorField(begin.extents));
        store(even, Parity::even, results[0]);
        store(low_even, Parity::even, results[1]);
        store(half_even, Parity::even, results[2]);
        return results;
    };
    const auto expected = chain(whole, links, in);
    const auto got = chain(local, local_part(grid, worker.index(), links), local_part(grid, worker.index(), in));
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(largest_difference(got[k], local_part(grid, worker.index(), expected[k]), Parity::even), 0)
            << grid.text() << ", worker " << worker.index() << ", precision " << k;
}

template <Space S>
void expect_hops_of_every_precision(S on, comm::Worker& worker, const DistributedHopCase& of) {
    expect_hops_of_one_device<Precision::double_>(on, worker, of);
    expect_hops_of_one_device<Precision::single>(on, worker, of);
    expect_hops_of_one_device<Precision::half>(on, worker, of);
}

}  // namespace kasane::lattice
