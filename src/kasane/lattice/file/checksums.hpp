// The checksums of the formats, summed while the payload is read or written. Each detects any change of a single byte: docs/gauge-files.md.
#pragma once

#include <kasane/lattice/file/stored_links.hpp>

#include <zlib.h>

#include <bit>
#include <cstdint>

namespace kasane::lattice {

/// NERSC: the sum, modulo 2^32, of all 32-bit words as the file's byte order has them (a double counts as two).
class NerscSum {
   public:
    explicit NerscSum(bool big_endian) : big_endian_(big_endian) {}
    void add(const unsigned char* bytes, std::size_t count) {
        for (std::size_t i = 0; i < count; i += 4) sum_ += word_at(bytes + i, big_endian_);
    }
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
    std::uint32_t a() const { return a_; }
    std::uint32_t b() const { return b_; }

   private:
    std::uint32_t a_ = 0, b_ = 0;
};

/// MILC: each 32-bit word rotated by its number modulo 29 and 31, all combined by exclusive or.
class MilcSum {
   public:
    explicit MilcSum(bool big_endian) : big_endian_(big_endian) {}
    void add(const unsigned char* bytes, std::size_t count) {
        for (std::size_t i = 0; i < count; i += 4) {
            const auto word = word_at(bytes + i, big_endian_);
            sum29_ ^= std::rotl(word, by29_);
            sum31_ ^= std::rotl(word, by31_);
            by29_ = by29_ == 28 ? 0 : by29_ + 1;
            by31_ = by31_ == 30 ? 0 : by31_ + 1;
        }
    }
    std::uint32_t sum29() const { return sum29_; }
    std::uint32_t sum31() const { return sum31_; }

   private:
    bool big_endian_;
    std::uint32_t sum29_ = 0, sum31_ = 0;
    int by29_ = 0, by31_ = 0;
};

}  // namespace kasane::lattice
