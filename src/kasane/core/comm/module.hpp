// Plugins: parts of kasane on libraries that a machine may lack (MPI, NCCL), loaded when they are needed (cmake/KasanePlugins.cmake).
// Each has an extern "C" function kasane_NAME_build() that returns this_build as the plugin was compiled with.
// Invariants: a plugin of another build is refused; a loaded plugin stays until the end of the process.
#pragma once

#include <kasane/version.hpp>

#include <string>

namespace kasane::comm {

/// The text that identifies a build: version and commit.
inline std::string this_build() { return std::string(version) + " (" + commit + ")"; }

/// Whether the libraries of a plugin become visible to libraries that those load in turn: plugins of an MPI library need that.
enum class Symbols { local, global };

/// Returns a function of libkasane_NAME.so, which is searched beside the program, in ../lib/kasane from there, and in the loader's paths.
/// @throws InputError with the loader's reason: not found, does not load, or of another build
void* module_function(const std::string& name, const std::string& function, Symbols symbols = Symbols::local);

}  // namespace kasane::comm
