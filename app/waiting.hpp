// How the OpenMP threads of the command wait for each other.
#pragma once

namespace kasane::app {

/// Starts this program again, once, with OpenMP threads that sleep instead of spinning at the end of a region, unless the environment
/// sets how they wait. The runtime reads its environment before main(), so main() cannot set this itself. Returns where it is set, or where
/// the program cannot be started again; then the runtime's default holds.
void wait_without_spinning(char** argv);

}  // namespace kasane::app
