#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/half_spinor.body.hpp>
#include <kasane/lattice/distributed/halo_terms.hpp>
#include <kasane/lattice/parallel_sites.hpp>
#include <kasane/lattice/solve/field_sites.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

/// Calls body.operator()<mu>().
template <class Body>
KS_FN void with_direction(int mu, const Body& body) {
    switch (mu) {
        case 0: body.template along<0>(); break;
        case 1: body.template along<1>(); break;
        case 2: body.template along<2>(); break;
        default: body.template along<3>(); break;
    }
}

/// First number of the links of a face's direction, which both its faces share.
KS_FN index_t links_of(const HaloLayout& layout, int face) { return layout.begin[face & ~1] / 2 * 18; }

template <class V>
KS_FN Link<V> face_link(const V* links, const HaloLayout& layout, int face, index_t i) {
    const index_t n = layout.sites(face);
    const V* from = links + links_of(layout, face);
    Link<V> u;
    for (int k = 0; k < 9; ++k)
        u.e[k / 3][k % 3] = {from[face_place<KS_SPACE>(18, 2 * k, n, i)], from[face_place<KS_SPACE>(18, 2 * k + 1, n, i)]};
    return u;
}

/// The link of the i-th site of the last slices, of direction after direction.
template <class V>
struct PackFaceLinks {
    HaloLayout layout;
    LinksView from;
    double signs[4];
    Parity parity;
    V* to;
    KS_FN void operator()(index_t j) const {
        int face = 0;
        index_t i = j;
        for (; i >= layout.sites(face); face += 2) i -= layout.sites(face);
        const int mu = layout.mu[face];
        const index_t n = layout.sites(face);
        const auto u = from.load(layout.site(mu, layout.local[mu] - 1, parity, i), mu);
        V* numbers = to + links_of(layout, face);
        for (int k = 0; k < 9; ++k) {
            numbers[face_place<KS_SPACE>(18, 2 * k, n, i)] = static_cast<V>(signs[mu] * u.e[k / 3][k % 3].re);
            numbers[face_place<KS_SPACE>(18, 2 * k + 1, n, i)] = static_cast<V>(signs[mu] * u.e[k / 3][k % 3].im);
        }
    }
};

/// Number k of a chirality of the factors at place b of `count` beside faces.
KS_FN index_t factor_place(int chirality, int k, index_t count, index_t b) {
    return face_place<KS_SPACE>(72, 36 * chirality + k, count, b);
}

/// The factors of A at the places beside faces.
template <class V>
struct PackFaceClover {
    CloverView from;
    const index_t* sites;  ///< checkerboard numbers
    index_t count;
    Parity parity;
    V* to;
    KS_FN void operator()(index_t b) const {
        for (int chirality = 0; chirality < 2; ++chirality) {
            auto block = from.load(parity, chirality, sites[b]);
            factorise(block);
            const auto number = [&](int k) -> V& { return to[factor_place(chirality, k, count, b)]; };
            for (int i = 0; i < 6; ++i) number(i) = static_cast<V>(block.diagonal[i]);
            for (int i = 0; i < 15; ++i) {
                number(6 + 2 * i) = static_cast<V>(block.lower[i].re);
                number(7 + 2 * i) = static_cast<V>(block.lower[i].im);
            }
        }
    }
};

template <Precision P, class Sites, class V>
struct PackHalo {
    HaloLayout layout;
    Sites in;
    const std::int32_t* places;  ///< of all faces
    V s;                         ///< 1; -1 in the adjoint
    const V* links;
    std::byte* sent;

    struct OfSite {
        const PackHalo& job;
        int face;
        index_t i;
        const Spinor<V>& psi;
        template <int mu>
        KS_FN void along() const {
            auto h = project<mu>(psi, HaloLayout::first(face) ? job.s : -job.s);
            if (!HaloLayout::first(face)) {
                const auto u = face_link(job.links, job.layout, face, i);
                for (auto& spin : h.s) spin = adjoint_times(u, spin);
            }
            store_half_spinor<KS_SPACE, P>(job.sent + job.layout.begin[face] * halo_site_bytes<P>, job.layout.sites(face), i, h);
        }
    };
    KS_FN void operator()(index_t j) const {
        const int face = layout.face_of(j);
        const index_t i = j - layout.begin[face];
        const auto psi = in.load(places[j]);
        with_direction(layout.mu[face], OfSite{*this, face, i, psi});
    }
};

template <Precision P, class Sites, class V>
struct AddHalo {
    HaloLayout layout;
    Sites out;
    const std::int32_t *places, *numbers;  ///< beside faces; numbers of their half spinors in each face, -1: none
    index_t count;
    V s, c;
    const V *links, *factors;  ///< factors of A; null: 1
    const std::byte* received;

    struct OfFace {
        const AddHalo& job;
        int face;
        index_t i;
        Spinor<V>& sum;
        template <int mu>
        KS_FN void along() const {
            auto h =
                load_half_spinor<KS_SPACE, P, V>(job.received + job.layout.begin[face] * halo_site_bytes<P>, job.layout.sites(face), i);
            if (HaloLayout::first(face)) {
                const auto u = face_link(job.links, job.layout, face, i);
                for (auto& spin : h.s) spin = times(u, spin);
            }
            accumulate<mu>(sum, h, HaloLayout::first(face) ? job.s : -job.s);
        }
    };
    KS_FN void operator()(index_t b) const {
        const index_t place = places[b];
        Spinor<V> sum{};
        for (int face = 0; face < layout.faces; ++face) {
            const std::int32_t i = numbers[face_place<KS_SPACE>(layout.faces, face, count, b)];
            if (i >= 0) with_direction(layout.mu[face], OfFace{*this, face, i, sum});
        }
        if (factors) {
            for (int chirality = 0; chirality < 2; ++chirality) {
                const auto number = [&](int k) { return factors[factor_place(chirality, k, count, b)]; };
                ChiralBlock<V> block;
                for (int i = 0; i < 6; ++i) block.diagonal[i] = number(i);
                for (int i = 0; i < 15; ++i) block.lower[i] = {number(6 + 2 * i), number(7 + 2 * i)};
                HalfSpinor<V> h{{sum.s[2 * chirality], sum.s[2 * chirality + 1]}};
                solve(block, h);
                sum.s[2 * chirality] = h.s[0];
                sum.s[2 * chirality + 1] = h.s[1];
            }
        }
        auto total = out.load(place);
        for (int k = 0; k < 12; ++k) {
            auto& to = total.s[k / 3].c[k % 3];
            const auto& more = sum.s[k / 3].c[k % 3];
            to = {MulAdd(c, more.re, to.re), MulAdd(c, more.im, to.im)};
        }
        out.store(place, total);
    }
};

struct RemoveLinks {
    HaloLayout layout;
    LinksView links;
    KS_FN void operator()(index_t i) const {
        const auto& n = links.extents;
        const auto parity = static_cast<Parity>(i / n.half());
        const Site x = n.site(parity, i % n.half());
        for (int face = 0; face < layout.faces; face += 2) {
            const int mu = layout.mu[face];
            if (x[mu] == n[mu] - 1) links.store(parity, i % n.half(), mu, Su3<double>::zero());
        }
    }
};

struct CopyClover {
    HaloLayout layout;
    CloverView from;
    double* to;
    KS_FN void operator()(index_t i) const {
        const index_t half = layout.local.half(), number = i % half;
        const auto parity = static_cast<Parity>(i / half);
        Site x = layout.local.site(parity, number);
        for (int face = 0; face < layout.faces; face += 2) ++x[layout.mu[face]];
        const index_t stride = from.extents.half();
        for (int k = 0; k < 72; ++k)
            to[(static_cast<index_t>(parity) * 72 + k) * half + number] =
                from.data[(static_cast<index_t>(x.parity()) * 72 + k) * stride + from.extents.checkerboard(x)];
    }
};

}  // namespace

template <Space S, Precision P>
HaloTerms<S, P>::HaloTerms(std::shared_ptr<const Lattice<S>> lattice, const HaloLayout& layout, const Links<S>& links,
                           const CloverTerm<S>* A, const double (&signs)[4])
    : lattice_(std::move(lattice)), layout_(layout) {
    std::copy_n(signs, 4, signs_);
    const S on = lattice_->space();
    const Field<S, P> field(lattice_);  // for the numbers of its sites
    const FieldSites<S, P> sites(field);
    for (const auto parity : {Parity::even, Parity::odd}) {
        const int p = static_cast<int>(parity);
        links_[p] = Buffer<Real, S>(on, 9 * layout.sites());
        std::vector<std::int32_t> sent, places;
        for (int face = 0; face < layout.faces; ++face)
            for (index_t k = 0; k < layout.sites(face); ++k)
                sent.push_back(static_cast<std::int32_t>(sites.place(layout.site(layout.mu[face], layout.sent_slice(face), parity, k))));
        const auto has_face = [&](const Site& x, int face) { return x[layout.mu[face]] == layout.received_slice(face); };
        std::vector<Site> beside;
        for (index_t place = 0; place < sites.places(); ++place) {
            const Site x = sites.site(parity, place);
            bool any = false;
            for (int face = 0; face < layout.faces; ++face) any |= has_face(x, face);
            if (!any) continue;
            places.push_back(static_cast<std::int32_t>(place));
            beside.push_back(x);
        }
        const auto count = static_cast<index_t>(places.size());
        std::vector<std::int32_t> received(static_cast<std::size_t>(layout.faces * count), -1);
        std::vector<index_t> numbers;
        for (index_t b = 0; b < count; ++b) {
            const Site& x = beside[static_cast<std::size_t>(b)];
            numbers.push_back(layout.local.checkerboard(x));
            for (int face = 0; face < layout.faces; ++face)
                if (has_face(x, face))
                    received[static_cast<std::size_t>(face_place<S>(layout.faces, face, count, b))] =
                        static_cast<std::int32_t>(layout.number(layout.mu[face], x));
        }
        sent_[p] = to_space(on, sent);
        places_[p] = to_space(on, places);
        received_[p] = to_space(on, received);
        if (A) {
            beside_[p] = to_space(on, numbers);
            factors_[p] = Buffer<Real, S>(on, 72 * count);
        }
    }
    take(links, A);
    synchronize(on);
}

template <Space S, Precision P>
void HaloTerms<S, P>::take(const Links<S>& links, const CloverTerm<S>* A) {
    const S on = lattice_->space();
    for (const auto parity : {Parity::even, Parity::odd}) {
        const int p = static_cast<int>(parity);
        PackFaceLinks<Real> pack{layout_, links.view(), {}, parity, links_[p].data()};
        std::copy_n(signs_, 4, pack.signs);
        parallel_for_sites(on, layout_.sites() / 2, pack);
        const auto count = beside_[p].size();
        if (A) parallel_for_sites(on, count, PackFaceClover<Real>{A->view(), beside_[p].data(), count, parity, factors_[p].data()});
    }
}

template <Space S, Precision P>
void HaloTerms<S, P>::pack(Parity from, bool adjoint, const Field<S, P>& in, std::byte* sent) const {
    const FieldSites<S, P> sites(in);
    parallel_for_sites(lattice_->space(), layout_.sites(),
                       PackHalo<P, FieldSites<S, P>, Real>{layout_, sites, sent_[static_cast<int>(from)].data(),
                                                           adjoint ? Real(-1) : Real(1), links_[static_cast<int>(from)].data(), sent});
}

template <Space S, Precision P>
void HaloTerms<S, P>::add(HopForm form, Parity to, bool adjoint, double c, const std::byte* received, Field<S, P>& out) const {
    const int p = static_cast<int>(to);
    const FieldSites<S, P> sites(out);
    parallel_for_sites(lattice_->space(), places_[p].size(),
                       AddHalo<P, FieldSites<S, P>, Real>{layout_, sites, places_[p].data(), received_[p].data(), places_[p].size(),
                                                          adjoint ? Real(-1) : Real(1), static_cast<Real>(c), links_[p].data(),
                                                          form == HopForm::inverse ? factors_[p].data() : nullptr, received});
}

template <Space S, Precision P>
std::uint64_t HaloTerms<S, P>::bytes() const {
    std::uint64_t sum = 0;
    for (int p = 0; p < 2; ++p)
        sum += static_cast<std::uint64_t>(links_[p].size() + factors_[p].size()) * sizeof(Real) +
               static_cast<std::uint64_t>(sent_[p].size() + places_[p].size() + received_[p].size()) * sizeof(std::int32_t) +
               static_cast<std::uint64_t>(beside_[p].size()) * sizeof(index_t);
    return sum;
}

template class HaloTerms<KS_SPACE, Precision::half>;
template class HaloTerms<KS_SPACE, Precision::single>;
template class HaloTerms<KS_SPACE, Precision::double_>;

template <>
void remove_leaving_links(const HaloLayout& layout, Links<KS_SPACE>& links) {
    parallel_for_sites(links.space(), links.extents.volume(), RemoveLinks{layout, links.view()});
}

template <>
CloverTerm<KS_SPACE> without_halo(const CloverTerm<KS_SPACE>& extended, const HaloLayout& layout) {
    const auto on = extended.data.space();
    CloverTerm<KS_SPACE> A{layout.local, Buffer<double, KS_SPACE>(on, 72 * layout.local.volume())};
    parallel_for_sites(on, layout.local.volume(), CopyClover{layout, extended.view(), A.data.data()});
    synchronize(on);
    return A;
}

}  // namespace kasane::lattice
