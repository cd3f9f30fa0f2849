// Momenta of links, and sums over momenta and forces at one site (hmc/momenta.hpp), host and device.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/random_su3.body.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/random.hpp>

#include <cmath>
#include <cstdint>

namespace kasane::lattice {

/// The momentum that is drawn for a link of this number.
struct MomentumOfLink {
    std::uint64_t seed, trajectory;
    KS_FN Su3<double> operator()(index_t link) const {
        auto random = random_stream(seed, RandomPurpose::momenta, link, trajectory);
        return random_algebra(random);
    }
};

/// -tr P^2 of the four links of a site.
struct SiteKineticEnergy {
    LinksView p;
    KS_FN Terms<1> operator()(index_t i) const {
        const index_t half = p.extents.half();
        Terms<1> sum{};
        for (int mu = 0; mu < 4; ++mu) {
            const auto momentum = p.load(static_cast<Parity>(i / half), i % half, mu);
            sum[0] += real_trace_times_adjoint(momentum, momentum);  // P^+ = -P
        }
        return sum;
    }
};

/// A sum and a largest number of a reduction. A NaN stays.
struct NormTerms {
    double sum, largest;
    KS_FN NormTerms& operator+=(const NormTerms& b) {
        sum += b.sum;
        if (b.largest > largest || b.largest != b.largest) largest = b.largest;
        return *this;
    }
};
/// Norms of the four matrices of a site.
struct SiteNorms {
    LinksView force;
    KS_FN NormTerms operator()(index_t i) const {
        const index_t half = force.extents.half();
        NormTerms norms{};
        for (int mu = 0; mu < 4; ++mu) {
            const auto f = force.load(static_cast<Parity>(i / half), i % half, mu);
            const double norm = std::sqrt(2 * real_trace_times_adjoint(f, f));  // F^+ = -F
            norms += NormTerms{norm, norm};
        }
        return norms;
    }
};

/// |a - b|^2 of the four links of a site.
struct SiteDistance {
    LinksView a, b;
    KS_FN Terms<1> operator()(index_t i) const {
        const index_t half = a.extents.half();
        Terms<1> sum{};
        for (int mu = 0; mu < 4; ++mu) {
            const auto d = a.load(static_cast<Parity>(i / half), i % half, mu) - b.load(static_cast<Parity>(i / half), i % half, mu);
            sum[0] += real_trace_times_adjoint(d, d);
        }
        return sum;
    }
};

}  // namespace kasane::lattice
