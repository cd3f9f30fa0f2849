// kasane sample MODEL.toml -o FILE.hdf5
#include <app/command.hpp>
#include <app/sample_result.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/model/model_tables.hpp>
#include <kasane/run/model/model_papers.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/model/sampling.hpp>
#include <kasane/run/model/shipped_models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kasane::app {
namespace {

struct SampleOptions {
    std::string model;           // as given
    std::filesystem::path path;  // of the file that it names
    std::string file, report;
    std::vector<std::string> set;
    std::int64_t count = 0, seed = -1;
    bool force = false;
};

/// The model file with the changes of the command line.
run::ModelFile model_of(const SampleOptions& o) {
    auto model = run::read_model_file(o.path, as_settings(o.set), o.count > 0 ? std::optional(o.count) : std::nullopt);
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

/// The tables of the page, beside it.
std::filesystem::path tables_of(const std::string& report) { return std::filesystem::path(report).replace_extension(".tables.hdf5"); }

/// Checks that every file can be written, and that none of them is read. @throws InputError
void check_files(const SampleOptions& o) {
    std::vector<std::filesystem::path> files{o.file};
    if (!o.report.empty()) files.insert(files.end(), {o.report, tables_of(o.report)});
    for (std::size_t i = 0; i < files.size(); ++i) {
        keep_inputs(i == 0 ? "-o" : "--report", files[i], {o.path});
        for (std::size_t j = 0; j < i; ++j)
            KS_VALIDATE(files[i].lexically_normal() != files[j].lexically_normal(),
                        "would be written twice: give -o and --report different names", {files[i].string(), 0, 0, ""});
        keep_existing(files[i], o.force);
        if (i > 0) AtomicFile probe(files[i]);
    }
}

/// The command line that repeats this one, for the page.
std::string command_of(const SampleOptions& o) {
    using report::shell_word;
    auto line = "kasane sample " + shell_word(o.model) + " -o " + shell_word(o.file);
    if (o.count > 0) line += fmt::format(" --count {}", o.count);
    if (o.seed >= 0) line += fmt::format(" --seed {}", o.seed);
    for (const auto& each : o.set) line += " --set " + shell_word(each);
    return line + " --report " + shell_word(o.report);
}

void write_report(const SampleOptions& o, const run::ModelFile& model, const run::Sampling& sampling, const SourceFacts& facts, Cpu on) {
    run::ModelReport page;
    page.title = model.title;
    page.command = command_of(o);
    page.file = o.path.filename().string();
    page.text = model.resolved;
    page.tables = tables_of(o.report).string();
    page.units = model.units;
    page.papers = run::papers(model.initial);
    for (std::size_t i = 0; i < model.initial.sources.size(); ++i)
        if (facts[i]) page.galaxies.push_back(run::describe(model.initial.sources[i].name, *sampling.galaxy(i), *facts[i], on));
    run::write_model_tables(page.tables, page);
    try {
        run::write_model_report(o.report, page);
    } catch (const Error&) {
        std::error_code ignored;
        std::filesystem::remove(page.tables, ignored);  // tables without their page
        throw;
    }
}

int sample(const Common& common, SampleOptions o) {
    o.path = run::model_path(o.model);
    check_files(o);
    const auto model = model_of(o);
    const auto& sources = model.initial.sources;
    for (const auto& source : sources)
        if (const auto* snapshot = source.file()) keep_inputs("-o", o.file, {*snapshot});
    KS_VALIDATE(o.report.empty() || std::any_of(sources.begin(), sources.end(), [](const auto& s) { return s.galaxy(); }),
                "is for galaxies, and there is none in the model: leave it out", {"", 0, 0, "--report"});
    const Stopwatch watch;
    catch_interrupts();
    const Cpu on = common.cpu();
    run::Sampling sampling(model.initial, model.units, on);
    sampling.check_memory(o.count > 0 ? std::optional(Where{"", 0, 0, "--count"}) : std::nullopt);
    auto outline = sampling.outline();
    outline.model = model.resolved;
    gravity::SnapshotWriter writer(o.file, outline);  // before the work, so that a path that cannot be written is an error now
    {
        Progress bar(common.progress(), "sampling", 1);
        const auto progress = [&](double from) {
            return [&bar, from](double done, const std::string& what) {
                stop_if_interrupted();
                bar.update(from + done / 2, what);
            };
        };
        sampling.build(progress(0));
        sampling.draw([&](const gravity::Particles& block) { writer.append(block); }, progress(0.5));
        stop_if_interrupted();
    }
    writer.commit();

    const auto facts = facts_of(sampling, model.initial.sources.size(), on);
    if (!o.report.empty()) write_report(o, model, sampling, facts, on);
    auto result = sample_result(model, outline, facts);
    result.object["file"] = o.file;
    if (!o.report.empty()) {
        result.object["report"] = o.report;
        result.object["tables"] = tables_of(o.report).string();
    }
    result.object["seconds"] = watch.seconds();
    auto text = fmt::format("{} particles in {} units: {}{}", model.initial.count(), model.units.name, o.file, result.text);
    if (!o.report.empty()) text += "\nopen " + std::filesystem::absolute(o.report).lexically_normal().string();
    print(common, result.object, text);
    return success;
}

}  // namespace

Action add_sample(CLI::App& app, const Common& common) {
    auto options = std::make_shared<SampleOptions>();
    app.add_option("MODEL", options->model,
                   "Model file or run file (TOML), or the name of a model that comes with kasane: m31, milky-way, ...")
        ->required();
    app.add_option("-o,--output", options->file, "Snapshot to write (GADGET HDF5)")->required();
    app.add_option("--count", options->count, "Number of particles in all, instead of the number in the file")
        ->check(whole_number(1, gravity::most_particles))
        ->default_str("");
    app.add_option("--seed", options->seed, "Seed, instead of the seed in the file; further objects take the next numbers")
        ->check(whole_number(0, INT64_MAX))
        ->default_str("");
    app.add_option("--report", options->report,
                   "Write a page of the model (HTML): picture, numbers, curves; its tables are written beside it (.tables.hdf5)");
    app.add_flag("--force", options->force, "Overwrite files that exist");
    add_settings(app, options->set);
    return [options, &common] { return sample(common, *options); };
}

}  // namespace kasane::app
