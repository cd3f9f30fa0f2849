// What the verbs of `kasane` share: options that every verb takes, and how results and errors reach the user.
// Invariants: with --json, standard output holds exactly one JSON object; everything for people goes to standard error.
#pragma once

#include <kasane/core/base/interrupted.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
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
    std::string device;                     ///< empty: as the run file says, or auto
    int threads = -1;                       ///< negative: as the run file says, or all
    run::RankCoordinator* ranks = nullptr;  ///< of a verb that leads the other ranks

    /// The device and threads that were given, as settings of a run file.
    std::vector<io::Setting> settings() const;
    std::string device_or_auto() const { return device.empty() ? "auto" : device; }
    int threads_or_all() const { return threads < 0 ? 0 : threads; }
    /// Where the verb computes. Warns where other programs use the processors. @throws InputError: no such device, too many threads
    AnySpace space() const;
    /// The CPU, whatever --device says.
    Cpu cpu() const;
    ProgressStyle progress() const { return quiet ? ProgressStyle::none : progress_style_for_stderr(); }
};

/// What becomes of a verb that an MPI launcher started on several ranks.
enum class OnRanks {
    one,   ///< it runs on one rank alone
    led,   ///< the root rank does it, with the others in run::worker_loop()
    each,  ///< every rank does it, and the root rank alone prints
};

/// One verb: adds its options to `app` and returns what it does, which yields the exit status.
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

/// --set key=value, any number of times.
void add_settings(CLI::App& app, std::vector<std::string>& to);
std::vector<io::Setting> as_settings(const std::vector<std::string>& texts);
/// key = "text" with the text quoted; errors name `source`.
io::Setting text_setting(const std::string& key, const std::string& text, const std::string& source);

/// Takes whole numbers from `least` to `most`, however they are written wrong.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// Standard output: the object with --json; otherwise `text`, unless --quiet.
void print(const Common& common, const nlohmann::ordered_json& object, const std::string& text);

/// From now on SIGINT, SIGTERM and SIGUSR1 (which launchers pass on) only ask to stop, and the second one of a kind ends the process at
/// once.
void catch_interrupts();
bool interrupt_requested();
/// For long work that leaves nothing behind. @throws Interrupted, which ends the command with status 130
inline void stop_if_interrupted() {
    if (interrupt_requested()) throw Interrupted();
}

}  // namespace kasane::app
