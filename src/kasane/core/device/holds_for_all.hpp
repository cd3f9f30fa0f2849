// holds_for_all(cpu, n, predicate): a condition on n indices, checked by all threads.
#pragma once

#include <kasane/core/device/parallel.hpp>

#include <atomic>

namespace kasane {

/// True if predicate(i) holds for every i of [0, n). The calls have no order.
template <class F>
bool holds_for_all(Cpu on, index_t n, const F& predicate) {
    std::atomic<bool> all = true;
    parallel_for(on, n, [&](index_t i) {
        if (!predicate(i)) all.store(false, std::memory_order_relaxed);
    });
    return all;
}

}  // namespace kasane
