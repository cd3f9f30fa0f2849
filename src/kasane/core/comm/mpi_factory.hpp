// Interface between a program and the MPI plugin.
#pragma once

#include <kasane/core/comm/communicator.hpp>

namespace kasane::comm {

/// Starts MPI and returns all ranks; called once in a process. The plugin ends MPI at the exit of the process.
/// @throws ComputationError with MPI's reason
using MpiFactory = Communicator*();
inline constexpr const char* mpi_factory = "kasane_mpi_world";

}  // namespace kasane::comm
