// kasane sample MODEL.toml -o FILE.hdf5
#include <app/command.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/model_file.hpp>

#include <fmt/format.h>

namespace kasane::app {

Action add_sample(CLI::App& app, const Common& common) {
    struct Options {
        std::string model, file;
        std::vector<std::string> set;
        std::int64_t count = 0, seed = -1;
        bool force = false;
    };
    auto options = std::make_shared<Options>();
    app.add_option("MODEL", options->model, "Model file or run file (TOML)")->required();
    app.add_option("-o,--output", options->file, "Snapshot to write (GADGET HDF5)")->required();
    app.add_option("--count", options->count, "Number of particles in all, instead of the file's")->check(CLI::PositiveNumber);
    app.add_option("--seed", options->seed, "Seed, instead of the file's; further objects count on from it")->check(CLI::NonNegativeNumber);
    app.add_flag("--force", options->force, "Overwrite the snapshot if it exists");
    add_settings(app, options->set);
    return [options, &common] {
        KS_VALIDATE(options->force || !std::filesystem::exists(options->file), "exists already: choose another name, or give --force",
                    {options->file, 0, 0, ""});
        auto model = run::read_model_file(options->model, as_settings(options->set));
        if (options->count > 0) set_count(model.initial, options->count);
        if (options->seed >= 0) set_seed(model.initial, static_cast<std::uint64_t>(options->seed));
        const auto needed = static_cast<double>(model.initial.count()) * 2 * 65, there = static_cast<double>(available_memory(Cpu{}));
        KS_VALIDATE(needed <= there, fmt::format("{} particles need {:.3g} GiB of memory, and {:.3g} GiB are free: take fewer particles",
                                                 model.initial.count(), needed / (1u << 30), there / (1u << 30)),
                    {options->model, 0, 0, "count"});
        const Stopwatch watch;
        gravity::Snapshot snapshot;
        snapshot.particles = run::load(model.initial, model.units, Cpu{common.threads_or_all()});
        snapshot.time = model.initial.time;
        snapshot.units = model.units;
        const double seconds = watch.seconds();
        gravity::write_snapshot(options->file, snapshot);
        print(common, {{"file", options->file}, {"n", snapshot.particles.size()}, {"seconds", seconds}},
              fmt::format("{} particles in {} units: {}", snapshot.particles.size(), model.units.name, options->file));
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
