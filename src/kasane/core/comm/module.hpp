// Modules: parts of kasane on libraries that a machine may lack (MPI, NCCL), loaded when they are wanted (cmake/KasaneModules.cmake).
// Each has an extern "C" function kasane_NAME_build() that returns this_build as the module was compiled with.
// Invariants: a module of another build is refused; one that was loaded stays to the end of the process.
#pragma once

#include <kasane/version.hpp>

#include <string>

namespace kasane::comm {

/// What the parts of a run compare: version and commit.
inline std::string this_build() { return std::string(version) + " (" + commit + ")"; }

/// Whether what a module links becomes visible to what that loads in turn: plugins of an MPI library want it.
enum class Symbols { local, global };

/// The function of libkasane_NAME.so, which is looked for beside the program, in ../lib/kasane from there, and where the loader looks.
/// @throws InputError with the loader's reason: not found, does not load, or of another build
void* module_function(const std::string& name, const std::string& function, Symbols symbols = Symbols::local);

}  // namespace kasane::comm
