// Where OpenMP binds threads (OMP_PROC_BIND and OMP_PLACES of the user), and how many memory nodes the machine has.
#pragma once

#include <string>
#include <vector>

namespace kasane {

/// The user's binding of threads, as OpenMP read it.
struct ThreadBinding {
    std::string policy;    ///< "close", "spread", "primary", "true"; empty: threads are not bound
    int places = 0;        ///< sets of processors to which threads are bound
    int memory_nodes = 1;  ///< parts of the memory with different distances to processors (NUMA nodes)
};
ThreadBinding thread_binding();
/// Describes the binding: "threads bound (close, 16 places)", or the variables to set if threads are not bound.
std::string words(const ThreadBinding& binding);

/// The place of every thread of an OpenMP team that the calling thread starts; empty where threads are not bound, or where the caller is
/// not the first thread of the process: teams of several callers would be bound to the same processors.
std::vector<int> places_of_team(int threads);
/// Lets the calling thread run on the processors of a place only.
void run_on_place(int place);

}  // namespace kasane
