// Writes ILDG configurations in LIME, with the records that QIO and the codes that use it need.
#include <kasane/lattice/file/block_writer.hpp>
#include <kasane/lattice/file/checksums.hpp>
#include <kasane/lattice/file/formats.hpp>
#include <kasane/lattice/file/lime.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <fmt/format.h>

namespace kasane::lattice {
namespace {

constexpr const char* prolog = R"(<?xml version="1.0" encoding="UTF-8"?>)";

std::string text_record(std::string_view type, const std::string& xml, bool begins_message, bool ends_message) {
    const auto text = prolog + xml;
    return lime_header(type, text.size(), begins_message, ends_message) + text + lime_padding(text.size());
}

/// The message of the file, then the configuration's message up to the links.
std::string records_before(const GaugeField& field, int bits) {
    const auto& n = field.extents;
    return text_record("scidac-private-file-xml",
                       fmt::format("<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{} {} {} {} </dims><volfmt>0</volfmt>"
                                   "</scidacFile>",
                                   n[0], n[1], n[2], n[3]),
                       true, false) +
           text_record("scidac-file-xml", "<title>gauge configuration</title>", false, true) +
           text_record(
               "scidac-private-record-xml",
               fmt::format("<scidacRecord><version>1.1</version><recordtype>0</recordtype><datatype>QDP_{0}3_ColorMatrix</datatype>"
                           "<precision>{0}</precision><colors>3</colors><typesize>{1}</typesize><datacount>4</datacount></scidacRecord>",
                           bits == 32 ? "F" : "D", bits == 32 ? 72 : 144),
               true, false) +
           text_record(
               "scidac-record-xml",
               fmt::format("<usqcdInfo><version>1.0</version><plaq>{:.12g}</plaq><linktr>{:.12g}</linktr><info>kasane</info></usqcdInfo>",
                           plaquette(field).mean(), link_trace(field)),
               false, false) +
           text_record(
               "ildg-format",
               fmt::format(R"(<ildgFormat xmlns="http://www.lqcd.org/ildg" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" )"
                           R"(xsi:schemaLocation="http://www.lqcd.org/ildg/filefmt.xsd"><version>1.0</version>)"
                           "<field>su3gauge</field><precision>{}</precision><lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt></ildgFormat>",
                           bits, n[0], n[1], n[2], n[3]),
               false, false);
}

std::string checksum_text(const ScidacSum& sum) {
    return text_record(
        "scidac-checksum",
        fmt::format("<scidacChecksum><version>1.0</version><suma>{:08x}</suma><sumb>{:08x}</sumb></scidacChecksum>", sum.a(), sum.b()),
        false, true);
}

}  // namespace

void write_ildg(const std::filesystem::path& file, const GaugeField& field, const Encoding& stored) {
    const auto volume = field.extents.volume();
    std::vector<unsigned char> site(4 * stored.link_bytes());
    const auto payload = static_cast<std::uint64_t>(volume) * site.size();
    const auto before = records_before(field, stored.bits);
    AtomicFile out(file, before.size() + lime_size(payload) + checksum_text({}).size());
    out.write(before);
    out.write(lime_header("ildg-binary-data", payload, false, false));
    ScidacSum sum;
    BlockWriter block(out);
    for (index_t s = 0; s < volume; ++s) {
        for (int mu = 0; mu < 4; ++mu) encode(field.link(s, mu), stored, site.data() + static_cast<std::size_t>(mu) * stored.link_bytes());
        sum.add_site(s, site.data(), site.size());
        block.put(site.data(), site.size());
    }
    block.flush();
    out.write(lime_padding(payload));
    out.write(checksum_text(sum));
    out.commit();
}

}  // namespace kasane::lattice
