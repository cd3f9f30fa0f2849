// The common part of the checkpoints of all kinds of run.
#pragma once

#include <string>

namespace kasane::run {

/// State from which a run continues. A kind derives its own from it.
struct Checkpoint {
    virtual ~Checkpoint() = default;
    std::string record;  ///< record.json when it was written
};

}  // namespace kasane::run
