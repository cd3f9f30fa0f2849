// Finds the newest checkpoint of a run that is whole, whatever it holds.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/run/run_directory.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace kasane::run {

/// Damaged newer ones are told of, and removed, lest they crowd out good ones later. Empty when there never was one.
/// @param read  path -> checkpoint, throwing InputError for one that is damaged
/// @throws InputError when there are checkpoints and none is whole
template <class Read>
auto newest_checkpoint(const RunDirectory& directory, Read read)
    -> std::optional<std::invoke_result_t<Read, const std::filesystem::path&>> {
    std::vector<InputProblem> damaged;
    for (const auto& path : directory.checkpoints()) {
        try {
            auto checkpoint = read(path);
            for (const auto& problem : damaged) {
                log::warning("{}: going on from the one before it", problem.text());
                std::error_code ignored;
                std::filesystem::remove(problem.where.file, ignored);
            }
            return checkpoint;
        } catch (const InputError& error) {
            auto problem = error.problems().front();
            problem.where.file = path.string();
            damaged.push_back(std::move(problem));
        }
    }
    if (damaged.empty()) return {};
    damaged.insert(damaged.begin(), {"no checkpoint in this directory is whole; start the run again with `kasane run`",
                                     {directory.path().string(), 0, 0, ""}});
    throw InputError(std::move(damaged));
}

}  // namespace kasane::run
