#include <app/run_result.hpp>
#include <app/solve_result.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>

#include <fmt/format.h>

namespace kasane::app {

run::RunControls controls(const Common& common) { return {common.progress(), interrupt_requested, common.crew}; }

void need_one_rank(const Common& common, const std::string& file, const std::string& what) {
    KS_VALIDATE(!common.crew || common.crew->ranks() == 1,
                fmt::format("{} runs on one rank, and {} were started: start it without mpirun", what, common.crew->ranks()),
                {file, 0, 0, ""});
}

namespace {

std::string path(const std::filesystem::path& p) { return std::filesystem::absolute(p).lexically_normal().string(); }

nlohmann::ordered_json path_or_null(const std::filesystem::path& p) {
    return p.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(path(p));
}

/// Of a run that was interrupted.
std::string how_to_go_on(const std::filesystem::path& directory) {
    return fmt::format("\n`kasane resume {0}` goes on, `kasane report {0}` makes the page of what there is", directory.string());
}

/// Null for what is not known.
nlohmann::ordered_json number_or_null(double value) { return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr); }

}  // namespace

int tell(const Common& common, const run::RunResult& result) {
    nlohmann::ordered_json object{{"directory", result.directory.string()},
                                  {"status", result.status},
                                  {"steps", result.steps},
                                  {"block_steps", result.block_steps},
                                  {"time", result.time},
                                  {"seconds", result.seconds},
                                  {"step_seconds", number_or_null(result.step_seconds)},
                                  {"predicted_step_seconds", number_or_null(result.predicted_step_seconds)},
                                  {"relative_energy_error", result.relative_energy_error}};
    object["warnings"] = result.warnings;
    object["report"] = path_or_null(result.report);
    const bool constant = result.block_steps == result.steps;
    const auto steps = constant ? fmt::format("{} steps", result.steps)
                                : fmt::format("{} times dt_max ({} block steps)", result.steps, result.block_steps);
    std::string text = fmt::format("{} to t = {:.6g} in {:.1f} s, largest relative energy error {:.2e}: {}", steps, result.time,
                                   result.seconds, result.relative_energy_error, result.status);
    if (result.step_seconds > 0 && result.predicted_step_seconds > 0)
        text += fmt::format("\npredicted {:.3g} ms a step, measured {:.3g} ms ({:+.0f}%)", 1e3 * result.predicted_step_seconds,
                            1e3 * result.step_seconds, 100 * (result.step_seconds / result.predicted_step_seconds - 1));
    if (!result.report.empty()) text += "\nopen " + path(result.report);
    if (result.status != "done") text += how_to_go_on(result.directory);
    print(common, object, text);
    return result.status == "done" ? success : interrupted;
}

int tell(const Common& common, const run::PoissonResult& result) {
    nlohmann::ordered_json object{{"directory", result.directory.string()},
                                  {"status", result.status},
                                  {"message", result.message},
                                  {"seconds", result.seconds},
                                  {"report", path_or_null(result.report)}};
    object.update(as_json(result.setup, result.log));
    auto text = as_text(result.setup, result.log);
    if (!result.report.empty()) text += "\nopen " + path(result.report);
    if (result.status == "interrupted") text += how_to_go_on(result.directory);
    if (!result.message.empty()) log::error("{}", result.message);
    print(common, object, text);
    return result.status == "done" ? success : result.status == "interrupted" ? interrupted : computation_failed;
}

int tell(const Common& common, const run::QuenchedResult& result) {
    const auto& m = result.means;
    const auto of = [](const lattice::Estimate& e) {
        return nlohmann::ordered_json{{"mean", e.mean}, {"error", e.error}, {"autocorrelation_time", e.tau}};
    };
    const nlohmann::ordered_json object{{"directory", result.directory.string()},
                                        {"status", result.status},
                                        {"steps", result.sweeps},
                                        {"seconds", result.seconds},
                                        {"measurements", m.plaquette.count},
                                        {"plaquette", of(m.plaquette)},
                                        {"plaquette_space", of(m.plaquette_space)},
                                        {"plaquette_time", of(m.plaquette_time)},
                                        {"polyakov_modulus", of(m.polyakov)},
                                        {"links_per_second", result.link_updates_per_second},
                                        {"configurations", result.configurations},
                                        {"configuration", path_or_null(result.configuration)},
                                        {"report", path_or_null(result.report)}};
    auto text = fmt::format("{} sweeps in {:.1f} s, plaquette {} ({} in space, {} in time), |P| {}, tau {} sweeps: {}", result.sweeps,
                            result.seconds, run::text(m.plaquette), run::text(m.plaquette_space), run::text(m.plaquette_time),
                            run::text(m.polyakov), run::text(m.plaquette.tau, m.plaquette.tau_error), result.status);
    if (!result.configuration.empty()) text += "\nlast configuration: " + path(result.configuration);
    if (!result.report.empty()) text += "\nopen " + path(result.report);
    if (result.status != "done") text += how_to_go_on(result.directory);
    print(common, object, text);
    return result.status == "done" ? success : interrupted;
}

}  // namespace kasane::app
