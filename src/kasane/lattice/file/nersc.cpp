// NERSC archive files: a text header BEGIN_HEADER, KEY = VALUE, END_HEADER, then x fastest, y, z, t; at each site the links along x, y, z,
// t, row by row, two rows (4D_SU3_GAUGE) or three (4D_SU3_GAUGE_3x3).
//                                                                   [gauge connection, http://qcd.nersc.gov; lattice.md of the archive]
// Invariants: every key that is used occurs once; the length of the payload is compared with the header before memory is allocated.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/number_text.hpp>
#include <kasane/lattice/file/block_writer.hpp>
#include <kasane/lattice/file/checksums.hpp>
#include <kasane/lattice/file/link_reader.hpp>
#include <kasane/lattice/file/formats.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace kasane::lattice {
namespace {

constexpr std::string_view first_line = "BEGIN_HEADER", last_line = "END_HEADER";

std::string_view trimmed_part(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\v\f");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\v\f") - first + 1);
}

/// The header's lines, read up to END_HEADER; the source continues after it.
class Header {
   public:
    explicit Header(ByteSource& source) : file_(source.name()) {
        LineReader lines(source);
        std::string_view line;
        lines.next(line);
        while (lines.next(line)) {
            const auto number = static_cast<int>(lines.line());
            const auto text = trimmed_part(line);
            if (text == last_line) {
                source.seek(source.size() - lines.left());
                return;
            }
            const auto equals = text.find('=');
            if (text.empty()) continue;
            if (number > most_lines || equals == std::string_view::npos)
                throw InputError(number > most_lines ? fmt::format("has no {} in its first {} lines: it is damaged", last_line, most_lines)
                                                     : fmt::format("{} is not a line of a header, which is 'KEY = VALUE', and the last {}",
                                                                   in_quotes(text), last_line),
                                 {file_, number, 0, ""});
            entries_.push_back(
                {std::string(trimmed_part(text.substr(0, equals))), std::string(trimmed_part(text.substr(equals + 1))), number});
        }
        throw InputError(fmt::format("ends before its {}: it is truncated", last_line), {file_, 0, 0, ""});
    }

    /// Empty where the key is missing; two occurrences are a problem.
    std::string_view find(std::string_view key) {
        const Entry* found = nullptr;
        for (const auto& entry : entries_) {
            if (entry.key != key) continue;
            if (found) problem(key, fmt::format("occurs twice, first in line {}: keep the right one", found->line), entry.line);
            found = &entry;
        }
        return found ? std::string_view(found->value) : std::string_view();
    }
    std::string_view need(std::string_view key) {
        const auto value = find(key);
        if (value.empty()) problem(key, "is missing: without it the links cannot be read");
        return value;
    }
    void problem(std::string_view key, std::string message, int line = 0) {
        for (const auto& entry : entries_)
            if (line == 0 && entry.key == key) line = entry.line;
        problems_.push_back({std::move(message), {file_, line, 0, std::string(key)}});
    }
    void throw_problems() const {
        if (!problems_.empty()) throw InputError(problems_);
    }

   private:
    static constexpr int most_lines = 1000;
    struct Entry {
        std::string key, value;
        int line;
    };
    std::string file_;
    std::vector<Entry> entries_;
    std::vector<InputProblem> problems_;
};

Encoding encoding_of(Header& header, bool& order_unsaid) {
    Encoding stored;
    const auto type = header.need("DATATYPE");
    stored.rows = type == "4D_SU3_GAUGE" ? 2 : 3;
    if (!type.empty() && type != "4D_SU3_GAUGE" && type != "4D_SU3_GAUGE_3x3" && type != "4D_SU3_GAUGE_3X3")
        header.problem("DATATYPE", in_quotes(type) + " is not read: it is 4D_SU3_GAUGE (two rows) or 4D_SU3_GAUGE_3x3");
    const auto number = header.need("FLOATING_POINT");
    const bool is64 = number.starts_with("IEEE64"), is32 = number.starts_with("IEEE32");
    const auto order = is64 || is32 ? number.substr(6) : std::string_view("?");
    if (!number.empty() && order != "" && order != "BIG" && order != "LITTLE")
        header.problem("FLOATING_POINT", in_quotes(number) + " is unknown: it is IEEE32BIG, IEEE32LITTLE, IEEE64BIG or IEEE64LITTLE");
    stored.bits = is64 ? 64 : 32;
    stored.big_endian = order == "BIG";
    order_unsaid = order.empty();
    return stored;
}

std::array<index_t, 4> dimensions_of(Header& header) {
    std::array<index_t, 4> n{};
    for (int mu = 0; mu < 4; ++mu) {
        const auto key = fmt::format("DIMENSION_{}", mu + 1);
        const auto value = header.need(key);
        if (!value.empty() && parse_number(value, n[static_cast<std::size_t>(mu)]) != NumberText::good)
            header.problem(key, in_quotes(value) + " is not a whole number");
    }
    return n;
}

/// Plain IEEE32 and IEEE64 are used for either byte order: with the right one the first row of a link has length 1.
bool first_link_is_big_endian(ByteSource& source, Encoding stored) {
    std::array<unsigned char, 144> bytes{};
    const auto at = source.position();
    source.read(bytes.data(), stored.link_bytes());
    source.seek(at);
    const auto off = [&](bool big_endian) {
        stored.big_endian = big_endian;
        Su3<double> u{};
        decode(bytes.data(), stored, u);
        const double length = norm2(u.e[0][0]) + norm2(u.e[0][1]) + norm2(u.e[0][2]);
        return std::isfinite(length) ? std::abs(length - 1) : 1e300;
    };
    return off(true) < off(false);
}

}  // namespace

bool is_nersc(const std::string& head) { return head.starts_with(first_line); }

GaugeFile read_nersc(ByteSource& source, std::uint64_t memory, PartReader& part) {
    Header header(source);
    bool order_unsaid = false;
    auto stored = encoding_of(header, order_unsaid);
    const auto n = dimensions_of(header);
    GaugeFileFacts facts{.format = GaugeFormat::nersc, .bits = stored.bits, .rows = stored.rows};
    const auto checksum = header.find("CHECKSUM");
    std::uint32_t sum = 0;
    auto digits = checksum;
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), sum, 16);
    if (!checksum.empty() && (error != std::errc{} || end != digits.data() + digits.size()))
        header.problem("CHECKSUM", in_quotes(checksum) + " is not a number of 8 hexadecimal digits");
    const auto stated = [&](const char* key) -> std::optional<Stated> {
        const auto text = header.find(key);
        if (text.empty()) return std::nullopt;
        const auto number = stated_number(text, stored.bits);
        if (!number) header.problem(key, in_quotes(text) + " is not a number");
        return number;
    };
    const auto plaquette_said = stated("PLAQUETTE"), link_trace_said = stated("LINK_TRACE");
    for (const char* key : {"BOUNDARY_1", "BOUNDARY_2", "BOUNDARY_3", "BOUNDARY_4"})
        if (const auto value = header.find(key); !value.empty() && value != "PERIODIC")
            facts.notes.push_back(fmt::format("{} is {}: it concerns quarks, and is not used", key, in_quotes(value)));
    header.throw_problems();

    const auto extents = checked_extents(source.name(), "DIMENSION_1 to 4", n);
    if (order_unsaid) {
        stored.big_endian = first_link_is_big_endian(source, stored);
        facts.notes.push_back(fmt::format("FLOATING_POINT does not state the byte order: the first link is unitary when read {} endian",
                                          stored.big_endian ? "big" : "little"));
    }
    facts.big_endian = stored.big_endian;
    LinkReader reader(source.name(), extents, stored, source.left(), memory, part);
    if (plaquette_said) reader.expect_plaquette(*plaquette_said);
    if (link_trace_said) reader.expect_link_trace(*link_trace_said);
    NerscSum found(stored.big_endian);
    reader.read_sites(source, found);
    facts.checksum = {"nersc", checksum.empty() ? "" : fmt::format("{:08x}", sum), fmt::format("{:08x}", found.value()),
                      checksum.empty() || sum == found.value()};
    if (checksum.empty()) {
        facts.checksum.kind = "none";
        facts.notes.push_back("has no CHECKSUM: damage that leaves the links unitary and the plaquette as stated is not detected");
    }
    return reader.finish(std::move(facts));
}

void write_nersc(const std::filesystem::path& file, const GaugeField& field, const Encoding& stored) {
    const auto& n = field.extents;
    std::vector<unsigned char> site(4 * stored.link_bytes());
    const auto for_each_site = [&](auto use) {
        for (index_t s = 0; s < n.volume(); ++s) {
            for (int mu = 0; mu < 4; ++mu)
                encode(field.link(s, mu), stored, site.data() + static_cast<std::size_t>(mu) * stored.link_bytes());
            use(s);
        }
    };
    NerscSum sum(stored.big_endian);
    for_each_site([&](index_t s) { sum.add_site(s, site.data(), site.size()); });

    std::string header =
        fmt::format("{}\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE{}\nSTORAGE_FORMAT = 1.0\n", first_line, stored.rows == 3 ? "_3x3" : "");
    for (int mu = 0; mu < 4; ++mu) header += fmt::format("DIMENSION_{} = {}\n", mu + 1, n[mu]);
    header += fmt::format("LINK_TRACE = {:.12g}\nPLAQUETTE = {:.12g}\n", link_trace(field), plaquette(field).mean());
    for (int mu = 0; mu < 4; ++mu) header += fmt::format("BOUNDARY_{} = PERIODIC\n", mu + 1);
    header += fmt::format("CHECKSUM = {:08x}\nENSEMBLE_ID = kasane\nENSEMBLE_LABEL = kasane\nSEQUENCE_NUMBER = 0\nCREATOR = kasane\n",
                          sum.value());
    const char* order = stored.big_endian ? "BIG" : stored.bits == 64 ? "LITTLE" : "";  // plain IEEE32: little endian, the usual reading
    header += fmt::format("FLOATING_POINT = IEEE{}{}\n{}\n", stored.bits, order, last_line);

    AtomicFile out(file, header.size() + static_cast<std::uint64_t>(n.volume()) * site.size());
    out.write(header);
    BlockWriter block(out);
    for_each_site([&](index_t) { block.put(site.data(), site.size()); });
    block.flush();
    out.commit();
}

}  // namespace kasane::lattice
