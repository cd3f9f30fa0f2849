#include <kasane/core/device/host_memory.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kasane {
namespace {

constexpr std::size_t line = 128, huge_page = std::size_t{2} << 20;

/// Before what the user gets lies, at a distance of one pointer, where the piece began.
void*& beginning(void* memory) { return static_cast<void**>(memory)[-1]; }

/// Where in its page the next large piece begins: 7 and 32 have no common divisor, so 32 pieces in a row all differ.
std::size_t next_place() {
    static std::atomic<std::size_t> count{0};
    return count.fetch_add(1, std::memory_order_relaxed) * 7 % 32 * line;
}

}  // namespace

void* allocate_host(std::size_t bytes) {
    const bool large = bytes >= 2 * huge_page;
    const std::size_t alignment = large ? huge_page : line, offset = line + (large ? next_place() : 0);
    const std::size_t size = (bytes + offset + alignment - 1) / alignment * alignment;
    auto* const piece = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
    if (!piece) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (large) static_cast<void>(madvise(piece, size, MADV_HUGEPAGE));  // a wish: refusal changes nothing
#endif
    void* const memory = piece + offset;
    beginning(memory) = piece;
    return memory;
}

void release_host(void* memory) noexcept {
    if (memory) std::free(beginning(memory));
}

}  // namespace kasane
