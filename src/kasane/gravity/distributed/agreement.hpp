// Reports the problem of one rank on all ranks, because each rank waits for the others.
#pragma once

#include <kasane/core/comm/communicator.hpp>

#include <exception>
#include <string>

namespace kasane::gravity {

/// Calls body(). @return the message of the exception that it throws; empty: none
template <class F>
std::string problem_of(F body) {
    try {
        body();
    } catch (const std::exception& error) {
        return error.what()[0] != '\0' ? error.what() : "it cannot go on";
    }
    return {};
}

/// Throws InputError on every rank if `problem` is not empty on one of them, with its rank unless all have the same. Collective.
void agree(comm::Communicator& ranks, const std::string& problem);
/// Throws ComputationError on every rank if `problem` is not empty on one of them. Collective.
void agree_on_success(comm::Communicator& ranks, const std::string& problem);

}  // namespace kasane::gravity
