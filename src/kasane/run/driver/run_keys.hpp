// What all run files share: which problem, its title, where it runs, and where its output goes.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kasane::run {

/// run.problem of a run file, with nothing else of it looked at. @param names  of the kinds of run that there are
/// @throws InputError: not a run file, or it names another problem
std::string problem_of(const std::filesystem::path& path, const std::vector<io::Setting>& settings, const std::vector<std::string>& names);

struct RunKeys {
    std::string title;
    AnySpace space;
};
/// What run.device and run.threads (0: all) stand for. @throws InputError when there is no such device
using Place = std::function<AnySpace(const std::string& device, int threads)>;
/// [run] of a file that must be of this problem. @throws InputError at once where it is of another one, whose keys would all be unknown;
/// other problems are recorded in the reader. @param names  of the kinds of run that there are; empty: not known
RunKeys read_run_keys(io::RunFileReader& reader, const std::string& problem, const std::vector<std::string>& names,
                      const Place& place = space_named);

/// output.directory, relative to the working directory.
std::filesystem::path read_output_directory(io::Section output);

/// The file that a key names: relative to `directory`, or to the working directory when it came from the command line, like every
/// other name there.
std::filesystem::path file_of(const io::Section& table, const std::string& key, const std::string& value,
                              const std::filesystem::path& directory);

/// An error in another file, at the key that names the file; at most so many of its problems, and how many more there are.
InputError at_key(const InputError& error, std::size_t most = SIZE_MAX);

/// The file with every key spelled out, headed by who wrote it.
std::string resolved_text(const io::RunFileReader& reader);

}  // namespace kasane::run
