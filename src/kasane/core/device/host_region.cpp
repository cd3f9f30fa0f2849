#include <kasane/core/device/host_region.hpp>

#include <cstdlib>
#include <iterator>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kasane {
namespace {

std::size_t whole_units(std::size_t bytes) { return (bytes + HostRegion::unit - 1) / HostRegion::unit * HostRegion::unit; }

void return_pages([[maybe_unused]] std::byte* part, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
    static_cast<void>(madvise(part, bytes, MADV_DONTNEED));
#endif
}

}  // namespace

HostRegion* HostRegion::open(std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    const std::size_t size = (bytes + huge_page - 1) / huge_page * huge_page;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(huge_page, size));
    if (!memory) return nullptr;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    static_cast<void>(madvise(memory, size, MADV_HUGEPAGE));
#endif
    return new HostRegion(memory, size);
}

HostRegion::HostRegion(std::byte* memory, std::size_t bytes) : memory_(memory) { free_.emplace(memory, bytes); }
HostRegion::~HostRegion() { std::free(memory_); }

std::byte* HostRegion::take(std::size_t bytes) {
    const std::size_t size = whole_units(bytes);
    const std::lock_guard lock(mutex_);
    for (auto part = free_.begin(); part != free_.end(); ++part) {
        if (part->second < size) continue;
        auto node = free_.extract(part);
        std::byte* const taken = node.key();
        if (node.mapped() > size) {
            node.key() += size;
            node.mapped() -= size;
            free_.insert(std::move(node));
        }
        ++taken_;
        return taken;
    }
    return nullptr;
}

void HostRegion::give(std::byte* part, std::size_t bytes) noexcept {
    std::unique_lock lock(mutex_);
    --taken_;
    if (open_) {
        std::size_t size = whole_units(bytes);
        auto next = free_.lower_bound(part);
        if (next != free_.end() && next->first == part + size) size += next->second, next = free_.erase(next);
        if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == part)
            std::prev(next)->second += size;
        else
            free_.emplace_hint(next, part, size);
        return;
    }
    return_pages(part, whole_units(bytes));
    const bool last = taken_ == 0;
    lock.unlock();
    if (last) delete this;
}

void HostRegion::close() noexcept {
    std::unique_lock lock(mutex_);
    open_ = false;
    for (const auto& [part, bytes] : free_) return_pages(part, bytes);
    free_.clear();
    const bool last = taken_ == 0;
    lock.unlock();
    if (last) delete this;
}

}  // namespace kasane
