#include <app/command.hpp>
#include <kasane/core/device/load.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace kasane::app {
namespace {

// A signal handler may touch nothing but these.
std::atomic<bool> stop{false};
std::array<std::atomic<std::int64_t>, 65> requested{};  ///< [ms] of the monotonic clock, for each signal; 0: never
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

/// [ms] timeout(1) sends its signal to the process and to the group of the process: the second one is no second request.
constexpr std::int64_t between_requests = 1000;

extern "C" void ask_to_stop(int signal) {
    const int saved = errno;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t time = std::int64_t{1000} * now.tv_sec + now.tv_nsec / 1'000'000;
    auto& before = requested[static_cast<std::size_t>(signal)];
    if (before == 0) {
        before = time;
        stop = true;
    } else if (time - before >= between_requests) {
        std::signal(signal, SIG_DFL);
        raise(signal);  // it takes effect when this handler returns
    }
    errno = saved;
}

}  // namespace

std::vector<io::Setting> Common::settings() const {
    std::vector<io::Setting> all;
    if (!device.empty()) all.push_back(text_setting("run.device", device, "--device"));
    if (threads >= 0) all.push_back({"run.threads=" + std::to_string(threads), "--threads"});
    return all;
}

AnySpace Common::space() const {
    const auto space = space_named(device_or_auto(), threads_or_all());
    warn_of_load(space);
    return space;
}

Cpu Common::cpu() const {
    const auto space = space_named("cpu", threads_or_all());
    warn_of_load(space);
    return std::get<Cpu>(space);
}

void add_settings(CLI::App& app, std::vector<std::string>& to) {
    app.add_option("--set", to, "Set a key of the run file: --set force.softening=0.02 (any number of times)")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

std::vector<io::Setting> as_settings(const std::vector<std::string>& texts) {
    std::vector<io::Setting> all;
    constexpr std::size_t most_shown = 80;  // characters of a setting in a message
    for (const auto& text : texts) all.push_back({text, "--set " + (text.size() > most_shown ? text.substr(0, most_shown) + "..." : text)});
    return all;
}

io::Setting text_setting(const std::string& key, const std::string& text, const std::string& source) {
    std::string quoted = "\"";
    for (const char c : text) quoted += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
    return {key + "=" + quoted + "\"", source};
}

CLI::Validator number(double least, double most) {
    const auto check = [least, most](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool is_number = end != text.c_str() && *end == '\0', any = std::isinf(least) && std::isinf(most);
        if (is_number && (any || (value >= least && value <= most))) return std::string();
        return fmt::format("is {}: it must be a number{}", text, any ? "" : fmt::format(" from {} to {}", least, most));
    };
    return {check, "", "number"};
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
    const auto check = [least, most](const std::string& text) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool good = error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
        return good ? std::string() : fmt::format("is {}: it must be a whole number from {} to {}", text, least, most);
    };
    return {check, "", "whole number"};
}

void keep_inputs(const std::string& option, const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs) {
    std::error_code ignored;
    for (const auto& input : inputs)
        KS_VALIDATE(input.empty() || !std::filesystem::equivalent(output, input, ignored), "is also an input: give the output another name",
                    {output.string(), 0, 0, option});
}

void keep_existing(const std::filesystem::path& output, bool force, const std::string& another) {
    std::error_code ignored;
    KS_VALIDATE(force || !std::filesystem::exists(std::filesystem::symlink_status(output, ignored)),
                "exists already: choose " + another + ", or give --force", {output.string(), 0, 0, ""});
}

void print(const Common& common, const io::Json& object, const std::string& text) {
    if (common.json)
        std::printf("%s\n", object.dump(2, ' ', false, io::Json::error_handler_t::replace).c_str());
    else if (!common.quiet)
        std::printf("%s\n", text.c_str());
}

double converged_share(double residual, double rtol) {
    return residual > 0 && std::isfinite(residual) ? std::clamp(std::log(residual) / std::log(rtol), 0.0, 1.0) : 0;
}

void catch_interrupts() {
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
        struct sigaction action{};
        action.sa_handler = ask_to_stop;
        action.sa_flags = SA_RESTART;
        sigaction(signal, &action, nullptr);
    }
}

bool interrupt_requested() { return stop; }

}  // namespace kasane::app
