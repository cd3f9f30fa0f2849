#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/host_memory_reuse.hpp>
#include <kasane/core/device/host_region.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kasane {
namespace {

constexpr std::size_t line = 128, huge_page = std::size_t{2} << 20;

/// Stored before the memory that the user gets.
struct Header {
    std::size_t usable;    ///< bytes that the user may have; 0 for small blocks
    std::byte* beginning;  ///< address of the allocation or part
    HostRegion* region;    ///< that it is a part of; null: it is an allocation of its own
};
static_assert(sizeof(Header) <= line);
Header& header(void* memory) { return static_cast<Header*>(memory)[-1]; }

/// Released blocks and regions, while a HostMemoryReuse exists.
class KeptBlocks {
   public:
    void open() {
        const std::lock_guard lock(mutex_);
        blocks_.reserve(64);
        ++users_;
    }
    void close() {
        std::vector<void*> unused;
        std::vector<HostRegion*> regions;
        {
            const std::lock_guard lock(mutex_);
            if (--users_ > 0) return;
            unused.swap(blocks_);
            regions.swap(regions_);
            bytes_ = 0;
        }
        for (void* const memory : unused) std::free(header(memory).beginning);
        for (HostRegion* const region : regions) region->close();
    }
    void add(HostRegion* region) {
        const std::lock_guard lock(mutex_);
        regions_.push_back(region);
    }
    /// A part of a region; nulls where none has so many bytes.
    std::pair<std::byte*, HostRegion*> take_part(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        for (HostRegion* const region : regions_)
            if (std::byte* const part = region->take(bytes)) return {part, region};
        return {};
    }
    /// The smallest block that has the bytes and at most a quarter more; null where there is none.
    void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        auto best = blocks_.end();
        for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
            const std::size_t usable = header(*block).usable;
            if (usable >= bytes && usable - bytes <= bytes / 4 && (best == blocks_.end() || usable < header(*best).usable)) best = block;
        }
        if (best == blocks_.end()) return nullptr;
        void* const memory = *best;
        blocks_.erase(best);
        bytes_ -= header(memory).usable;
        return memory;
    }
    bool keep(void* memory) {
        const std::size_t usable = header(memory).usable;
        const std::lock_guard lock(mutex_);
        if (users_ == 0 || bytes_ + usable > HostMemoryReuse::most_kept_bytes || blocks_.size() == blocks_.capacity()) return false;
        blocks_.push_back(memory);
        bytes_ += usable;
        return true;
    }

   private:
    std::mutex mutex_;
    int users_ = 0;
    std::size_t bytes_ = 0;
    std::vector<void*> blocks_;
    std::vector<HostRegion*> regions_;
};

KeptBlocks& kept_blocks() {
    static auto* const blocks = new KeptBlocks;  // never destroyed: other static objects may release memory after it
    return *blocks;
}

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
    const auto begin = [&](std::byte* block, std::size_t usable, HostRegion* region) {
        void* const memory = block + offset;
        header(memory) = {usable, block, region};
        return memory;
    };
    if (large) {
        if (const auto [part, region] = kept_blocks().take_part(offset + bytes); part) return begin(part, bytes, region);
        if (void* const kept = kept_blocks().take(bytes)) return kept;
    }
    auto* const block = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
    if (!block) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (large) static_cast<void>(madvise(block, size, MADV_HUGEPAGE));  // advice: where the system refuses it, nothing changes
#endif
    return begin(block, large ? size - offset : 0, nullptr);
}

void release_host(void* memory) noexcept {
    if (!memory) return;
    const Header of = header(memory);
    if (of.region)
        return of.region->give(of.beginning, of.usable + static_cast<std::size_t>(static_cast<std::byte*>(memory) - of.beginning));
    if (of.usable > 0 && kept_blocks().keep(memory)) return;
    std::free(of.beginning);
}

HostMemoryReuse::HostMemoryReuse() { kept_blocks().open(); }
HostMemoryReuse::~HostMemoryReuse() { kept_blocks().close(); }
void HostMemoryReuse::reserve(std::size_t bytes) {
    if (HostRegion* const region = HostRegion::open(bytes)) kept_blocks().add(region);
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
