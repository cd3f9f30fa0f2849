#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/parallel_sites.hpp>
#include <kasane/lattice/schwarz/block_links.hpp>

namespace kasane::lattice {
namespace {

struct FillBlockLinks {
    LinksView from, to;
    StackedBlocks blocks;
    KS_FN void operator()(index_t i) const {
        const Site here = to.extents.site(i);
        index_t block = 0;
        const Site local = blocks.local(here, block);
        bool wraps = false;
        const Site there = blocks.stored(blocks.site(here, wraps));
        for (int mu = 0; mu < 4; ++mu) {
            const bool leaves = !blocks.spans[mu] && local[mu] == blocks.extended[mu] - 1;
            to.store(here, mu, leaves ? Su3<double>{} : from.load(there, mu));
        }
    }
};

struct FillBlockClover {
    CloverView from;
    double* to;
    StackedBlocks blocks;
    KS_FN void operator()(index_t i) const {
        const Site here = blocks.stack.site(i);
        bool wraps = false;
        const Site there = blocks.stored(blocks.site(here, wraps));
        const index_t from_half = from.extents.half(), half = blocks.stack.half();
        const double* source = from.data + static_cast<index_t>(there.parity()) * 72 * from_half + from.extents.checkerboard(there);
        double* target = to + static_cast<index_t>(here.parity()) * 72 * half + blocks.stack.checkerboard(here);
        for (int k = 0; k < 72; ++k) target[k * half] = source[k * from_half];
    }
};

}  // namespace

template <>
Links<KS_SPACE> block_links(const Links<KS_SPACE>& links, const StackedBlocks& blocks) {
    Links<KS_SPACE> stack(links.space(), blocks.stack);
    parallel_for_sites(links.space(), blocks.stack.volume(), FillBlockLinks{links.view(), stack.view(), blocks});
    return stack;
}

template <>
CloverTerm<KS_SPACE> block_clover(const CloverTerm<KS_SPACE>& A, KS_SPACE on, const StackedBlocks& blocks) {
    CloverTerm<KS_SPACE> stack{blocks.stack, Buffer<double, KS_SPACE>(on, 72 * blocks.stack.volume())};
    parallel_for_sites(on, blocks.stack.volume(), FillBlockClover{A.view(), stack.data.data(), blocks});
    return stack;
}

}  // namespace kasane::lattice
