// kasane sample MODEL.toml -o FILE.hdf5
#include <app/command.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/sampling.hpp>

#include <fmt/format.h>

namespace kasane::app {
namespace {

struct Options {
    std::string model, file;
    std::vector<std::string> set;
    std::int64_t count = 0, seed = -1;
    bool force = false;
};

/// The model file with what the command line changed.
run::ModelFile model_of(const Options& o) {
    auto model = run::read_model_file(o.model, as_settings(o.set));
    if (o.count > 0) {
        try {
            set_count(model.initial, o.count);
        } catch (const InputError& error) {
            throw InputError(error.problems().front().message, {"", 0, 0, "--count"});
        }
        model.resolved += fmt::format("# sampled with --count {}\n", o.count);
    }
    if (o.seed >= 0) {
        set_seed(model.initial, static_cast<std::uint64_t>(o.seed));
        model.resolved += fmt::format("# sampled with --seed {}\n", o.seed);
    }
    return model;
}

void check_memory(const Options& o, const run::Initial& initial, std::uint64_t needed) {
    constexpr double GiB = 1u << 30;
    const auto there = available_memory(Cpu{});
    const auto largest = std::max_element(initial.sources.begin(), initial.sources.end(),
                                          [](const auto& a, const auto& b) { return a.count < b.count; });
    KS_VALIDATE(needed <= there,
                fmt::format("asks for too much: {} particles need {:.3g} GiB of memory, and {:.3g} GiB are free. Take fewer particles",
                            initial.count(), static_cast<double>(needed) / GiB, static_cast<double>(there) / GiB),
                o.count > 0 ? Where{"", 0, 0, "--count"} : largest->where);
}

int sample(const Common& common, const Options& o) {
    KS_VALIDATE(o.force || !std::filesystem::exists(o.file), "exists already: choose another name, or give --force", {o.file, 0, 0, ""});
    const auto model = model_of(o);
    const Stopwatch watch;
    run::Sampling sampling(model.initial, model.units, Cpu{common.threads_or_all()});
    check_memory(o, model.initial, sampling.memory_bytes());
    auto outline = sampling.outline();
    outline.model = model.resolved;
    gravity::SnapshotWriter writer(o.file, outline);  // before the work: a place that cannot be written shows now
    {
        Progress bar(common.progress(), "sampling", 1);
        sampling.build([&](double done, const std::string& what) { bar.update(done / 2, what); });
        sampling.draw([&](const gravity::Particles& block) { writer.append(block); },
                      [&](double done, const std::string& what) { bar.update((1 + done) / 2, what); });
    }
    writer.commit();

    const auto n = model.initial.count();
    auto components = nlohmann::ordered_json::array();
    auto text = fmt::format("{} particles in {} units: {}", n, model.units.name, o.file);
    for (const auto& c : outline.components) {
        components.push_back({{"name", c.name}, {"model", c.law}, {"count", c.count}, {"type", c.type}, {"mass", c.mass}});
        text += fmt::format("\n  {:<20} {:<18} {:>12} of type {}, mass {:.6g}{}", c.name, c.law, c.count, c.type, c.mass,
                            model.units.mass_name.empty() ? "" : " [" + model.units.mass_name + "]");
    }
    nlohmann::ordered_json object{{"file", o.file}, {"n", n}, {"seconds", watch.seconds()}, {"components", components}};
    // What a page of the model takes stands here: sampling.galaxy(i) of each of model.initial.sources, built, and null for others.
    print(common, object, text);
    return success;
}

}  // namespace

Action add_sample(CLI::App& app, const Common& common) {
    auto options = std::make_shared<Options>();
    app.add_option("MODEL", options->model, "Model file or run file (TOML)")->required();
    app.add_option("-o,--output", options->file, "Snapshot to write (GADGET HDF5)")->required();
    app.add_option("--count", options->count, "Number of particles in all, instead of the file's")->check(CLI::PositiveNumber);
    app.add_option("--seed", options->seed, "Seed, instead of the file's; further objects count on from it")->check(CLI::NonNegativeNumber);
    app.add_flag("--force", options->force, "Overwrite the snapshot if it exists");
    add_settings(app, options->set);
    return [options, &common] { return sample(common, *options); };
}

}  // namespace kasane::app
