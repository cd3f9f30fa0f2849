// Finds the newest checkpoint of a run that can be read, for any kind of run.
#pragma once

#include <kasane/core/base/memory_error.hpp>
#include <kasane/run/driver/run_directory.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace kasane::run {

/// Renames checkpoints that cannot be read to NAME.unread, with a warning for each, so that they are neither counted as kept checkpoints
/// nor overwritten. Such a file may be intact: it may belong to another user or a newer version of kasane.
/// @throws InputError: one cannot be renamed
void set_aside(const std::vector<InputProblem>& unreadable);

template <class Checkpoint>
struct NewestCheckpoint {
    std::optional<Checkpoint> checkpoint;  ///< empty when there is none at all
    std::vector<InputProblem> unreadable;  ///< newer than `checkpoint`, with their paths; see set_aside()
};

/// Changes nothing. @param read  path -> checkpoint, throwing InputError for one that it cannot read
/// @throws InputError when there are checkpoints and none can be read; MemoryError when one does not fit into memory, because it is intact
template <class Read>
auto newest_checkpoint(const RunDirectory& directory, Read read) {
    NewestCheckpoint<std::invoke_result_t<Read, const std::filesystem::path&>> newest;
    auto& unreadable = newest.unreadable;
    for (const auto& path : directory.checkpoints()) {
        try {
            newest.checkpoint = read(path);
            return newest;
        } catch (const MemoryError&) {
            throw;
        } catch (const InputError& error) {
            auto problem = error.problems().front();
            problem.where.file = path.string();
            unreadable.push_back(std::move(problem));
        }
    }
    if (unreadable.empty()) return newest;
    unreadable.insert(unreadable.begin(), {"no checkpoint in this directory can be read; start the run again with `kasane run`",
                                           {directory.path().string(), 0, 0, ""}});
    throw InputError(std::move(unreadable));
}

}  // namespace kasane::run
