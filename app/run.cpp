// kasane run FILE.toml: starts a run, or several.
#include <app/command.hpp>
#include <app/many_runs.hpp>
#include <app/run_result.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/run/kinds.hpp>
#include <kasane/run/model_file.hpp>

namespace kasane::app {

Action add_run(CLI::App& app, const Common& common) {
    auto options = std::make_shared<RunOptions>();
    app.add_option("FILE", options->files, "Run file (TOML); several: a run for each")->required();
    app.add_option("-o,--output", options->directory,
                   "Directory of the run, instead of output.directory; with several runs, of their directories");
    app.add_flag("--force", options->force, "Replace the run that is in the output directory");
    add_settings(app, options->set);
    app.add_option("--each", options->each,
                   "A run for each value of a key, in its own directory: --each quarks.kappa=0.150,0.153; of several keys, for each "
                   "combination. With an MPI launcher each rank computes one run at a time")
        ->type_name("KEY=VALUE,VALUE...")
        ->allow_extra_args(false);
    return [options, &common] {
        const auto& o = *options;
        for (const auto& file : o.files)
            KS_VALIDATE(!run::is_model_file(file),
                        "is a model, not a run: `kasane sample` creates its particles, and a run file uses it with model = \"FILE.toml\" "
                        "under [initial]",
                        {file, 0, 0, ""});
        catch_interrupts();
        if (o.files.size() > 1 || !o.each.empty()) return run_many(common, o);
        auto settings = as_settings(o.set);
        for (const auto& setting : common.settings()) settings.push_back(setting);
        if (!o.directory.empty()) settings.push_back(text_setting("output.directory", o.directory, "-o"));
        const auto existing = o.force ? run::RunDirectory::Existing::replace : run::RunDirectory::Existing::refuse;
        return print_result(common, run::start(run::kinds(), o.files.front(), settings, existing, controls(common)));
    };
}

}  // namespace kasane::app
