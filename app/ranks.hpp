// The ranks of `mpirun -n R kasane VERB …`: first they compare the commands and files that they were started with. Only the root rank
// prints. Exit status: that of the root rank. The others end with 0, so that the launcher reports the root rank's, unless one must end all.
#pragma once

#include <app/command.hpp>

#include <exception>

namespace kasane::app {

/// This process's number among its ranks from the launcher's environment, before MPI is loaded; 0 where it is not set.
int rank_by_environment();

/// Compares the words of the command and, where a rank can read them, the run files that they name. Collective over all ranks.
/// @throws InputError on every rank alike, naming the first rank that differs, and in what; or as comm::world()
void compare_ranks(int argc, char** argv);

/// Executes a verb on this rank of several ranks.
/// @param print_error  prints an error on the root rank and yields the exit status
int on_ranks(const Verb& verb, Common& common, const Action& action, const std::function<int(std::exception_ptr)>& print_error);

}  // namespace kasane::app
