#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/lattice/file/link_reader.hpp>
#include <kasane/lattice/file/formats.hpp>

#include <fmt/format.h>

#include <vector>

namespace kasane::lattice {
namespace {

/// @throws InputError naming the worst link where a reader would refuse this field: not in SU(3) to the precision of its numbers
void check_links(const std::filesystem::path& file, const GaugeField& field, int bits) {
    check_extents(field.extents, {file.string(), 0, 0, ""});
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
    KS_VALIDATE(
        worst <= allowed,
        fmt::format("is not written: the link of site ({}, {}, {}, {}) in direction {} is {:.2g} from SU(3), and {:.0e} is allowed. "
                    "Reunitarise the field first",
                    s[0], s[1], s[2], s[3], "xyzt"[at % 4], worst, allowed),
        {file.string(), 0, 0, ""});
}

/// Ends the reading of a file before its links.
struct HeaderReader final : PartReader {
    struct Done {
        Extents extents;
    };
    FileBox box(const Extents& lattice) override { throw Done{lattice}; }
};

}  // namespace

GaugeFile read_gauge(const std::filesystem::path& file) {
    ByteSource source(file);
    return read_gauge(source, available_memory(Cpu{}));
}

Extents read_extents(const std::filesystem::path& file) {
    ByteSource source(file);
    HeaderReader reader;
    try {
        return read_gauge(source, available_memory(Cpu{}), reader).field.extents;
    } catch (const HeaderReader::Done& done) {
        return done.extents;
    }
}

void write_gauge(const std::filesystem::path& file, const GaugeField& field, const GaugeWriteOptions& options) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool condition, std::string message) {
        if (!condition) problems.push_back({std::move(message), {file.string(), 0, 0, ""}});
    };
    const bool nersc = options.format == GaugeFormat::nersc;
    require(options.bits == 32 || options.bits == 64, fmt::format("is not written with {} bits: a number has 32 or 64", options.bits));
    require(options.rows == 3 || (options.rows == 2 && nersc), "is not written with fewer rows than 3: only NERSC files may have 2");
    require(options.format != GaugeFormat::openqcd || options.bits == 64, "is not written with 32 bits: openQCD files have 64");
    require(options.format != GaugeFormat::milc || options.bits == 32, "is not written with 64 bits: MILC v5 files have 32");
    require(options.big_endian || options.format != GaugeFormat::ildg, "is not written little endian: ILDG files are big endian");
    if (!problems.empty()) throw InputError(problems);
    check_links(file, field, options.bits);
    const Encoding stored{options.bits, options.rows, options.big_endian};
    if (nersc) write_nersc(file, field, stored);
    if (options.format == GaugeFormat::ildg) write_ildg(file, field, stored);
    if (options.format == GaugeFormat::milc) write_milc(file, field, options.big_endian);
    if (options.format == GaugeFormat::openqcd) write_openqcd(file, field);
}

}  // namespace kasane::lattice
