// The exception for work that a signal interrupts and that leaves no output behind, or says where it is. A run that can save its state ends
// otherwise: it writes a checkpoint and returns.
#pragma once

#include <stdexcept>
#include <string>

namespace kasane {

struct Interrupted : std::runtime_error {
    explicit Interrupted(const std::string& message = "interrupted: nothing was written") : std::runtime_error(message) {}
};

}  // namespace kasane
