// The exception for work that a signal interrupts. It leaves no output, or its message names the output. A run that can save its state does
// not throw it: the run writes a checkpoint and returns.
#pragma once

#include <stdexcept>
#include <string>

namespace kasane {

/// Work was interrupted; the command ends with status 130.
struct Interrupted : std::runtime_error {
    explicit Interrupted(const std::string& message = "interrupted: nothing was written") : std::runtime_error(message) {}
};

}  // namespace kasane
