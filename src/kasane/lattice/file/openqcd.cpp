// openQCD files: little endian; extents t, x, y, z (32 bit), the mean of Re tr of the plaquettes, then the odd sites in the order t, x, y,
// z with z fastest; at each the links along t, x, y, z that leave it forwards and that arrive from behind: +t, -t, +x, -x, ... Invariant:
// this format has no checksum; the tests that protect it are the plaquette, to 1e-13, and links in SU(3) to 1e-12.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/file/block_writer.hpp>
#include <kasane/lattice/file/link_reader.hpp>
#include <kasane/lattice/file/formats.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace kasane::lattice {
namespace {

constexpr std::size_t openqcd_header_bytes = 24, plaquette_at = 16;
constexpr Encoding stored{64, 3, false};
constexpr int file_order[4] = {3, 0, 1, 2};

std::array<index_t, 4> extents_of(const unsigned char* header) {
    std::array<index_t, 4> n{};
    for (std::size_t i = 0; i < 4; ++i)
        n[static_cast<std::size_t>(file_order[i])] = static_cast<std::int32_t>(word_at(header + 4 * i, false));
    return n;
}

/// The odd site of that number, in the order of the file.
Site odd_site(const Extents& n, index_t number) {
    Site s{};
    s[2] = 2 * static_cast<int>(number % (n[2] / 2));
    number /= n[2] / 2;
    s[1] = static_cast<int>(number % n[1]);
    number /= n[1];
    s[0] = static_cast<int>(number % n[0]);
    s[3] = static_cast<int>(number / n[0]);
    s[2] += 1 - ((s[0] + s[1] + s[3]) & 1);
    return s;
}

/// Calls use(site, mu, place) for the eight links at an odd site, in the order of the file.
template <class Use>
void for_each_link(const Extents& n, index_t number, Use use) {
    const Site s = odd_site(n, number);
    for (int i = 0; i < 4; ++i) {
        const int mu = file_order[i];
        use(s, mu, static_cast<std::size_t>(2 * i));
        use(n.shifted(s, mu, -1), mu, static_cast<std::size_t>(2 * i + 1));
    }
}

/// Calls use(first, count) for the runs of odd sites that have links of a box: those in it, and those one step ahead of it.
template <class Use>
void for_each_run(const FileBox& box, Use use) {
    const auto& n = box.lattice;
    const index_t row = n[2] / 2;
    if (box.local == n) return use(index_t{0}, n.half());
    const auto distance = [&](int x, int mu) { return (x - box.origin[mu] + n[mu]) % n[mu] - box.local[mu]; };  // negative: inside
    for (int t = 0; t < n[3]; ++t)
        for (int x = 0; x < n[0]; ++x)
            for (int y = 0; y < n[1]; ++y) {
                const int beyond[3] = {distance(t, 3), distance(x, 0), distance(y, 1)};
                int steps = 0;  // outside of the box
                for (const int d : beyond) steps += d < 0 ? 0 : d + 1;
                if (steps > 1) continue;
                const index_t first = (y + n[1] * (x + static_cast<index_t>(n[0]) * t)) * row;
                use(first + box.origin[2] / 2, index_t{box.local[2] / 2});
                const int ahead = (box.origin[2] + box.local[2]) % n[2];
                if (steps == 0 && box.local[2] < n[2] && odd_site(n, first + ahead / 2)[2] == ahead) use(first + ahead / 2, index_t{1});
            }
}

}  // namespace

bool is_openqcd(const std::string& head, std::uint64_t length) {
    if (head.size() < openqcd_header_bytes) return false;
    const auto n = extents_of(reinterpret_cast<const unsigned char*>(head.data()));
    std::uint64_t links = (length - openqcd_header_bytes) / stored.link_bytes();
    if ((length - openqcd_header_bytes) % stored.link_bytes() != 0 || links % 4 != 0) return false;
    links /= 4;  // divided, because a hostile product may overflow
    for (const auto extent : n) {
        if (extent < 1 || links % static_cast<std::uint64_t>(extent) != 0) return false;
        links /= static_cast<std::uint64_t>(extent);
    }
    return links == 1;
}

GaugeFile read_openqcd(ByteSource& source, std::uint64_t memory, PartReader& part) {
    std::array<unsigned char, openqcd_header_bytes> header{};
    KS_VALIDATE(source.read(header.data(), openqcd_header_bytes) == openqcd_header_bytes,
                "ends inside its header of 24 bytes: it is truncated", {source.name(), 0, 0, ""});
    const auto extents = checked_extents(source.name(), "", extents_of(header.data()));
    const double said = std::bit_cast<double>(long_word_at(header.data() + plaquette_at, false)) / 3;
    LinkReader reader(source.name(), extents, stored, source.left(), memory, part);
    if (std::isfinite(said))
        reader.expect_plaquette({said, 1e-13});
    else
        reader.complain(fmt::format("its header states a plaquette of {}: it is damaged", std::isnan(said) ? "nan" : "infinity"));
    const auto link = stored.link_bytes();
    bool any_zero = false;
    const auto& box = reader.box();
    for_each_run(box, [&](index_t first, index_t count) {
        source.seek(openqcd_header_bytes + static_cast<std::uint64_t>(first) * 8 * link);
        for_each_record(source, count, 8 * link, [&](index_t i, const unsigned char* bytes) {
            for_each_link(extents, first + i, [&](const Site& site, int mu, std::size_t place) {
                if (!box.contains(site)) return;
                const auto* at = bytes + place * link;
                any_zero |= std::all_of(at, at + link, [](unsigned char byte) { return byte == 0; });
                reader.take(box.number(site), mu, at);
            });
        });
    });
    if (part.any(any_zero))
        reader.complain("has links that are zero: open or Schroedinger-functional boundaries in time are not read, only periodic ones");
    GaugeFileFacts facts{.format = GaugeFormat::openqcd, .big_endian = false};
    facts.notes.push_back("openQCD files have no checksum: a change of the last bits of a link that leaves it unitary is not detected");
    auto file = reader.finish(std::move(facts));
    file.facts.checksum = {"plaquette", fmt::format("{:.17g}", said), fmt::format("{:.17g}", part.plaquette(file.field)), true};
    return file;
}

void write_openqcd(const std::filesystem::path& file, const GaugeField& field) {
    const auto& n = field.extents;
    std::array<unsigned char, openqcd_header_bytes> header{};
    for (std::size_t i = 0; i < 4; ++i) put_word(static_cast<std::uint32_t>(n[file_order[i]]), false, header.data() + 4 * i);
    put_word(std::bit_cast<std::uint64_t>(3 * plaquette(field).mean()), false, header.data() + plaquette_at);
    const auto link = stored.link_bytes();
    AtomicFile out(file, openqcd_header_bytes + 4 * static_cast<std::uint64_t>(n.volume()) * link);
    BlockWriter block(out);
    block.put(header.data(), header.size());
    std::vector<unsigned char> site(8 * link);
    for (index_t number = 0; number < n.half(); ++number) {
        for_each_link(n, number,
                      [&](const Site& at, int mu, std::size_t place) { encode(field.link(at, mu), stored, site.data() + place * link); });
        block.put(site.data(), site.size());
    }
    block.flush();
    out.commit();
}

}  // namespace kasane::lattice
