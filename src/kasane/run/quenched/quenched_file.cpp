#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/run/quenched/quenched_file.hpp>
#include <kasane/run/driver/run_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;
using lattice::GaugeFormat;

constexpr std::int64_t most_sweeps = 1'000'000'000;
constexpr std::uint64_t site_bytes = 4 * sizeof(lattice::Su3<double>);  // of one configuration

void read_lattice(io::Section table, QuenchedFile& file) {
    const auto n = table.integers("extents", {.help = "along x, y, z, t; even", .count = 4, .least = 2, .most = 4096});
    for (std::size_t mu = 0; mu < 4; ++mu) file.extents.n[mu] = static_cast<int>(n[mu]);
    file.extents_where = table.where("extents");
    if (!table.faulty("lattice.extents") && table.has("extents")) {
        try {
            KS_VALIDATE(std::ranges::all_of(n, [](auto each) { return each % 2 == 0; }),
                        fmt::format("are {}: all must be even, for the sites are split into even and odd ones", text(file.extents)));
            lattice::check_extents(file.extents, "are too large");
        } catch (const InputError& error) {
            table.problem("extents", error.problems()[0].message);
        }
    }
    file.boundary =
        table.text("boundary", {.help = "of the quarks in time, only written to record.json: links are periodic and have no sign",
                                .fallback = "periodic",
                                .choices = {"periodic", "antiperiodic"}});
}

/// "weak:EPS" -> EPS.
double epsilon_of(const std::string& kind) {
    const auto text = std::string_view(kind).substr(5);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    KS_VALIDATE(error == std::errc{} && end == text.data() + text.size() && value > 0 && value <= lattice::largest_weak_epsilon,
                fmt::format("is '{}': weak: must be followed by a number above 0 and at most {}. Try weak:0.001, or hot for random links",
                            kind, lattice::largest_weak_epsilon));
    return value;
}

std::uint64_t read_seed(io::Section& table, const char* help) {
    return static_cast<std::uint64_t>(
        table.integer("seed", {.help = help, .fallback = 1, .least = 0, .most = std::numeric_limits<std::int64_t>::max()}));
}

QuenchedStart read_start(io::Section table, const fs::path& directory, bool needed) {
    QuenchedStart start;
    const auto kind = table.text("kind", {.help = "cold | hot | weak:EPS | file", .fallback = "hot"});
    try {
        if (kind.starts_with("weak:"))
            start.kind = StartKind::weak, start.epsilon = epsilon_of(kind);
        else if (kind == "cold")
            start.kind = StartKind::cold;
        else if (kind == "file")
            start.kind = StartKind::file;
        else
            KS_VALIDATE(kind == "hot", fmt::format("'{}' is not known; there are cold, hot, weak:EPS, file", kind));
    } catch (const InputError& error) {
        table.problem("kind", error.problems()[0].message);
    }
    const auto no_effect = [&](const char* key, const char* owner) {
        if (table.has(key))
            table.problem(key, fmt::format("has no effect here: it belongs to kind = {}, and this run has \"{}\"", owner, kind));
    };
    if (start.kind == StartKind::hot || start.kind == StartKind::weak)
        start.seed = read_seed(table, "of the random links");
    else
        no_effect("seed", "\"hot\" or \"weak:EPS\"");
    if (start.kind != StartKind::file) {
        no_effect("file", "\"file\"");
        return start;
    }
    const auto given = table.text("file", {.help = "configuration: NERSC, ILDG, MILC or openQCD, from the run file's directory"});
    start.where = table.where("file");
    if (given.empty()) {
        if (table.has("file")) table.problem("file", "is empty: name a configuration");
        return start;
    }
    start.file = file_of(table, "file", given, directory);
    table.resolve("file", start.file.string());
    if (std::error_code ignored; needed && !fs::is_regular_file(start.file, ignored))
        table.problem("file", fmt::format("there is no file {}", start.file.string()));
    return start;
}

void read_update(io::Section table, QuenchedFile& file) {
    file.sweeps = table.integer(
        "sweeps", {.help = "in all; each is one sweep of heatbath and then those of overrelaxation", .least = 1, .most = most_sweeps});
    file.thermalisation =
        table.integer("thermalisation", {.help = "the first of them, left out of means and configurations; default: a fifth",
                                         .fallback = file.sweeps / 5,
                                         .least = 0,
                                         .most = most_sweeps});
    file.overrelaxation = static_cast<int>(table.integer(
        "overrelaxation", {.help = "sweeps of overrelaxation after one of heatbath", .fallback = 4, .least = 0, .most = 1000}));
    file.seed = read_seed(table, "of the updates");
    if (!table.faulty("update.sweeps") && !table.faulty("update.thermalisation") && file.thermalisation >= file.sweeps && file.sweeps > 0)
        table.problem("thermalisation", fmt::format("is {} of {} sweeps: none is left to measure. Take fewer, or more sweeps",
                                                    file.thermalisation, file.sweeps));
}

const char* extension(GaugeFormat format) {
    return format == GaugeFormat::ildg ? ".lime" : format == GaugeFormat::nersc ? ".nersc" : ".openqcd";
}

void read_output(io::Section table, QuenchedFile& file) {
    file.directory = read_output_directory(table);
    const auto format = table.text("format", {.help = "of configurations", .fallback = "ildg", .choices = {"ildg", "nersc", "openqcd"}});
    file.format.format = format == "nersc" ? GaugeFormat::nersc : format == "openqcd" ? GaugeFormat::openqcd : GaugeFormat::ildg;
    file.format.bits = static_cast<int>(table.integer("bits", {.help = "of a number in them: 64 or 32", .fallback = 64}));
    if (!table.faulty("output.bits") && file.format.bits != 32 && file.format.bits != 64)
        table.problem("bits", fmt::format("is {}: numbers have 32 or 64 bits", file.format.bits));
    else if (file.format.bits == 32 && file.format.format == GaugeFormat::openqcd)
        table.problem("bits", "is 32, and openQCD files have 64. Take format = \"ildg\", or 64");
    file.configuration = table.text("configuration", {.help = "name of the last configuration in directory",
                                                      .fallback = std::string("configuration") + extension(file.format.format)});
    const fs::path name = file.configuration;
    if (table.has("configuration") &&
        (name.empty() || name.filename() != name || name.stem().empty() || file.configuration.starts_with('.')))
        table.problem("configuration",
                      fmt::format("is '{}': it must be the name of a file in directory, with no / in it", file.configuration));
    for (const char* taken : {"run.toml", "log.txt", "record.json", "report.html", "measurements.csv", "checkpoints", "configurations"})
        if (file.configuration == taken)
            table.problem("configuration",
                          fmt::format("is '{}', which is the name of another file of the run. Try configuration.lime", taken));
    file.every = table.integer("every", {.help = "sweeps between configurations after thermalisation; 0: only the last one",
                                         .fallback = 0,
                                         .least = 0,
                                         .most = most_sweeps});
    file.measure_every =
        table.integer("measure_every", {.help = "sweeps between measurements", .fallback = 1, .least = 1, .most = most_sweeps});
    file.checkpoint_every = table.number(
        "checkpoint_every", {.help = "wall time; 0: after every sweep", .unit = "s", .fallback = 60.0, .range = io::at_least(0)});
    file.report = table.flag("report", {.help = "write report.html at the end", .fallback = true});
}

/// The papers of the methods.
std::vector<std::string> papers(const QuenchedFile& file) {
    std::vector<std::string> all{"K. G. Wilson, Phys. Rev. D 10, 2445 (1974) (the gauge action)",
                                 "N. Cabibbo, E. Marinari, Phys. Lett. B 119, 387 (1982) (heatbath by SU(2) subgroups)",
                                 "A. D. Kennedy, B. J. Pendleton, Phys. Lett. B 156, 393 (1985) (heatbath of SU(2))"};
    if (file.overrelaxation > 0) {
        all.emplace_back("M. Creutz, Phys. Rev. D 36, 515 (1987) (overrelaxation)");
        all.emplace_back("F. R. Brown, T. J. Woch, Phys. Rev. Lett. 58, 2394 (1987) (overrelaxation)");
    }
    all.emplace_back("U. Wolff, Comput. Phys. Commun. 156, 143 (2004) (errors of correlated measurements)");
    if (file.start.kind == StartKind::weak)
        all.emplace_back(
            "[Ish09] K.-I. Ishikawa, Prospects of lattice QCD on GPUs (in Japanese), talk, University of Tsukuba, 2009 (the start U = "
            "exp(i epsilon "
            "P))");
    return all;
}

}  // namespace

std::string QuenchedStart::text() const {
    switch (kind) {
        case StartKind::cold: return "cold";
        case StartKind::hot: return "hot";
        case StartKind::weak: return fmt::format("weak:{}", epsilon);
        default: return "file";
    }
}

fs::path QuenchedFile::configuration_of(std::int64_t sweep) const {
    const fs::path name = configuration;
    return fs::path("configurations") / fmt::format("{}_{:012}{}", name.stem().string(), sweep, name.extension().string());
}

QuenchedFile read_quenched_file(const RunSource& source) {
    io::RunFileReader reader(source.path, source.settings);
    auto root = reader.root();
    QuenchedFile file;
    read_run_keys(reader, "quenched", source.problems, file);
    read_lattice(root.table("lattice", "periodic in all directions"), file);
    file.start = read_start(root.table("start", "the links before the first sweep"), fs::absolute(source.path).parent_path(), !source.from);
    auto action = root.table("action", "S = beta sum over plaquettes of (1 - Re tr U / 3)");
    file.beta = action.number("beta", {.help = "6 / g^2", .range = io::above(0)});
    read_update(root.table("update", "Cabibbo-Marinari heatbath and overrelaxation"), file);
    read_output(root.table("output", "what is written"), file);
    finish(reader, file);
    file.papers = papers(file);
    return file;
}

lattice::GaugeField load_start(const QuenchedFile& file) {
    const auto at = file.start.where;
    try {
        auto read = lattice::read_gauge(file.start.file);
        KS_VALIDATE(read.field.extents == file.extents,
                    fmt::format("{} holds {} sites, and lattice.extents is {}: they must be the same", file.start.file.string(),
                                text(read.field.extents), text(file.extents)));
        return std::move(read.field);
    } catch (const InputError& error) {
        throw InputError(at_key(error).problems()[0].message, at);
    }
}

RunMemory memory(const QuenchedFile& file) {
    // Links on the space; while a configuration is written also its links in the file's order and the file itself, which is built in memory
    // and is at most as large.
    const auto sites = static_cast<std::uint64_t>(file.extents.volume());
    const bool on_cpu = name(file.space) == "cpu";
    RunMemory memory{.host_bytes = (on_cpu ? 3 : 2) * site_bytes * sites, .host_available = available_memory(Cpu{})};
    if (!on_cpu) memory.device_bytes = site_bytes * sites, memory.device_available = available_memory(file.space);
    return memory;
}

std::string text(const RunMemory& m, const lattice::Extents& extents) {
    const auto size = [](std::uint64_t bytes) {
        const auto b = static_cast<double>(bytes);
        constexpr double MiB = 1u << 20, GiB = 1u << 30;
        return b < GiB ? fmt::format("{:.3g} MiB", b / MiB) : fmt::format("{:.3g} GiB", b / GiB);
    };
    const auto part = [&](std::uint64_t bytes, std::uint64_t free) {
        return fmt::format("{}, {} bytes per site, of {} free", size(bytes), bytes / static_cast<std::uint64_t>(extents.volume()),
                           size(free));
    };
    return part(m.host_bytes, m.host_available) + (m.device_bytes > 0 ? "; on the device " + part(m.device_bytes, m.device_available) : "");
}

}  // namespace kasane::run
