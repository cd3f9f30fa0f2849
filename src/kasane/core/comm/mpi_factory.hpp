// What a program and the module of MPI say to each other.
#pragma once

#include <kasane/core/comm/communicator.hpp>

namespace kasane::comm {

/// Starts MPI and returns all ranks; once in a process. The module ends MPI at the exit of the process.
/// @throws ComputationError with MPI's reason
using MpiFactory = Communicator*();
inline constexpr const char* mpi_factory = "kasane_mpi_world";

}  // namespace kasane::comm
