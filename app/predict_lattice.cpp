#include <app/predict_lattice.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/run/gauge/predict_lattice.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace kasane::app {
namespace {

std::string shape_text(const lattice::RankGrid& grid) {
    const auto& g = grid.shape();
    return fmt::format("{}x{}x{}x{}", g[0], g[1], g[2], g[3]);
}

io::Json row_of(const run::LatticeTime& time) {
    io::Json local = io::Json::array();
    for (int mu = 0; mu < 4; ++mu) local.push_back(time.grid.local()[mu]);
    return {{"members", time.grid.size()},
            {"grid", time.grid.shape()},
            {"local_extents", local},
            {"seconds", {{"expected", time.seconds}, {"low", time.low}, {"high", time.high}}},
            {"parts",
             {{"interior", time.hops.interior + time.vectors},
              {"latency", time.hops.start + time.hops.latency + time.start},
              {"halo", time.hops.halo},
              {"sums", time.sums}}},
            {"strong_efficiency", time.strong},
            {"weak_efficiency", time.weak},
            {"limit", time.limit}};
}

/// The terms of several devices.
std::string terms_text(const run::LatticeScaling& part) {
    if (part.iteration) return fmt::format("sums take {:.1f} us for each doubling of the devices", 1e6 * part.sums);
    const auto bytes = part.bandwidth > 0 ? fmt::format(" and its bytes at {:.0f} GB/s", 1e-9 * part.bandwidth) : "";
    return fmt::format("the exchange of faces adds {:.1f} us{} to the local hop", 1e6 * part.latency, bytes);
}

std::string end_text(const run::LatticeScaling& part) {
    const auto devices = [](int count) { return count == 1 ? std::string("one device") : fmt::format("{} devices", count); };
    const auto end = part.ends_in_table ? "up to " + devices(part.strong_end) : std::string("on all of them");
    return fmt::format("strong efficiency is at least 0.5 {}; the shortest time is that of {}", end, devices(part.fastest));
}

}  // namespace

int predict_lattice(const Common& common, const run::GaugeFile& run, const std::string& record, int workers) {
    const auto rows = run::read_lattice_record(record);
    const auto predicted = [&] {
        try {
            return run::predict_lattice(run.extents, rows, workers);
        } catch (const InputError& error) {
            throw InputError(error.problems().front().message, run.extents_where);
        }
    }();
    io::Json object{{"file", run.path.string()},        {"record", record},
                    {"device", predicted.device},       {"extents", io::Json::array()},
                    {"predictions", io::Json::array()}, {"doubts", predicted.doubts}};
    for (int mu = 0; mu < 4; ++mu) object["extents"].push_back(run.extents[mu]);
    auto text = fmt::format("{} on devices of {}{}", lattice::text(predicted.extents), std::filesystem::path(record).filename().string(),
                            predicted.device.empty() ? "" : " ('" + predicted.device + "')");
    for (const auto& part : predicted.parts) {
        io::Json all = io::Json::array();
        text +=
            fmt::format("\n\n{}, {}; the model fits the record to {:.1f}%\n",
                        part.iteration ? "an iteration of nested BiCGStab" : "a hop A^-1 H of one parity", part.storage, 100 * part.fit);
        text += fmt::format("{:>7}  {:<12} {:<14} {:>9}  {:<19} {:>6} {:>6}  {}", "devices", "grid", "local lattice", "us", "range",
                            "strong", "weak", "limit");
        for (const auto& time : part.times) {
            all.push_back(row_of(time));
            text += fmt::format("\n{:>7}  {:<12} {:<14} {:>9.1f}  {:<19} {:>6.2f} {:>6.2f}  {}", time.grid.size(), shape_text(time.grid),
                                lattice::text(time.grid.local()), 1e6 * time.seconds,
                                fmt::format("{:.1f} to {:.1f}", 1e6 * time.low, 1e6 * time.high), time.strong, time.weak, time.limit);
        }
        text += "\n" + terms_text(part) + "\n" + end_text(part);
        io::Json terms{{"sums", part.sums}};
        if (!part.iteration) terms = {{"latency", part.latency}, {"bytes_per_second", part.bandwidth}};
        object["predictions"].push_back({{"what", part.iteration ? "iteration" : "hop"},
                                         {"storage", part.storage},
                                         {"fit_deviation", part.fit},
                                         {"terms", terms},
                                         {"strong_end", part.strong_end},
                                         {"strong_ends", part.ends_in_table},
                                         {"fastest", part.fastest},
                                         {"devices", all}});
    }
    text += "\n";
    for (const auto& doubt : predicted.doubts) text += "\nuncertainty  " + doubt;
    print(common, object, text);
    return success;
}

}  // namespace kasane::app
