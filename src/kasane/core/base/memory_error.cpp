#include <kasane/core/base/memory_error.hpp>

#include <fmt/format.h>

namespace kasane {

MemoryError::MemoryError(const std::string& problem, std::uint64_t needed, std::uint64_t available, Where where)
    : InputError(
          fmt::format("{}: {:.1f} MiB are needed, but {:.1f} MiB are available. End other programs, or take a machine with more memory",
                      problem, static_cast<double>(needed) / 1048576, static_cast<double>(available) / 1048576),
          std::move(where)) {}

}  // namespace kasane
