// The error of a file whose content does not fit into the free memory.
// Invariant: the file itself is not at fault. Code that skips unreadable files must not skip this error; otherwise low memory would look
// like a damaged file.
#pragma once

#include <kasane/core/base/error.hpp>

#include <cstdint>

namespace kasane {

class MemoryError : public InputError {
   public:
    /// "PROBLEM: 1.5 MiB are needed, but 1.0 MiB are available. End other programs, or take a machine with more memory".
    /// @param needed, available  [byte]
    MemoryError(const std::string& problem, std::uint64_t needed, std::uint64_t available, Where where);
};

}  // namespace kasane
