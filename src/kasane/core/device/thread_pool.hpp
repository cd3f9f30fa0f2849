// Loops over parts on the CPU's threads, for regions that take tens of microseconds and more: threads wait as in base/waiting.hpp, and a
// thread that has done its own parts takes parts that are left in other shares, so a thread without a processor delays one part at most.
// Invariants: each part runs once, on some thread; a part that throws ends the program, as in OpenMP. A loop inside a part runs on the
// thread of that part alone.
#pragma once

#include <kasane/core/base/types.hpp>

#include <concepts>

namespace kasane {

namespace detail {
using PartFunction = void (*)(const void* body, index_t part, int thread);
void run_parts(int threads, index_t parts, const void* body, PartFunction call) noexcept;

template <class F>
void call_part(const F& body, index_t part, int thread) {
    if constexpr (std::invocable<const F&, index_t, int>)
        body(part, thread);
    else
        body(part);
}
}  // namespace detail

/// Calls body(part) or body(part, thread) for every part of [0, parts), in no order, on `threads` threads with the calling one: `thread` is
/// below `threads`, and two parts never run under the same number at one time. Neighbouring parts go to one thread.
/// @param parts  below 2^31
template <class F>
void for_each_part(int threads, index_t parts, const F& body) {
    if (threads <= 1 || parts <= 1) {
        for (index_t part = 0; part < parts; ++part) detail::call_part(body, part, 0);
        return;
    }
    detail::run_parts(threads, parts, &body,
                      [](const void* f, index_t part, int thread) { detail::call_part(*static_cast<const F*>(f), part, thread); });
}

}  // namespace kasane
