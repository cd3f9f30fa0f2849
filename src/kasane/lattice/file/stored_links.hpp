// Links as files store them: 32 or 64 bits, two or three rows, either byte order; and a payload that is read in blocks.
// Invariant: encode(decode(bytes)) gives the same bytes for any bytes (except NaN, which every reader refuses).
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/io/byte_source.hpp>
#include <kasane/lattice/su3.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kasane::lattice {

static_assert(std::endian::native == std::endian::little, "numbers are turned around between file and memory");

struct Encoding {
    int bits = 64;
    int rows = 3;
    bool big_endian = true;
    std::size_t link_bytes() const { return static_cast<std::size_t>(rows * 6 * bits / 8); }
};

inline std::uint32_t word_at(const unsigned char* at, bool big_endian) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return big_endian ? __builtin_bswap32(word) : word;
}
inline std::uint64_t long_word_at(const unsigned char* at, bool big_endian) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return big_endian ? __builtin_bswap64(word) : word;
}
template <class Word>
void put_word(Word word, bool big_endian, unsigned char* at) {
    if (big_endian)
        word = sizeof(Word) == 8 ? static_cast<Word>(__builtin_bswap64(word))
                                 : static_cast<Word>(__builtin_bswap32(static_cast<std::uint32_t>(word)));
    std::memcpy(at, &word, sizeof word);
}

/// The stored rows; a third row that is not stored does not change. @returns whether single precision holds every number exactly
inline bool decode(const unsigned char* from, const Encoding& stored, Su3<double>& to) {
    bool single = true;
    for (int k = 0; k < 6 * stored.rows; ++k) {
        double x;
        if (stored.bits == 32) {
            x = static_cast<double>(std::bit_cast<float>(word_at(from + 4 * k, stored.big_endian)));
        } else {
            const auto bits = long_word_at(from + 8 * k, stored.big_endian);
            single &= (bits & 0x1fffffff) == 0;  // the 29 bits by which a double's fraction is longer
            x = std::bit_cast<double>(bits);
        }
        auto& entry = to.e[k / 6][k % 6 / 2];
        (k % 2 ? entry.im : entry.re) = x;
    }
    return single;
}

inline void encode(const Su3<double>& from, const Encoding& stored, unsigned char* to) {
    for (int k = 0; k < 6 * stored.rows; ++k) {
        const auto& entry = from.e[k / 6][k % 6 / 2];
        const double x = k % 2 ? entry.im : entry.re;
        if (stored.bits == 32)
            put_word(std::bit_cast<std::uint32_t>(static_cast<float>(x)), stored.big_endian, to + 4 * k);
        else
            put_word(std::bit_cast<std::uint64_t>(x), stored.big_endian, to + 8 * k);
    }
}

inline constexpr const char* truncated = "ends before its last link: it is truncated";

/// Calls take(number, bytes) for each of the next `count` records of `size` bytes, read in blocks of about a mebibyte.
/// @throws InputError when the file ends before
template <class Take>
void for_each_record(ByteSource& source, index_t count, std::size_t size, Take take) {
    const auto block = static_cast<index_t>(std::max<std::size_t>(1, (std::size_t{1} << 20) / size));
    std::vector<unsigned char> bytes(static_cast<std::size_t>(std::min(block, count)) * size);
    for (index_t first = 0; first < count; first += block) {
        const auto here = static_cast<std::size_t>(std::min(block, count - first));
        KS_VALIDATE(source.read(bytes.data(), here * size) == here * size, truncated, {source.name(), 0, 0, ""});
        for (std::size_t i = 0; i < here; ++i) take(first + static_cast<index_t>(i), bytes.data() + i * size);
    }
}

}  // namespace kasane::lattice
