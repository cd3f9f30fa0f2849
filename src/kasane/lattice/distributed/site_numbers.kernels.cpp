// Copies of numbers of sites, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/site_numbers.hpp>
#include <kasane/lattice/parallel_sites.hpp>

namespace kasane::lattice {
namespace {

enum class NumbersCopy { to_local, to_extended, add_to_extended };

template <NumbersCopy kind>
struct CopySiteNumbers {
    LocalSites sites;
    SiteNumbers local, extended;
    KS_FN void operator()(index_t i) const {
        const auto parity = static_cast<Parity>(i / sites.local.half());
        const index_t number = i % sites.local.half();
        const Site x = sites.extended_site(parity, number);
        const index_t there = sites.extended.checkerboard(x);
        for (int k = 0; k < local.numbers; ++k) {
            double &a = local.at(parity, number, k), &b = extended.at(x.parity(), there, k);
            if constexpr (kind == NumbersCopy::to_local)
                a = b;
            else if constexpr (kind == NumbersCopy::to_extended)
                b = a;
            else
                b += a;
        }
    }
};

}  // namespace

template <>
void copy_to_local(KS_SPACE on, const LocalSites& sites, const SiteNumbers& extended, const SiteNumbers& local) {
    parallel_for_sites(on, sites.local.volume(), CopySiteNumbers<NumbersCopy::to_local>{sites, local, extended});
}
template <>
void copy_to_extended(KS_SPACE on, const LocalSites& sites, const SiteNumbers& local, const SiteNumbers& extended) {
    parallel_for_sites(on, sites.local.volume(), CopySiteNumbers<NumbersCopy::to_extended>{sites, local, extended});
}
template <>
void add_to_extended(KS_SPACE on, const LocalSites& sites, const SiteNumbers& local, const SiteNumbers& extended) {
    parallel_for_sites(on, sites.local.volume(), CopySiteNumbers<NumbersCopy::add_to_extended>{sites, local, extended});
}

}  // namespace kasane::lattice
