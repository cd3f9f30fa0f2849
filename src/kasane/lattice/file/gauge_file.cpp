#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/lattice/file/field_intake.hpp>
#include <kasane/lattice/file/formats.hpp>

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace kasane::lattice {
namespace {

using namespace std::string_view_literals;

/// What a file is that is none of ours, and what to do about it.
std::string refusal(const std::string& head) {
    const struct {
        std::string_view magic, why;
    } known[] = {
        {"\x1f\x8b"sv, "is compressed with gzip: unpack it first (gunzip -k FILE)"},
        {"BZh"sv, "is compressed with bzip2: unpack it first (bunzip2 -k FILE)"},
        {"\xfd"
         "7zXZ"sv,
         "is compressed with xz: unpack it first (unxz -k FILE)"},
        {"\x28\xb5\x2f\xfd"sv, "is compressed with zstd: unpack it first (unzstd FILE)"},
        {"PK\x03\x04"sv, "is a zip archive: unpack it first"},
        {"\x89HDF"sv, "is an HDF5 file: gauge configurations are read from NERSC, ILDG, MILC v5 and openQCD files"},
        {"\xab\x89\x67\x45"sv, "looks like LIME of little-endian numbers: LIME is big endian, so this was not written by a LIME library"},
    };
    if (head.empty()) return "is empty: it holds no bytes";
    for (const auto& [magic, why] : known)
        if (head.starts_with(magic)) return std::string(why);
    return "is no gauge configuration of a known format: NERSC begins with BEGIN_HEADER, ILDG with LIME's 45 67 89 ab, MILC v5 with the number "
           "20103, and an openQCD file is as long as its four extents say. It may be truncated, or be another kind of file";
}

/// @throws InputError naming the worst link where a reader would refuse this field: not in SU(3) to the precision of its numbers
void check_links(const std::filesystem::path& file, const GaugeField& field, int bits) {
    check_extents(field.extents, file.string());
    double worst = 0;
    index_t at = 0;
    bool single = true;
    for (index_t i = 0; i < 4 * field.extents.volume(); ++i) {
        const auto& u = field.links[static_cast<std::size_t>(i)];
        for (const auto& row : u.e)
            for (const auto& z : row)
                single &= static_cast<double>(static_cast<float>(z.re)) == z.re && static_cast<double>(static_cast<float>(z.im)) == z.im;
        if (const double distance = checked_distance(u); distance > worst) worst = distance, at = i;
    }
    const double allowed = su3_tolerance(bits == 32 || single);
    const auto s = field.extents.site(at / 4);
    KS_VALIDATE(worst <= allowed,
                fmt::format("is not written: the link of site ({}, {}, {}, {}) in direction {} is {:.2g} from SU(3), and {:.0e} is allowed. "
                            "Reunitarise the field first",
                            s[0], s[1], s[2], s[3], "xyzt"[at % 4], worst, allowed),
                {file.string(), 0, 0, ""});
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

GaugeFile read_gauge(ByteSource& source, std::uint64_t memory) {
    const auto head = source.head();
    if (is_nersc(head)) return read_nersc(source, memory);
    if (is_lime(head)) return read_ildg(source, memory);
    if (is_milc(head)) return read_milc(source, memory);
    if (is_openqcd(head, source.size())) return read_openqcd(source, memory);
    throw InputError(refusal(head), {source.name(), 0, 0, ""});
}

GaugeFile read_gauge(const std::filesystem::path& file) {
    ByteSource source(file);
    return read_gauge(source, available_memory(Cpu{}));
}

void write_gauge(const std::filesystem::path& file, const GaugeField& field, const GaugeWriteOptions& options) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool condition, std::string message) {
        if (!condition) problems.push_back({std::move(message), {file.string(), 0, 0, ""}});
    };
    const bool nersc = options.format == GaugeFormat::nersc;
    require(options.format != GaugeFormat::milc, "is not written as MILC v5, which is only read: take ildg, nersc or openqcd");
    require(options.bits == 32 || options.bits == 64, fmt::format("is not written with {} bits: a number has 32 or 64", options.bits));
    require(options.rows == 3 || (options.rows == 2 && nersc), "is not written with fewer rows than 3: only NERSC files may have 2");
    require(options.format != GaugeFormat::openqcd || options.bits == 64, "is not written with 32 bits: openQCD files have 64");
    require(options.big_endian || options.format != GaugeFormat::ildg, "is not written little endian: ILDG files are big endian");
    if (!problems.empty()) throw InputError(problems);
    check_links(file, field, options.bits);
    const Encoding stored{options.bits, options.rows, options.big_endian};
    if (nersc) write_nersc(file, field, stored);
    if (options.format == GaugeFormat::ildg) write_ildg(file, field, stored);
    if (options.format == GaugeFormat::openqcd) write_openqcd(file, field);
}

}  // namespace kasane::lattice
