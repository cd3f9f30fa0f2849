// Dirac<Cpu, P>: links and clover term packed in the order in which the kernels read them, and the calls of the kernels.
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cpu/half.hpp>
#include <kasane/lattice/dirac/cpu/hop.hpp>
#include <kasane/lattice/dirac/cpu/parts.hpp>
#include <kasane/lattice/dirac/cpu/prefetch.hpp>
#include <kasane/lattice/dirac/eight_reals.hpp>
#include <kasane/lattice/dirac/validate.hpp>

#include <cstring>
#include <type_traits>

namespace kasane::lattice {
namespace {

constexpr int block_lanes = Lattice<Cpu>::lanes;

/// Links of one direction, with the numbers of a block together.
index_t direction_words(const Lattice<Cpu>& lattice, const LinkStorage& storage) {
    return lattice.places() * static_cast<int>(storage.reals);
}

/// In temporal gauge: the blocks whose steps forward in t go around the lattice, numbered; -1: no link. Places that are found lane by lane
/// may be in any block, and then all have links.
std::vector<std::int32_t> numbered_time_blocks(const Lattice<Cpu>& lattice, Parity parity, index_t& count) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(lattice.blocks()));
    bool all = false;
    for (const auto both : {Parity::even, Parity::odd})
        for (index_t block = 0; block < lattice.blocks(); ++block)
            for (const int direction : {6, 7}) all |= lattice.neighbours(both)[8 * block + direction].lane_by_lane;
    count = 0;
    for (index_t block = 0; block < lattice.blocks(); ++block)
        numbers[static_cast<std::size_t>(block)] =
            all || lattice.neighbours(parity)[8 * block + 6].crosses != 0 ? static_cast<std::int32_t>(count++) : -1;
    return numbers;
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

/// @param time_blocks  null: all
template <class Stored>
void pack_links(const Lattice<Cpu>& lattice, Parity parity, const LinksView& u, const LinkStorage& storage, int lanes,
                const std::int32_t* time_blocks, Stored* to) {
    const int reals = static_cast<int>(storage.reals);
    const auto* const near = lattice.neighbours(parity);
    parallel_for(lattice.space(), lattice.blocks(), [&](index_t block) {
        for (int mu = 0; mu < 4; ++mu) {
            const index_t at = mu == 3 && time_blocks ? time_blocks[block] : block;
            if (at < 0) continue;
            Stored* const links = to + mu * direction_words(lattice, storage) + at * reals * block_lanes;
            for (int l = 0; l < block_lanes; ++l) {
                auto U = u.load(lattice.site(parity, block * block_lanes + l), mu);
                if (mu == 3 && time_blocks && !(near[8 * block + 6].crosses >> l & 1)) U = Su3<double>::unit();
                pack_link(U, storage.reals, lanes, links + l / lanes * reals * lanes + l % lanes);
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
    std::vector<std::int32_t> time_blocks[2];  ///< empty: all have links in t
    Buffer<std::byte, Cpu> links[2];
    Buffer<typename CpuReal<P>::Stored, Cpu> clover[2];

    HopJob job(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x, Field<S, P>& out) const {
        const int p = static_cast<int>(to), q = 1 - p;
        return {.lattice = lattice.get(),
                .to = to,
                .in = in.group(0),
                .x = x ? x->group(0) : nullptr,
                .out = out.group(0),
                .links = links[p].data(),
                .links_behind = links[q].data(),
                .time_blocks = storage.temporal_gauge ? time_blocks[p].data() : nullptr,
                .time_blocks_behind = storage.temporal_gauge ? time_blocks[q].data() : nullptr,
                .clover = clover[p].data(),
                .form = valid_form(*lattice, form, clover[p].size() > 0, in, x, out),
                .reals = storage.reals,
                .half_links = half_links(),
                .temporal_gauge = storage.temporal_gauge,
                .adjoint = adjoint,
                .antiperiodic = boundary == Boundary::antiperiodic,
                .links_to_second_cache = prefetch_to_second_cache_is_faster(),
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
        index_t blocks_in_time = lattice->blocks();
        if (storage.temporal_gauge) parts_->time_blocks[p] = numbered_time_blocks(*lattice, parity, blocks_in_time);
        const index_t words = 3 * direction_words(*lattice, storage) + blocks_in_time * block_lanes * static_cast<int>(storage.reals);
        parts_->links[p] = Buffer<std::byte, Cpu>(lattice->space(), words * parts_->link_bytes());
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
        const auto* const time_blocks = storage.temporal_gauge ? parts_->time_blocks[p].data() : nullptr;
        auto* const to = parts_->links[p].data();
        if (parts_->half_links())
            pack_links(lattice, parity, links.view(), storage, block_lanes, time_blocks, reinterpret_cast<std::int16_t*>(to));
        else
            pack_links(lattice, parity, links.view(), storage, group_lanes<P>, time_blocks,
                       reinterpret_cast<typename CpuReal<P>::Computed*>(to));
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
void Dirac<S, P>::whole(bool adjoint, double c, const Field<S, P>& even, const Field<S, P>& odd, Field<S, P>& out_even,
                        Field<S, P>& out_odd) const {
    const HopJob jobs[2] = {parts_->job(HopForm::clover, Parity::even, adjoint, c, odd, &even, out_even),
                            parts_->job(HopForm::clover, Parity::odd, adjoint, c, even, &odd, out_odd)};
    // An even block and an odd one in turn: the second use of a link and of a spinor finds it in a cache.
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
        sum += static_cast<std::uint64_t>(parts_->links[p].size()) + parts_->time_blocks[p].size() * sizeof(std::int32_t) +
               static_cast<std::uint64_t>(parts_->clover[p].size()) * sizeof(typename CpuReal<P>::Stored);
    return sum;
}

template <Space S, Precision P>
double Dirac<S, P>::bytes_per_site(HopForm form, bool with_x, int columns) const {
    constexpr double word = sizeof(typename CpuReal<P>::Stored);
    const double fields = 2 + (with_x ? 1 : 0), clover = form != HopForm::plain && parts_->clover[0].size() > 0 ? 1. / columns : 0;
    const double links =
        static_cast<double>(parts_->links[0].size() + parts_->links[1].size()) / static_cast<double>(parts_->lattice->places() * columns);
    return links + word * static_cast<double>(fields * group_words<P>(24) + clover * group_words<P>(54)) / group_lanes<P>;
}

template class Dirac<Cpu, Precision::half>;
template class Dirac<Cpu, Precision::single>;
template class Dirac<Cpu, Precision::double_>;

}  // namespace kasane::lattice
