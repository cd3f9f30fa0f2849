// Dirac<Cpu, P>: links and clover term packed in the order in which the kernels read them, and the calls of the kernels.
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cpu/half.hpp>
#include <kasane/lattice/dirac/cpu/hop.hpp>
#include <kasane/lattice/dirac/cpu/parts.hpp>
#include <kasane/lattice/dirac/eight_reals.hpp>
#include <kasane/lattice/dirac/validate.hpp>

#include <cstring>
#include <type_traits>

namespace kasane::lattice {
namespace {

constexpr int block_lanes = Lattice<Cpu>::lanes;

bool has_link(const NeighbourBlock& there, int mu, const LinkStorage& storage) {
    return !storage.temporal_gauge || mu < 3 || there.crosses != 0;
}

/// The first number of each block's links, and the end.
std::vector<index_t> link_places(const Lattice<Cpu>& lattice, Parity parity, const LinkStorage& storage) {
    std::vector<index_t> begin(static_cast<std::size_t>(lattice.blocks()) + 1);
    const auto* const near = lattice.neighbours(parity);
    for (index_t block = 0; block < lattice.blocks(); ++block) {
        index_t links = 0;
        for (int direction = 0; direction < 8; ++direction) links += has_link(near[8 * block + direction], direction / 2, storage);
        begin[static_cast<std::size_t>(block) + 1] =
            begin[static_cast<std::size_t>(block)] + links * static_cast<int>(storage.reals) * block_lanes;
    }
    return begin;
}

template <class Stored>
void pack_link(const Su3<double>& u, LinkReals reals, int lanes, Stored* to) {
    constexpr bool integers = std::is_same_v<Stored, std::int16_t>;
    if (reals == LinkReals::parameters) {
        const auto numbers = eight_reals_of(u);
        for (int k = 0; k < 8; ++k) {
            const bool signs = k == first_sign_in || k == second_sign_in;
            const bool negative = k == first_sign_in ? numbers.first_negative : numbers.second_negative;
            if constexpr (integers) {
                to[k * lanes] = signs ? int16_with_lowest_bit(numbers.r[k] * 32767, negative) : encode_integer(numbers.r[k]);
            } else {
                const auto number = static_cast<Stored>(numbers.r[k]);
                to[k * lanes] = signs ? with_lowest_bit(number, negative) : number;
            }
        }
        return;
    }
    for (int k = 0; k < static_cast<int>(reals); ++k) {
        const auto& z = u.e[k / 6][k / 2 % 3];
        const double number = k % 2 == 0 ? z.re : z.im;
        if constexpr (integers)
            to[k * lanes] = encode_integer(number);
        else
            to[k * lanes] = static_cast<Stored>(number);
    }
}

template <class Stored>
void pack_links(const Lattice<Cpu>& lattice, Parity parity, const LinksView& u, const LinkStorage& storage, int lanes, const index_t* begin,
                Stored* to) {
    const auto* const near = lattice.neighbours(parity);
    parallel_for(lattice.space(), lattice.blocks(), [&](index_t block) {
        const index_t per_group = (begin[block + 1] - begin[block]) / (block_lanes / lanes);
        for (int l = 0; l < block_lanes; ++l) {
            const Site x = lattice.site(parity, block * block_lanes + l);
            Stored* link = to + begin[block] + l / lanes * per_group + l % lanes;
            for (int direction = 0; direction < 8; ++direction) {
                const int mu = direction / 2;
                const auto& there = near[8 * block + direction];
                if (!has_link(there, mu, storage)) continue;
                auto U = u.load(direction % 2 == 0 ? x : lattice.extents().shifted(x, mu, -1), mu);
                if (storage.temporal_gauge && mu == 3 && !(there.crosses >> l & 1)) U = Su3<double>::unit();
                pack_link(U, storage.reals, lanes, link);
                link += static_cast<int>(storage.reals) * lanes;
            }
        }
    });
}

/// A - 1 without the numbers that follow from the zero trace of A - 1 over spin.
void clover_numbers(const CloverView& A, Parity parity, index_t checkerboard, double* to) {
    for (int chirality = 0; chirality < 2; ++chirality) {
        const auto block = A.load(parity, chirality, checkerboard);
        for (int a = 0; a < 3; ++a) *to++ = block.diagonal[a] - 1;
        for (int k = 0; k < 13; ++k) {
            if (k == 9) continue;  // (4, 3), in the lower right block
            *to++ = block.lower[k].re;
            *to++ = block.lower[k].im;
        }
    }
}

template <Precision P>
void pack_clover(const Lattice<Cpu>& lattice, Parity parity, const CloverView& A, typename CpuReal<P>::Stored* to) {
    constexpr int lanes = group_lanes<P>;
    parallel_for(lattice.space(), lattice.places(), [&](index_t place) {
        double numbers[54];
        clover_numbers(A, parity, lattice.extents().checkerboard(lattice.site(parity, place)), numbers);
        auto* const group = to + place / lanes * group_words<P>(54);
        const auto lane = place % lanes;
        if constexpr (P == Precision::half) {
            double scale = 0;
            for (const double number : numbers) scale = std::max(scale, std::abs(number));
            for (int k = 0; k < 54; ++k) group[k * lanes + lane] = encode_integer(scale > 0 ? numbers[k] / scale : 0);
            const auto stored = static_cast<float>(scale);
            std::memcpy(group + 54 * lanes + 2 * lane, &stored, sizeof stored);
        } else {
            for (int k = 0; k < 54; ++k) group[k * lanes + lane] = static_cast<typename CpuReal<P>::Stored>(numbers[k]);
        }
    });
}

}  // namespace

template <Space S, Precision P>
struct Dirac<S, P>::Parts {
    std::shared_ptr<const Lattice<Cpu>> lattice;
    LinkStorage storage;
    Boundary boundary;
    std::vector<index_t> link_begin[2];
    Buffer<std::byte, Cpu> links[2];
    Buffer<typename CpuReal<P>::Stored, Cpu> clover[2];

    HopJob job(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x, Field<S, P>& out) const {
        const int p = static_cast<int>(to);
        return {.lattice = lattice.get(),
                .to = to,
                .in = in.group(0),
                .x = x ? x->group(0) : nullptr,
                .out = out.group(0),
                .links = links[p].data(),
                .link_begin = link_begin[p].data(),
                .clover = clover[p].data(),
                .form = valid_form(*lattice, form, clover[p].size() > 0, in, x, out),
                .reals = storage.reals,
                .half_links = half_links(),
                .temporal_gauge = storage.temporal_gauge,
                .adjoint = adjoint,
                .antiperiodic = boundary == Boundary::antiperiodic,
                .c = c};
    }
    bool half_links() const { return P == Precision::half || storage.half; }
    int link_bytes() const { return half_links() ? 2 : static_cast<int>(sizeof(typename CpuReal<P>::Computed)); }
};

template <Space S, Precision P>
Dirac<S, P>::Dirac(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& links, const CloverTerm<S>* A, Boundary boundary,
                   LinkStorage storage)
    : parts_(std::make_unique<Parts>()) {
    require_operator<S, P>(*lattice, links, A, storage);
    parts_->lattice = lattice;
    parts_->storage = storage;
    parts_->boundary = boundary;
    for (const Parity parity : {Parity::even, Parity::odd}) {
        const int p = static_cast<int>(parity);
        parts_->link_begin[p] = link_places(*lattice, parity, storage);
        parts_->links[p] = Buffer<std::byte, Cpu>(lattice->space(), parts_->link_begin[p].back() * parts_->link_bytes());
        if (A)
            parts_->clover[p] =
                Buffer<typename CpuReal<P>::Stored, Cpu>(lattice->space(), lattice->places() / group_lanes<P> * group_words<P>(54));
    }
    pack(links, A);
}

template <Space S, Precision P>
void Dirac<S, P>::pack(const Links<S>& links, const CloverTerm<S>* A) {
    const auto& lattice = *parts_->lattice;
    const auto& storage = parts_->storage;
    require_operator<S, P>(lattice, links, A, storage);
    require_same_form(parts_->clover[0].size() > 0, A != nullptr);
    for (const Parity parity : {Parity::even, Parity::odd}) {
        const int p = static_cast<int>(parity);
        const auto* const begin = parts_->link_begin[p].data();
        auto* const to = parts_->links[p].data();
        if (parts_->half_links())
            pack_links(lattice, parity, links.view(), storage, block_lanes, begin, reinterpret_cast<std::int16_t*>(to));
        else
            pack_links(lattice, parity, links.view(), storage, group_lanes<P>, begin, reinterpret_cast<typename CpuReal<P>::Computed*>(to));
        if (A) pack_clover<P>(lattice, parity, A->view(), parts_->clover[p].data());
    }
}
template <Space S, Precision P>
Dirac<S, P>::~Dirac() = default;
template <Space S, Precision P>
Dirac<S, P>::Dirac(Dirac&&) noexcept = default;

template <Space S, Precision P>
void Dirac<S, P>::hop(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x,
                      Field<S, P>& out) const {
    const auto job = parts_->job(form, to, adjoint, c, in, x, out);
    for_parts(*parts_->lattice, [&](index_t, index_t first, index_t last) { hop_blocks<P>(job, first, last); });
}

template <Space S, Precision P>
void Dirac<S, P>::hop(HopForm form, Parity to, bool adjoint, double c, std::span<const Field<S, P>* const> in,
                      std::span<const Field<S, P>* const> x, std::span<Field<S, P>* const> out) const {
    require_columns(in.size(), x.size(), out.size());
    if (in.empty()) return;
    std::vector<HopJob> jobs;
    for (std::size_t i = 0; i < in.size(); ++i)
        jobs.push_back(parts_->job(form, to, adjoint, c, *in[i], x.empty() ? nullptr : x[i], *out[i]));
    // Links and clover term of a block stay in the first cache from one column to the next.
    for_parts(*parts_->lattice, [&](index_t, index_t first, index_t last) {
        for (index_t block = first; block < last; ++block)
            for (const auto& job : jobs) hop_blocks<P>(job, block, block + 1);
    });
}

template <Space S, Precision P>
void Dirac<S, P>::clover(Parity parity, bool inverse, const Field<S, P>& in, Field<S, P>& out) const {
    require_same_lattice(in, out);
    const auto* const A = parts_->clover[static_cast<int>(parity)].data();
    if (!A) {  // A = 1
        if (&in != &out) std::memcpy(out.group(0), in.group(0), in.bytes());
        return;
    }
    const CloverJob job{in.group(0), out.group(0), A, inverse};
    constexpr index_t per_block = block_lanes / group_lanes<P>;
    for_parts(*parts_->lattice, [&](index_t, index_t first, index_t last) { clover_groups<P>(job, first * per_block, last * per_block); });
}

template <Space S, Precision P>
std::uint64_t Dirac<S, P>::bytes() const {
    std::uint64_t sum = 0;
    for (int p = 0; p < 2; ++p)
        sum += static_cast<std::uint64_t>(parts_->links[p].size()) + parts_->link_begin[p].size() * sizeof(index_t) +
               static_cast<std::uint64_t>(parts_->clover[p].size()) * sizeof(typename CpuReal<P>::Stored);
    return sum;
}

template <Space S, Precision P>
double Dirac<S, P>::bytes_per_site(HopForm form, bool with_x, int columns) const {
    constexpr double word = sizeof(typename CpuReal<P>::Stored);
    const double fields = 2 + (with_x ? 1 : 0), clover = form != HopForm::plain && parts_->clover[0].size() > 0 ? 1. / columns : 0;
    const double links =
        static_cast<double>(parts_->link_begin[0].back() * parts_->link_bytes()) / static_cast<double>(parts_->lattice->places() * columns);
    return links + word * static_cast<double>(fields * group_words<P>(24) + clover * group_words<P>(54)) / group_lanes<P>;
}

template class Dirac<Cpu, Precision::half>;
template class Dirac<Cpu, Precision::single>;
template class Dirac<Cpu, Precision::double_>;

}  // namespace kasane::lattice
