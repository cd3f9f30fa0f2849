// What `run` and `resume` tell at their end.
#pragma once

#include <app/command.hpp>
#include <kasane/run/poisson/poisson_run.hpp>
#include <kasane/run/quenched/quenched_run.hpp>
#include <kasane/run/run.hpp>

namespace kasane::app {

/// Prints the result and yields the exit status.
int tell(const Common& common, const run::RunResult& result);
int tell(const Common& common, const run::PoissonResult& result);
int tell(const Common& common, const run::QuenchedResult& result);
run::RunControls controls(const Common& common);
/// @throws InputError where several ranks were started for what one does
void need_one_rank(const Common& common, const std::string& file, const std::string& what);

}  // namespace kasane::app
