#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kasane {
namespace {

constexpr std::size_t line = 128, huge_page = std::size_t{2} << 20;

/// The address of the allocation, stored one pointer before the memory that the user gets.
void*& beginning(void* memory) { return static_cast<void**>(memory)[-1]; }

/// Offset of the next large allocation in its page: 7 and 32 have no common divisor, so 32 successive ones all differ.
std::size_t next_place() {
    static std::atomic<std::size_t> count{0};
    return count.fetch_add(1, std::memory_order_relaxed) * 7 % 32 * line;
}

}  // namespace

void* allocate_host(std::size_t bytes) {
    const bool large = bytes >= 2 * huge_page;
    const std::size_t alignment = large ? huge_page : line, offset = line + (large ? next_place() : 0);
    const std::size_t size = (bytes + offset + alignment - 1) / alignment * alignment;
    auto* const block = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
    if (!block) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (large) static_cast<void>(madvise(block, size, MADV_HUGEPAGE));  // advice: where the system refuses it, nothing changes
#endif
    void* const memory = block + offset;
    beginning(memory) = block;
    return memory;
}

void release_host(void* memory) noexcept {
    if (memory) std::free(beginning(memory));
}

void touch_pages(void* memory, std::size_t bytes) {
    constexpr std::size_t page = 4096, least = std::size_t{8} << 20;
    const std::size_t parts = bytes / least;
    if (parts < 2) return;
    for_each_part(thread_count(Cpu{}), static_cast<index_t>(parts), [&](index_t part) {
        const auto k = static_cast<std::size_t>(part);
        auto* const at = static_cast<volatile char*>(memory);
        for (std::size_t i = bytes / parts * k, end = k + 1 == parts ? bytes : bytes / parts * (k + 1); i < end; i += page) at[i] = 0;
    });
}

}  // namespace kasane
