#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/gauge/gauge_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;
using lattice::GaugeFormat;

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

const char* extension(GaugeFormat format) {
    return format == GaugeFormat::ildg ? ".lime" : format == GaugeFormat::nersc ? ".nersc" : ".openqcd";
}

}  // namespace

std::string GaugeStart::text() const {
    switch (kind) {
        case StartKind::cold: return "cold";
        case StartKind::hot: return "hot";
        case StartKind::weak: return fmt::format("weak:{}", epsilon);
        default: return "file";
    }
}

fs::path GaugeFile::configuration_of(std::int64_t update) const {
    const fs::path name = configuration;
    return fs::path("configurations") / fmt::format("{}_{:012}{}", name.stem().string(), update, name.extension().string());
}

void read_extents(io::Section& table, GaugeFile& file) {
    const auto n = table.integers("extents", {.help = "along x, y, z, t; even", .count = 4, .least = 2, .most = 4096});
    for (std::size_t mu = 0; mu < 4; ++mu) file.extents.n[mu] = static_cast<int>(n[mu]);
    file.extents_where = table.where("extents");
    if (!table.faulty("lattice.extents") && table.has("extents")) {
        try {
            KS_VALIDATE(std::ranges::all_of(n, [](auto each) { return each % 2 == 0; }),
                        fmt::format("are {}: all must be even, for the sites are split into even and odd ones", text(file.extents)));
            lattice::check_extents(file.extents, {});
        } catch (const InputError& error) {
            table.problem("extents", error.problems()[0].message);
        }
    }
}

std::uint64_t read_seed(io::Section& table, const char* help) {
    return static_cast<std::uint64_t>(
        table.integer("seed", {.help = help, .fallback = 1, .least = 0, .most = std::numeric_limits<std::int64_t>::max()}));
}

void read_start(io::Section table, bool needed, GaugeFile& file) {
    const auto directory = fs::absolute(file.path).parent_path();
    auto& start = file.start;
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
        return;
    }
    const auto given = table.text("file", {.help = "configuration: NERSC, ILDG, MILC or openQCD, from the run file's directory"});
    start.where = table.where("file");
    if (given.empty()) {
        if (table.has("file")) table.problem("file", "is empty: name a configuration");
        return;
    }
    start.file = file_of(table, "file", given, directory);
    table.resolve("file", start.file.string());
    if (std::error_code ignored; needed && !fs::is_regular_file(start.file, ignored))
        table.problem("file", fmt::format("there is no file {}", start.file.string()));
}

void read_thermalisation(io::Section& table, const char* table_name, const char* unit, std::int64_t total, GaugeFile& file) {
    file.thermalisation =
        table.integer("thermalisation", {.help = "the first of them, left out of means and configurations; default: a fifth",
                                         .fallback = total / 5,
                                         .least = 0,
                                         .most = most_updates});
    const auto path = [&](const char* key) { return fmt::format("{}.{}", table_name, key); };
    if (!table.faulty(path(unit)) && !table.faulty(path("thermalisation")) && file.thermalisation >= total && total > 0)
        table.problem("thermalisation", fmt::format("is {} of {} {}: no update remains for measurements. Take fewer, or more {}",
                                                    file.thermalisation, total, unit, unit));
}

void read_configurations(io::Section& table, const char* unit, GaugeFile& file) {
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
    for (const char* taken : {"run.toml", "log.txt", "record.json", "report.html", "measurements.csv", "dynamics.csv", "reversibility.csv",
                              "flow.csv", "spectrum.csv", "checkpoints", "configurations"})
        if (file.configuration == taken)
            table.problem("configuration",
                          fmt::format("is '{}', which is the name of another file of the run. Try configuration.lime", taken));
    file.every = table.integer("every", {.help = fmt::format("{} between configurations after thermalisation; 0: only the last one", unit),
                                         .fallback = 0,
                                         .least = 0,
                                         .most = most_updates});
}

void read_intervals(io::Section& table, const char* unit, GaugeFile& file) {
    file.checkpoint_every =
        table.number("checkpoint_every",
                     {.help = fmt::format("wall time; 0: after every {}", unit), .unit = "s", .fallback = 60.0, .range = io::at_least(0)});
    file.report = read_report_flag(table);
}

lattice::GaugeField load_start(const GaugeFile& file) {
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

template <Space S>
lattice::Links<S> first_links(S on, const GaugeFile& file, const RunControls& controls) {
    if (file.start.kind == StartKind::file) return lattice::links_on(on, load_start(file));
    lattice::Links<S> u(on, file.extents);
    const auto& start = file.start;
    Progress bar(controls.progress, "starting", 1);
    const auto progress = controls.shown_in(bar);
    if (start.kind == StartKind::cold) lattice::cold_start(u);
    if (start.kind == StartKind::hot) lattice::hot_start(u, start.seed, progress);
    if (start.kind == StartKind::weak) lattice::weak_start(u, start.epsilon, start.seed, progress);
    return u;
}

RunMemory gauge_memory(const GaugeFile& file, std::uint64_t site_bytes) {
    // While a configuration is written, its links in the file's order and the file itself, which is built in memory and is at most as
    // large, take memory of the host.
    const auto sites = static_cast<std::uint64_t>(file.extents.volume());
    const bool on_cpu = name(file.space) == "cpu";
    RunMemory memory{.host_bytes = (2 * links_bytes + (on_cpu ? site_bytes : 0)) * sites, .host_available = available_memory(Cpu{})};
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

void write_configuration(Loop& loop, const fs::path& name, const lattice::GaugeField& u, const GaugeFile& file,
                         std::vector<std::string>& written) {
    const auto timer = loop.timers().scope("configurations");
    const auto path = loop.directory().path() / name;
    if (name.has_parent_path()) fs::create_directories(path.parent_path());
    lattice::write_gauge(path, u, file.format);
    if (std::ranges::find(written, name.string()) == written.end()) written.push_back(name.string());
    log::debug("configuration {}", path.string());
}

Manifest gauge_manifest(const io::Json& record, std::vector<std::string> tables) {
    Manifest all{.files = std::move(tables), .series = {}};
    const auto configuration = record.is_object() ? record.value("configuration", io::Json()) : io::Json();
    const fs::path name = configuration.is_object() ? text_or_empty(configuration.value("name", io::Json())) : std::string();
    if (name.empty() || name.string().starts_with('.') || name.filename() != name) return all;
    all.files.push_back(name.string());
    all.series.push_back({"configurations", name.stem().string() + "_", name.extension().string()});
    return all;
}

template lattice::Links<Cpu> first_links(Cpu, const GaugeFile&, const RunControls&);
#if defined(KASANE_CUDA)
template lattice::Links<Cuda> first_links(Cuda, const GaugeFile&, const RunControls&);
#endif

}  // namespace kasane::run
