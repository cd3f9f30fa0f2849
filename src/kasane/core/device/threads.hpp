// Threads beside those of OpenMP: how many can be started, and where they run.
#pragma once

#include <kasane/core/device/space.hpp>

namespace kasane {

/// The largest number of threads that an option or a key accepts.
constexpr int most_threads = 4096;

/// Threads that can be started beside those of this process now, `wanted` at most.
int startable_threads(int wanted);

/// Checks a number of threads (0: as many as processors). @throws InputError with the key "threads" where they cannot be started
void check_threads(int threads);

/// Does the same for the threads that a Cpu names, if any. @throws InputError
void check_given_threads(const AnySpace& on);

/// Threads of a region of OpenMP whose caller names no Cpu: OMP_NUM_THREADS, or all.
///
/// After a call of this or of thread_count(), the thread that calls fork() has teams of one thread in the child: libgomp would wait there
/// for the other threads of a team, which the child does not have.
int default_thread_count();

/// Lets the calling thread run on every processor that OpenMP was given: without it, a thread inherits the one place to which OMP_PROC_BIND
/// bound the thread that created it.
void run_on_any_processor();

}  // namespace kasane
