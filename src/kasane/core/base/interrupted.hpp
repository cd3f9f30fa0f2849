// The exception for work that a signal interrupts and that leaves no output behind. A run that can save its state ends otherwise: it
// writes a checkpoint and returns.
#pragma once

#include <exception>

namespace kasane {

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted: nothing was written"; }
};

}  // namespace kasane
