// kasane run FILE.toml: starts a run.
#include <app/command.hpp>
#include <app/run_result.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/run/kinds.hpp>
#include <kasane/run/model_file.hpp>

namespace kasane::app {

Action add_run(CLI::App& app, const Common& common) {
    struct Options {
        std::string file, directory;
        std::vector<std::string> set;
        bool force = false;
    };
    auto options = std::make_shared<Options>();
    app.add_option("FILE", options->file, "Run file (TOML)")->required();
    app.add_option("-o,--output", options->directory, "Directory of the run, instead of output.directory");
    app.add_flag("--force", options->force, "Replace the run that is in the output directory");
    add_settings(app, options->set);
    return [options, &common] {
        KS_VALIDATE(!run::is_model_file(options->file),
                    "is a model, not a run: `kasane sample` creates its particles, and a run file uses it with model = \"FILE.toml\" under "
                    "[initial]",
                    {options->file, 0, 0, ""});
        auto settings = as_settings(options->set);
        for (const auto& setting : common.settings()) settings.push_back(setting);
        if (!options->directory.empty()) settings.push_back(text_setting("output.directory", options->directory, "-o"));
        const auto existing = options->force ? run::RunDirectory::Existing::replace : run::RunDirectory::Existing::refuse;
        catch_interrupts();
        return print_result(common, run::start(run::kinds(), options->file, settings, existing, controls(common)));
    };
}

}  // namespace kasane::app
