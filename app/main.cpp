// The command `kasane`: one file per verb. This file has the options that all verbs share, and turns errors into messages and exit
// statuses. Exit status: 0 done, 1 the computation failed, 2 bad input or usage, 130 interrupted, after a checkpoint where there is one.
#include <app/command.hpp>
#include <app/ranks.hpp>
#include <app/waiting.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/device/threads.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/version.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

namespace {

using namespace kasane;
using namespace kasane::app;

constexpr Verb verbs[] = {
    {"run", "Run the problem that a run file names", add_run, OnRanks::led},
    {"check", "Read a run file as `run` would, or a model file as `sample` would, and print what it would do", add_check, OnRanks::led},
    {"resume", "Continue an interrupted run from its newest valid checkpoint", add_resume, OnRanks::led},
    {"report", "Write the report.html of a run", add_report},
    {"view", "Show the report of a run in a browser of this machine, also while it is in progress", add_view},
    {"new", "Write a run file with comments, to be changed", add_new},
    {"sample", "Sample a model into a snapshot", add_sample},
    {"forces", "Accelerations and potentials of a snapshot", add_forces},
    {"solve", "Solve a sparse system from a file", add_solve, OnRanks::led},
    {"lattice", "Lattice QCD: gauge configurations, quark propagators, quenched updates", add_lattice, OnRanks::led},
    {"calibrate", "Measure the time of forces and messages on this machine, for `predict`", add_calibrate, OnRanks::each},
    {"predict", "Expected time, efficiency and memory of a run on a number of ranks", add_predict, OnRanks::each},
    {"bench", "Measure this machine: speed with its bound and error", add_bench, OnRanks::each},
    {"info", "Devices, build and versions", add_info, OnRanks::each},
    {"completion", "Print a script for a shell that completes verbs and options", add_completion, OnRanks::each},
    {"manual", "Print the manual page: kasane manual > kasane.1", add_manual, OnRanks::each},
};

void add_common(CLI::App& app, Common& common) {
    app.add_flag("--json", common.json, "One JSON object on standard output");
    app.add_flag("--quiet", common.quiet, "Nothing but errors");
    app.add_option("--device", common.device, "auto, cpu, cuda or cuda:1");
    app.add_option("--threads", common.threads, "Threads of the CPU; 0: all")->check(whole_number(0, most_threads))->default_str("");
}

io::Json as_json(const InputProblem& problem) {
    const auto text = [](const std::string& s) { return s.empty() ? io::Json(nullptr) : io::Json(s); };
    io::Json object{{"message", problem.message}, {"file", text(problem.where.file)}};
    object["line"] = problem.where.line > 0 ? io::Json(problem.where.line) : nullptr;
    if (problem.where.column > 0) object["column"] = problem.where.column;
    object["key"] = text(problem.where.key);
    return object;
}

bool wants_json(int argc, char** argv) {
    return std::any_of(argv, argv + argc, [](const char* word) { return std::string(word) == "--json"; });
}

/// Prints all problems, in JSON with the first one as "error".
int fail(bool json, const std::vector<InputProblem>& problems, int status) {
    if (json) {
        io::Json object{{"error", as_json(problems.front())}};
        for (const auto& problem : problems) object["problems"].push_back(as_json(problem));
        std::printf("%s\n", object.dump(2, ' ', false, io::Json::error_handler_t::replace).c_str());
    }
    for (const auto& problem : problems) log::error("{}", problem.text());
    return status;
}

/// Prints the error and yields the exit status. @param speaks  false on the ranks whose errors the root rank reports: they print nothing
/// and yield the status of success
int print_error(bool json, bool speaks, const std::exception_ptr& thrown) {
    if (!speaks) return success;
    try {
        std::rethrow_exception(thrown);
    } catch (const InputError& error) {
        return fail(json, error.problems(), bad_input);
    } catch (const Interrupted& stopped) {
        return fail(json, {{stopped.what(), {}}}, interrupted);
    } catch (const std::bad_alloc&) {
        return fail(
            json,
            {{"there is not enough memory: take a smaller problem (fewer particles, lattice sites or rows), or a machine with more memory",
              {}}},
            computation_failed);
    } catch (const std::exception& error) {
        return fail(json, {{error.what(), {}}}, computation_failed);
    }
}

int alone(Common& common, const Action& action) {
    try {
        run::RankCoordinator ranks;
        common.ranks = &ranks;
        return action();
    } catch (...) {
        return print_error(common.json, true, std::current_exception());
    }
}

/// The problem of a first word that is not a verb of `of`; empty when it is a verb, or when there is no word.
std::string unknown_verb(const CLI::App& app, const std::string& of, int argc, char** argv) {
    const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
    if (verbs.empty() || argc < 2 || argv[1][0] == '-') return "";
    std::vector<std::string_view> names;
    std::string known;
    for (const auto* verb : verbs) {
        if (verb->get_name() == argv[1]) return unknown_verb(*verb, of + " " + argv[1], argc - 1, argv + 1);
        names.emplace_back(verb->get_name());
        known += (known.empty() ? "" : ", ") + verb->get_name();
    }
    const auto near = nearest_name(argv[1], names);
    return "'" + std::string(argv[1]) + "' is not a verb of " + of + "; " +
           (near.empty() ? "there are " + known : "did you mean '" + near + "'?");
}

/// Removes the defaults of options that must be given or are lists from the help pages.
void hide_void_defaults(CLI::App& app) {
    for (auto* option : app.get_options())
        if (option->get_required() || option->get_default_str() == "[]") option->default_str("");
    for (auto* verb : app.get_subcommands([](CLI::App*) { return true; })) hide_void_defaults(*verb);
}

/// Adds a check to the numbers that have none: the message of the conversion names no reason.
void check_numbers(CLI::App& app) {
    for (auto* option : app.get_options())
        if (option->get_type_name() == "FLOAT") option->check(number());
    for (auto* verb : app.get_subcommands([](CLI::App*) { return true; })) check_numbers(*verb);
}

/// @throws CLI::ParseError: an option or argument has the empty text, which would count as not given
void refuse_empty_values(const CLI::App& app) {
    for (const auto* option : app.get_options()) {
        if (option->get_expected_min() == 0) continue;  // a flag, or an option that may stand alone
        for (const auto& value : option->results())
            if (value.empty()) throw CLI::ValidationError(option->get_name(), "is empty: give a value, or leave the option out");
    }
    for (const auto* verb : app.get_subcommands()) refuse_empty_values(*verb);
}

/// @param status  of the command   @returns it, or failure when what the command printed could not be written
int after_output(int status) {
    const std::string reason = std::fflush(stdout) != 0 ? std::strerror(errno) : std::ferror(stdout) ? "an earlier write failed" : "";
    if (reason.empty()) return status;
    log::error("standard output cannot be written: {}. What was printed is incomplete: give it another place", reason);
    return status == success ? computation_failed : status;
}

/// Executes the verb that the words name. @param speaks  this is the root rank
int command(int argc, char** argv, bool several, bool speaks) {
    CLI::App app{"kasane: self-gravity, sparse systems, lattice QCD, layered on one core"};
    app.set_version_flag("--version", std::string("kasane ") + version + " (" + commit + ")");
    app.require_subcommand(1);
    app.option_defaults()->always_capture_default();
    Common common;
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const auto& verb : verbs) {
        auto* sub = app.add_subcommand(verb.name, verb.help);
        add_common(*sub, common);
        actions.emplace_back(sub, verb.add(*sub, common));
        for (auto* inner : sub->get_subcommands([](CLI::App*) { return true; })) add_common(*inner, common);
    }
    hide_void_defaults(app);
    check_numbers(app);
    const bool json = wants_json(argc, argv);
    const auto misused = [&](const std::string& message) {
        return print_error(json, speaks, std::make_exception_ptr(InputError(message)));
    };
    if (const auto problem = unknown_verb(app, "kasane", argc, argv); !problem.empty()) return misused(problem);
    try {
        app.parse(argc, argv);
        refuse_empty_values(app);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return speaks ? app.exit(error) : success;  // --help, --version
        return misused(std::string(error.what()) + " (kasane --help lists the verbs, kasane VERB --help its options)");
    }
    common.json = json && speaks;  // also where a verb gives --json a value
    common.quiet = common.quiet || !speaks;
    if (common.quiet) log::set_terminal_level(log::Level::error);  // a rank that ends all ranks prints its error
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto& [sub, action] = actions[i];
        if (!sub->parsed()) continue;
        if (!several) return alone(common, action);
        return on_ranks(verbs[i], common, action, [&](const std::exception_ptr& thrown) { return print_error(json, speaks, thrown); });
    }
    return bad_input;
}

}  // namespace

int main(int argc, char** argv) {
    wait_without_spinning(argv);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is then an error of write(), reported like a full disk
    std::signal(SIGPIPE, SIG_IGN);
    bool several = comm::launched_with_ranks(), speaks = !several || rank_by_environment() == 0;
    try {
        if (several) {
            several = comm::world().size() > 1;
            speaks = comm::world().rank() == 0;
            compare_ranks(argc, argv);
        }
    } catch (...) {
        return after_output(print_error(wants_json(argc, argv), speaks, std::current_exception()));
    }
    return after_output(command(argc, argv, several, speaks));
}
