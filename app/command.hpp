// Functions that the verbs of `kasane` share: common options, output of results, interrupts.
// Invariants: with --json, standard output holds exactly one JSON object; everything for people goes to standard error.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/interrupted.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace kasane::run {
class RankCoordinator;
}

namespace kasane::app {

enum ExitStatus { success = 0, computation_failed = 1, bad_input = 2, interrupted = 130 };

struct Common {
    bool json = false;
    bool quiet = false;
    std::string device;                     ///< empty: as in the run file, or auto
    int threads = -1;                       ///< negative: as in the run file, or all
    run::RankCoordinator* ranks = nullptr;  ///< of a verb that runs as OnRanks::led

    /// The device and threads that were given, as settings of a run file.
    std::vector<io::Setting> settings() const;
    std::string device_or_auto() const { return device.empty() ? "auto" : device; }
    int threads_or_all() const { return threads < 0 ? 0 : threads; }
    /// The space that the verb computes on. Warns where other programs use the processors. @throws InputError: no such device, too many
    /// threads
    AnySpace space() const;
    /// The CPU, for any value of --device.
    Cpu cpu() const;
    ProgressStyle progress() const { return quiet ? ProgressStyle::none : progress_style_for_stderr(); }
};

/// How a verb runs that an MPI launcher started on several ranks.
enum class OnRanks {
    one,   ///< it is refused: it runs on one rank
    led,   ///< the root rank executes it, the others are in run::worker_loop()
    each,  ///< every rank executes it, and only the root rank prints
};

/// One verb. `add` adds its options to `app` and returns the action, which yields the exit status.
using Action = std::function<int()>;
struct Verb {
    const char* name;
    const char* help;
    Action (*add)(CLI::App& app, const Common& common);
    OnRanks on_ranks = OnRanks::one;
};
Action add_run(CLI::App&, const Common&);
Action add_check(CLI::App&, const Common&);
Action add_resume(CLI::App&, const Common&);
Action add_report(CLI::App&, const Common&);
Action add_sample(CLI::App&, const Common&);
Action add_forces(CLI::App&, const Common&);
Action add_solve(CLI::App&, const Common&);
Action add_lattice(CLI::App&, const Common&);
Action add_calibrate(CLI::App&, const Common&);
Action add_predict(CLI::App&, const Common&);
Action add_bench(CLI::App&, const Common&);
Action add_info(CLI::App&, const Common&);
Action add_view(CLI::App&, const Common&);
Action add_new(CLI::App&, const Common&);
Action add_completion(CLI::App&, const Common&);
Action add_manual(CLI::App&, const Common&);

/// Names of the options that every verb has.
inline constexpr const char* common_options[] = {"--help", "--json", "--quiet", "--device", "--threads"};

/// --set key=value, any number of times.
void add_settings(CLI::App& app, std::vector<std::string>& to);
std::vector<io::Setting> as_settings(const std::vector<std::string>& texts);
/// key = "text" with the text quoted; errors name `source`.
io::Setting text_setting(const std::string& key, const std::string& text, const std::string& source);

/// Accepts finite numbers from `least` to `most` only. Without them: any number, and NaN, for an option whose verb compares it with a
/// range.
CLI::Validator number(double least = -std::numeric_limits<double>::infinity(), double most = std::numeric_limits<double>::infinity());
/// Accepts whole numbers from `least` to `most` only.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// Refuses an output that is one of the inputs, also with --force. @param option  of the output   @param inputs  empty names are passed
/// over
/// @throws InputError
void keep_inputs(const std::string& option, const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs);

/// Refuses an output that exists, also a link whose target is missing. @param force  the value of --force   @param another  the remedy
/// @throws InputError
void keep_existing(const std::filesystem::path& output, bool force, const std::string& another = "another name");

/// Standard output: the object with --json; otherwise `text`, unless --quiet.
void print(const Common& common, const io::Json& object, const std::string& text);

/// Progress of an iterative solver: log(residual) / log(rtol), from 0 at the start to 1 at the tolerance.
double converged_share(double residual, double rtol);

/// From now on SIGINT, SIGTERM and SIGUSR1 (which launchers pass on) only request a stop; a signal of the same kind a second later, or
/// after that, ends the process at once.
void catch_interrupts();
bool interrupt_requested();
/// For long work without a checkpoint. @throws Interrupted, which ends the command with status 130
inline void stop_if_interrupted() {
    if (interrupt_requested()) throw Interrupted();
}

}  // namespace kasane::app
