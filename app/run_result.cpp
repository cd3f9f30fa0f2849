#include <app/run_result.hpp>

#include <fmt/format.h>

namespace kasane::app {

run::RunControls controls(const Common& common) { return {common.progress(), interrupt_requested}; }

int tell(const Common& common, const run::RunResult& result) {
    const auto path = [](const std::filesystem::path& p) { return std::filesystem::absolute(p).lexically_normal().string(); };
    nlohmann::ordered_json object{{"directory", result.directory.string()},
                                  {"status", result.status},
                                  {"steps", result.steps},
                                  {"block_steps", result.block_steps},
                                  {"time", result.time},
                                  {"seconds", result.seconds},
                                  {"relative_energy_error", result.relative_energy_error}};
    object["report"] = result.report.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(path(result.report));
    const bool constant = result.block_steps == result.steps;
    const auto steps = constant ? fmt::format("{} steps", result.steps)
                                : fmt::format("{} times dt_max ({} block steps)", result.steps, result.block_steps);
    std::string text = fmt::format("{} to t = {:.6g} in {:.1f} s, largest relative energy error {:.2e}: {}", steps, result.time, result.seconds,
                                   result.relative_energy_error, result.status);
    if (!result.report.empty()) text += "\nopen " + path(result.report);
    if (result.status != "done") text += fmt::format("\n`kasane resume {}` goes on", result.directory.string());
    print(common, object, text);
    return result.status == "done" ? success : interrupted;
}

}  // namespace kasane::app
