// Basis of blocks, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/solve/block_vectors.hpp>
#include <kasane/lattice/solve/lanes.hpp>
#include <kasane/lattice/dirac/validate.hpp>
#include <kasane/lattice/parallel_sites.hpp>
#include <kasane/lattice/solve/field_sites.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#if defined(__CUDACC__)
#include <kasane/lattice/solve/block_qr.cuda.hpp>
#include <kasane/lattice/solve/coherent.cuda.hpp>
#endif

namespace kasane::lattice {
namespace {

constexpr int set_at_once = 4;

/// Index: vectors slot + vector.
template <class Sites, class T>
struct SetVectors {
    Sites from[set_at_once];
    const std::uint32_t* places;
    BlockLayout layout;
    int first, vectors;
    T* to;
    KS_FN void operator()(index_t index) const {
        const index_t slot = index / vectors;
        const int i = static_cast<int>(index % vectors), k = first + i;
        const auto p = from[i].load(places[slot]);
        T* at = to + slot * layout.site_words() + k / 8 * pack_words + k % 8;
        for (int r = 0; r < 12; ++r, at += layout.packs * pack_words) {
            at[0] = static_cast<T>(p.s[r / 3].c[r % 3].re);
            at[8] = static_cast<T>(p.s[r / 3].c[r % 3].im);
        }
    }
};

#if !defined(__CUDACC__)
/// One block and chirality: unit vectors, then modified Gram-Schmidt, twice: vector k is taken out of all later ones.
template <class T>
struct Orthonormalise {
    T* data[2];
    BlockLayout layout;
    T* kept;  ///< [2 blocks] the smallest squared norm that was left of a unit vector

    KS_FN void operator()(index_t i) const {
        for (int p = 0; p < layout.packs; ++p) normalise(i, p);
        T least = 1;
        for (int pass = 0; pass < 2; ++pass)
            for (int k = 0; k < layout.count; ++k) {
                const T left = take_out(i, k);
                if (pass == 0 && !(left >= least)) least = left;
            }
        kept[i] = least;
    }

   private:
    template <class F>
    KS_FN void each_row(index_t i, const F& f) const {
        const index_t row_words = index_t{pack_words} * layout.packs, sites = layout.half();
        for (int parity = 0; parity < 2; ++parity)
            for (index_t s = 0; s < sites; ++s) {
                T* row = data[parity] + (i / 2 * sites + s) * layout.site_words() + i % 2 * 6 * row_words;
                for (int r = 0; r < 6; ++r, row += row_words) f(row);
            }
    }
    KS_FN void normalise(index_t i, int p) const {
        auto norm2 = broadcast(T(0));
        each_row(i, [&](const T* row) {
            const auto z = load_pack(row + p * pack_words);
            norm2 = norm2 + z.re * z.re + z.im * z.im;
        });
        Lanes<T> scale;
        for (int l = 0; l < 8; ++l) scale.v[l] = norm2.v[l] > 0 ? T(1) / static_cast<T>(sqrt(norm2.v[l])) : T(0);
        each_row(i, [&](T* row) {
            const auto z = load_pack(row + p * pack_words);
            store_pack(row + p * pack_words, {z.re * scale, z.im * scale});
        });
    }
    /// phi_j -= phi_k (phi_k, phi_j) / (phi_k, phi_k) for j > k; then phi_k /= |phi_k|. Returns the old |phi_k|^2.
    KS_FN T take_out(index_t i, int k) const {
        const index_t own = k / 8 * pack_words + k % 8;
        T norm2 = 0;
        for (int p = k / 8; p < layout.packs; ++p) {
            Cx<Lanes<T>> c{broadcast(T(0)), broadcast(T(0))};
            each_row(i, [&](const T* row) {
                add_conjugate_product(c, broadcast(Cx<T>{row[own], row[own + 8]}), load_pack(row + p * pack_words));
            });
            if (p == k / 8) norm2 = c.re.v[k % 8];
            const T scale = norm2 > 0 ? -1 / norm2 : T(0);
            for (int l = 0; l < 8; ++l) {
                const bool later = 8 * p + l > k;
                c.re.v[l] = later ? c.re.v[l] * scale : T(0);
                c.im.v[l] = later ? c.im.v[l] * scale : T(0);
            }
            each_row(i, [&](T* row) {
                auto z = load_pack(row + p * pack_words);
                add_product(z, broadcast(Cx<T>{row[own], row[own + 8]}), c);
                store_pack(row + p * pack_words, z);
            });
        }
        const T scale = norm2 > 0 ? T(1) / static_cast<T>(sqrt(norm2)) : T(0);
        each_row(i, [&](T* row) {
            row[own] *= scale;
            row[own + 8] *= scale;
        });
        return norm2;
    }
};

template <class Sites, class T>
struct Restrict {
    Sites from;
    const std::uint32_t* places;
    BlockLayout layout;
    const T* data;
    bool add;
    T* c;
    KS_FN void operator()(index_t i) const {
        const index_t block = i / layout.packs, sites = layout.half(), p = i % layout.packs;
        Cx<Lanes<T>> sum[2];
        for (int chirality = 0; chirality < 2; ++chirality) {
            T* to = c + ((2 * block + chirality) * layout.packs + p) * pack_words;
            sum[chirality] = {broadcast(T(0)), broadcast(T(0))};
            if (add) sum[chirality] = load_pack<T>(to);
        }
        for (index_t s = block * sites; s < (block + 1) * sites; ++s) {
            const auto psi = from.load(places[s]);
            const T* row = data + s * layout.site_words() + p * pack_words;
            for (int r = 0; r < 12; ++r, row += layout.packs * pack_words) {
                const auto& z = psi.s[r / 3].c[r % 3];
                add_conjugate_product(sum[r / 6], load_pack(row), broadcast(Cx<T>{static_cast<T>(z.re), static_cast<T>(z.im)}));
            }
        }
        for (int chirality = 0; chirality < 2; ++chirality)
            store_pack(c + ((2 * block + chirality) * layout.packs + p) * pack_words, sum[chirality]);
    }
};

template <class Sites, class T>
struct Prolong {
    Sites to;
    const std::uint32_t* slots;
    BlockLayout layout;
    const T* data;
    const T* c;
    KS_FN void operator()(index_t place) const {
        const index_t slot = slots[place], block = slot / layout.half();
        const T* row = data + slot * layout.site_words();
        std::remove_cvref_t<decltype(to.load(place))> psi;
        using Real = std::remove_cvref_t<decltype(psi.s[0].c[0].re)>;
        for (int r = 0; r < 12; ++r, row += layout.packs * pack_words) {
            const T* from = c + (2 * block + r / 6) * layout.packs * pack_words;
            Cx<Lanes<T>> sum{broadcast(T(0)), broadcast(T(0))};
            for (int p = 0; p < layout.packs; ++p) add_product(sum, load_pack(row + p * pack_words), load_pack(from + p * pack_words));
            psi.s[r / 3].c[r % 3] = {static_cast<Real>(sum.re.sum()), static_cast<Real>(sum.im.sum())};
        }
        to.store(place, psi);
    }
};
#endif

}  // namespace

template <Space S, class T>
BlockVectors<S, T>::BlockVectors(std::shared_ptr<const Lattice<S>> lattice, const Extents& block, int count)
    : lattice_(std::move(lattice)) {
    const S on = lattice_->space();
    layout_.lattice = lattice_->extents();
    layout_.own = block;
    layout_.count = count;
    layout_.packs = (count + 7) / 8;
    for (int mu = 0; mu < 4; ++mu) layout_.grid.n[mu] = layout_.lattice[mu] / block[mu];
    for (const auto parity : {Parity::even, Parity::odd}) {
        auto& data = data_[static_cast<int>(parity)];
        data = Buffer<T, S>(on, layout_.words());
        parallel_for(on, layout_.words(), SetZero<T>{data.data()});
        const Field<S, Precision::double_> field(lattice_);
        const FieldSites<S> sites(field);
        std::vector<std::uint32_t> slots(static_cast<std::size_t>(sites.places())),
            places(static_cast<std::size_t>(layout_.lattice.half()));
        for (index_t place = 0; place < sites.places(); ++place) {
            const auto slot = static_cast<std::uint32_t>(layout_.slot(sites.site(parity, place)));
            slots[static_cast<std::size_t>(place)] = slot;
            if (sites.counts(place)) places[slot] = static_cast<std::uint32_t>(place);
        }
        slots_[static_cast<int>(parity)] = to_space(on, slots);
        places_[static_cast<int>(parity)] = to_space(on, places);
    }
    kept_ = Buffer<T, S>(on, 2 * layout_.blocks());
}

template <Space S, class T>
template <Precision P>
void BlockVectors<S, T>::set(int first, Parity parity, const std::vector<const Field<S, P>*>& fields) {
    const int half = static_cast<int>(parity), vectors = static_cast<int>(fields.size());
    KS_EXPECT(vectors >= 1 && vectors <= set_at_once);
    using Sites = FieldSites<S, P>;
    const auto of = [&](int i) { return Sites(*fields[static_cast<std::size_t>(std::min(i, vectors - 1))]); };
    parallel_for_sites(
        space(), vectors * layout_.lattice.half(),
        SetVectors<Sites, T>{{of(0), of(1), of(2), of(3)}, places_[half].data(), layout_, first, vectors, data_[half].data()});
}

template <Space S, class T>
double BlockVectors<S, T>::orthonormalise() {
#if defined(__CUDACC__)
    const S on = space();
    const index_t vectors = coherent::QrWork<T>::vectors_of_all(layout_);
    Buffer<Cx<double>, S> gram(on, vectors * 8 * layout_.packs);
    Buffer<double, S> scale(on, vectors), left(on, vectors);
    Buffer<T, S> factor(on, 2 * gram.size());
    const std::size_t shared = coherent::qr_shared_bytes(layout_);
    KS_CUDA(cudaSetDevice(on.device));
    if (shared > 48 * 1024)
        KS_CUDA(cudaFuncSetAttribute(coherent::orthonormalise<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    coherent::orthonormalise<T><<<static_cast<unsigned>(2 * layout_.blocks()), coherent::qr_threads, shared, on.stream>>>(
        {data_[0].data(), data_[1].data(), layout_, gram.data(), scale.data(), left.data(), factor.data(), kept_.data()});
    KS_CUDA(cudaGetLastError());
#else
    parallel_for_sites(space(), 2 * layout_.blocks(), Orthonormalise<T>{{data_[0].data(), data_[1].data()}, layout_, kept_.data()});
#endif
    const auto kept = to_host(kept_);
    const T least = *std::min_element(kept.begin(), kept.end());
    return least > 0 ? std::sqrt(static_cast<double>(least)) : 0;
}

template <Space S, class T>
template <Precision P>
void BlockVectors<S, T>::restrict_to(Parity parity, const Field<S, P>& field, bool add, T* c) const {
    const int half = static_cast<int>(parity);
    using Sites = FieldSites<S, P>;
#if defined(__CUDACC__)
    KS_CUDA(cudaSetDevice(space().device));
    const dim3 grid(static_cast<unsigned>(layout_.blocks()),
                    static_cast<unsigned>((layout_.packs + coherent::restrict_packs - 1) / coherent::restrict_packs));
    coherent::restrict_fields<<<grid, coherent::restrict_threads, 0, space().stream>>>(Sites(field), places_[half].data(), layout_,
                                                                                       data_[half].data(), add, c);
    KS_CUDA(cudaGetLastError());
#else
    parallel_for_sites(space(), layout_.blocks() * layout_.packs,
                       Restrict<Sites, T>{Sites(field), places_[half].data(), layout_, data_[half].data(), add, c});
#endif
}

template <Space S, class T>
template <Precision P>
void BlockVectors<S, T>::prolong(Parity parity, const T* c, Field<S, P>& field) const {
    const int half = static_cast<int>(parity);
    using Sites = FieldSites<S, P>;
    const Sites to(field);
#if defined(__CUDACC__)
    constexpr int threads = 128;
    KS_CUDA(cudaSetDevice(space().device));
    coherent::prolong_field<<<static_cast<unsigned>((8 * to.places() + threads - 1) / threads), threads, 0, space().stream>>>(
        to, to.places(), slots_[half].data(), layout_, data_[half].data(), c);
    KS_CUDA(cudaGetLastError());
#else
    parallel_for_sites(space(), to.places(), Prolong<Sites, T>{to, slots_[half].data(), layout_, data_[half].data(), c});
#endif
}

#define KS_DEFINE(T, P)                                                                                       \
    template void BlockVectors<KS_SPACE, T>::set(int, Parity, const std::vector<const Field<KS_SPACE, P>*>&); \
    template void BlockVectors<KS_SPACE, T>::restrict_to(Parity, const Field<KS_SPACE, P>&, bool, T*) const;  \
    template void BlockVectors<KS_SPACE, T>::prolong(Parity, const T*, Field<KS_SPACE, P>&) const;
template class BlockVectors<KS_SPACE, float>;
template class BlockVectors<KS_SPACE, double>;
KS_DEFINE(float, Precision::half)
KS_DEFINE(float, Precision::single)
KS_DEFINE(double, Precision::double_)
#undef KS_DEFINE

}  // namespace kasane::lattice
