#include <app/many_runs.hpp>
#include <app/run_result.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/run_directory.hpp>
#include <kasane/run/driver/run_texts.hpp>
#include <kasane/run/kinds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <new>
#include <sstream>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;
using io::Json;

struct ManyRun {
    std::string file, directory;
    std::vector<io::Setting> settings;
    std::string resolved;  ///< the run file with every key spelled out
    bool continues = false;
};

/// A name for a directory: the text without quotes, and _ in place of characters that a shell or a file system reads.
std::string as_name(const std::string& text) {
    std::string name;
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\'' || c == ' ') continue;
        name += std::isalnum(u) || c == '.' || c == '-' || c == '+' || c == '_' ? c : '_';
    }
    return name;
}

/// All combinations of the values, the first key slowest: settings and the name of a directory.
struct Combination {
    std::vector<io::Setting> settings;
    std::string name;
};
std::vector<Combination> combinations(const std::vector<std::string>& each) {
    std::vector<Combination> all(1);
    for (const auto& text : each) {
        const auto [key, values] = each_value(text);
        std::vector<Combination> next;
        for (const auto& base : all)
            for (const auto& value : values) {
                auto one = base;
                one.settings.push_back({fmt::format("{}={}", key, value), "--each " + key});
                one.name += (one.name.empty() ? "" : "_") + as_name(key.substr(key.rfind('.') + 1) + "-" + value);
                next.push_back(std::move(one));
            }
        all = std::move(next);
    }
    return all;
}

/// A text of a table of a run file, without the rest of the file.
std::string peek(const std::string& file, const std::vector<io::Setting>& settings, const std::string& table, const std::string& key) {
    io::RunFileReader reader(file, settings);
    return reader.root().table(table).peek(key).value_or("");
}

/// @throws InputError: a key is set twice, or is not one that runs can differ in
void check_each(const RunOptions& o) {
    std::vector<std::string> keys;
    for (const auto& text : o.each) {
        const auto key = each_value(text).key;
        const Where where{"--each " + key, 0, 0, ""};
        KS_VALIDATE(key != "output.directory", "is the directory of a run, which follows from the other keys: take -o, or leave it out",
                    where);
        KS_VALIDATE(std::ranges::find(keys, key) == keys.end(), "is given twice: give all values of a key at once", where);
        for (const auto& set : o.set) KS_VALIDATE(set.substr(0, set.find('=')) != key, "is set by --set, too: keep one of them", where);
        keys.push_back(key);
    }
}

std::vector<ManyRun> runs_of(const Common& common, const RunOptions& o) {
    check_each(o);
    std::error_code ignored;
    KS_VALIDATE(o.directory.empty() || !fs::exists(o.directory) || fs::is_directory(o.directory, ignored),
                "is a file, not a directory: name the directory of the runs", {o.directory, 0, 0, "-o"});
    std::vector<ManyRun> runs;
    const auto all = combinations(o.each);
    for (const auto& file : o.files)
        for (const auto& combination : all) {
            ManyRun run{.file = file, .settings = as_settings(o.set)};
            run.settings.insert(run.settings.end(), combination.settings.begin(), combination.settings.end());
            for (const auto& setting : common.settings()) run.settings.push_back(setting);
            fs::path directory = o.directory.empty() ? peek(file, run.settings, "output", "directory") : o.directory;
            KS_VALIDATE(!directory.empty(), "is missing: name the directory of the runs", {file, 0, 0, "output.directory"});
            const auto above = directory;
            if (o.files.size() > 1 && !o.directory.empty()) directory /= as_name(fs::path(file).stem().string());
            if (!combination.name.empty()) directory /= combination.name;
            KS_VALIDATE(directory == above || !run::is_run_directory(above),
                        "holds a run, and these runs would be inside it: name another directory",
                        {above.string(), 0, 0, o.directory.empty() ? "output.directory" : "-o"});
            run.directory = directory.string();
            run.settings.push_back(text_setting("output.directory", run.directory, "-o"));
            runs.push_back(std::move(run));
        }
    std::map<fs::path, const ManyRun*> known;
    for (const auto& run : runs) {
        const auto [at, added] = known.emplace(fs::absolute(run.directory).lexically_normal(), &run);
        KS_VALIDATE(added,
                    fmt::format("would be the directory of two runs, of {} and {}: give each value once, and each file an output.directory "
                                "or another name",
                                at->second->file, run.file),
                    {run.directory, 0, 0, ""});
    }
    return runs;
}

/// A line of TOML without its comment.
std::string without_comment(const std::string& line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == '"' && c == '\\')
            ++i;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '#')
            return line.substr(0, line.find_last_not_of(' ', i == 0 ? 0 : i - 1) + 1);
    }
    return line;
}

/// The lines of a resolved run file that determine the run: those of the device and of threads may differ between two commands.
std::string determining_lines(const std::string& resolved) {
    std::istringstream lines(resolved);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        const auto key = line.substr(0, line.find_first_of(" ="));
        if (line.empty() || line[0] == '#' || key == "device" || key == "threads") continue;
        text += without_comment(line) + "\n";
    }
    return text;
}

/// Reads every run file, and finds the runs that an earlier command left. @throws InputError with the problems of all runs
void read_all(std::vector<ManyRun>& runs, bool force) {
    std::vector<InputProblem> problems;
    for (auto& run : runs) try {
            const auto summary = run::check(run::kinds(), run.file, run.settings, {.stop = interrupt_requested});
            run.resolved = summary.object["resolved"];
            const auto earlier = run::content(fs::path(run.directory) / "run.toml");
            if (!earlier || force) continue;
            KS_VALIDATE(determining_lines(*earlier) == determining_lines(run.resolved),
                        "holds a run of another run file: give another directory, or --force to replace the run",
                        {run.directory, 0, 0, ""});
            run.continues = true;
        } catch (const InputError& error) {
            for (const auto& problem : error.problems())
                if (std::ranges::none_of(problems, [&](const auto& known) { return known.text() == problem.text(); }))
                    problems.push_back(problem);
        }
    if (!problems.empty()) throw InputError(problems);
}

// ---- runs as messages

Json described(const ManyRun& run) {
    auto settings = Json::array();
    for (const auto& each : run.settings) settings.push_back({each.text, each.source});
    return {{"file", run.file}, {"directory", run.directory}, {"settings", settings}, {"continues", run.continues}};
}

ManyRun run_of(const Json& object) {
    ManyRun run{.file = object["file"], .directory = object["directory"], .continues = object["continues"]};
    for (const auto& each : object["settings"]) run.settings.push_back({each[0], each[1]});
    return run;
}

/// {"run": …, "text": …, "status": …}, or {"failure": …, "status": …}.
Json outcome_of_run(const ManyRun& run, bool force, const std::vector<io::Setting>& place, const run::RunControls& controls) {
    const auto failed = [&](const std::string& reason, int status) {
        log::error("{}: {}", run.directory, reason);
        return Json{{"failure", reason}, {"status", status}};
    };
    try {
        auto settings = run.settings;
        settings.insert(settings.end(), place.begin(), place.end());
        const auto existing = force ? run::RunDirectory::Existing::replace : run::RunDirectory::Existing::refuse;
        const auto result = run.continues ? run::resume(run::kinds(), run.directory, place, controls)
                                          : run::start(run::kinds(), run.file, settings, existing, controls);
        return {{"run", result_object(result)}, {"text", result_text(result)}, {"status", exit_status(result)}};
    } catch (const InputError& error) {
        return failed(error.what(), bad_input);
    } catch (const Interrupted& stopped) {
        return {{"failure", stopped.what()}, {"status", interrupted}};
    } catch (const std::bad_alloc&) {
        return failed("there is not enough memory: take a smaller problem, or fewer ranks on a host", computation_failed);
    } catch (const std::exception& error) {
        return failed(error.what(), computation_failed);
    }
}

/// The runs of this rank, one after the other. @returns an outcome with its number for each run that was started
Json compute_own(const Json& work, int rank, int size, const std::vector<io::Setting>& place, const run::RunControls& controls) {
    auto outcomes = Json::array();
    const auto& runs = work["runs"];
    for (auto i = static_cast<std::size_t>(rank); i < runs.size() && !interrupt_requested(); i += static_cast<std::size_t>(size)) {
        const auto run = run_of(runs[i]);
        log::info("run {} of {}: {}", i + 1, runs.size(), run.directory);
        auto outcome = outcome_of_run(run, work["force"], place, controls);
        outcome["number"] = i;
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

std::string as_message(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Every rank calls this with the root rank's work. @returns the outcomes on all ranks
std::vector<std::string> compute_on_ranks(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, std::string text,
                                          ProgressStyle progress) {
    auto& ranks = communicator.ranks();
    std::uint64_t length = text.size();
    ranks.broadcast(&length, sizeof length, 0);
    text.resize(length);
    ranks.broadcast(text.data(), text.size(), 0);
    const Json work = io::parse_json(text, "message of the root rank");
    std::vector<io::Setting> place{text_setting("run.device", name(here.front()), "--device")};
    if (const auto* cpu = std::get_if<Cpu>(&here.front()))
        place.push_back({fmt::format("run.threads={}", thread_count(*cpu)), "--threads"});
    const auto own = compute_own(work, ranks.rank(), ranks.size(), place, {.progress = progress, .stop = interrupt_requested});
    return ranks.all_gather(as_message(own));
}

/// The spaces of all ranks. @throws InputError where two runs name different devices or numbers of threads
std::vector<AnySpace> place_ranks(const Common& common, const std::vector<ManyRun>& runs) {
    struct Place {
        std::string device;
        std::int64_t threads;
        bool operator==(const Place&) const = default;
    };
    const auto of = [](const ManyRun& run) {
        io::RunFileReader reader(run.file, run.settings);
        auto table = reader.root().table("run");
        return Place{table.text("device", {.fallback = "auto"}), table.integer("threads", {.fallback = 0})};
    };
    const auto first = of(runs.front());
    for (const auto& run : runs)
        KS_VALIDATE(of(run) == first,
                    "has another device or number of threads than the first run, and ranks compute all runs in the same way: use --device "
                    "and --threads, or two commands",
                    {run.file, 0, 0, "run.device"});
    return common.ranks->place(first.device, 1, static_cast<int>(first.threads));
}

}  // namespace

EachValue each_value(const std::string& text) {
    const auto equals = text.find('=');
    EachValue each{text.substr(0, equals), {}};
    const auto require = [&](bool good) {
        KS_VALIDATE(good, "must be a key and its values, such as quarks.kappa=0.150,0.153", {"--each " + text, 0, 0, ""});
    };
    require(equals != std::string::npos && equals > 0);
    int depth = 0;
    char quote = 0;
    std::string value;
    const auto end = [&] {
        require(!value.empty());
        each.values.push_back(std::move(value));
        value.clear();
    };
    for (const char c : text.substr(equals + 1)) {
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (c == ',' && depth == 0 && !quote)
            end();
        else
            value += c;
    }
    end();
    return each;
}

int run_many(const Common& common, const RunOptions& o) {
    auto runs = runs_of(common, o);
    read_all(runs, o.force);
    Json work{{"force", o.force}, {"runs", Json::array()}};
    for (const auto& run : runs) work["runs"].push_back(described(run));
    std::vector<Json> outcomes(runs.size());
    const auto accept = [&](const Json& all) {
        for (const auto& each : all) outcomes[each["number"]] = each;
    };
    if (common.ranks->size() == 1) {
        accept(compute_own(work, 0, 1, {}, controls(common)));
    } else {
        const auto here = place_ranks(common, runs);
        auto& communicator = common.ranks->workers(many_runs_loop, here);
        for (const auto& of_rank : compute_on_ranks(communicator, here, as_message(work), common.progress()))
            accept(io::parse_json(of_rank, "message of a rank"));
    }

    auto done = Json::array(), failed = Json::array(), waiting = Json::array();
    std::string text;
    int status = success;
    bool stopped = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto& outcome = outcomes[i];
        const int own = outcome.is_null() ? int{interrupted} : outcome["status"].get<int>();
        stopped = stopped || own == interrupted;
        if (own != interrupted) status = std::max(status, own);
        text += fmt::format("{}{}: ", text.empty() ? "" : "\n", runs[i].directory);
        if (outcome.is_null() || (outcome.contains("failure") && own == interrupted)) {
            waiting.push_back(runs[i].directory);
            text += "not begun";
        } else if (outcome.contains("failure")) {
            failed.push_back({{"directory", runs[i].directory}, {"message", outcome["failure"]}});
            text += "failed: " + outcome["failure"].get<std::string>();
        } else {
            done.push_back(outcome["run"]);
            text += outcome["text"].get<std::string>();
        }
    }
    if (stopped) text += "\nthe same command continues";
    print(common, {{"runs", done}, {"failed", failed}, {"waiting", waiting}}, text);
    if (!failed.empty()) log::error("{} of {} runs failed", failed.size(), runs.size());
    return stopped ? int{interrupted} : status;
}

void run_many_runs_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    compute_on_ranks(communicator, here, {}, ProgressStyle::none);
}

}  // namespace kasane::app
