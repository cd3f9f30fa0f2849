// Chains of divided links against one device: cases for workers in one process and for ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/distributed_gauge.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>

#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace kasane::lattice {

/// body(gauge) on the root rank; the other ranks are in the worker loop.
inline void with_distributed_gauge(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Extents& n,
                                   const GridShape& shape, const std::function<void(DistributedGauge&)>& body) {
    if (communicator.ranks().rank() > 0) return gauge_worker_loop(communicator, here);
    DistributedGauge gauge(communicator, here, RankGrid::given(n, communicator.size(), shape));
    body(gauge);
}

/// Largest difference of two numbers in the links.
inline double largest_difference(const GaugeField& a, const GaugeField& b) {
    EXPECT_EQ(a.extents, b.extents);
    double most = 0;
    for (std::size_t i = 0; i < a.links.size(); ++i)
        for (int k = 0; k < 9; ++k) {
            const auto &x = a.links[i].e[k / 3][k % 3], &y = b.links[i].e[k / 3][k % 3];
            most = std::max({most, std::abs(x.re - y.re), std::abs(x.im - y.im)});
        }
    return most;
}

/// Starts, and three sweeps of heatbath and two of overrelaxation after each. On the CPU a link is updated by the same operations as on one
/// device; what a compiler may contract differently, sweeps amplify by about 10 each. On a CUDA device the sweeps of one device read links
/// in tiles and as two rows, which rounds differently; so each sweep begins from the same links.
template <Space S>
void expect_chain_of_one_device(S on, comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Extents& n,
                                const GridShape& shape) {
    Links<S> u(on, n);
    with_distributed_gauge(communicator, here, n, shape, [&](DistributedGauge& gauge) {
        const auto what = gauge.grid().text();
        cold_start(u);
        gauge.cold_start();
        EXPECT_EQ(gauge.measure().plaquette.mean(), 1) << what;
        weak_start(u, 0.2, 5);
        gauge.weak_start(0.2, 5);
        EXPECT_LT(largest_difference(gauge.field(), to_gauge_field(u)), 1e-15) << what;
        hot_start(u, 5);
        gauge.hot_start(5);
        EXPECT_LT(largest_difference(gauge.field(), to_gauge_field(u)), 1e-15) << what;
        const auto field = test::random_gauge(n, 3, 0.3);
        for (const bool hot : {true, false}) {
            if (!hot) {
                u = links_on(on, field);
                gauge.load(field);
                EXPECT_EQ(largest_difference(gauge.field(), field), 0) << what;
            }
            for (std::uint64_t sweep = 0; sweep < 3; ++sweep) {
                heatbath_sweep(u, 5.7, 9, sweep);
                gauge.heatbath_sweep(5.7, 9, sweep);
                for (int k = 0; k < 2; ++k) {
                    overrelaxation_sweep(u);
                    gauge.overrelaxation_sweep();
                }
                reunitarise(u);
                gauge.reunitarise();
                if constexpr (!std::same_as<S, Cpu>) {
                    EXPECT_LT(largest_difference(gauge.field(), to_gauge_field(u)), 1e-11) << what << ", sweep " << sweep;
                    gauge.load(to_gauge_field(u));
                }
            }
            EXPECT_LT(largest_difference(gauge.field(), to_gauge_field(u)), 1e-11) << what;
            const auto measured = gauge.measure();
            EXPECT_NEAR(measured.plaquette.space, plaquette(u).space, 1e-12) << what;
            EXPECT_NEAR(measured.plaquette.time, plaquette(u).time, 1e-12) << what;
            EXPECT_LT(std::abs(measured.polyakov - polyakov_loop(u)), 1e-12) << what;
        }
    });
}

}  // namespace kasane::lattice
