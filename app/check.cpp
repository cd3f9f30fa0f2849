// kasane check FILE.toml: reads a run file as `run` would, or a model file as `sample` would, and prints what it would do.
#include <app/command.hpp>
#include <app/run_result.hpp>
#include <app/sample_result.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/kinds.hpp>
#include <kasane/run/model/model_papers.hpp>
#include <kasane/run/model/sampling.hpp>
#include <kasane/run/model/shipped_models.hpp>

#include <fmt/format.h>

namespace kasane::app {
namespace {

constexpr double MiB = 1 << 20;

/// Builds the galaxies, since only this shows that a galaxy has no equilibrium or that a snapshot is damaged after its header.
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
    const auto result = sample_result(model, sampling.outline(), facts_of(sampling, model.initial.sources.size(), on));
    const auto papers = run::papers(model.initial);
    const auto needed = sampling.memory_bytes(), available = available_memory(Cpu{});
    io::Json object{{"file", path},
                    {"title", model.title},
                    {"particles", model.initial.count()},
                    {"units", model.units.name},
                    {"components", result.object["components"]},
                    {"memory", {{"host_bytes", needed}, {"host_available", available}}},
                    {"unused_keys", model.unused_keys},
                    {"papers", papers},
                    {"resolved", model.resolved}};
    if (result.object.contains("galaxies")) object["galaxies"] = result.object["galaxies"];
    const auto text = model.resolved + fmt::format("\n{} particles in {} units{}\nmemory to sample them: {:.1f} MiB of {:.0f} MiB free",
                                                   model.initial.count(), model.units.name, result.text, static_cast<double>(needed) / MiB,
                                                   static_cast<double>(available) / MiB);
    print(common, object, text + list(model.unused_keys, papers));
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
        catch_interrupts();
        const auto result = run::check(run::kinds(), file, settings, controls(common));
        print(common, result.object, result.text);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
