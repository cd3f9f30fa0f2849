#include <kasane/core/base/error.hpp>
#include <kasane/core/device/threads.hpp>
#include <kasane/run/driver/kind.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::run {
namespace {

io::Section run_table(io::RunFileReader& reader) { return reader.root().table("run", "what to compute, and on which device"); }

/// @param names  the choices; empty: any text
std::string read_problem(io::RunFileReader& reader, const std::vector<std::string>& names) {
    auto name = run_table(reader).text("problem", {.help = "kind of run", .choices = names});
    reader.stop_if_bad();
    return name;
}

}  // namespace

std::string problem_of(const std::filesystem::path& path, const std::vector<io::Setting>& settings, const std::vector<std::string>& names) {
    io::RunFileReader reader(path, settings);
    return read_problem(reader, names);
}

void read_run_keys(io::RunFileReader& reader, const std::string& problem, const std::vector<std::string>& names, RunFile& file,
                   const Place& place) {
    auto run = run_table(reader);
    if (const auto named = read_problem(reader, names); named != problem) {
        run.problem("problem", fmt::format("is '{}', and a run file of '{}' is needed here", named, problem));
        reader.stop_if_bad();
    }
    file.path = reader.path();
    file.title = run.text("title", {.help = "for the report; empty: the file's name", .fallback = ""});
    if (file.title.empty()) file.title = file.path.stem().string();
    run.resolve("title", file.title);
    const auto device = run.text("device", {.help = "auto | cpu | cuda | cuda:1", .fallback = "auto"});
    const auto threads = run.integer("threads", {.help = "of the CPU; 0: all", .fallback = 0, .least = 0, .most = most_threads});
    int startable = static_cast<int>(threads);
    try {
        if (threads > 0) check_threads(startable);  // here, since an error of place() does not name the key
    } catch (const InputError& error) {
        run.problem("threads", error);
        startable = 1;
    }
    try {
        file.space = place(device, startable);
    } catch (const InputError& error) {
        run.problem("device", error);
    }
}

void finish(io::RunFileReader& reader, RunFile& file) {
    reader.finish();
    file.unused_keys = reader.unused_keys();
    file.resolved = reader.resolved(fmt::format("Written by kasane {} ({}): the run file with every key spelled out.", version, commit));
}

std::filesystem::path read_output_directory(io::Section output) {
    const auto directory = output.text("directory", {.help = "of the run, from the working directory; it must not exist yet"});
    if (output.has("directory") && directory.empty()) output.problem("directory", "is empty: name a directory");
    return directory;
}

bool read_report_flag(io::Section output) { return output.flag("report", {.help = "write report.html at the end", .fallback = true}); }

std::filesystem::path file_of(const io::Section& table, const std::string& key, const std::string& value,
                              const std::filesystem::path& directory) {
    const bool from_file = table.where(key).line > 0;
    return std::filesystem::absolute(from_file ? directory / value : std::filesystem::path(value)).lexically_normal();
}

InputError at_key(const InputError& error, std::size_t most) {
    const auto& all = error.problems();
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += (text.empty() ? "" : "; ") + all[i].text();
    if (all.size() > most) text += fmt::format("; and {} more like these", all.size() - most);
    return InputError(text);
}

}  // namespace kasane::run
