// What all run files share: which problem, its title, where it runs, and where its output goes.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kasane::run {

// output.film of a gravity run; the report reads it from the resolved run file.
inline constexpr const char* film_key = "film";
inline constexpr const char* film_of_stars = "stars";

enum class Problem { gravity, poisson, quenched };

/// The problem that a run file names, with nothing else of it looked at.
/// @throws InputError: no run file, or it names no problem that there is
Problem problem_of(const std::filesystem::path& path, const std::vector<io::Setting>& settings = {});

struct RunKeys {
    std::string title;
    AnySpace space;
};
/// What run.device and run.threads (0: all) stand for. @throws InputError when there is no such device
using Place = std::function<AnySpace(const std::string& device, int threads)>;
/// [run] of a file that must be of this problem. Another one has other keys, and telling them all unknown would help nobody:
/// @throws InputError at once for that; other problems are recorded in the reader
RunKeys read_run_keys(io::RunFileReader& reader, Problem problem, const Place& place = space_named);

/// output.directory, relative to the working directory.
std::filesystem::path read_output_directory(io::Section output);

/// The file with every key spelled out, headed by who wrote it.
std::string resolved_text(const io::RunFileReader& reader);

}  // namespace kasane::run
