// Real numbers at the sites of a lattice, [parity][number / together][stride][together], and copies of them between a local lattice and one
// that is extended by a halo.
#pragma once

#include <kasane/lattice/distributed/local_sites.hpp>
#include <kasane/lattice/hmc/clover_force.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

struct SiteNumbers {
    double* data = nullptr;
    index_t stride = 0;
    int numbers = 0;   ///< per site
    int together = 1;  ///< numbers of a site that are neighbours in memory: 2 where they are complex

    KS_FN double& at(Parity parity, index_t checkerboard, int number) const {
        const index_t before = static_cast<index_t>(parity) * numbers + number / together * together;
        return data[before * stride + checkerboard * together + number % together];
    }
};

template <Space S>
SiteNumbers numbers_of(Links<S>& u) {
    return {u.data.data(), LinksView::stride(u.extents), 72, 2};
}
/// A view for reading only.
template <Space S>
SiteNumbers numbers_of(const Links<S>& u) {
    return {const_cast<double*>(u.data.data()), LinksView::stride(u.extents), 72, 2};
}
template <Space S>
SiteNumbers numbers_of(CloverWeights<S>& w) {
    return {w.data.data(), LinksView::stride(w.extents), 54};
}
/// For reading alone.
template <Space S>
SiteNumbers numbers_of(const CloverWeights<S>& w) {
    return {const_cast<double*>(w.data.data()), LinksView::stride(w.extents), 54};
}
template <Space S>
SiteNumbers numbers_of(CloverTerm<S>& A) {
    return {A.data.data(), A.extents.half(), 72};
}
/// For reading alone.
template <Space S>
SiteNumbers numbers_of(const CloverTerm<S>& A) {
    return {const_cast<double*>(A.data.data()), A.extents.half(), 72};
}

/// local = extended, on the local sites
template <Space S>
void copy_to_local(S on, const LocalSites& sites, const SiteNumbers& extended, const SiteNumbers& local);
/// extended = local, on the local sites; the halo does not change
template <Space S>
void copy_to_extended(S on, const LocalSites& sites, const SiteNumbers& local, const SiteNumbers& extended);
/// extended += local, on the local sites
template <Space S>
void add_to_extended(S on, const LocalSites& sites, const SiteNumbers& local, const SiteNumbers& extended);

}  // namespace kasane::lattice
