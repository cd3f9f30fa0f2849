// kasane lattice info CFG: header and plaquette of a gauge configuration, and whether its checksum matches; of several ranks each reads its
// part of the file.
#include <app/lattice.hpp>
#include <app/lattice_measure.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace kasane::app {
namespace {

const char* long_name(lattice::GaugeFormat format) {
    switch (format) {
        case lattice::GaugeFormat::nersc: return "NERSC";
        case lattice::GaugeFormat::ildg: return "ILDG in LIME";
        case lattice::GaugeFormat::milc: return "MILC v5";
        case lattice::GaugeFormat::openqcd: return "openQCD";
    }
    return "";
}

struct FileInfo {
    lattice::GaugeFileFacts facts;
    lattice::Extents extents;
    lattice::Plaquette plaquette;
    double link_trace = 0;
};

FileInfo info_of(const Common& common, const std::string& path) {
    if (common.ranks->size() == 1) {
        auto file = lattice::read_gauge(path);
        return {std::move(file.facts), file.field.extents, lattice::plaquette(file.field), lattice::link_trace(file.field)};
    }
    Workers workers{common.ranks->place("cpu", 1, common.threads_or_all()), common.ranks->size()};
    auto found = measure_on_all(common, workers, {}, path, 0, 0.01);
    return {std::move(found.facts), found.extents, found.measured.plaquette, found.measured.link_trace};
}

std::string as_text(const std::string& path, const FileInfo& file) {
    const auto& [facts, extents, plaquette, link_trace] = file;
    const auto stated = [](const std::optional<double>& value) {
        return value ? fmt::format("   (header: {:.12g})", *value) : std::string();
    };
    auto text = fmt::format("{}: {}, {} sites, {}, {} bits {} endian, {} rows a link", path, lattice::text(extents), extents.volume(),
                            long_name(facts.format), facts.bits, facts.big_endian ? "big" : "little", facts.rows);
    text += fmt::format("\nplaquette   {:.12f}{}\n  space     {:.12f}\n  time      {:.12f}", plaquette.mean(),
                        stated(facts.stored_plaquette), plaquette.space, plaquette.time);
    text += fmt::format("\nlink trace  {:.12f}{}", link_trace, stated(facts.stored_link_trace));
    const auto& sum = facts.checksum;
    text += sum.kind == "none"        ? fmt::format("\nchecksum    none stored; of these links: {}", sum.computed)
            : sum.kind == "plaquette" ? std::string("\nchecksum    none in this format; the plaquette is as stated")
                                      : fmt::format("\nchecksum    {} ({}): as stored", sum.computed, sum.kind);
    text += fmt::format("\nlinks       {:.1e} from SU(3) at most", facts.worst_distance_from_su3);
    for (const auto& note : facts.notes) text += "\nnote: " + note;
    return text;
}

int info(const Common& common, const std::string& path) {
    const auto file = info_of(common, path);
    const auto& [facts, extents, plaquette, link_trace] = file;
    const auto number_or_null = [](const auto& value) { return value ? io::Json(*value) : io::Json(nullptr); };
    const auto& sum = facts.checksum;
    const io::Json object{
        {"file", path},
        {"extents", extents.n},
        {"format", lattice::name(facts.format)},
        {"bits", facts.bits},
        {"rows", facts.rows},
        {"byte_order", facts.big_endian ? "big" : "little"},
        {"plaquette", plaquette.mean()},
        {"plaquette_space", plaquette.space},
        {"plaquette_time", plaquette.time},
        {"link_trace", link_trace},
        {"stored_plaquette", number_or_null(facts.stored_plaquette)},
        {"stored_link_trace", number_or_null(facts.stored_link_trace)},
        {"checksum",
         {{"kind", sum.kind},
          {"stored", sum.stored.empty() ? io::Json(nullptr) : io::Json(sum.stored)},
          {"computed", sum.computed},
          {"ok", sum.ok}}},
        {"distance_from_su3", facts.worst_distance_from_su3},
        {"notes", facts.notes},
    };
    print(common, object, as_text(path, file));
    return success;
}

}  // namespace

Action add_lattice_info(CLI::App& app, const Common& common) {
    auto path = std::make_shared<std::string>();
    app.add_option("CFG", *path, "Gauge configuration: NERSC, ILDG (LIME), MILC v5 or openQCD, recognised by its first bytes")->required();
    return [path, &common] { return info(common, *path); };
}

}  // namespace kasane::app
