// kasane lattice generate FILE.toml: `kasane run` for run files of quenched updates.
#include <app/lattice.hpp>
#include <app/run_result.hpp>
#include <kasane/run/quenched/quenched.hpp>

namespace kasane::app {

Action add_lattice_generate(CLI::App& app, const Common& common) {
    struct Options {
        std::string file, directory;
        std::vector<std::string> set;
        bool force = false;
    };
    auto options = std::make_shared<Options>();
    app.add_option("FILE", options->file, "Run file (TOML) with problem = \"quenched\"")->required();
    app.add_option("-o,--output", options->directory, "Directory of the run, instead of output.directory");
    app.add_flag("--force", options->force, "Replace the run that is in the output directory");
    add_settings(app, options->set);
    return [options, &common] {
        auto settings = as_settings(options->set);
        for (const auto& setting : common.settings()) settings.push_back(setting);
        if (!options->directory.empty()) settings.push_back(text_setting("output.directory", options->directory, "-o"));
        const auto existing = options->force ? run::RunDirectory::Existing::replace : run::RunDirectory::Existing::refuse;
        catch_interrupts();
        return print_result(common, run::start({&run::quenched_kind}, options->file, settings, existing, controls(common)));
    };
}

}  // namespace kasane::app
