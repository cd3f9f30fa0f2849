#include <kasane/core/device/host_memory.hpp>

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kasane {

void* allocate_host(std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : 128;
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, size);
    if (!memory) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment == huge_page) static_cast<void>(madvise(memory, size, MADV_HUGEPAGE));  // a wish: refusal changes nothing
#endif
    return memory;
}

}  // namespace kasane
