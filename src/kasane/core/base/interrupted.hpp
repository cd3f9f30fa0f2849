// What ends work that a signal asked to stop and that leaves nothing behind. A run that has something to save is stopped otherwise: it
// writes a checkpoint and returns.
#pragma once

#include <exception>

namespace kasane {

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted: nothing was written"; }
};

}  // namespace kasane
