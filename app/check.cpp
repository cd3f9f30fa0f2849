// kasane check FILE.toml: reads it as `run` would, a model file as `sample` would, and says what it would do.
#include <app/command.hpp>
#include <app/run_result.hpp>
#include <app/sample_result.hpp>
#include <kasane/gravity/units.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/papers.hpp>
#include <kasane/run/poisson/poisson_file.hpp>
#include <kasane/run/quenched/quenched_file.hpp>
#include <kasane/run/run_file.hpp>
#include <kasane/run/run_keys.hpp>
#include <kasane/run/sampling.hpp>
#include <kasane/run/shipped_models.hpp>

#include <fmt/format.h>

namespace kasane::app {
namespace {

constexpr double MiB = 1 << 20;

/// A snapshot can be damaged behind its header, and a galaxy without an equilibrium: `run` and `sample` would find out, so this does.
void build(run::Sampling& sampling, const Common& common) {
    catch_interrupts();
    Progress bar(common.progress(), "building", 1);
    sampling.build([&](double done, const std::string& what) {
        stop_if_interrupted();
        bar.update(done, what);
    });
}

std::string list(const std::vector<std::string>& unused, const std::vector<std::string>& papers) {
    std::string text;
    for (const auto& key : unused) text += fmt::format("\nnot used: {}", key);
    text += "\nrests on:";
    for (const auto& paper : papers) text += "\n  " + paper;
    return text;
}

int check_model(const std::string& path, const std::vector<io::Setting>& settings, const Common& common) {
    const auto model = run::read_model_file(path, settings);
    const Cpu on = common.cpu();
    run::Sampling sampling(model.initial, model.units, on);
    sampling.check_memory();
    build(sampling, common);
    const auto told = sample_result(model, sampling.outline(), facts_of(sampling, model.initial.sources.size(), on));
    const auto papers = run::papers(model.initial);
    const auto needed = sampling.memory_bytes(), available = available_memory(Cpu{});
    nlohmann::ordered_json object{{"file", path},
                                  {"title", model.title},
                                  {"particles", model.initial.count()},
                                  {"units", model.units.name},
                                  {"components", told.object["components"]},
                                  {"memory", {{"host_bytes", needed}, {"host_available", available}}},
                                  {"unused_keys", model.unused_keys},
                                  {"papers", papers},
                                  {"resolved", model.resolved}};
    if (told.object.contains("galaxies")) object["galaxies"] = told.object["galaxies"];
    const auto text = model.resolved + fmt::format("\n{} particles in {} units{}\nmemory to sample them: {:.1f} MiB of {:.0f} MiB free",
                                                   model.initial.count(), model.units.name, told.text, static_cast<double>(needed) / MiB,
                                                   static_cast<double>(available) / MiB);
    print(common, object, text + list(model.unused_keys, papers));
    return success;
}

int check_poisson(const std::string& path, const std::vector<io::Setting>& settings, const Common& common) {
    const auto file = run::read_poisson_file(path, settings);
    run::check_memory(file);
    run::load(file);  // a formula can be infinite somewhere, and a file damaged: `run` would find out
    const auto memory = run::memory(file);
    const auto papers = run::papers(file.solver);
    const auto device = device_info(file.space);
    const bool on_cpu = device.kind == "cpu";
    const auto rows = file.problem.rows(), nonzeros = sparse::poisson_nonzeros(file.problem);
    const nlohmann::ordered_json object{{"file", path},
                                        {"problem", "poisson"},
                                        {"title", file.title},
                                        {"cells", file.problem.cells},
                                        {"n", rows},
                                        {"nonzeros", nonzeros},
                                        {"device", {{"name", device.name}, {"kind", device.kind}, {"memory_bytes", device.memory_bytes}}},
                                        {"memory",
                                         {{"host_bytes", memory.host_bytes},
                                          {"host_available", memory.host_available},
                                          {"device_bytes", memory.device_bytes},
                                          {"device_available", memory.device_available}}},
                                        {"unused_keys", file.unused_keys},
                                        {"notes", file.notes},
                                        {"papers", papers},
                                        {"resolved", file.resolved}};
    auto text = file.resolved + fmt::format("\n{} unknowns, {} entries on {}", rows, nonzeros, device.name);
    text += fmt::format("\nmemory at most: {:.1f} MiB of {:.0f} MiB free", static_cast<double>(memory.host_bytes) / MiB,
                        static_cast<double>(memory.host_available) / MiB);
    if (!on_cpu)
        text += fmt::format(", and on the device {:.1f} MiB of {:.0f} MiB", static_cast<double>(memory.device_bytes) / MiB,
                            static_cast<double>(memory.device_available) / MiB);
    for (const auto& note : file.notes) text += "\nnote: " + note;
    print(common, object, text + list(file.unused_keys, papers));
    return success;
}

int check_quenched(const std::string& path, const std::vector<io::Setting>& settings, const Common& common) {
    const auto file = run::read_quenched_file(path, settings);
    run::check_memory(file);
    if (file.start.kind == run::StartKind::file) run::load_start(file);  // it can be damaged: `run` would find out
    const auto memory = run::memory(file);
    const auto papers = run::papers(file);
    const auto device = device_info(file.space);
    const nlohmann::ordered_json object{{"file", path},
                                        {"problem", "quenched"},
                                        {"title", file.title},
                                        {"extents", file.extents.n},
                                        {"sweeps", file.sweeps},
                                        {"device", {{"name", device.name}, {"kind", device.kind}, {"memory_bytes", device.memory_bytes}}},
                                        {"memory",
                                         {{"host_bytes", memory.host_bytes},
                                          {"host_available", memory.host_available},
                                          {"device_bytes", memory.device_bytes},
                                          {"device_available", memory.device_available}}},
                                        {"unused_keys", file.unused_keys},
                                        {"papers", papers},
                                        {"resolved", file.resolved}};
    const auto text = file.resolved + fmt::format("\n{} sites, {} sweeps on {}\nmemory at most: {}", lattice::text(file.extents),
                                                  file.sweeps, device.name, run::text(memory, file.extents));
    print(common, object, text + list(file.unused_keys, papers));
    return success;
}

nlohmann::ordered_json as_json(const run::RunMemory& memory) {
    return {{"host_bytes", memory.needed.host_bytes},
            {"host_available", memory.host_available},
            {"device_bytes", memory.needed.device_bytes},
            {"device_available", memory.device_available}};
}

std::string as_text(const run::RunMemory& memory, bool on_cpu) {
    auto text = fmt::format("{:.1f} MiB of {:.0f} MiB free", static_cast<double>(memory.needed.host_bytes) / MiB,
                            static_cast<double>(memory.host_available) / MiB);
    if (!on_cpu)
        text += fmt::format(", and on the device {:.1f} MiB of {:.0f} MiB", static_cast<double>(memory.needed.device_bytes) / MiB,
                            static_cast<double>(memory.device_available) / MiB);
    return text;
}

int check_gravity(const std::string& path, const std::vector<io::Setting>& settings, const Common& common) {
    const auto file = run::read_run_file(path, settings, {}, common.crew);
    run::check_memory(file, common.crew);
    run::Sampling sampling(file.initial, file.units, Cpu{common.threads_or_all()});
    build(sampling, common);
    auto warnings = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < file.initial.sources.size(); ++i)
        for (const auto& warning : sampling.warnings(i)) warnings.push_back(warning);

    const auto memory = run::memory(file, common.crew);
    const auto papers = run::papers(file);
    const auto device = device_info(file.space);
    nlohmann::ordered_json object{
        {"file", path},
        {"problem", file.problem},
        {"title", file.title},
        {"particles", file.initial.count()},
        {"steps", file.schedule.last()},
        {"device", {{"name", device.name}, {"kind", device.kind}, {"memory_bytes", device.memory_bytes}}},
        {"memory", as_json(memory.front())},
        {"unused_keys", file.unused_keys},
        {"notes", file.notes},
        {"warnings", warnings},
        {"papers", papers},
        {"resolved", file.resolved},
    };
    const bool constant = std::holds_alternative<gravity::Leapfrog>(file.steps), on_cpu = device.kind == "cpu";
    auto text = file.resolved + fmt::format("\n{} particles, {} {} on {}", file.initial.count(), file.schedule.last(),
                                            constant ? "steps" : "times dt_max", device.name);
    if (memory.size() * file.here.size() == 1) {
        text += "\nmemory: " + as_text(memory.front(), on_cpu);
    } else {
        object["ranks"] = nlohmann::ordered_json::array();
        for (std::size_t r = 0; r < memory.size(); ++r) {
            object["ranks"].push_back({{"placement", common.crew->placement()[r]}, {"memory", as_json(memory[r])}});
            text += fmt::format("\n{}; memory: {}", common.crew->placement()[r], as_text(memory[r], on_cpu));
        }
    }
    for (const auto& note : file.notes) text += "\nnote: " + note;
    print(common, object, text + list(file.unused_keys, papers));
    return success;
}

}  // namespace

Action add_check(CLI::App& app, const Common& common) {
    struct Options {
        std::string file;
        std::vector<std::string> set;
    };
    auto options = std::make_shared<Options>();
    app.add_option("FILE", options->file,
                   "Run file or model file (TOML), or the name of a model that comes with kasane: m31, milky-way, ...")
        ->required();
    add_settings(app, options->set);
    return [options, &common] {
        auto settings = as_settings(options->set);
        const auto file = run::model_path(options->file).string();
        if (run::is_model_file(file, settings)) {
            need_one_rank(common, file, "`kasane sample`");
            return check_model(file, settings, common);
        }
        for (const auto& setting : common.settings()) settings.push_back(setting);
        const auto problem = run::problem_of(file, settings);
        if (problem != run::Problem::gravity) need_one_rank(common, file, "this problem");
        if (problem == run::Problem::poisson) return check_poisson(file, settings, common);
        if (problem == run::Problem::quenched) return check_quenched(file, settings, common);
        return check_gravity(file, settings, common);
    };
}

}  // namespace kasane::app
