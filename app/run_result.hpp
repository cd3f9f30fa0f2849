// What `run` and `resume` print at their end.
#pragma once

#include <app/command.hpp>
#include <kasane/run/driver/driver.hpp>

namespace kasane::app {

/// Prints the result and yields the exit status.
int tell(const Common& common, const run::RunResult& result);
run::RunControls controls(const Common& common);
/// @throws InputError where several ranks were started for a task of one
void need_one_rank(const Common& common, const std::string& file, const std::string& what);

}  // namespace kasane::app
