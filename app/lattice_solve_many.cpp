// Propagators of several configurations and kappas: correlators of each, and means over the configurations with jackknife errors.
#include <app/lattice_batch.hpp>
#include <app/lattice_means.hpp>
#include <app/lattice_solve.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/lattice/observe/correlators.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;
using io::Json;

constexpr const char* solve_verb = "lattice solve";

/// Lists the options of one solution as messages carry them.
template <class Options, class F>
void each_option(Options& o, F f) {
    f("configuration", o.configuration), f("solution", o.solution), f("source", o.source), f("boundary", o.boundary), f("inner", o.inner);
    f("solver", o.solver), f("deflate", o.deflate), f("deflation", o.deflation), f("deflation_block", o.deflation_block),
        f("schur", o.schur), f("links", o.links), f("inner_links", o.inner_links), f("basis", o.basis);
    f("precondition", o.precondition), f("block", o.block), f("kappa", o.kappa), f("csw", o.csw), f("rtol", o.options.rtol);
    f("iteration_limit", o.options.iteration_limit), f("krylov_length", o.options.krylov_length);
    f("overlap", o.options.schwarz.overlap), f("cycles", o.options.schwarz.cycles), f("block_steps", o.options.schwarz.block_steps);
    f("half_links", o.half_links), f("temporal_gauge", o.temporal_gauge), f("columns", o.columns);
}

Json message_of(const LatticeSolveOptions& o) {
    Json object;
    each_option(o, [&](const char* key, const auto& value) { object[key] = value; });
    return object;
}

LatticeSolveOptions options_of(const Json& object) {
    LatticeSolveOptions o;
    each_option(o, [&](const char* key, auto& value) { object.at(key).get_to(value); });
    return o;
}

/// The options that determine the solution and its files. Those of the solver are not among them.
Json inputs_of(const LatticeSolveOptions& o) {
    return {{"kappa", o.kappa},   {"csw", o.csw},           {"boundary", o.boundary},
            {"source", o.source}, {"rtol", o.options.rtol}, {"basis", o.basis}};
}

/// Whether a result file has what the tables need: a file from outside may lack it.
bool has_solution(const Json& r, std::size_t times) {
    const auto is_whole = [&](const char* key) {
        const auto at = r.find(key);
        return at != r.end() && at->is_number_integer();
    };
    const auto is_correlator = [&](const char* key) {
        const auto at = r.find(key);
        return at != r.end() && at->is_array() && at->size() == times &&
               std::all_of(at->begin(), at->end(), [](const Json& value) { return value.is_number(); });
    };
    return is_whole("iterations") && is_whole("inner_iterations") &&
           (!r.contains("pion") || (is_correlator("pion") && is_correlator("vector")));
}

/// @throws ComputationError where the solver did not converge
Json json_of_solved(const LatticeSolveResult& result) {
    if (!result.converged()) throw ComputationError(failure_text(result));
    return as_json(result);
}

/// The correlators of one kappa over the configurations, at least one.
struct KappaMeans {
    double kappa = 0;
    std::size_t count = 0;  ///< configurations
    std::vector<MeanValue> pion, vector, pion_mass, vector_mass;
};

std::vector<std::vector<double>> correlators(const std::vector<const Json*>& rows, const char* which) {
    std::vector<std::vector<double>> at_time;
    for (const auto* row : rows) {
        const auto values = (*row)[which].get<std::vector<double>>();
        at_time.resize(values.size());
        for (std::size_t t = 0; t < values.size(); ++t) at_time[t].push_back(values[t]);
    }
    return at_time;
}

void add_means(const std::vector<const Json*>& rows, const char* which, int bin, std::vector<MeanValue>& means,
               std::vector<MeanValue>& masses) {
    const auto at_time = correlators(rows, which);
    for (const auto& series : at_time) means.push_back(mean_of(which, series, bin));
    for (std::size_t t = 0; t < at_time.size() / 2; ++t)
        masses.push_back(
            function_of_means("mass", at_time, bin, [t](const std::vector<double>& c) { return lattice::effective_mass(c)[t]; }));
}

/// Means of each kappa that has correlators: a random source has none, and solutions may have failed.
std::vector<KappaMeans> means_of(const std::vector<double>& kappas, const std::vector<BatchTask>& tasks,
                                 const std::vector<BatchResult>& results, int bin) {
    std::vector<KappaMeans> all;
    for (const double kappa : kappas) {
        std::vector<const Json*> rows;
        for (std::size_t i = 0; i < tasks.size(); ++i)
            if (tasks[i].inputs["kappa"] == kappa && results[i].value.contains("pion")) rows.push_back(&results[i].value);
        if (rows.empty()) continue;
        KappaMeans of{kappa, rows.size(), {}, {}, {}, {}};
        add_means(rows, "pion", bin, of.pion, of.pion_mass);
        add_means(rows, "vector", bin, of.vector, of.vector_mass);
        all.push_back(std::move(of));
    }
    return all;
}

std::string rows_table(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results) {
    std::string text = "file,kappa,t,pion,vector\n";
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto& r = results[i].value;
        if (!r.contains("pion")) continue;
        for (std::size_t t = 0; t < r["pion"].size(); ++t)
            text += (TableLine() << tasks[i].file << number(r, "kappa") << static_cast<double>(t) << r["pion"][t].get<double>()
                                 << r["vector"][t].get<double>())
                        .text();
    }
    return text;
}

std::string means_table(const std::vector<KappaMeans>& all) {
    std::string text = "kappa,t,pion,pion_error,vector,vector_error,pion_mass,pion_mass_error,vector_mass,vector_mass_error\n";
    for (const auto& of : all)
        for (std::size_t t = 0; t < of.pion.size(); ++t) {
            TableLine line;
            line << of.kappa << static_cast<double>(t) << of.pion[t].value << of.pion[t].error << of.vector[t].value << of.vector[t].error;
            for (const auto* masses : {&of.pion_mass, &of.vector_mass}) {
                const bool has = t < masses->size();
                line << (has ? (*masses)[t].value : NAN) << (has ? (*masses)[t].error : NAN);
            }
            text += line.text();
        }
    return text;
}

std::string solutions_text(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results) {
    std::size_t width = 4;
    for (const auto& task : tasks) width = std::max(width, task.file.size());
    auto text =
        fmt::format("{:<{}} {:>12} {:>10} {:>10} {:>12} {:>9}", "file", width, "kappa", "iterations", "inner", "residual", "seconds");
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto& r = results[i].value;
        if (r.is_null()) continue;
        text += fmt::format("\n{:<{}} {:>12.10g} {:>10} {:>10} {:>12.2e} {:>9.3g}{}", tasks[i].file, width, number(r, "kappa"),
                            r["iterations"].get<int>(), r["inner_iterations"].get<int>(), number(r, "relative_residual"),
                            number(r, "seconds"), results[i].kept ? "  (earlier)" : "");
    }
    return text;
}

std::string means_text(const KappaMeans& of, std::size_t requested) {
    auto text = fmt::format("\n\nkappa {:.12g}: mean of {} of {} configurations", of.kappa, of.count, requested);
    text += fmt::format("\n{:>5} {:>22} {:>22} {:>16} {:>16}", "t", "pion", "vector", "pion mass", "vector mass");
    const auto mass = [](const std::vector<MeanValue>& masses, std::size_t t) {
        return t < masses.size() && std::isfinite(masses[t].value) ? text_of(masses[t]) : "";
    };
    for (std::size_t t = 0; t < of.pion.size(); ++t)
        text += fmt::format("\n{:>5} {:>22} {:>22} {:>16} {:>16}", t, text_of(of.pion[t]), text_of(of.vector[t]), mass(of.pion_mass, t),
                            mass(of.vector_mass, t));
    return text;
}

Json values(const std::vector<MeanValue>& means, double MeanValue::* part) {
    auto all = Json::array();
    for (const auto& mean : means) all.push_back(mean.*part);
    return all;
}

Json as_json(const std::vector<KappaMeans>& all, const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results,
             const LatticeSolveOptions& o, const std::string& advice) {
    auto solutions = Json::array(), means = Json::array(), notes = Json::array();
    for (const auto& result : results)
        if (!result.value.is_null()) solutions.push_back(result.value);
    for (const auto& of : all) {
        Json object{{"kappa", of.kappa}, {"configurations", of.count}};
        const std::pair<const char*, const std::vector<MeanValue>*> parts[] = {
            {"pion", &of.pion}, {"vector", &of.vector}, {"pion_effective_mass", &of.pion_mass}, {"vector_effective_mass", &of.vector_mass}};
        for (const auto& [key, list] : parts) {
            if (list->empty()) continue;
            object[key] = values(*list, &MeanValue::value);
            object[std::string(key) + "_error"] = values(*list, &MeanValue::error);
        }
        means.push_back(object);
    }
    if (!advice.empty()) notes.push_back(advice);
    return {{"solutions", solutions},
            {"failed", failures(tasks, results)},
            {"kept", std::ranges::count_if(results, [](const BatchResult& each) { return each.kept; })},
            {"bin", o.bin},
            {"means", means},
            {"notes", notes},
            {"directory", o.solution.empty() ? Json(nullptr) : Json(o.solution)}};
}

/// The options of each configuration and kappa, with the files of its result.
std::vector<LatticeSolveOptions> all_options(const LatticeSolveOptions& o) {
    std::vector<LatticeSolveOptions> all;
    for (const auto& file : o.configurations)
        for (const double kappa : o.kappas) {
            auto one = o;
            one.configuration = file, one.kappa = kappa;
            one.solution =
                o.fields ? (fs::path(o.solution) / fmt::format("{}.kappa{:.12g}.h5", fs::path(file).filename().string(), kappa)).string()
                         : "";
            all.push_back(std::move(one));
        }
    return all;
}

}  // namespace

Json solve_task(const BatchPlace& place, lattice::GaugeFile& gauge, const Json& parameters) {
    Common common;
    common.quiet = true;
    const auto o = options_of(parameters);
    const Workers worker{{place.space}, 1, place.on_this_host};
    return json_of_solved(solve_configuration(common, worker, {}, gauge, o, true, false));
}

int solve_many(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& shape, const LatticeSolveOptions& o) {
    const auto& directory = o.solution;
    KS_VALIDATE(directory.empty() || fs::is_directory(directory) || (!directory.ends_with(".h5") && !directory.ends_with(".hdf5")),
                fmt::format("is one file, and {} solutions are computed: give a directory", o.configurations.size() * o.kappas.size()),
                {directory, 0, 0, "-o"});
    auto asked = o;
    // Workers that share the memory of a host solve for one column at a time.
    if (asked.columns == 0 && workers.on_this_host > 1 && std::holds_alternative<Cpu>(workers.here.front())) asked.columns = 1;
    const auto options = all_options(asked);
    std::vector<BatchTask> tasks;
    for (const auto& one : options) {
        const auto kappa = fmt::format("kappa{:.12g}", one.kappa);
        tasks.push_back(
            {one.configuration, o.kappas.size() > 1 ? fmt::format("{}, kappa {:.12g}", one.configuration, one.kappa) : one.configuration,
             result_file(directory, fs::path(one.configuration).filename().string() + "." + kappa), inputs_of(one), message_of(one)});
    }
    check_batch(tasks);
    if (!directory.empty()) make_result_directory(directory);
    lattice::Extents extents;
    auto results = read_headers(tasks, extents);
    check_extents_of(o, workers, extents);
    const auto usable = [&](const BatchTask& task, const Json& result) {
        const std::string solution = task.parameters["solution"];
        return has_solution(result, static_cast<std::size_t>(extents[3])) && (solution.empty() || fs::exists(solution));
    };
    if (!o.force) read_earlier_results(solve_verb, tasks, usable, results);
    catch_interrupts();
    bool complete = false;
    if (shape || workers.count == 1) grid_of(shape, extents, workers.count);
    if (shape && workers.count > 1) {
        complete = compute_results_on_grid(
            common, solve_verb, tasks,
            [&](const BatchTask& task) {
                auto gauge = lattice::read_gauge(task.file);
                return json_of_solved(solve_configuration(common, workers, shape, gauge, options_of(task.parameters), false, true));
            },
            results);
    } else {
        check_solve_memory(options.front(), workers, extents, workers.on_this_host);
        complete = compute_results(common, workers, solve_verb, tasks, results);
    }
    if (!complete) end_interrupted(directory);
    const auto means = means_of(o.kappas, tasks, results, o.bin);
    std::string advice;
    for (const auto& of : means)
        if (advice.empty()) advice = advice_on_bins(of.pion[of.pion.size() / 2], of.count, o.bin);
    auto text = solutions_text(tasks, results);
    if (columns_of(o) == 1)
        text += "\n\nno means: a random source has one column, and no correlators";
    else
        for (const auto& of : means) text += means_text(of, o.configurations.size());
    if (o.bin > 1) text += fmt::format("\nerrors from bins of {} configurations", o.bin);
    if (!advice.empty()) text += "\nnote: " + advice;
    if (!directory.empty()) {
        write_atomically(fs::path(directory) / "correlators.csv", rows_table(tasks, results));
        write_atomically(fs::path(directory) / "means.csv", means_table(means));
        text += "\nresults: " + directory;
    }
    print(common, as_json(means, tasks, results, o, advice), text);
    return conclude(tasks, results);
}

}  // namespace kasane::app
