// The output of `run` and `resume`.
#pragma once

#include <app/command.hpp>
#include <kasane/run/driver/driver.hpp>

namespace kasane::app {

/// The fields of the output with --json, and the text without.
io::Json result_object(const run::RunResult& result);
std::string result_text(const run::RunResult& result);
int exit_status(const run::RunResult& result);
/// Prints the result and yields the exit status.
int print_result(const Common& common, const run::RunResult& result);
run::RunControls controls(const Common& common);
/// @throws InputError where several ranks were started for a task of one rank
void need_one_rank(const Common& common, const std::string& file, const std::string& what);

}  // namespace kasane::app
