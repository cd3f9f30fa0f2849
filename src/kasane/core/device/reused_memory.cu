#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/reused_memory.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace kasane::cuda {

namespace {

/// An allocation of which blocks are parts.
class DividedMemory {
   public:
    DividedMemory(Cuda on, std::size_t bytes) : on_(on) {
        KS_CUDA(cudaSetDevice(on.device));
        if (cudaMalloc(&memory_, bytes) != cudaSuccess) static_cast<void>(cudaGetLastError()), memory_ = nullptr;
    }
    ~DividedMemory() {
        // As in release(): errors are ignored in destructors.
        static_cast<void>(cudaSetDevice(on_.device));
        static_cast<void>(cudaFree(memory_));
    }
    DividedMemory(const DividedMemory&) = delete;
    DividedMemory& operator=(const DividedMemory&) = delete;
    std::byte* memory() const { return static_cast<std::byte*>(memory_); }

   private:
    Cuda on_;
    void* memory_ = nullptr;
};

/// The parts of all allocations that are in use or kept. Any thread may release a part.
class DividedParts {
   public:
    void add(void* part, std::shared_ptr<DividedMemory> whole) {
        const std::scoped_lock lock(mutex_);
        whole_of_.emplace(part, std::move(whole));
    }
    /// Whether it was one.
    bool release(void* part) noexcept {
        std::shared_ptr<DividedMemory> whole;  // freed after the lock
        const std::scoped_lock lock(mutex_);
        const auto found = whole_of_.find(part);
        if (found == whole_of_.end()) return false;
        whole = std::move(found->second);
        whole_of_.erase(found);
        return true;
    }

   private:
    std::mutex mutex_;
    std::unordered_map<void*, std::shared_ptr<DividedMemory>> whole_of_;
};

DividedParts& divided_parts() {
    static auto* const all = new DividedParts;  // never destroyed: blocks may be released at process exit
    return *all;
}

}  // namespace

struct ReusedMemory::Blocks {
    Cuda on;
    std::multimap<std::size_t, void*> unused;      ///< by size
    std::unordered_map<void*, std::size_t> taken;  ///< in the open scope; at its end they are memory as any other
    std::shared_ptr<DividedMemory> whole;          ///< whose last bytes are not divided yet
    std::byte* next = nullptr;                     ///< of these
    std::size_t left = 0;

    void free_unused() noexcept {
        // As in release(): errors are ignored in destructors.
        static_cast<void>(cudaSetDevice(on.device));
        for (const auto& [size, block] : unused)
            if (!divided_parts().release(block)) static_cast<void>(cudaFree(block));
        unused.clear();
        whole.reset();
        left = 0;
    }
    /// The next part of the undivided memory; null where it does not suffice.
    void* next_part(std::size_t bytes) {
        if (bytes > left) return nullptr;
        std::byte* const part = next;
        divided_parts().add(part, whole);
        next += bytes, left -= bytes;
        return part;
    }
};

namespace {
thread_local ReusedMemory::Blocks* open_blocks = nullptr;

bool same(Cuda a, Cuda b) { return a.device == b.device && a.stream == b.stream; }
}  // namespace

ReusedMemory::ReusedMemory(Cuda on) : blocks_(std::make_unique<Blocks>()) { blocks_->on = on; }
ReusedMemory::~ReusedMemory() {
    if (blocks_) blocks_->free_unused();
}
ReusedMemory::ReusedMemory(ReusedMemory&&) noexcept = default;
ReusedMemory& ReusedMemory::operator=(ReusedMemory&& other) noexcept {
    std::swap(blocks_, other.blocks_);
    return *this;
}

void ReusedMemory::take_at_once(std::size_t bytes) {
    auto whole = std::make_shared<DividedMemory>(blocks_->on, bytes);
    if (!whole->memory()) return;
    blocks_->next = whole->memory(), blocks_->left = bytes;
    blocks_->whole = std::move(whole);
}
void ReusedMemory::keep_at_most(std::size_t bytes) {
    if (unused_bytes() > bytes) blocks_->free_unused();
}
std::size_t ReusedMemory::unused_bytes() const {
    std::size_t bytes = blocks_->left;
    for (const auto& [size, block] : blocks_->unused) bytes += size;
    return bytes;
}

ReusedMemory::Scope::Scope(ReusedMemory& memory) : outermost_(open_blocks == nullptr) {
    if (outermost_) open_blocks = memory.blocks_.get();
}
ReusedMemory::Scope::~Scope() {
    if (!outermost_) return;
    open_blocks->taken.clear();
    open_blocks = nullptr;
}

void* take_reused(Cuda on, std::size_t bytes) {
    if (!open_blocks || !same(open_blocks->on, on)) return nullptr;
    constexpr std::size_t small = 1 << 16;
    const std::size_t rounded = std::max<std::size_t>((bytes + 511) / 512 * 512, 512);
    auto& unused = open_blocks->unused;
    const auto found = unused.lower_bound(rounded);
    // A block that is much larger is left to those who need it.
    if (found != unused.end() && found->first <= std::max(rounded + rounded / 4, small)) {
        const auto [size, block] = *found;
        unused.erase(found);
        open_blocks->taken.emplace(block, size);
        return block;
    }
    void* block = open_blocks->next_part(rounded);
    if (block) {
        open_blocks->taken.emplace(block, rounded);
        return block;
    }
    KS_CUDA(cudaSetDevice(on.device));
    if (cudaMalloc(&block, rounded) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        open_blocks->free_unused();
        KS_CUDA(cudaMalloc(&block, rounded));
    }
    open_blocks->taken.emplace(block, rounded);
    return block;
}

bool give_reused(Cuda on, void* memory) noexcept {
    if (!open_blocks || !same(open_blocks->on, on)) return divided_parts().release(memory);
    const auto found = open_blocks->taken.find(memory);
    if (found == open_blocks->taken.end()) return divided_parts().release(memory);
    open_blocks->unused.emplace(found->second, memory);
    open_blocks->taken.erase(found);
    return true;
}

}  // namespace kasane::cuda
