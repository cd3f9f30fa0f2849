#include <kasane/core/base/error.hpp>
#include <kasane/lattice/file/formats.hpp>

#include <string_view>

namespace kasane::lattice {
namespace {

using namespace std::string_view_literals;

/// Names the kind of a file that is in none of the formats, and the remedy.
std::string refusal(const std::string& head) {
    const struct {
        std::string_view magic, why;
    } known[] = {
        {"\x89HDF"sv, "is an HDF5 file: gauge configurations are read from NERSC, ILDG, MILC v5 and openQCD files"},
        {"\xab\x89\x67\x45"sv, "looks like LIME of little-endian numbers: LIME is big endian, so this was not written by a LIME library"},
    };
    if (head.empty()) return "is empty: it holds no bytes";
    if (const auto how = how_to_unpack(head); !how.empty()) return std::string(how);
    for (const auto& [magic, why] : known)
        if (head.starts_with(magic)) return std::string(why);
    return "is not a gauge configuration of a known format: NERSC begins with BEGIN_HEADER, ILDG with LIME's 45 67 89 ab, MILC v5 with the "
           "number "
           "20103, and an openQCD file is as long as its four extents say. It may be truncated, or be another kind of file";
}

}  // namespace

const char* name(GaugeFormat format) {
    switch (format) {
        case GaugeFormat::nersc: return "nersc";
        case GaugeFormat::ildg: return "ildg";
        case GaugeFormat::milc: return "milc";
        case GaugeFormat::openqcd: return "openqcd";
    }
    return "";
}

GaugeFile read_gauge(ByteSource& source, std::uint64_t memory, PartReader& part) {
    const auto head = source.head();
    if (is_nersc(head)) return read_nersc(source, memory, part);
    if (is_lime(head)) return read_ildg(source, memory, part);
    if (is_milc(head)) return read_milc(source, memory, part);
    if (is_openqcd(head, source.size())) return read_openqcd(source, memory, part);
    throw InputError(refusal(head), {source.name(), 0, 0, ""});
}

GaugeFile read_gauge(ByteSource& source, std::uint64_t memory) {
    PartReader whole;
    return read_gauge(source, memory, whole);
}

}  // namespace kasane::lattice
