#include <app/lattice_batch.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/byte_source.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/input_file.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;
using io::Json;

constexpr int result_layout = 1;  ///< of result files

std::string dumped(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

// ---- configurations

/// Length and time of a file. @throws InputError: it cannot be read
Json stamp_of(const std::string& file) {
    const ByteSource source(file);
    return {{"bytes", source.size()}, {"modified", fs::last_write_time(file).time_since_epoch().count()}};
}

std::string checksum_of(const std::string& file) {
    ByteSource source(file);
    io::Checksum sum;
    std::vector<char> block(std::size_t{1} << 22);
    while (const auto count = source.read(block.data(), block.size())) sum.add(block.data(), count);
    return fmt::format("{:016x}", sum.value());
}

/// The length, time and checksum of a task's configuration for its result file; null where none is written. @throws InputError
Json identity_of(const BatchTask& task) {
    if (task.result_file.empty()) return nullptr;
    auto identity = stamp_of(task.file);
    identity["checksum"] = checksum_of(task.file);
    return identity;
}

/// Whether a file is the configuration of a stored result: it has the same length and time, or else the same length and checksum.
bool same_configuration(const Json& stored, const std::string& file) {
    const auto now = stamp_of(file);
    if (!stored.is_object() || stored.value("bytes", Json()) != now["bytes"]) return false;
    return stored.value("modified", Json()) == now["modified"] || stored.value("checksum", Json()) == Json(checksum_of(file));
}

// ---- result files

/// Reads a result file. @throws InputError
Json read_result(const std::string& verb, const BatchTask& task) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    Json object;
    try {
        object = io::parse_json(io::read_text_file(task.result_file, most, "a result of `kasane " + verb + "`"), task.result_file);
    } catch (const InputError&) {
        object = nullptr;
    }
    const bool good = object.is_object() && object.value("kasane", Json()) == Json(verb) &&
                      object.value("layout", Json()) == Json(result_layout) && object.contains("inputs") && object["inputs"].is_object() &&
                      object.contains("result") && object["result"].is_object() && object.contains("configuration");
    KS_VALIDATE(good, fmt::format("exists already and is not a result of `kasane {}`: give another directory, or --force", verb),
                {task.result_file, 0, 0, ""});
    for (const auto& [key, value] : task.inputs.items()) {
        const auto there = object["inputs"].contains(key) ? object["inputs"][key] : Json();
        KS_VALIDATE(
            there == value,
            fmt::format("was computed with {} = {}, but this command has {}: give another directory, or --force to compute it again", key,
                        dumped(there), dumped(value)),
            {task.result_file, 0, 0, ""});
    }
    KS_VALIDATE(
        same_configuration(object["configuration"], task.file),
        fmt::format("was computed from other links than those in {}: give another directory, or --force to compute it again", task.file),
        {task.result_file, 0, 0, ""});
    return object["result"];
}

void write_result(const std::string& verb, const BatchTask& task, const Json& configuration, const Json& result) {
    if (task.result_file.empty()) return;
    const Json object{
        {"kasane", verb}, {"layout", result_layout}, {"inputs", task.inputs}, {"configuration", configuration}, {"result", result}};
    write_atomically(task.result_file, object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

// ---- tasks as messages

Json as_json(const BatchTask& task, std::size_t number) {
    return {{"number", number},      {"file", task.file},
            {"label", task.label},   {"result_file", task.result_file},
            {"inputs", task.inputs}, {"parameters", task.parameters}};
}

BatchTask task_of(const Json& object) {
    return {object["file"], object["label"], object["result_file"], object["inputs"], object["parameters"]};
}

/// {"result": …} of `compute`, or {"failure": …, "status": …}.
template <class Compute>
Json outcome_of(const BatchTask& task, const Compute& compute) {
    const auto failed = [&](std::string reason, int status) {
        if (const auto head = task.file + ": "; reason.starts_with(head)) reason.erase(0, head.size());
        return Json{{"failure", reason}, {"status", status}};
    };
    try {
        return {{"result", compute()}};
    } catch (const InputError& error) {
        return failed(error.what(), bad_input);
    } catch (const Interrupted& stopped) {
        return failed(stopped.what(), interrupted);
    } catch (const std::bad_alloc&) {
        return failed("there is not enough memory: take a smaller lattice, or fewer workers on a host", computation_failed);
    } catch (const std::exception& error) {
        return failed(error.what(), computation_failed);
    }
}

void accept(const Json& outcome, const BatchTask& task, BatchResult& result) {
    if (outcome.contains("result")) {
        result.value = outcome["result"];
    } else if (outcome["status"] != interrupted) {
        result.failure = outcome["failure"], result.status = outcome["status"];
        log::warning("{}: {}", task.label, result.failure);
    }
}

BatchFunction function_of(const std::string& verb) { return verb == "lattice solve" ? solve_task : measure_task; }

/// Computes the tasks of one configuration, which is read once. @returns their outcomes
Json compute_unit(const std::string& verb, const Json& unit, const BatchPlace& place) {
    auto outcomes = Json::array();
    std::optional<lattice::GaugeFile> gauge;
    Json configuration;
    for (const auto& each : unit) {
        const auto task = task_of(each);
        auto outcome = outcome_of(task, [&] {
            if (!gauge) {
                configuration = identity_of(task);
                gauge = lattice::read_gauge(task.file);
            }
            auto result = function_of(verb)(place, *gauge, task.parameters);
            write_result(verb, task, configuration, result);
            return result;
        });
        outcome["number"] = each["number"];
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

// ---- rounds: each worker of all ranks computes one unit

void broadcast(comm::Communicator& ranks, std::string& text) {
    std::uint64_t length = text.size();
    ranks.broadcast(&length, sizeof length, 0);
    text.resize(length);
    ranks.broadcast(text.data(), text.size(), 0);
}

/// Every rank calls this with the root rank's round. @returns the outcomes on all ranks
std::vector<std::string> compute_round(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const std::string& text) {
    const auto round = io::parse_json(text, "message of the root rank");
    std::vector<Json> outcomes(here.size());
    communicator.run([&](comm::Worker& worker) {
        const auto local = static_cast<std::size_t>(worker.local()), index = static_cast<std::size_t>(worker.index());
        outcomes[local] = index < round["units"].size()
                              ? compute_unit(round["verb"], round["units"][index], {here[local], round["on_this_host"]})
                              : Json::array();
    });
    auto mine = Json::array();
    for (const auto& each : outcomes)
        for (const auto& outcome : each) mine.push_back(outcome);
    return communicator.ranks().all_gather(dumped(mine));
}

/// Ends the worker loops of the other ranks.
struct LoopEnd {
    comm::Communicator& ranks;
    ~LoopEnd() {
        try {
            std::string nothing;
            broadcast(ranks, nothing);
        } catch (...) {  // a rank that does not answer any more has reported its failure
        }
    }
};

const char* title_of(const std::string& verb) { return verb == "lattice solve" ? "solving" : "measuring"; }

bool is_missing(const BatchResult& result) { return result.value.is_null() && !result.failed(); }

std::size_t count_missing(const std::vector<BatchResult>& results) {
    return static_cast<std::size_t>(std::ranges::count_if(results, is_missing));
}

/// @param all  results that were missing at the start
void show_progress(Progress& bar, double all, const std::vector<BatchResult>& results) {
    const auto done = all - static_cast<double>(count_missing(results));
    bar.update(done, fmt::format("{:.0f} of {:.0f}", done, all));
}

}  // namespace

void check_batch(const std::vector<BatchTask>& tasks) {
    std::vector<InputProblem> problems;
    std::set<std::string> labels;
    std::map<std::string, std::string> files, paths;                   // label of a result file; canonical path of a configuration
    std::map<std::pair<std::string, std::string>, std::string> known;  // configuration of a canonical path and inputs
    for (const auto& task : tasks) {
        if (!paths.contains(task.file)) {
            std::error_code missing;
            const auto path = fs::canonical(task.file, missing);
            paths[task.file] = missing ? task.file : path.string();
        }
        if (!labels.insert(task.label).second)
            problems.push_back({"is given twice, and would count twice in the means: name it once", {task.label, 0, 0, ""}});
        else if (const auto [first, is_new] = known.emplace(std::pair(paths[task.file], dumped(task.inputs)), task.file); !is_new)
            problems.push_back({fmt::format("is the same file as {}, and would count twice in the means: name it once", first->second),
                                {task.file, 0, 0, ""}});
        else if (const auto [at, added] = files.emplace(task.result_file, task.label); !added && !task.result_file.empty())
            problems.push_back({fmt::format("would have the same result file as {}, {}: rename one of the two, or use two commands with "
                                            "two directories",
                                            at->second, task.result_file),
                                {task.label, 0, 0, ""}});
    }
    if (!problems.empty()) throw InputError(problems);
}

void make_result_directory(const std::string& directory) {
    std::error_code error;
    fs::create_directories(directory, error);
    KS_VALIDATE(fs::is_directory(directory),
                fmt::format("cannot be created as a directory: {}", error ? error.message() : "a file has its name"),
                {directory, 0, 0, "-o"});
    AtomicFile probe(fs::path(directory) / "means.csv");
}

std::string result_file(const std::string& directory, const std::string& name) {
    return directory.empty() ? "" : (fs::path(directory) / (name + ".json")).string();
}

std::vector<BatchResult> read_headers(const std::vector<BatchTask>& tasks, lattice::Extents& extents) {
    std::vector<BatchResult> results(tasks.size());
    std::map<std::string, std::pair<lattice::Extents, std::string>> known;  // extents or failure of a file
    const BatchTask* first = nullptr;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto& task = tasks[i];
        auto at = known.find(task.file);
        if (at == known.end()) {
            lattice::Extents own{};
            const auto outcome = outcome_of(task, [&] { return own = lattice::read_extents(task.file), true; });
            at = known.emplace(task.file, std::pair(own, outcome.value("failure", ""))).first;
            if (at->second.second.empty()) {
                if (!first) first = &task, extents = own;
                if (!(own == extents))
                    at->second.second = fmt::format(
                        "is a lattice of {}, but {} has {}: means need configurations of the same extents; use another command for this "
                        "one",
                        text(own), first->file, text(extents));
            }
            if (!at->second.second.empty()) log::warning("{}: {}", task.file, at->second.second);
        }
        if (!at->second.second.empty()) results[i].failure = at->second.second, results[i].status = bad_input;
    }
    if (!first) {
        std::vector<InputProblem> problems;
        for (const auto& [file, of] : known) problems.push_back({of.second, {file, 0, 0, ""}});
        throw InputError(problems);
    }
    return results;
}

void read_earlier_results(const std::string& verb, const std::vector<BatchTask>& tasks, const UsableResult& usable,
                          std::vector<BatchResult>& results) {
    std::vector<InputProblem> problems;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (results[i].failed() || tasks[i].result_file.empty() || !fs::exists(tasks[i].result_file)) continue;
        try {
            auto value = read_result(verb, tasks[i]);
            if (usable(tasks[i], value)) results[i].value = std::move(value), results[i].kept = true;
        } catch (const InputError& error) {
            problems.insert(problems.end(), error.problems().begin(), error.problems().end());
        }
    }
    if (!problems.empty()) throw InputError(problems);
}

bool compute_results(const Common& common, const Workers& workers, const std::string& verb, const std::vector<BatchTask>& tasks,
                     std::vector<BatchResult>& results) {
    std::vector<Json> units;
    std::map<std::string, std::size_t> unit_of;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        if (is_missing(results[i])) unit_of.emplace(tasks[i].file, 0);
    const bool together = std::ssize(unit_of) >= workers.count;
    unit_of.clear();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!is_missing(results[i])) continue;
        const auto [at, added] = unit_of.emplace(tasks[i].file, units.size());
        if (added || !together) units.push_back(Json::array());
        units[together ? at->second : units.size() - 1].push_back(as_json(tasks[i], i));
    }
    if (units.empty()) return true;
    auto& communicator = common.ranks->workers(lattice_batch_loop, workers.here);
    const LoopEnd end{communicator.ranks()};
    const auto all = static_cast<double>(count_missing(results));
    Progress bar(common.progress(), title_of(verb), all);
    const auto count = static_cast<std::size_t>(workers.count);
    for (std::size_t begin = 0; begin < units.size() && !interrupt_requested(); begin += count) {
        auto part = Json::array();
        for (std::size_t i = begin; i < std::min(begin + count, units.size()); ++i) part.push_back(units[i]);
        auto round = dumped({{"verb", verb}, {"on_this_host", workers.on_this_host}, {"units", part}});
        broadcast(communicator.ranks(), round);
        for (const auto& of_rank : compute_round(communicator, workers.here, round))
            for (const auto& outcome : io::parse_json(of_rank, "message of a rank")) {
                const std::size_t i = outcome["number"];
                bar.clear();
                accept(outcome, tasks[i], results[i]);
            }
        show_progress(bar, all, results);
    }
    return count_missing(results) == 0;
}

bool compute_results_on_grid(const Common& common, const std::string& verb, const std::vector<BatchTask>& tasks,
                             const std::function<Json(const BatchTask&)>& compute, std::vector<BatchResult>& results) {
    const auto all = static_cast<double>(count_missing(results));
    Progress bar(common.progress(), title_of(verb), all);
    for (std::size_t i = 0; i < tasks.size() && !interrupt_requested(); ++i) {
        if (!is_missing(results[i])) continue;
        const auto& task = tasks[i];
        const auto outcome = outcome_of(task, [&] {
            const auto configuration = identity_of(task);
            auto result = compute(task);
            write_result(verb, task, configuration, result);
            return result;
        });
        bar.clear();
        accept(outcome, task, results[i]);
        show_progress(bar, all, results);
    }
    return count_missing(results) == 0;
}

void run_lattice_batch_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    for (;;) {
        std::string round;
        broadcast(communicator.ranks(), round);
        if (round.empty()) return;
        compute_round(communicator, here, round);
    }
}

Json failures(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results) {
    auto all = Json::array();
    for (std::size_t i = 0; i < tasks.size(); ++i)
        if (results[i].failed()) all.push_back({{"file", tasks[i].file}, {"label", tasks[i].label}, {"message", results[i].failure}});
    return all;
}

int conclude(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results) {
    int status = success;
    std::string labels;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!results[i].failed()) continue;
        labels += (labels.empty() ? "" : ", ") + tasks[i].label;
        status = std::max(status, results[i].status);
    }
    const auto failed = std::ranges::count_if(results, [](const BatchResult& each) { return each.failed(); });
    if (failed > 0) log::error("{} of {} results are missing: {}", failed, results.size(), labels);
    return status;
}

void end_interrupted(const std::string& directory) {
    if (directory.empty()) throw Interrupted();
    throw Interrupted(fmt::format("interrupted: the results so far are in {}; the same command continues", directory));
}

}  // namespace kasane::app
