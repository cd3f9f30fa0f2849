#include <kasane/core/base/error.hpp>
#include <kasane/core/device/threads.hpp>
#include <kasane/run/run_keys.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::run {
namespace {

constexpr const char* problem_names[] = {"gravity", "poisson", "quenched"};  // in the order of Problem

io::Section run_table(io::RunFileReader& reader) { return reader.root().table("run", "what to compute, and where"); }

Problem read_problem(io::RunFileReader& reader) {
    const auto name =
        run_table(reader).text("problem", {.help = "kind of run", .choices = {std::begin(problem_names), std::end(problem_names)}});
    reader.stop_if_bad();
    return static_cast<Problem>(std::ranges::find(problem_names, name) - problem_names);
}

}  // namespace

Problem problem_of(const std::filesystem::path& path, const std::vector<io::Setting>& settings) {
    io::RunFileReader reader(path, settings);
    return read_problem(reader);
}

RunKeys read_run_keys(io::RunFileReader& reader, Problem problem, const Place& place) {
    auto run = run_table(reader);
    if (const auto named = read_problem(reader); named != problem) {
        run.problem("problem", fmt::format("is '{}', and a run file of '{}' is wanted here", problem_names[static_cast<int>(named)],
                                           problem_names[static_cast<int>(problem)]));
        reader.stop_if_bad();
    }
    RunKeys keys;
    keys.title = run.text("title", {.help = "for the report; empty: the file's name", .fallback = ""});
    if (keys.title.empty()) keys.title = reader.path().stem().string();
    run.resolve("title", keys.title);
    const auto device = run.text("device", {.help = "auto | cpu | cuda | cuda:1", .fallback = "auto"});
    const auto threads = run.integer("threads", {.help = "of the CPU; 0: all", .fallback = 0, .least = 0, .most = most_threads});
    int startable = static_cast<int>(threads);
    try {
        if (threads > 0) check_threads(startable);  // here, since place() may ask all ranks, and not say which key is wrong
    } catch (const InputError& error) {
        run.problem("threads", error);
        startable = 1;
    }
    try {
        keys.space = place(device, startable);
    } catch (const InputError& error) {
        run.problem("device", error);
    }
    return keys;
}

std::filesystem::path read_output_directory(io::Section output) {
    const auto directory = output.text("directory", {.help = "of the run, from the working directory; it must not exist yet"});
    if (output.has("directory") && directory.empty()) output.problem("directory", "is empty: name a directory");
    return directory;
}

std::string resolved_text(const io::RunFileReader& reader) {
    return reader.resolved(fmt::format("Written by kasane {} ({}): the run file with every key spelled out.", version, commit));
}

}  // namespace kasane::run
