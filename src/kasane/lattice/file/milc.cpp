// MILC v5 files: a header of 96 bytes (magic number, extents x y z t, date, order, two sums), then single precision, x fastest, y, z, t; at
// each site the links along x, y, z, t, row by row. Either byte order, recognised by the magic number.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/file/block_writer.hpp>
#include <kasane/lattice/file/checksums.hpp>
#include <kasane/lattice/file/link_reader.hpp>
#include <kasane/lattice/file/formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace kasane::lattice {
namespace {

constexpr std::uint32_t magic = 20103;
constexpr std::size_t milc_header_bytes = 96, extents_at = 4, date_at = 20, order_at = 84, sums_at = 88;
/// In the place of the date, so that equal links give equal files.
constexpr std::string_view no_date = "written by kasane";

}  // namespace

bool is_milc(const std::string& head) {
    if (head.size() < 4) return false;
    const auto* bytes = reinterpret_cast<const unsigned char*>(head.data());
    return word_at(bytes, false) == magic || word_at(bytes, true) == magic;
}

GaugeFile read_milc(ByteSource& source, std::uint64_t memory, PartReader& part) {
    const Where where{source.name(), 0, 0, ""};
    std::array<unsigned char, milc_header_bytes> header{};
    KS_VALIDATE(source.read(header.data(), milc_header_bytes) == milc_header_bytes, "ends inside its header of 96 bytes: it is truncated",
                where);
    const bool big_endian = word_at(header.data(), true) == magic;
    const auto word = [&](std::size_t at) { return word_at(header.data() + at, big_endian); };
    std::array<index_t, 4> n{};
    for (std::size_t mu = 0; mu < 4; ++mu) n[mu] = static_cast<std::int32_t>(word(extents_at + 4 * mu));
    KS_VALIDATE(word(order_at) == 0, fmt::format("has sites in order {}, and only the natural order, 0, is read", word(order_at)), where);

    GaugeFileFacts facts{.format = GaugeFormat::milc, .bits = 32, .big_endian = big_endian};
    const Encoding stored{32, 3, big_endian};
    const auto extents = checked_extents(source.name(), "", n);
    LinkReader reader(source.name(), extents, stored, source.left(), memory, part);
    MilcSum sum(big_endian);
    reader.read_sites(source, sum);
    const auto hexadecimal = [](std::uint32_t a, std::uint32_t b) { return fmt::format("{:08x} {:08x}", a, b); };
    const auto sum29 = word(sums_at), sum31 = word(sums_at + 4);
    facts.checksum = {"milc", hexadecimal(sum29, sum31), hexadecimal(sum.sum29(), sum.sum31()),
                      sum29 == sum.sum29() && sum31 == sum.sum31()};
    return reader.finish(std::move(facts));
}

void write_milc(const std::filesystem::path& file, const GaugeField& field, bool big_endian) {
    const auto& n = field.extents;
    const Encoding stored{32, 3, big_endian};
    const auto link = stored.link_bytes();
    std::vector<unsigned char> site(4 * link);
    const auto for_each_site = [&](auto use) {
        for (index_t s = 0; s < n.volume(); ++s) {
            for (int mu = 0; mu < 4; ++mu) encode(field.link(s, mu), stored, site.data() + static_cast<std::size_t>(mu) * link);
            use(s);
        }
    };
    MilcSum sum(big_endian);
    for_each_site([&](index_t s) { sum.add_site(s, site.data(), site.size()); });

    std::array<unsigned char, milc_header_bytes> header{};
    const auto put = [&](std::size_t at, std::uint32_t word) { put_word(word, big_endian, header.data() + at); };
    put(0, magic);
    for (int mu = 0; mu < 4; ++mu) put(extents_at + 4 * static_cast<std::size_t>(mu), static_cast<std::uint32_t>(n[mu]));
    std::ranges::copy(no_date, header.data() + date_at);
    put(sums_at, sum.sum29());
    put(sums_at + 4, sum.sum31());

    AtomicFile out(file, milc_header_bytes + static_cast<std::uint64_t>(n.volume()) * site.size());
    BlockWriter block(out);
    block.put(header.data(), header.size());
    for_each_site([&](index_t) { block.put(site.data(), site.size()); });
    block.flush();
    out.commit();
}

}  // namespace kasane::lattice
