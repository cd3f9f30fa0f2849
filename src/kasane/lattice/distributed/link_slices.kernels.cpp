// Packing and unpacking of slices, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/link_slices.hpp>
#include <kasane/lattice/parallel_sites.hpp>

namespace kasane::lattice {
namespace {

struct PackSlices {
    LinkSlices slices;
    LinksView u;
    double* memory;
    KS_FN void operator()(index_t i) const {
        const index_t all = slices.sites(), number = i % all;
        const Site x = slices.site(number);
        const auto link = u.load(x, slices.direction(x, static_cast<int>(i / all)));
        double* to = memory + i / all * 18 * all + number;
        for (int k = 0; k < 9; ++k) {
            to[2 * k * all] = link.e[k / 3][k % 3].re;
            to[(2 * k + 1) * all] = link.e[k / 3][k % 3].im;
        }
    }
};

struct UnpackSlices {
    LinkSlices slices;
    LinksView u;
    const double* memory;
    KS_FN void operator()(index_t i) const {
        const index_t all = slices.sites(), number = i % all;
        const double* from = memory + i / all * 18 * all + number;
        Su3<double> link;
        for (int k = 0; k < 9; ++k) link.e[k / 3][k % 3] = {from[2 * k * all], from[(2 * k + 1) * all]};
        const Site x = slices.site(number);
        u.store(x, slices.direction(x, static_cast<int>(i / all)), link);
    }
};

/// Of one number of a site.
template <bool packs>
struct CopySliceNumbers {
    LinkSlices slices;
    SiteNumbers numbers;
    double* memory;
    KS_FN void operator()(index_t i) const {
        const index_t all = slices.sites(), number = i % all;
        const Site x = slices.site(number);
        double& there = numbers.at(x.parity(), slices.lattice.extended.checkerboard(x), static_cast<int>(i / all));
        if constexpr (packs)
            memory[i] = there;
        else
            there = memory[i];
    }
};

}  // namespace

template <>
void pack(KS_SPACE on, const LinkSlices& slices, const SiteNumbers& from, double* memory) {
    parallel_for(on, from.numbers * slices.sites(), CopySliceNumbers<true>{slices, from, memory});
}
template <>
void unpack(KS_SPACE on, const LinkSlices& slices, const double* memory, const SiteNumbers& to) {
    parallel_for(on, to.numbers * slices.sites(), CopySliceNumbers<false>{slices, to, const_cast<double*>(memory)});
}

template <>
void pack(const LinkSlices& slices, const Links<KS_SPACE>& u, double* memory) {
    parallel_for_sites(u.space(), slices.links(), PackSlices{slices, u.view(), memory});
}
template <>
void unpack(const LinkSlices& slices, const double* memory, Links<KS_SPACE>& u) {
    parallel_for_sites(u.space(), slices.links(), UnpackSlices{slices, u.view(), memory});
}

}  // namespace kasane::lattice
