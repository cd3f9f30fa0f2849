#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/hmc/links_checksum.hpp>

#include <bit>
#include <cstdint>

namespace kasane::lattice {
namespace {

/// Multiplies by an odd constant and folds the upper half down after every number, beginning with the site.
struct SiteHash {
    LinksView u;
    KS_FN Terms<2> operator()(index_t i) const {
        const index_t half = u.extents.half();
        auto hash = static_cast<std::uint64_t>(i) + 1;
        const auto mix = [&](double number) {
            hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        };
        for (int mu = 0; mu < 4; ++mu) {
            const auto link = u.load(static_cast<Parity>(i / half), i % half, mu);
            for (const auto& row : link.e)
                for (const auto& z : row) {
                    mix(z.re);
                    mix(z.im);
                }
        }
        hash *= 0xBF58476D1CE4E5B9u;
        return {{static_cast<double>(hash >> 32), static_cast<double>(hash & 0xFFFFFFFFu)}};  // sums of integers, exact up to 2^21 sites
    }
};

}  // namespace

template <>
std::array<double, 2> links_checksum(const Links<KS_SPACE>& u) {
    const auto total = sum<2>(u.space(), u.extents.volume(), SiteHash{u.view()});
    return {total[0], total[1]};
}

}  // namespace kasane::lattice
