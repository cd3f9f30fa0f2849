// One link moved along an element of the algebra, host and device: the step of the Wilson flow and of hybrid Monte Carlo.
#pragma once

#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// u <- exp(step K) u, link by link, projected back to SU(3); K traceless and anti-Hermitian. Indices count the links, 4 volume.
struct ExponentialUpdate {
    LinksView u, k;
    double step;
    KS_FN void operator()(index_t i) const {
        const index_t half = u.extents.half(), place = i % half;
        const int mu = static_cast<int>(i / half % 4);
        const auto parity = static_cast<Parity>(i / half / 4);
        auto a = k.load(parity, place, mu);
        a *= step;
        u.store(parity, place, mu, reunitarised(exponential_of_algebra(a) * u.load(parity, place, mu)));
    }
};

}  // namespace kasane::lattice
