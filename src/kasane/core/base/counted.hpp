// A number with its noun, in the singular or the plural, for messages.
#pragma once

#include <fmt/format.h>

#include <string>

namespace kasane {

/// "1 step", "2 steps".
template <class Count>
std::string counted(Count n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace kasane
