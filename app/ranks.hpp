// The ranks of `mpirun -n R kasane VERB …`: they compare what they were started with before anything else is done, and rank 0 alone speaks.
// Exit status: rank 0's is the run's. The others end with 0, so that the launcher reports rank 0's, unless one has to end all.
#pragma once

#include <app/command.hpp>

#include <exception>

namespace kasane::app {

/// This process's number among its ranks as the launcher's environment tells it, before MPI is there; 0 where it does not.
int rank_by_environment();

/// Compares the words of the command and, where a rank can read them, the run files that they name. Collective over all ranks.
/// @throws InputError on every rank alike, naming the first rank that differs, and in what; or as comm::world()
void compare_ranks(int argc, char** argv);

/// Carries out a verb on this rank of several.
/// @param tell  tells of what was thrown, unless this is another rank than 0; yields the exit status
int on_ranks(const Verb& verb, Common& common, const Action& action, const std::function<int(std::exception_ptr)>& tell);

}  // namespace kasane::app
