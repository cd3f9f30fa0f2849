// How many threads a user may ask for.
#pragma once

namespace kasane {

/// The largest number of threads that an option or a key takes.
constexpr int most_threads = 4096;

/// Threads that can be started beside those of this process now, `wanted` at most.
int startable_threads(int wanted);

/// @throws InputError with the key "threads" where so many cannot be started (0: as many as processors)
void check_threads(int threads);

}  // namespace kasane
