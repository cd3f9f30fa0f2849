#include <kasane/core/base/error.hpp>
#include <kasane/gravity/distributed/agreement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kasane::gravity {
namespace {

/// The first problem of the ranks, with its rank unless all have the same; empty: none.
std::string first_problem(comm::Communicator& ranks, const std::string& problem) {
    const auto all = ranks.all_gather(problem);
    const auto bad = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    if (bad == all.end()) return {};
    const bool everywhere = std::all_of(all.begin(), all.end(), [&](const std::string& text) { return text == *bad; });
    return everywhere ? *bad : fmt::format("rank {}: {}", bad - all.begin(), *bad);
}

}  // namespace

void agree(comm::Communicator& ranks, const std::string& problem) {
    if (const auto text = first_problem(ranks, problem); !text.empty()) throw InputError(text);
}

void agree_on_success(comm::Communicator& ranks, const std::string& problem) {
    if (const auto text = first_problem(ranks, problem); !text.empty()) throw ComputationError(text);
}

}  // namespace kasane::gravity
