// Observables and flow of divided links against one device: cases for workers in one process and for ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/gluonic.hpp>
#include <kasane/lattice/distributed/local_part.hpp>

#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

namespace kasane::lattice {

/// What one device measures, computed once for many grids.
struct GluonicReference {
    GaugeField field;
    Plaquette plaquette;
    double trace = 0;
    std::complex<double> polyakov;
    std::vector<FlowPoint> flow;

    template <Space S>
    GluonicReference(S on, const Extents& n) : field(test::random_gauge(n, 3, 0.5)) {
        auto u = links_on(on, field);
        plaquette = lattice::plaquette(u);
        trace = link_trace(u);
        polyakov = polyakov_loop(u);
        flow = wilson_flow(u, 0.06, 0.02);
    }
};

/// All to rounding: sums of some thousand terms of order 1, and three steps of a flow that contracts.
template <Space S>
void expect_gluonic_of_one_device(S on, comm::Worker& worker, const GridShape& shape, int width, const GluonicReference& one) {
    const auto grid = RankGrid::given(one.field.extents, worker.size(), shape);
    const auto what = grid.text() + ", width " + std::to_string(width);
    LinkHalo<S> halo(on, worker, grid, width);
    auto u = halo.extended(local_part(grid, worker.index(), one.field));
    const auto p = plaquette(halo, u);
    EXPECT_NEAR(p.space, one.plaquette.space, 1e-14) << what;
    EXPECT_NEAR(p.time, one.plaquette.time, 1e-14) << what;
    EXPECT_NEAR(link_trace(halo, u), one.trace, 1e-14) << what;
    EXPECT_LT(std::abs(polyakov_loop(halo, u) - one.polyakov), 1e-14) << what;
    const auto flow = wilson_flow(halo, u, 0.06, 0.02);
    ASSERT_EQ(flow.size(), one.flow.size()) << what;
    for (std::size_t i = 0; i < flow.size(); ++i) {
        EXPECT_EQ(flow[i].t, one.flow[i].t);
        EXPECT_NEAR(flow[i].t2E, one.flow[i].t2E, 1e-13) << what;
        EXPECT_NEAR(flow[i].t2E_plaquette, one.flow[i].t2E_plaquette, 1e-13) << what;
        EXPECT_NEAR(flow[i].charge, one.flow[i].charge, 1e-12) << what;
    }
}

}  // namespace kasane::lattice
