// The checksums of the formats, summed while the payload is read or written. Each detects any change of a single byte: docs/gauge-files.md.
// Invariant: sites may come in any order, from several threads whose sums are added, and from several readers whose sums are combined: the
// result is the same.
#pragma once

#include <kasane/lattice/file/part_reader.hpp>
#include <kasane/lattice/file/stored_links.hpp>

#include <zlib.h>

#include <bit>
#include <cstdint>

namespace kasane::lattice {

/// NERSC: the sum, modulo 2^32, of all 32-bit words as the file's byte order has them (a double counts as two).
class NerscSum {
   public:
    explicit NerscSum(bool big_endian) : big_endian_(big_endian) {}
    void add_site(index_t, const unsigned char* bytes, std::size_t count) {
        for (std::size_t i = 0; i < count; i += 4) sum_ += word_at(bytes + i, big_endian_);
    }
    void add(const NerscSum& other) { sum_ += other.sum_; }
    void combine(PartReader& readers) { sum_ = readers.sum(sum_); }
    std::uint32_t value() const { return sum_; }

   private:
    bool big_endian_;
    std::uint32_t sum_ = 0;
};

/// SciDAC: CRC-32 of each site's bytes, rotated by its number modulo 29 (a) and 31 (b), all combined by exclusive or.
class ScidacSum {
   public:
    void add_site(index_t site, const unsigned char* bytes, std::size_t count) {
        const auto crc = static_cast<std::uint32_t>(crc32(0, bytes, static_cast<uInt>(count)));
        a_ ^= std::rotl(crc, static_cast<int>(site % 29));
        b_ ^= std::rotl(crc, static_cast<int>(site % 31));
    }
    void add(const ScidacSum& other) {
        a_ ^= other.a_;
        b_ ^= other.b_;
    }
    void combine(PartReader& readers) {
        a_ = readers.exclusive_or(a_);
        b_ = readers.exclusive_or(b_);
    }
    std::uint32_t a() const { return a_; }
    std::uint32_t b() const { return b_; }

   private:
    std::uint32_t a_ = 0, b_ = 0;
};

/// MILC: each 32-bit word rotated by its number modulo 29 and 31, all combined by exclusive or.
class MilcSum {
   public:
    explicit MilcSum(bool big_endian) : big_endian_(big_endian) {}
    void add_site(index_t site, const unsigned char* bytes, std::size_t count) {
        const auto first = static_cast<std::uint64_t>(site) * (count / 4);
        int by29 = static_cast<int>(first % 29), by31 = static_cast<int>(first % 31);
        for (std::size_t i = 0; i < count; i += 4) {
            const auto word = word_at(bytes + i, big_endian_);
            sum29_ ^= std::rotl(word, by29);
            sum31_ ^= std::rotl(word, by31);
            by29 = by29 == 28 ? 0 : by29 + 1;
            by31 = by31 == 30 ? 0 : by31 + 1;
        }
    }
    void add(const MilcSum& other) {
        sum29_ ^= other.sum29_;
        sum31_ ^= other.sum31_;
    }
    void combine(PartReader& readers) {
        sum29_ = readers.exclusive_or(sum29_);
        sum31_ = readers.exclusive_or(sum31_);
    }
    std::uint32_t sum29() const { return sum29_; }
    std::uint32_t sum31() const { return sum31_; }

   private:
    bool big_endian_;
    std::uint32_t sum29_ = 0, sum31_ = 0;
};

}  // namespace kasane::lattice
