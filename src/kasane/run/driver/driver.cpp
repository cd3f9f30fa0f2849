#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/driver/newest_checkpoint.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/driver/run_texts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace fs = std::filesystem;

namespace kasane::run {
namespace {

/// The parts of a run's start and their times, for the log.
class StartTimes {
   public:
    /// Ends a part, which began with the end of the part before.
    void end(const char* part) {
        text_ += fmt::format("{}{} {:.2f} s", text_.empty() ? "" : ", ", part, watch_.seconds());
        watch_.restart();
    }
    const std::string& text() const { return text_; }

   private:
    Stopwatch watch_;
    std::string text_;
};

/// The choices of run.problem; none where there is one kind, whose reader checks it.
std::vector<std::string> names(const Kinds& kinds) {
    std::vector<std::string> all;
    if (kinds.size() == 1) return all;
    for (const auto* kind : kinds) all.emplace_back(kind->name);
    return all;
}

const Kind& named(const Kinds& kinds, std::string_view name) {
    const auto found = std::ranges::find_if(kinds, [&](const auto* kind) { return kind->name == name; });
    return found == kinds.end() ? *kinds.front() : **found;
}

/// The kind that record.json names, else the one that run.toml names.
const Kind& kind_in(const Kinds& kinds, const fs::path& directory) {
    try {
        if (const auto text = content(directory / "record.json")) {
            const auto json = io::parse_json(*text, directory / "record.json");
            if (json.is_object() && json.contains("problem") && json["problem"].is_string())
                if (const std::string name = json["problem"]; std::ranges::count(names(kinds), name) == 1) return named(kinds, name);
        }
    } catch (const InputError&) {  // damaged: the run file names the kind
    }
    try {
        return named(kinds, problem_of(directory / "run.toml", {}, names(kinds)));
    } catch (const InputError&) {
        return *kinds.front();
    }
}

/// The ranks of the controls, or this process alone.
class Ranks {
   public:
    explicit Ranks(const RunControls& controls) : given_(controls.ranks) {
        if (!given_) given_ = &alone_.emplace();
    }
    RankCoordinator& operator*() const { return *given_; }

   private:
    std::optional<RankCoordinator> alone_;
    RankCoordinator* given_;
};

void check_ranks(const Kind& kind, const RankCoordinator& ranks, const fs::path& file) {
    KS_VALIDATE(kind.worker || ranks.size() == 1,
                fmt::format("this problem runs on one rank, and {} were started: start it without mpirun", ranks.size()),
                {file.string(), 0, 0, ""});
}

void check_memory(const Run& run) {
    const auto all = run.memory();
    const auto refuse_above = [&](std::uint64_t bytes, std::uint64_t free, const std::string& where) {
        constexpr double GiB = 1u << 30;
        if (bytes <= free) return;
        const auto size = run.size();
        throw InputError(
            fmt::format("asks for too much: {} {} need {:.3g} GiB of memory{}, and {:.3g} GiB are free. Take fewer {}", size.count,
                        size.noun, static_cast<double>(bytes) / GiB, where, static_cast<double>(free) / GiB, size.noun),
            size.where);
    };
    for (std::size_t r = 0; r < all.size(); ++r) {
        const auto rank = all.size() > 1 ? fmt::format(" on rank {}", r) : "";
        refuse_above(all[r].host_bytes, all[r].host_available, rank);
        if (name(run.file().space) == "cpu") continue;
        refuse_above(
            all[r].device_bytes, all[r].device_available,
            all.size() * static_cast<std::size_t>(run.file().workers()) > 1 ? " on a device" + rank : " on " + name(run.file().space));
    }
}

RunResult result_of(Run& run, const RunDirectory& directory) {
    const auto& r = run.record();
    return {directory.path(), {}, r.status, r.message, r.seconds, run.summary(directory.path())};
}

/// The result of a run that was done before resume: computes and writes nothing.
RunResult finished_before(Run& run, const RunDirectory& directory) {
    log::info("{}: the run is already done, nothing is changed", run.record().title);
    auto result = result_of(run, directory);
    result.report = directory.existing_report();
    return result;
}

RunResult with_report(const Kinds& kinds, Run& run, const RunDirectory& directory) {
    auto result = result_of(run, directory);
    log::debug("{}: {}", result.status, result.summary.text);
    if (result.status == "interrupted" || !run.file().report) return result;
    try {
        const Stopwatch watch;
        result.report = write_report(kinds, directory.path());
        log::debug("report: {:.2f} s", watch.seconds());
    } catch (const Error& error) {  // the computation is done and saved
        log::warning("no report was written: {}", error.what());
    }
    return result;
}

RunResult go(const Kinds& kinds, const Kind& kind, Run& run, const RunDirectory& directory, const RunControls& controls,
             RankCoordinator& ranks) {
    log::info("{}: {}, in {}", run.file().title, run.headline(), directory.path().string());
    for (const auto& note : run.file().notes) log::info("{}", note);
    Loop(kind, run, directory, controls, ranks).run();
    run.release();
    return with_report(kinds, run, directory);
}

/// Completes a run that was done, but was killed before it wrote its tables and its record.
RunResult with_tables(const Kinds& kinds, const Kind& kind, Run& run, const RunDirectory& directory) {
    log::info("{}: the run is already done, its tables are completed", run.record().title);
    run.write_tables(directory);
    write_atomically(directory.record(), record_text(kind, run));
    return with_report(kinds, run, directory);
}

/// The files of all kinds of run, since an earlier run in a directory may be of any kind.
OldFiles old_files(const Kinds& kinds) {
    return [&kinds](const io::Json& record) {
        Manifest all;
        for (const auto* kind : kinds) {
            const auto own = kind->manifest(record);
            all.files.insert(all.files.end(), own.files.begin(), own.files.end());
            all.series.insert(all.series.end(), own.series.begin(), own.series.end());
        }
        return all;
    };
}

using Newest = NewestCheckpoint<std::unique_ptr<Checkpoint>>;

Newest newest_of(const Kind& kind, const RunDirectory& directory) {
    auto newest = newest_checkpoint(directory, kind.read_checkpoint);
    if (!newest.checkpoint && kind.results && fs::exists(directory.path() / kind.results))
        newest.checkpoint = kind.read_checkpoint(directory.path() / kind.results);
    return newest;
}

/// A checkpoint that has only the record, for a run that is done and has no checkpoints.
/// @throws InputError: the run has made progress, so that its checkpoints are missing
std::unique_ptr<Checkpoint> done_without_checkpoint(const Kind& kind, const RunDirectory& directory) {
    const auto text = content(directory.record());
    if (!text) return nullptr;
    Record record;
    read_record(*text, directory.record(), kind.name, [&](const auto& json) { read_common(json, kind.step, record); });
    if (record.status == "done") {
        auto only_record = std::make_unique<Checkpoint>();
        only_record->record = *text;
        return only_record;
    }
    const auto progress = record.segments.empty() ? 0 : record.segments.back().last;
    KS_VALIDATE(progress == 0 || kind.results,  // a kind with results may write no checkpoints
                fmt::format("its record.json reports {} {}s, and there is no checkpoint to continue from: put its checkpoints back, or "
                            "start the run again with `kasane run`",
                            progress, kind.step),
                {directory.path().string(), 0, 0, ""});
    return nullptr;
}

io::Json memory_json(const RunMemory& memory) {
    return {{"host_bytes", memory.host_bytes},
            {"host_available", memory.host_available},
            {"device_bytes", memory.device_bytes},
            {"device_available", memory.device_available}};
}

}  // namespace

std::string memory_text(const RunMemory& memory) {
    constexpr double MiB = 1 << 20;
    const auto text = [](std::uint64_t bytes, std::uint64_t free) {
        return fmt::format("{:.1f} MiB of {:.0f} MiB", static_cast<double>(bytes) / MiB, static_cast<double>(free) / MiB);
    };
    return text(memory.host_bytes, memory.host_available) + " free" +
           (memory.device_available > 0 ? ", and on the device " + text(memory.device_bytes, memory.device_available) : "");
}

RunResult start(const Kinds& kinds, const fs::path& run_file, const std::vector<io::Setting>& settings, RunDirectory::Existing existing,
                const RunControls& controls) {
    StartTimes times;
    const auto problems = names(kinds);
    const auto& kind = named(kinds, problem_of(run_file, settings, problems));
    const Ranks ranks(controls);
    check_ranks(kind, *ranks, run_file);
    const auto run = kind.read({run_file, settings, problems, *ranks});
    const auto& file = run->file();
    times.end("run file and device");
    RunDirectory::check_free(file.directory, existing);
    check_memory(*run);
    times.end("free memory");
    run->create(controls);
    times.end("initial state");
    const auto directory = RunDirectory::create(file.directory, existing, kind.folders, old_files(kinds));
    write_atomically(directory.run_file(), file.resolved);
    const log::FileSink log_file(directory.log());
    times.end("directory");
    log::debug("start: {}", times.text());
    return go(kinds, kind, *run, directory, controls, *ranks);
}

RunResult resume(const Kinds& kinds, const fs::path& path, const std::vector<io::Setting>& settings, const RunControls& controls) {
    const auto directory = RunDirectory::open(path);
    const auto& kind = kind_in(kinds, path);
    const Ranks ranks(controls);
    check_ranks(kind, *ranks, path);
    auto newest = newest_of(kind, directory);
    std::unique_ptr<Checkpoint> from;
    if (newest.checkpoint)
        from = std::move(*newest.checkpoint);
    else
        from = done_without_checkpoint(kind, directory);
    const auto problems = names(kinds);
    const auto run = kind.read({directory.run_file(), settings, problems, *ranks, from.get()});
    if (from) {
        run->restore(*from);
        if (!newest.checkpoint) return finished_before(*run, directory);
        if (run->done() && run->record().status == "done" && run->results_in(directory))
            return directory.recorded_status() == "done" && run->tables_in(directory) ? finished_before(*run, directory)
                                                                                      : with_tables(kinds, kind, *run, directory);
    }
    check_memory(*run);
    if (!from) run->create(controls);
    const log::FileSink log_file(directory.log());
    if (!from) log::warning("the run was stopped before its first checkpoint: it starts from the beginning");
    set_aside(newest.unreadable);
    directory.make_folders(kind.folders);
    return go(kinds, kind, *run, directory, controls, *ranks);
}

Summary check(const Kinds& kinds, const fs::path& run_file, const std::vector<io::Setting>& settings, const RunControls& controls) {
    const auto problems = names(kinds);
    const auto& kind = named(kinds, problem_of(run_file, settings, problems));
    const Ranks ranks(controls);
    check_ranks(kind, *ranks, run_file);
    const auto run = kind.read({run_file, settings, problems, *ranks});
    const auto& file = run->file();
    check_memory(*run);
    const auto own = run->check(controls);
    const auto memory = run->memory();
    const auto device = device_info(file.space);
    Summary summary;
    summary.object = {{"file", run_file.string()}, {"problem", kind.name}, {"title", file.title}};
    summary.object.update(own.object);
    summary.object["device"] = {{"name", device.name}, {"kind", device.kind}, {"memory_bytes", device.memory_bytes}};
    summary.object["memory"] = memory_json(memory.front());
    summary.text = file.resolved + "\n" + own.text + " on " + device.name;
    if (memory.size() * static_cast<std::size_t>(file.workers()) == 1) {
        summary.text += "\n" + run->memory_line(memory.front());
    } else {
        summary.object["ranks"] = io::Json::array();
        for (std::size_t r = 0; r < memory.size(); ++r) {
            const auto& placement = (*ranks).placement()[r];
            summary.object["ranks"].push_back({{"placement", placement}, {"memory", memory_json(memory[r])}});
            summary.text += fmt::format("\n{}; {}", placement, run->memory_line(memory[r]));
        }
    }
    summary.object["unused_keys"] = file.unused_keys;
    summary.object["notes"] = file.notes;
    summary.object["papers"] = file.papers;
    summary.object["resolved"] = file.resolved;
    for (const auto& note : file.notes) summary.text += "\nnote: " + note;
    for (const auto& key : file.unused_keys) summary.text += "\nnot used: " + key;
    summary.text += "\nrests on:";
    for (const auto& paper : file.papers) summary.text += "\n  " + paper;
    return summary;
}

std::string report_page(const Kinds& kinds, const fs::path& directory, bool* finished) {
    auto history = read_run_history(directory);
    auto page = kind_in(kinds, directory).page(history);
    if (finished) *finished = page.head.status != "running";
    return html(std::move(page), history);
}

fs::path write_report(const Kinds& kinds, const fs::path& directory) {
    const auto path = directory / "report.html";
    write_atomically(path, report_page(kinds, directory));
    return path;
}

}  // namespace kasane::run
