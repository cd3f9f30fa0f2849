// kasane predict FILE.toml: the expected time of a run on a number of ranks, by the models of docs/performance-model.md.
#include <app/command.hpp>
#include <app/predict_lattice.hpp>
#include <kasane/core/base/counted.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/gravity/predict.hpp>
#include <kasane/run/gravity/predict_record.hpp>
#include <kasane/run/hmc/hmc_file.hpp>
#include <kasane/run/kinds.hpp>
#include <kasane/run/quenched/quenched_file.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace kasane::app {
namespace {

struct PredictOptions {
    std::string file, calibration, record;
    run::PredictionRequest request;
    bool workers_given = false;
    std::vector<std::string> set;
};

using io::Json;

Json as_json(const run::Range& range) { return {{"expected", range.expected}, {"low", range.low}, {"high", range.high}}; }

std::string duration(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
    if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
    if (seconds < 100) return fmt::format("{:.3g} s", seconds);
    return clock_text(seconds);
}

std::string bytes_text(double bytes) {
    if (bytes < 1 << 20) return fmt::format("{:.3g} KiB", bytes / (1 << 10));
    return bytes < 1 << 30 ? fmt::format("{:.3g} MiB", bytes / (1 << 20)) : fmt::format("{:.3g} GiB", bytes / (1 << 30));
}

std::string between(const run::Range& range) {
    return fmt::format("{} ({} to {})", duration(range.expected), duration(range.low), duration(range.high));
}

/// "16 block steps; walk 3.4 ms, moments 0.2 ms"
std::string parts_text(const std::vector<std::pair<std::string, double>>& parts) {
    std::string text;
    for (const auto& [name, value] : parts) {
        if (name == "block steps") {
            text = fmt::format("{:.3g} {}", value, value == 1 ? "block step" : "block steps");
            continue;
        }
        if (value > 0) text += (text.find(';') == std::string::npos ? "; " : ", ") + name + " " + duration(value);
    }
    return text;
}

/// @throws InputError, which names the calibration where neither the run file nor an option is wrong
run::Prediction predicted(const run::GravityFile& file, const Calibration& calibration, const run::PredictionRequest& request) {
    try {
        return run::predict(file, calibration, request);
    } catch (const InputError& error) {
        auto problems = error.problems();
        for (auto& problem : problems)
            if (problem.where.file.empty() && problem.where.key.empty()) problem.where.file = calibration.file.string();
        throw InputError(std::move(problems));
    }
}

/// The run file of a kind with gauge fields; nothing for other kinds. @throws InputError with everything that is wrong with it
std::optional<run::GaugeFile> gauge_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings) {
    std::vector<std::string> names;
    for (const auto* kind : run::kinds()) names.emplace_back(kind->name);
    const auto problem = run::problem_of(path, settings, names);
    run::RankCoordinator alone;
    const run::RunSource source{path, settings, names, alone};
    if (problem == "quenched") return run::read_quenched_file(source);
    if (problem == "hmc") return run::read_hmc_file(source);
    return {};
}

/// Refuses the given options among `names`. @throws InputError
void refuse_without_effect(const CLI::App& app, const std::vector<const char*>& names, const std::string& message) {
    std::vector<InputProblem> problems;
    for (const char* option : names)
        if (app.count(option) > 0) problems.push_back({message, {"", 0, 0, option}});
    if (!problems.empty()) throw InputError(problems);
}

int predict(const Common& common, const PredictOptions& options, const CLI::App& app) {
    if (options.record.empty()) refuse_without_effect(app, {"--latency", "--bandwidth"}, "has no effect without --record: leave it out");
    auto settings = as_settings(options.set);
    KS_VALIDATE(!run::is_model_file(options.file, settings), "is a model, not a run: only runs are predicted", {options.file, 0, 0, ""});
    for (const auto& setting : common.settings()) settings.push_back(setting);
    if (const auto gauge = gauge_file(options.file, settings)) {
        KS_VALIDATE(!options.record.empty(), "a lattice is predicted from a record: give --record, of `kasane bench lattice.scaling`",
                    {options.file, 0, 0, ""});
        refuse_without_effect(app, {"--latency", "--bandwidth"}, "has no effect on a lattice, whose exchange the record has: leave it out");
        KS_VALIDATE(options.request.ranks == 1,
                    "--ranks: lattices are predicted on the GPUs of one rank, whose exchange the record has: give --gpus-per-rank");
        return predict_lattice(common, *gauge, options.record, options.workers_given ? options.request.workers : 0);
    }
    const auto file = run::read_gravity_file(options.file, {.settings = settings});
    auto request = options.request;
    request.record = options.record;
    Calibration calibration;
    if (options.record.empty()) {
        calibration =
            read_calibration(options.calibration.empty() ? default_calibration_file() : std::filesystem::path(options.calibration));
        if (!calibration.note.empty()) log::warning("{}", calibration.note);
    }
    if (!options.workers_given) request.workers = static_cast<int>(file.here.size());
    const auto p = options.record.empty() ? predicted(file, calibration, request) : run::predict_from_record(file, request);
    const int workers = p.ranks * p.workers;
    Json object{{"file", options.file},
                {"calibration", calibration.file.string()},
                {"device", p.device},
                {"particles", p.particles},
                {"ranks", p.ranks},
                {"members", workers},
                {"steps", p.steps},
                {"seconds_per_step", as_json(p.seconds_per_step)},
                {"seconds", as_json(p.run_seconds)},
                {"interactions_per_second", p.interactions_per_second},
                {"strong_efficiency", p.strong_efficiency},
                {"weak_efficiency", p.weak_efficiency},
                {"form", p.method},
                {"messages_per_step", p.step.messages},
                {"bytes_per_step", p.step.bytes},
                {"seconds_of_messages_that_show", p.step.exposed},
                {"memory", {{"host_bytes", p.host_bytes}, {"device_bytes", p.device_bytes}}},
                {"bound", p.bound},
                {"doubts", p.doubts}};
    for (const auto& [name, value] : p.parts) object["parts"][name] = value;
    const std::string method = p.method == "both sides" ? "each pair once"
                               : p.method == "tree"     ? "a tree"
                                                        : "every target with every source";
    auto text = fmt::format("{} particles on {} {} of '{}' ({} {}), {}\n", p.particles, workers, workers == 1 ? "worker" : "workers",
                            p.device, p.ranks, p.ranks == 1 ? "rank" : "ranks", method);
    text += fmt::format("a step           {}\n", between(p.seconds_per_step));
    if (!p.parts.empty()) text += fmt::format("its parts        {}\n", parts_text(p.parts));
    text += fmt::format("{:<16} {}, without diagnostics and snapshots\n", counted(p.steps, "step"), between(p.run_seconds));
    if (p.interactions_per_second > 0) text += fmt::format("interactions     {:.3g} per second\n", p.interactions_per_second);
    if (workers > 1) {
        text += fmt::format("efficiency       {:.3f} against one device, {:.3f} at equal particles per device\n", p.strong_efficiency,
                            p.weak_efficiency);
        text += fmt::format("communication    {} messages and {} a step from each worker; {} a step are not hidden by kernels\n",
                            p.step.messages, bytes_text(p.step.bytes), duration(p.step.exposed));
    }
    text += fmt::format("memory of a rank {}", bytes_text(static_cast<double>(p.host_bytes)));
    if (p.device_bytes > 0) text += fmt::format(", and {} on its devices", bytes_text(static_cast<double>(p.device_bytes)));
    text += "\nbounded by       " + p.bound;
    for (const auto& doubt : p.doubts) text += "\nuncertainty      " + doubt;
    print(common, object, text);
    return success;
}

}  // namespace

Action add_predict(CLI::App& app, const Common& common) {
    auto options = std::make_shared<PredictOptions>();
    app.add_option("FILE", options->file, "Run file (TOML)")->required();
    app.add_option("--ranks", options->request.ranks, "MPI ranks")->check(whole_number(1, 1 << 20));
    app.add_option("--gpus-per-rank,--members", options->request.workers,
                   "Workers of each rank: devices, or parts of its CPU (default: as in the run file; of a lattice: up to 64 devices)")
        ->check(whole_number(1, 64))
        ->default_str("");
    app.add_option("--calibration", options->calibration,
                   "Calibration that `kasane calibrate` wrote (default: ~/.cache/kasane/calibration.json)")
        ->type_name("FILE");
    app.add_option("--on", options->request.device, "Name of the device in the calibration (default: this machine's, or the only one)")
        ->type_name("NAME");
    app.add_option("--record", options->record,
                   "Record of a benchmark on few devices: of `kasane bench gravity.tree.scaling` for a tree with constant steps, of "
                   "`kasane bench lattice.scaling` for a lattice")
        ->type_name("FILE");
    app.add_option_function<double>(
           "--latency", [options](double us) { options->request.latency = 1e-6 * us; }, "Of a message between ranks, with --record [us]")
        ->check(number(1e-3, 1e6))
        ->default_str("5");
    app.add_option_function<double>(
           "--bandwidth", [options](double gigabytes) { options->request.bandwidth = 1e9 * gigabytes; },
           "Of a worker to other ranks, with --record [GB/s]")
        ->check(number(1e-3, 1e6))
        ->default_str("25");
    add_settings(app, options->set);
    return [options, &common, &app] {
        options->workers_given = app.count("--gpus-per-rank") > 0;
        return predict(common, *options, app);
    };
}

}  // namespace kasane::app
