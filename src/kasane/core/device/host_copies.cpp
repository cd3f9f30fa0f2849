#include <kasane/core/device/host_copies.hpp>

#include <atomic>

namespace kasane {
namespace {

std::atomic<std::uint64_t> copies{0}, copied{0}, largest_copy{0};

}  // namespace

HostCopies host_copies() { return {copies.load(), copied.load(), largest_copy.load()}; }
void reset_largest_host_copy() { largest_copy = 0; }

void detail::count_host_copy(std::uint64_t bytes) {
    copies.fetch_add(1, std::memory_order_relaxed);
    copied.fetch_add(bytes, std::memory_order_relaxed);
    auto seen = largest_copy.load(std::memory_order_relaxed);
    while (seen < bytes && !largest_copy.compare_exchange_weak(seen, bytes)) {
    }
}

}  // namespace kasane
