// The keys that all run files have: the problem, its title, where it runs, and the directory of its output.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kasane::run {

struct RunFile;

/// Reads run.problem of a run file, and no other key. @param names  of the kinds of run that there are
/// @throws InputError: not a run file, or it names another problem
std::string problem_of(const std::filesystem::path& path, const std::vector<io::Setting>& settings, const std::vector<std::string>& names);

/// Yields the space of run.device and run.threads (0: all). @throws InputError when there is no such device
using Place = std::function<AnySpace(const std::string& device, int threads)>;
/// Reads [run] of a file that must be of this problem, and sets path, title and space of `file`. Problems are recorded in the reader, but
/// for another value of run.problem. @param names  of the kinds of run that there are; empty: not known
/// @throws InputError: run.problem is another one, whose keys would all be unknown
void read_run_keys(io::RunFileReader& reader, const std::string& problem, const std::vector<std::string>& names, RunFile& file,
                   const Place& place = space_named);
/// Ends the reading, when all keys are read: sets unused_keys and resolved of `file`. @throws InputError with all recorded problems
void finish(io::RunFileReader& reader, RunFile& file);

/// output.directory, relative to the working directory.
std::filesystem::path read_output_directory(io::Section output);
/// output.report: whether report.html is written at the end.
bool read_report_flag(io::Section output);

/// The file that a key names: relative to `directory`, or to the working directory when it came from the command line, like every
/// other name there.
std::filesystem::path file_of(const io::Section& table, const std::string& key, const std::string& value,
                              const std::filesystem::path& directory);

/// An error in another file, at the key that names the file; at most this many of its problems, and how many more there are.
InputError at_key(const InputError& error, std::size_t most = SIZE_MAX);

}  // namespace kasane::run
