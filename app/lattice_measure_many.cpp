// Measurements of several configurations: one row for each, and means with jackknife errors.
#include <app/lattice_batch.hpp>
#include <app/lattice_means.hpp>
#include <app/lattice_measure.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <map>
#include <utility>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;
using io::Json;

constexpr const char* measure_verb = "lattice measure";

/// One number of every result.
struct Quantity {
    const char* name;
    double (*of)(const Json& result);
};
double polyakov(const Json& r, std::size_t part) { return r["polyakov_loop"][part].get<double>(); }
const Json& flow_end(const Json& r) { return r["flow"]["points"].back(); }

/// Whether a result file has what the tables need: a file from outside may lack it.
bool has_measurements(const Json& r, bool flows) {
    const auto loop = r.find("polyakov_loop");
    if (loop == r.end() || !loop->is_array() || loop->size() != 2 || !(*loop)[0].is_number() || !(*loop)[1].is_number()) return false;
    if (!flows) return true;
    const auto flow = r.find("flow");
    if (flow == r.end() || !flow->is_object()) return false;
    const auto points = flow->find("points");
    return points != flow->end() && points->is_array() && !points->empty() &&
           std::all_of(points->begin(), points->end(), [](const Json& point) { return point.is_object(); });
}

const std::vector<Quantity> quantities = {
    {"plaquette", [](const Json& r) { return number(r, "plaquette"); }},
    {"plaquette_space", [](const Json& r) { return number(r, "plaquette_space"); }},
    {"plaquette_time", [](const Json& r) { return number(r, "plaquette_time"); }},
    {"link_trace", [](const Json& r) { return number(r, "link_trace"); }},
    {"polyakov_re", [](const Json& r) { return polyakov(r, 0); }},
    {"polyakov_im", [](const Json& r) { return polyakov(r, 1); }},
    {"polyakov_modulus", [](const Json& r) { return std::hypot(polyakov(r, 0), polyakov(r, 1)); }},
    {"topological_charge", [](const Json& r) { return number(r, "topological_charge"); }},
};
/// At the end of the flow.
const std::vector<Quantity> flow_quantities = {
    {"t2E", [](const Json& r) { return number(flow_end(r), "t2E"); }},
    {"t2E_plaquette", [](const Json& r) { return number(flow_end(r), "t2E_plaquette"); }},
    {"topological_charge_flowed", [](const Json& r) { return number(flow_end(r), "topological_charge"); }},
    {"topological_charge_flowed_squared", [](const Json& r) { return std::pow(number(flow_end(r), "topological_charge"), 2); }},
};

struct Summary {
    std::vector<std::string> files;  ///< of the rows
    std::vector<Json> rows;
    std::vector<Quantity> columns;
    std::vector<MeanValue> means;
    struct Flow {
        std::vector<double> t;
        std::vector<MeanValue> t2E, t2E_plaquette;
    } flow;
    std::vector<std::string> notes;
};

/// Names the first two configurations with the same plaquette and link trace, which are probably the same links in two files.
std::string note_on_copies(const Summary& s) {
    std::map<std::pair<double, double>, std::size_t> known;
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
        const auto [at, added] = known.emplace(std::pair(number(s.rows[i], "plaquette"), number(s.rows[i], "link_trace")), i);
        if (!added)
            return fmt::format(
                "{} and {} have the same plaquette and link trace: if they are the same links, take one of them, because copies make the "
                "errors too small",
                s.files[at->second], s.files[i]);
    }
    return "";
}

std::vector<double> series(const std::vector<Json>& rows, double (*of)(const Json&)) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(of(row));
    return values;
}

Summary summary_of(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results, int bin, bool flows) {
    Summary s;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        if (!results[i].value.is_null()) s.files.push_back(tasks[i].file), s.rows.push_back(results[i].value);
    s.columns = quantities;
    if (flows) s.columns.insert(s.columns.end(), flow_quantities.begin(), flow_quantities.end());
    for (const auto& column : s.columns) s.means.push_back(mean_of(column.name, series(s.rows, column.of), bin));
    for (auto note : {note_on_copies(s), advice_on_bins(s.means.front(), s.rows.size(), bin)})
        if (!note.empty()) s.notes.push_back(std::move(note));
    if (!flows || s.rows.empty()) return s;
    std::vector<std::vector<double>> curve;
    std::size_t steps = s.rows.front()["flow"]["points"].size();
    for (const auto& row : s.rows) steps = std::min(steps, row["flow"]["points"].size());
    for (std::size_t k = 0; k < steps; ++k) {
        std::vector<double> clover, plaquette;
        for (const auto& row : s.rows) {
            const auto& point = row["flow"]["points"][k];
            clover.push_back(number(point, "t2E")), plaquette.push_back(number(point, "t2E_plaquette"));
        }
        s.flow.t.push_back(number(s.rows.front()["flow"]["points"][k], "t"));
        s.flow.t2E.push_back(mean_of("t2E", clover, bin));
        s.flow.t2E_plaquette.push_back(mean_of("t2E_plaquette", plaquette, bin));
        curve.push_back(std::move(clover));
    }
    s.means.push_back(function_of_means("t0", curve, bin, [&](const std::vector<double>& t2E) {
        std::vector<lattice::FlowPoint> points;
        for (std::size_t k = 0; k < t2E.size(); ++k) points.push_back({s.flow.t[k], t2E[k], 0, 0});
        return lattice::flow_scale_t0(points);
    }));
    return s;
}

std::string rows_table(const Summary& s) {
    TableLine head;
    head << "file";
    for (const auto& column : s.columns) head << column.name;
    auto text = head.text();
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
        TableLine line;
        line << s.files[i];
        for (const auto& column : s.columns) line << column.of(s.rows[i]);
        text += line.text();
    }
    return text;
}

std::string means_table(const Summary& s) {
    std::string text = "quantity,value,error,autocorrelation_time\n";
    for (const auto& mean : s.means) text += (TableLine() << mean.name << mean.value << mean.error << mean.tau).text();
    return text;
}

std::string flow_means_table(const Summary& s) {
    std::string text = "t,t2E,t2E_error,t2E_plaquette,t2E_plaquette_error\n";
    for (std::size_t k = 0; k < s.flow.t.size(); ++k) {
        const auto &clover = s.flow.t2E[k], &plaquette = s.flow.t2E_plaquette[k];
        text += (TableLine() << s.flow.t[k] << clover.value << clover.error << plaquette.value << plaquette.error).text();
    }
    return text;
}

std::string as_text(const Summary& s, std::size_t requested, int bin, bool flows) {
    std::size_t width = 4;
    for (const auto& file : s.files) width = std::max(width, file.size());
    auto text = fmt::format("{:<{}} {:>14} {:>12} {:>12} {:>12}", "file", width, "plaquette", "Re P", "Im P", "charge");
    if (flows) text += fmt::format(" {:>12} {:>12}", "charge, flow", "t0 / a^2");
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
        const auto& r = s.rows[i];
        text += fmt::format("\n{:<{}} {:14.10f} {:12.8f} {:12.8f} {:12.6f}", s.files[i], width, number(r, "plaquette"), polyakov(r, 0),
                            polyakov(r, 1), number(r, "topological_charge"));
        if (!flows) continue;
        const double t0 = number(r["flow"], "t0");
        text +=
            fmt::format(" {:12.6f} {:>12}", number(flow_end(r), "topological_charge"), std::isfinite(t0) ? fmt::format("{:.5f}", t0) : "");
    }
    text += fmt::format("\n\n{:<34} {:>20}", fmt::format("mean of {} of {} configurations", s.rows.size(), requested), "jackknife error");
    for (const auto& mean : s.means) text += fmt::format("\n{:<34} {:>20}", mean.name, text_of(mean));
    if (bin > 1) text += fmt::format("\nerrors from bins of {} configurations", bin);
    for (const auto& note : s.notes) text += "\nnote: " + note;
    return text;
}

Json as_json(const Summary& s, const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results, const MeasureOptions& o) {
    Json means = Json::object();
    for (const auto& mean : s.means) means[mean.name] = as_json(mean);
    if (!s.flow.t.empty()) {
        auto points = Json::array();
        for (std::size_t k = 0; k < s.flow.t.size(); ++k)
            points.push_back({{"t", s.flow.t[k]},
                              {"t2E", s.flow.t2E[k].value},
                              {"t2E_error", s.flow.t2E[k].error},
                              {"t2E_plaquette", s.flow.t2E_plaquette[k].value},
                              {"t2E_plaquette_error", s.flow.t2E_plaquette[k].error}});
        means["flow"] = points;
    }
    return {{"configurations", s.rows},
            {"failed", failures(tasks, results)},
            {"kept", std::ranges::count_if(results, [](const BatchResult& each) { return each.kept; })},
            {"bin", o.bin},
            {"means", means},
            {"notes", s.notes},
            {"directory", o.directory.empty() ? Json(nullptr) : Json(o.directory)}};
}

/// Logs the memory of one configuration on each worker. @throws InputError where it is not free
void check_memory(const Workers& workers, const lattice::Extents& n, bool flows, const std::string& file) {
    const auto& space = workers.here.front();
    const bool shared = std::holds_alternative<Cpu>(space);
    const auto links = lattice::measurement_bytes(n, flows), reading = lattice::measurement_bytes(n, false);
    const auto host = (reading + (shared ? links : 0)) * static_cast<std::uint64_t>(workers.on_this_host);
    constexpr double GiB = 1u << 30;
    const auto require = [&](std::uint64_t needed, const AnySpace& where) {
        const auto there = available_memory(where);
        KS_VALIDATE(
            needed <= there,
            fmt::format("lattices of {} need {:.3g} GiB of memory on {} for {} of them at a time, and {:.3g} GiB are free: take fewer "
                        "workers on a host, or divide each lattice among all of them with --grid",
                        text(n), static_cast<double>(needed) / GiB, name(where), workers.on_this_host, static_cast<double>(there) / GiB),
            {file, 0, 0, ""});
    };
    log::info("memory: {:.3g} GiB on {}{}", static_cast<double>(shared ? host : links) / GiB, name(space),
              shared ? "" : fmt::format(", {:.3g} GiB on its host", static_cast<double>(host) / GiB));
    if (!shared) require(links, space);
    require(host, Cpu{});
}

}  // namespace

Json measure_task(const BatchPlace& place, lattice::GaugeFile& gauge, const Json& parameters) {
    const double flow_step = parameters["flow_step"];
    return as_json(measure_on(place.space, parameters["file"], gauge, parameters["flow_time"], flow_step), flow_step);
}

int measure_many(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& grid, const MeasureOptions& o) {
    const bool flows = o.flow_time > 0;
    std::vector<BatchTask> tasks;
    for (const auto& file : o.files) {
        Json inputs{{"flow_time", o.flow_time}};
        if (flows) inputs["flow_step"] = o.flow_step;
        tasks.push_back({file,
                         file,
                         result_file(o.directory, fs::path(file).filename().string()),
                         inputs,
                         {{"file", file}, {"flow_time", o.flow_time}, {"flow_step", o.flow_step}}});
    }
    check_batch(tasks);
    if (!o.directory.empty()) make_result_directory(o.directory);
    lattice::Extents extents;
    auto results = read_headers(tasks, extents);
    if (!o.force)
        read_earlier_results(measure_verb, tasks, [flows](const BatchTask&, const Json& r) { return has_measurements(r, flows); }, results);
    if (!o.directory.empty()) catch_interrupts();
    bool complete = false;
    if (grid || workers.count == 1) grid_of(grid, extents, workers.count);
    if (grid && workers.count > 1) {
        complete = compute_results_on_grid(
            common, measure_verb, tasks,
            [&](const BatchTask& task) {
                return as_json(measure_on_all(common, workers, grid, task.file, o.flow_time, o.flow_step), o.flow_step);
            },
            results);
    } else {
        check_memory(workers, extents, flows, o.files.front());
        complete = compute_results(common, workers, measure_verb, tasks, results);
    }
    if (!complete) end_interrupted(o.directory);
    const auto s = summary_of(tasks, results, o.bin, flows);
    auto text = as_text(s, tasks.size(), o.bin, flows);
    if (!o.directory.empty()) {
        const fs::path directory = o.directory;
        write_atomically(directory / "measurements.csv", rows_table(s));
        write_atomically(directory / "means.csv", means_table(s));
        if (flows) write_atomically(directory / "flow.csv", flow_means_table(s));
        text += "\nresults: " + o.directory;
    }
    print(common, as_json(s, tasks, results, o), text);
    return conclude(tasks, results);
}

}  // namespace kasane::app
