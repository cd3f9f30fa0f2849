// The little Dirac operator on workers, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/distributed_little_operator.hpp>
#include <kasane/lattice/parallel_sites.hpp>
#include <kasane/lattice/solve/little_couplings.body.hpp>

namespace kasane::lattice {
namespace {

#if !defined(__CUDACC__)
/// The coefficients of the blocks on faces. Index: the block among those of all faces.
template <class T>
struct PackBlocks {
    BlockHalo halo;
    const T* in;
    T* to;
    KS_FN void operator()(index_t i) const {
        const int face = halo.face_of(i);
        const index_t words = halo.blocks.block_words();
        const T* from = in + halo.block(halo.sites.mu[face], HaloLayout::first(face), i - halo.begin[face]) * words;
        for (index_t w = 0; w < words; ++w) to[i * words + w] = from[w];
    }
};

/// One row of a block: out = [added] + [own in] + [neighbours in]. Index: block rows + row.
template <class T>
struct MultiplyWithHalo {
    BlockHalo halo;
    const T* own;  ///< null: not added
    const T* hop;
    const T* added;  ///< null: not added
    const T *in, *received;
    T* out;
    KS_FN void operator()(index_t index) const {
        const auto& layout = halo.blocks;
        const index_t block = index / layout.rows(), row = index % layout.rows(), words = layout.block_words();
        Cx<Lanes<T>> sum{broadcast(T(0)), broadcast(T(0))};
        if (own) add(sum, own + matrix_pack(layout, block, row, 0), in + block * words);
        const Site here = layout.grid.site(block);
        for (int d = 0; d < 8; ++d) {
            const int mu = d / 2;
            const bool ahead = d % 2 == 0, crosses = here[mu] == (ahead ? layout.grid[mu] - 1 : 0);
            const int face = crosses ? halo.face_along(mu, ahead) : -1;
            const T* from = face < 0 ? in + layout.grid.lexicographic(layout.grid.shifted(here, mu, ahead ? 1 : -1)) * words
                                     : received + (halo.begin[face] + halo.number(mu, here)) * words;
            add(sum, hop + matrix_pack(layout, 8 * block + d, row, 0), from);
        }
        const index_t at = block * words + row / 8 * pack_words + row % 8;
        out[at] = (added ? added[at] : T(0)) + sum.re.sum();
        out[at + 8] = (added ? added[at + 8] : T(0)) + sum.im.sum();
    }

   private:
    KS_FN void add(Cx<Lanes<T>>& sum, const T* matrix, const T* from) const {
        for (int cp = 0; cp < 2 * halo.blocks.packs; ++cp)
            add_product(sum, load_pack(matrix + cp * pack_words), load_pack(from + cp * pack_words));
    }
};
#endif

/// The basis on the first slice perpendicular to a face's direction: [parity][site][12][pack][re, im][8]. Index: parity and site.
template <class T>
struct PackFaceBasis {
    HaloLayout sites;
    BlockLayout layout;
    int face;
    const T* basis[2];
    T* to;
    KS_FN void operator()(index_t i) const {
        const index_t n = sites.sites(face), words = layout.site_words();
        const auto parity = static_cast<Parity>(i / n);
        const T* from = basis[i / n] + layout.slot(sites.site(sites.mu[face], 0, parity, i % n)) * words;
        for (index_t w = 0; w < words; ++w) to[i * words + w] = from[w];
    }
};

/// Columns of eight vectors of the coupling forward over a face. Index: block of the last slice packs + pack.
template <int mu, class T>
struct CoupleForward {
    BlockHalo halo;
    int face;
    const T* basis[2];
    const T* ahead;  ///< the neighbours' basis, as PackFaceBasis
    LinksView u;
    double factor;  ///< of the hop
    T* hop;
    KS_FN void operator()(index_t index) const {
        const auto& layout = halo.blocks;
        const int pack = static_cast<int>(index % layout.packs);
        const index_t block = halo.block(mu, false, index / layout.packs);
        const T* rows[chunk_sites];
        Spinor<Lanes<T>> columns[chunk_sites][2];
        int sites = 0;
        for (int parity = 0; parity < 2; ++parity)
            for (index_t i = 0; i < layout.half(); ++i) {
                const index_t slot = block * layout.half() + i;
                const Site site = layout.site(static_cast<Parity>(parity), slot);
                if (site[mu] != layout.lattice[mu] - 1) continue;
                const T* there = ahead + ((1 - parity) * halo.sites.sites(face) + halo.sites.number(mu, site)) * layout.site_words();
                const auto link = u.load(static_cast<Parity>(parity), layout.lattice.checkerboard(site), mu);
                for (const int chirality : {0, 1}) {
                    columns[sites][chirality] = {};
                    add_forward_hop<mu, T>(factor, link, chirality, basis_spins<Lanes<T>>(layout, there, chirality, pack, 0),
                                           columns[sites][chirality]);
                }
                rows[sites++] = basis[parity] + slot * layout.site_words();
                if (sites == chunk_sites) {
                    add_chunk(layout, rows, columns, sites, hop, 8 * block + 2 * mu, pack);
                    sites = 0;
                }
            }
        if (sites > 0) add_chunk(layout, rows, columns, sites, hop, 8 * block + 2 * mu, pack);
    }
};

/// The matrices of the couplings forward over a face. Index: block of the last slice rows + row.
template <class T>
struct PackCouplings {
    BlockHalo halo;
    int mu;
    const T* hop;
    T* to;
    KS_FN void operator()(index_t i) const {
        const auto& layout = halo.blocks;
        const T* from = hop + matrix_pack(layout, 8 * halo.block(mu, false, i / layout.rows()) + 2 * mu, i % layout.rows(), 0);
        for (index_t w = 0; w < layout.block_words(); ++w) to[i * layout.block_words() + w] = from[w];
    }
};

/// g5 F^+ g5 of the neighbours' couplings forward F. Index: block of the first slice rows + row.
template <class T>
struct CoupleBackward {
    BlockHalo halo;
    int mu;
    const T* behind;
    T* hop;
    KS_FN void operator()(index_t i) const {
        const auto& layout = halo.blocks;
        const index_t number = i / layout.rows(), row = i % layout.rows(), half = layout.rows() / 2;
        T* const to = hop + matrix_pack(layout, 8 * halo.block(mu, true, number) + 2 * mu + 1, row, 0);
        for (index_t column = 0; column < layout.rows(); ++column) {
            const auto z = element(layout, behind, number, column, row);
            const T sign = (row < half) == (column < half) ? T(1) : T(-1);
            T* const at = to + column / 8 * pack_words + column % 8;
            at[0] = sign * z.re;
            at[8] = -sign * z.im;
        }
    }
};

}  // namespace

template <Space S, class T>
DistributedLittleOperator<S, T>::DistributedLittleOperator(S on, const BlockLayout& layout, HaloExchange<S>& exchange, comm::Worker& worker)
    : on_(on),
      halo_(exchange.layout(), layout),
      exchange_(exchange),
      worker_(worker),
      local_(on, layout),
      sent_(on, std::same_as<S, Cpu> ? halo_.count() * layout.block_words() : 0),
      received_(on, sent_.size()) {}

template <Space S, class T>
void DistributedLittleOperator<S, T>::exchange(const index_t (&begin)[HaloLayout::most_faces + 1], const Buffer<T, S>& send,
                                               Buffer<T, S>& receive) const {
    index_t bytes[HaloLayout::most_faces + 1] = {};
    for (int face = 0; face <= halo_.sites.faces; ++face) bytes[face] = begin[face] * index_t{sizeof(T)};
    exchange_.start(bytes, {reinterpret_cast<const std::byte*>(send.data()), send.size() * index_t{sizeof(T)}},
                    {reinterpret_cast<std::byte*>(receive.data()), receive.size() * index_t{sizeof(T)}});
    exchange_.finish();
}

#if !defined(__CUDACC__)
template <Space S, class T>
void DistributedLittleOperator<S, T>::multiply(const T* own, const T* added, const LittleVector<S, T>& in, LittleVector<S, T>& out) const
    requires std::same_as<S, Cpu>
{
    parallel_for_sites(on_, halo_.count(), PackBlocks<T>{halo_, in.data.data(), sent_.data()});
    index_t begin[HaloLayout::most_faces + 1] = {};
    for (int face = 0; face <= halo_.sites.faces; ++face) begin[face] = halo_.begin[face] * halo_.blocks.block_words();
    exchange(begin, sent_, received_);
    parallel_for_sites(on_, halo_.blocks.blocks() * halo_.blocks.rows(),
                       MultiplyWithHalo<T>{halo_, own, local_.hop(), added, in.data.data(), received_.data(), out.data.data()});
}
#endif

template <Space S, class T>
void DistributedLittleOperator<S, T>::assemble(const BlockVectors<S, T>& basis, const LittleLinks<S>& links, const CloverTerm<S>* A,
                                               const DiracParameters& parameters) {
    std::string problem;
    try {
        local_.assemble(basis, links.interior, A, parameters);
    } catch (const ComputationError& error) {
        problem = error.what();
    }
    if (const auto reason = comm::first_reason(worker_, problem); !reason.empty()) throw ComputationError(reason);
    couple_forward(basis, links, parameters.kappa);
    couple_backward();
}

template <Space S, class T>
void DistributedLittleOperator<S, T>::couple_forward(const BlockVectors<S, T>& basis, const LittleLinks<S>& links, double kappa) {
    const auto& sites = halo_.sites;
    const auto& layout = halo_.blocks;
    index_t begin[HaloLayout::most_faces + 1] = {};  // only the first slices are sent
    for (int face = 0; face < sites.faces; ++face)
        begin[face + 1] = begin[face] + (HaloLayout::first(face) ? 2 * sites.sites(face) * layout.site_words() : 0);
    Buffer<T, S> here(on_, begin[sites.faces]), ahead(on_, here.size());
    for (int face = 0; face < sites.faces; face += 2)
        parallel_for_sites(
            on_, 2 * sites.sites(face),
            PackFaceBasis<T>{sites, layout, face, {basis.data(Parity::even), basis.data(Parity::odd)}, here.data() + begin[face]});
    exchange(begin, here, ahead);
    for (int face = 0; face < sites.faces; face += 2) {
        const auto couple = [&]<int mu>() {
            parallel_for_sites(on_, halo_.count(face) * layout.packs,
                               CoupleForward<mu, T>{halo_,
                                                    face,
                                                    {basis.data(Parity::even), basis.data(Parity::odd)},
                                                    ahead.data() + begin[face],
                                                    links.own.view(),
                                                    -kappa * links.signs[mu],
                                                    local_.hop()});
        };
        switch (sites.mu[face]) {
            case 0: couple.template operator()<0>(); break;
            case 1: couple.template operator()<1>(); break;
            case 2: couple.template operator()<2>(); break;
            default: couple.template operator()<3>(); break;
        }
    }
    synchronize(AnySpace(on_));
}

template <Space S, class T>
void DistributedLittleOperator<S, T>::couple_backward() {
    const auto& layout = halo_.blocks;
    const index_t matrix = layout.rows() * layout.block_words();
    index_t begin[HaloLayout::most_faces + 1] = {};  // only the last slices are sent
    for (int face = 0; face < halo_.sites.faces; ++face)
        begin[face + 1] = begin[face] + (HaloLayout::first(face) ? 0 : halo_.count(face) * matrix);
    Buffer<T, S> here(on_, begin[halo_.sites.faces]), behind(on_, here.size());
    for (int face = 1; face < halo_.sites.faces; face += 2)
        parallel_for_sites(on_, halo_.count(face) * layout.rows(),
                           PackCouplings<T>{halo_, halo_.sites.mu[face], local_.hop(), here.data() + begin[face]});
    exchange(begin, here, behind);
    for (int face = 1; face < halo_.sites.faces; face += 2)
        parallel_for_sites(on_, halo_.count(face) * layout.rows(),
                           CoupleBackward<T>{halo_, halo_.sites.mu[face], behind.data() + begin[face], local_.hop()});
    synchronize(AnySpace(on_));
}

template class DistributedLittleOperator<KS_SPACE, float>;
template class DistributedLittleOperator<KS_SPACE, double>;

}  // namespace kasane::lattice
