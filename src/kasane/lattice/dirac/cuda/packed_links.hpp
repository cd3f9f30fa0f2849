// Links as the hop reads them: for each site of a parity its eight links, the forward and the backward one of x, y, z, t, in this order.
// Invariants: both parities hold their backward links themselves, so that every link is stored twice, once for the hop from each parity,
// and is read once in a hop, aligned; [place / 32][direction] blocks of 32 links in rows of 16, 8 and 4 bytes a place; 18 and 12 reals are
// rows of the matrix; 16-bit ones are integers, of 18 and 12 in units of 1 / 32767, of 8 in units of 1 / 32768.
#pragma once

#include <kasane/lattice/dirac/cuda/half.hpp>
#include <kasane/lattice/dirac/cuda/tiles.hpp>
#include <kasane/lattice/dirac/eight_reals.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice::device {

/// Storage of links: V in registers, R reals, 16 bits each or V.
template <class V, LinkReals R, bool half>
struct LinkFormat {
    static constexpr int reals = static_cast<int>(R);
    static constexpr int bytes = reals * (half ? 2 : static_cast<int>(sizeof(V)));
    static constexpr int chunks = bytes / 16, rest = bytes % 16, pairs = rest / 8, words = rest % 8 / 4;
    /// Bytes of the eight links of a place.
    static constexpr index_t place_bytes = index_t{directions} * bytes;
    /// Factor that a decoded link must still be multiplied with.
    static constexpr V factor = half && R != LinkReals::parameters ? V(32768) / V(32767) : V(1);
    /// The further factor of its third row.
    static constexpr V product_factor = half && R == LinkReals::two_rows ? factor : V(1);
};

KS_FN index_t link_block(std::uint32_t place, index_t place_bytes) { return static_cast<index_t>(place / row) * (row * place_bytes); }

/// The words of a link, as stored in memory.
template <class Format>
struct RawLink {
    std::uint32_t word[Format::bytes / 4];
};

template <class Format, Readers readers = Readers::one>
KS_FN RawLink<Format> load_link(const char* links, std::uint32_t place, int direction) {
    RawLink<Format> raw;
    const std::uint32_t lane = place % row;
    const char* block = links + link_block(place, Format::place_bytes) + direction * (static_cast<int>(row) * Format::bytes);
    const auto* chunk = reinterpret_cast<const Chunk*>(block) + lane;
    for (int c = 0; c < Format::chunks; ++c) {
        const Chunk got = load<readers>(chunk + c * static_cast<int>(row));
        for (int i = 0; i < 4; ++i) raw.word[4 * c + i] = got.word[i];
    }
    const char* behind = block + Format::chunks * static_cast<int>(row) * 16;
    if constexpr (Format::pairs == 1) {
        std::uint32_t pair[2];
        load<readers>(behind + lane * 8, pair);
        raw.word[4 * Format::chunks] = pair[0];
        raw.word[4 * Format::chunks + 1] = pair[1];
    }
    if constexpr (Format::words == 1)
        load<readers>(behind + Format::pairs * static_cast<int>(row) * 8 + lane * 4, raw.word[Format::bytes / 4 - 1]);
    return raw;
}

template <class Format>
KS_FN void store_link(char* links, std::uint32_t place, int direction, const RawLink<Format>& raw) {
    const std::uint32_t lane = place % row;
    char* block = links + link_block(place, Format::place_bytes) + direction * (static_cast<int>(row) * Format::bytes);
    auto* const chunk = reinterpret_cast<Chunk*>(block) + lane;
    for (int c = 0; c < Format::chunks; ++c) {
        const std::uint32_t* word = raw.word + 4 * c;
        chunk[c * static_cast<int>(row)] = {{word[0], word[1], word[2], word[3]}};
    }
    char* behind = block + Format::chunks * static_cast<int>(row) * 16;
    if constexpr (Format::pairs == 1) store(behind + lane * 8, raw.word[4 * Format::chunks], raw.word[4 * Format::chunks + 1]);
    if constexpr (Format::words == 1) store(behind + Format::pairs * static_cast<int>(row) * 8 + lane * 4, raw.word[Format::bytes / 4 - 1]);
}

/// Converts to registers, up to the format's factors.
template <class V, LinkReals R, bool half>
KS_FN Link<V> decoded(const RawLink<LinkFormat<V, R, half>>& raw) {
    constexpr int reals = static_cast<int>(R);
    V r[reals];
    V first = 1, second = 1;
    if constexpr (half) {
        for (int i = 0; i < reals / 2; ++i) {
            r[2 * i] = lower_under<exponent_of_256>(raw.word[i]) - 257.0f;
            r[2 * i + 1] = upper_under<exponent_of_256>(raw.word[i]) - 257.0f;
        }
        if constexpr (R == LinkReals::parameters) {
            static_assert(first_sign_in % 2 == 0 && second_sign_in % 2 == 1);
            first = sign_of_lowest_bit(std::bit_cast<float>(raw.word[first_sign_in / 2]));
            second = sign_of_lowest_bit(std::bit_cast<float>(raw.word[second_sign_in / 2] >> 16));
        }
    } else {
        for (int i = 0; i < reals; ++i) {
            if constexpr (std::same_as<V, float>)
                r[i] = std::bit_cast<float>(raw.word[i]);
            else
                r[i] = std::bit_cast<double>(static_cast<std::uint64_t>(raw.word[2 * i + 1]) << 32 | raw.word[2 * i]);
        }
        if constexpr (R == LinkReals::parameters) {
            first = sign_of_lowest_bit(r[first_sign_in]);
            second = sign_of_lowest_bit(r[second_sign_in]);
        }
    }
    if constexpr (R == LinkReals::parameters) {
        return link_of_eight(r, first, second, V(1));
    } else {
        Link<V> u;
        for (int i = 0; i < reals / 2; ++i) u.e[i / 3][i % 3] = {r[2 * i], r[2 * i + 1]};
        if constexpr (R == LinkReals::two_rows) complete(u);
        return u;
    }
}

template <class V, LinkReals R, bool half>
KS_FN RawLink<LinkFormat<V, R, half>> encoded(const Su3<double>& u) {
    constexpr int reals = static_cast<int>(R);
    constexpr bool parameters = R == LinkReals::parameters;
    double r[reals];
    bool bit[reals] = {};
    if constexpr (parameters) {
        const auto e = eight_reals_of(u);
        for (int i = 0; i < 8; ++i) r[i] = e.r[i];
        bit[first_sign_in] = e.first_negative;
        bit[second_sign_in] = e.second_negative;
    } else {
        for (int i = 0; i < reals / 2; ++i) {
            r[2 * i] = u.e[i / 3][i % 3].re;
            r[2 * i + 1] = u.e[i / 3][i % 3].im;
        }
    }
    RawLink<LinkFormat<V, R, half>> raw;
    if constexpr (half) {
        int n[reals];
        for (int i = 0; i < reals; ++i) {
            const double value = r[i] * (parameters ? 32768 : 32767);
            const double rounded = std::floor(value + 0.5);
            n[i] = rounded > 32767 ? 32767 : rounded < -32767 ? -32767 : static_cast<int>(rounded);
            if (parameters && (i == first_sign_in || i == second_sign_in)) n[i] = int16_with_lowest_bit(value, bit[i]);
        }
        for (int i = 0; i < reals / 2; ++i) raw.word[i] = integer_word(n[2 * i], n[2 * i + 1]);
    } else {
        for (int i = 0; i < reals; ++i) {
            V value = static_cast<V>(r[i]);
            if (parameters && (i == first_sign_in || i == second_sign_in)) value = with_lowest_bit(value, bit[i]);
            if constexpr (std::same_as<V, float>)
                raw.word[i] = std::bit_cast<std::uint32_t>(value);
            else {
                raw.word[2 * i] = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value));
                raw.word[2 * i + 1] = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
            }
        }
    }
    return raw;
}

/// Packs the eight links of the i-th place.
template <class V, LinkReals R, bool half>
struct PackLinks {
    Tiles tiles;
    Parity parity;
    LinksView from;  ///< of the lattice, or of one with a halo around it
    Site first;      ///< the lattice's first site in it
    char* to;
    KS_FN void operator()(index_t i) const {
        const auto place = static_cast<std::uint32_t>(i);
        Site x = tiles.site(parity, place);
        for (int mu = 0; mu < 4; ++mu) x[mu] += first[mu];
        for (int mu = 0; mu < 4; ++mu) {
            store_link<LinkFormat<V, R, half>>(to, place, 2 * mu, encoded<V, R, half>(from.load(x, mu)));
            store_link<LinkFormat<V, R, half>>(to, place, 2 * mu + 1, encoded<V, R, half>(from.load(from.extents.shifted(x, mu, -1), mu)));
        }
    }
};

}  // namespace kasane::lattice::device
