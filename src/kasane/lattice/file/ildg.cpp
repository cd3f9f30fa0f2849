// Reads ILDG and SciDAC gauge configurations: LIME records in any order, in one message or several. ildg-format (or SciDAC's private
// records) states extents and precision; the data are big endian, x fastest, y, z, t; at each site the links along x, y, z, t, row by row.
//                                                    [ILDG binary file format 1.1; SciDAC data file format, as QIO reads and writes it]
// Invariant: a checksum is compared only with the data that it was written for.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/number_text.hpp>
#include <kasane/lattice/file/checksums.hpp>
#include <kasane/lattice/file/link_reader.hpp>
#include <kasane/lattice/file/formats.hpp>
#include <kasane/lattice/file/lime.hpp>
#include <kasane/lattice/file/xml_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace kasane::lattice {
namespace {

using Records = std::vector<LimeRecord>;

/// A record of XML; each of its elements must occur once.
class XmlRecord {
   public:
    XmlRecord(ByteSource& source, const LimeRecord& record, std::vector<InputProblem>& problems)
        : file_(source.name()), type_(record.type), text_(lime_text(source, record)), problems_(problems) {}
    std::string need(const char* element) {
        auto found = xml_elements(text_, element);
        if (found.size() == 1 && !found[0].empty()) return found[0];
        problem(element, found.size() > 1 ? fmt::format("occurs {} times in it: keep the right one", found.size())
                                          : "is missing in it: without it the links cannot be read");
        return {};
    }
    index_t need_number(const char* element) {
        const auto text = need(element);
        index_t number = 0;
        if (!text.empty() && parse_number(text, number) != NumberText::good) problem(element, in_quotes(text) + " is not a whole number");
        return number;
    }
    /// The element's text where it occurs once, else empty.
    std::string find(const char* element) const {
        auto found = xml_elements(text_, element);
        return found.size() == 1 ? found[0] : std::string();
    }
    void problem(const char* element, const std::string& message) {
        problems_.push_back({message, {file_, 0, 0, fmt::format("record {}, <{}>", type_, element)}});
    }

   private:
    std::string file_, type_, text_;
    std::vector<InputProblem>& problems_;
};

bool is_binary(const LimeRecord& record) { return record.type.ends_with("-binary-data"); }

/// Finds the record with the links.
std::size_t links_record(const ByteSource& source, const Records& records) {
    for (const char* type : {"ildg-binary-data", "scidac-binary-data"}) {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < records.size(); ++i)
            if (records[i].type == type) found.push_back(i);
        KS_VALIDATE(found.size() <= 1,
                    fmt::format("holds {} records {}: one configuration a file is read. Take them apart first", found.size(), type),
                    {source.name(), 0, 0, ""});
        if (found.size() == 1) return found[0];
    }
    std::string types;
    for (std::size_t i = 0; i < std::min<std::size_t>(records.size(), 8); ++i) types += (i ? ", " : "") + in_quotes(records[i].type);
    throw InputError(fmt::format("holds no links: there is no record ildg-binary-data or scidac-binary-data among {}{}", types,
                                 records.size() > 8 ? ", ..." : ""),
                     {source.name(), 0, 0, ""});
}

/// The record of that type in the message of the links, else in another message; null where there is none.
const LimeRecord* companion(const ByteSource& source, const Records& records, const LimeRecord& links, std::string_view type) {
    std::vector<const LimeRecord*> near, far;
    for (const auto& record : records)
        if (record.type == type) (record.message == links.message ? near : far).push_back(&record);
    const auto& found = near.empty() ? far : near;
    KS_VALIDATE(found.size() <= 1, fmt::format("holds {} records {} for the same links: keep the right one", found.size(), type),
                {source.name(), 0, 0, ""});
    return found.empty() ? nullptr : found[0];
}

/// Number of the binary record that a checksum was written for: the one before it in its message, or after it there, otherwise the nearest
/// before it, or the first of all. (Some writers put every record into a separate message.)
std::size_t summed_record(const Records& records, std::size_t checksum) {
    const auto none = records.size();
    std::size_t before_here = none, behind_here = none, before = none, first = none;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (!is_binary(records[i])) continue;
        if (first == none) first = i;
        const bool here = records[i].message == records[checksum].message;
        if (i < checksum) before = i;
        if (i < checksum && here) before_here = i;
        if (i > checksum && here && behind_here == none) behind_here = i;
    }
    for (const auto choice : {before_here, behind_here, before})
        if (choice != none) return choice;
    return first;
}

const LimeRecord* checksum_record(const ByteSource& source, const Records& records, std::size_t links) {
    const LimeRecord* found = nullptr;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (records[i].type != "scidac-checksum" || summed_record(records, i) != links) continue;
        KS_VALIDATE(!found, "holds two checksums of the same links: keep the right one", {source.name(), 0, 0, ""});
        found = &records[i];
    }
    return found;
}

struct Layout {
    std::array<index_t, 4> n{};
    int bits = 0;
};

Layout ildg_layout(XmlRecord xml) {
    Layout layout;
    const auto field = xml.need("field");
    if (!field.empty() && field != "su3gauge") xml.problem("field", in_quotes(field) + " is not read: su3gauge is");
    const auto bits = xml.need("precision");
    if (!bits.empty() && bits != "32" && bits != "64") xml.problem("precision", in_quotes(bits) + " is not read: 32 or 64 bits are");
    layout.bits = bits == "32" ? 32 : 64;
    layout.n = {xml.need_number("lx"), xml.need_number("ly"), xml.need_number("lz"), xml.need_number("lt")};
    return layout;
}

/// Header of SciDAC files that are not ILDG.
Layout scidac_layout(XmlRecord file, XmlRecord record) {
    Layout layout;
    const auto dims = file.need("dims");
    Words words(dims);
    for (auto& extent : layout.n) {
        const auto word = words.next();
        if (!dims.empty() && parse_number(word, extent) != NumberText::good)
            file.problem("dims", in_quotes(dims) + " is not four whole numbers");
    }
    if (!words.next().empty()) file.problem("dims", in_quotes(dims) + " is not four whole numbers");
    if (const auto parts = file.find("volfmt"); !parts.empty() && parts != "0")
        file.problem("volfmt", in_quotes(parts) + ": it is one of several files, and one whole file (0) is read. Join them first");
    const auto precision = record.need("precision");
    if (!precision.empty() && precision != "F" && precision != "D")
        record.problem("precision", in_quotes(precision) + " is not read: F or D is");
    layout.bits = precision == "F" ? 32 : 64;
    const auto count = record.need_number("datacount");
    if (const auto type = record.need("datatype"); !type.empty() && (type.find("ColorMatrix") == std::string::npos || count != 4))
        record.problem("datatype",
                       fmt::format("{} of {} per site is not a gauge field, which has 4 of a ColorMatrix", count, in_quotes(type)));
    return layout;
}

Layout layout_of(ByteSource& source, const Records& records, const LimeRecord& links, std::vector<InputProblem>& problems) {
    Layout layout;
    if (const auto* format = companion(source, records, links, "ildg-format")) {
        layout = ildg_layout(XmlRecord(source, *format, problems));
    } else {
        const auto* file = companion(source, records, links, "scidac-private-file-xml");
        const auto* record = companion(source, records, links, "scidac-private-record-xml");
        KS_VALIDATE(file && record,
                    "holds links and no record ildg-format, nor SciDAC's private ones: their extents and precision are not known",
                    {source.name(), 0, 0, ""});
        layout = scidac_layout(XmlRecord(source, *file, problems), XmlRecord(source, *record, problems));
    }
    return layout;
}

struct StoredSums {
    std::uint32_t a = 0, b = 0;
};
StoredSums stored_sums(XmlRecord xml) {
    StoredSums sums;
    for (const auto& [element, to] : {std::pair{"suma", &sums.a}, std::pair{"sumb", &sums.b}}) {
        const auto text = xml.need(element);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *to, 16);
        if (!text.empty() && (error != std::errc{} || end != text.data() + text.size()))
            xml.problem(element, in_quotes(text) + " is not a number of up to 8 hexadecimal digits");
    }
    return sums;
}

/// Types that are neither used nor part of every file; empty where there are none.
std::string passed_over(const Records& records) {
    std::vector<std::string> types;
    for (const auto& record : records) {
        const bool usual = record.type.starts_with("scidac-") || record.type == "ildg-format" || record.type == "ildg-binary-data" ||
                           record.type == "ildg-data-lfn";
        if (!usual && std::find(types.begin(), types.end(), record.type) == types.end() && types.size() < 9) types.push_back(record.type);
    }
    std::string text;
    for (std::size_t i = 0; i < types.size(); ++i) text += i == 8 ? ", ..." : (i ? ", " : "") + in_quotes(types[i]);
    return text;
}

}  // namespace

bool is_lime(const std::string& head) { return head.starts_with("\x45\x67\x89\xab"); }

GaugeFile read_ildg(ByteSource& source, std::uint64_t memory, PartReader& part) {
    const auto records = lime_records(source);
    const auto links_at = links_record(source, records);
    const auto& links = records[links_at];
    std::vector<InputProblem> problems;
    const auto layout = layout_of(source, records, links, problems);
    const auto* sums_record = checksum_record(source, records, links_at);
    const bool ended =
        std::any_of(records.begin(), records.end(), [&](const auto& r) { return r.message == links.message && r.ends_message; });
    if (!sums_record && !ended)
        problems.push_back({"ends without a checksum, and before the end of the message that holds its links: it is truncated",
                            {source.name(), 0, 0, ""}});
    const auto stored_sum = sums_record ? stored_sums(XmlRecord(source, *sums_record, problems)) : StoredSums{};
    std::optional<Stated> plaquette_said, link_trace_said;
    for (const auto& record : records) {
        if (record.type != "scidac-record-xml" || record.message != links.message) continue;
        const XmlRecord info(source, record, problems);
        if (info.find("usqcdInfo").empty()) continue;
        plaquette_said = stated_number(info.find("plaq"), layout.bits);
        link_trace_said = stated_number(info.find("linktr"), layout.bits);
    }
    if (!problems.empty()) throw InputError(problems);

    GaugeFileFacts facts{.format = GaugeFormat::ildg, .bits = layout.bits};
    const Encoding stored{.bits = layout.bits};
    LinkReader reader(source.name(), checked_extents(source.name(), "", layout.n), stored, links.length, memory, part);
    if (plaquette_said) reader.expect_plaquette(*plaquette_said);
    if (link_trace_said) reader.expect_link_trace(*link_trace_said);
    ScidacSum sum;
    source.seek(links.position);
    reader.read_sites(source, sum);
    const auto hexadecimal = [](std::uint32_t a, std::uint32_t b) { return fmt::format("{:08x} {:08x}", a, b); };
    facts.checksum = {sums_record ? "scidac" : "none", sums_record ? hexadecimal(stored_sum.a, stored_sum.b) : "",
                      hexadecimal(sum.a(), sum.b()), !sums_record || (stored_sum.a == sum.a() && stored_sum.b == sum.b())};
    if (!sums_record) facts.notes.push_back("has no checksum: damage that leaves the links unitary is not detected");
    if (const auto types = passed_over(records); !types.empty()) facts.notes.push_back("records not used: " + types);
    return reader.finish(std::move(facts));
}

}  // namespace kasane::lattice
