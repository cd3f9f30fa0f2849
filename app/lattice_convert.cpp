// kasane lattice convert IN OUT: a gauge configuration in another format, with the same links.
// Invariants: the input is checked as `lattice info` does; numbers keep their width where the new format has it; OUT appears complete or
// not at all.
#include <app/lattice.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;
using lattice::GaugeFormat;

struct ConvertOptions {
    std::string in, out, format, byte_order;
    int bits = 0, rows = 0;  ///< 0: as in the input, where the format has it
    bool force = false;
};

constexpr std::array gauge_formats{GaugeFormat::ildg, GaugeFormat::nersc, GaugeFormat::milc, GaugeFormat::openqcd};
/// Extensions that name a format.
constexpr std::array<std::pair<const char*, GaugeFormat>, 6> extensions{{{".lime", GaugeFormat::ildg},
                                                                         {".ildg", GaugeFormat::ildg},
                                                                         {".nersc", GaugeFormat::nersc},
                                                                         {".milc", GaugeFormat::milc},
                                                                         {".v5", GaugeFormat::milc},
                                                                         {".openqcd", GaugeFormat::openqcd}}};

/// The format that is asked for, by name or by the extension of OUT. @throws InputError
GaugeFormat format_of(const ConvertOptions& o) {
    for (const auto format : gauge_formats)
        if (o.format == name(format)) return format;
    KS_VALIDATE(o.format.empty(), fmt::format("is '{}': take ildg, nersc, milc or openqcd", o.format), {"", 0, 0, "--format"});
    const auto extension = fs::path(o.out).extension().string();
    for (const auto& [text, format] : extensions)
        if (extension == text) return format;
    throw InputError(
        fmt::format("is not given, and the name {} states no format: give --format ildg, nersc, milc or openqcd, or a name that "
                    "ends in .lime, .nersc, .milc or .openqcd",
                    o.out),
        {"", 0, 0, "--format"});
}

/// The widths and orders of the output: those that were given, or else those of the input where the format has them.
lattice::GaugeWriteOptions write_options(const ConvertOptions& o, GaugeFormat format, const lattice::GaugeFileFacts& in) {
    const bool nersc = format == GaugeFormat::nersc, same = format == in.format;
    lattice::GaugeWriteOptions to{.format = format};
    to.bits = format == GaugeFormat::milc ? 32 : format == GaugeFormat::openqcd ? 64 : in.bits;
    to.rows = nersc && in.format == GaugeFormat::nersc ? in.rows : 3;
    to.big_endian = same && (nersc || format == GaugeFormat::milc) ? in.big_endian : true;
    std::vector<InputProblem> problems;
    const auto refuse = [&](const char* option, std::string message) { problems.push_back({std::move(message), {"", 0, 0, option}}); };
    if (o.bits != 0) {
        if (o.bits != 32 && o.bits != 64) refuse("--bits", fmt::format("is {}: numbers have 32 or 64", o.bits));
        if (o.bits == 64 && format == GaugeFormat::milc) refuse("--bits", "is 64, and MILC v5 files have 32: leave it out");
        if (o.bits == 32 && format == GaugeFormat::openqcd) refuse("--bits", "is 32, and openQCD files have 64: leave it out");
        to.bits = o.bits;
    }
    if (o.rows != 0) {
        if (o.rows != 2 && o.rows != 3) refuse("--rows", fmt::format("is {}: a link has 2 or 3", o.rows));
        if (o.rows == 2 && !nersc) refuse("--rows", "is 2, which only NERSC files have: leave it out");
        to.rows = o.rows;
    }
    if (!o.byte_order.empty()) {
        if (o.byte_order != "big" && o.byte_order != "little")
            refuse("--byte-order", fmt::format("is '{}': take big or little", o.byte_order));
        else if (!nersc && format != GaugeFormat::milc)
            refuse("--byte-order", fmt::format("has no effect on {} files, whose byte order is fixed: leave it out", name(format)));
        to.big_endian = o.byte_order == "big";
    }
    if (!problems.empty()) throw InputError(problems);
    return to;
}

/// Rounds third rows, which the reader computes in double, to the single precision of the other rows. Readers recognise a field of 32 bits
/// by numbers that are all single.
void round_third_rows(lattice::GaugeField& field) {
    const auto rounded = [](double x) { return static_cast<double>(static_cast<float>(x)); };
    for (auto& u : field.links)
        for (auto& z : u.e[2]) z = {rounded(z.re), rounded(z.im)};
}

int convert(const Common& common, const ConvertOptions& o) {
    const auto format = format_of(o);
    keep_inputs("OUT", o.out, {o.in});
    keep_existing(o.out, o.force);
    auto file = lattice::read_gauge(o.in);
    const auto& in = file.facts;
    const auto to = write_options(o, format, in);
    if (in.bits == 32 && in.rows == 2 && to.bits == 64) round_third_rows(file.field);
    for (const auto& note : in.notes) log::info("{}: {}", o.in, note);
    lattice::write_gauge(o.out, file.field, to);
    const bool rounded = to.bits < in.bits, big_endian = format == GaugeFormat::openqcd ? false : to.big_endian;
    const io::Json object{
        {"file", o.in},
        {"output", o.out},
        {"extents", file.field.extents.n},
        {"from", name(in.format)},
        {"format", name(format)},
        {"bits", to.bits},
        {"rows", to.rows},
        {"byte_order", big_endian ? "big" : "little"},
        {"rounded", rounded},
        {"plaquette", lattice::plaquette(file.field).mean()},
    };
    auto text = fmt::format("{}: {}, {}, {} bits {} endian, {} rows a link, from {} with {} bits", o.out, lattice::text(file.field.extents),
                            name(format), to.bits, big_endian ? "big" : "little", to.rows, name(in.format), in.bits);
    if (rounded) text += "\nnote: numbers were rounded to single precision";
    print(common, object, text);
    return success;
}

}  // namespace

Action add_lattice_convert(CLI::App& app, const Common& common) {
    auto options = std::make_shared<ConvertOptions>();
    app.add_option("IN", options->in, "Gauge configuration: NERSC, ILDG (LIME), MILC v5 or openQCD, recognised by its first bytes")
        ->required();
    app.add_option("OUT", options->out, "File to write")->required();
    app.add_option("--format", options->format, "ildg, nersc, milc or openqcd; default: by the extension of OUT");
    app.add_option("--bits", options->bits, "Bits of a number: 32 or 64; default: as in IN where the format has it (MILC: 32, openQCD: 64)")
        ->check(whole_number(0, 1000))
        ->default_str("");
    app.add_option("--rows", options->rows, "Rows of a link: 2 (NERSC only) or 3; default: as in IN where the format has it")
        ->check(whole_number(0, 1000))
        ->default_str("");
    app.add_option("--byte-order", options->byte_order,
                   "Byte order of NERSC and MILC files: big or little; default: as in IN if it has the same format, otherwise big");
    app.add_flag("--force", options->force, "Overwrite OUT if it exists");
    return [options, &common] { return convert(common, *options); };
}

}  // namespace kasane::app
