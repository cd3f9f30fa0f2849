#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/reused_memory.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace kasane::cuda {

struct ReusedMemory::Blocks {
    Cuda on;
    std::multimap<std::size_t, void*> unused;      ///< by size
    std::unordered_map<void*, std::size_t> taken;  ///< in the open scope; at its end they are memory as any other
    void free_unused() noexcept {
        // As in release(): errors are ignored in destructors.
        static_cast<void>(cudaSetDevice(on.device));
        for (const auto& [size, block] : unused) static_cast<void>(cudaFree(block));
        unused.clear();
    }
};

namespace {
thread_local ReusedMemory::Blocks* open_blocks = nullptr;

bool same(Cuda a, Cuda b) { return a.device == b.device && a.stream == b.stream; }
}  // namespace

ReusedMemory::ReusedMemory(Cuda on) : blocks_(std::make_unique<Blocks>(Blocks{on, {}, {}})) {}
ReusedMemory::~ReusedMemory() {
    if (blocks_) blocks_->free_unused();
}
ReusedMemory::ReusedMemory(ReusedMemory&&) noexcept = default;
ReusedMemory& ReusedMemory::operator=(ReusedMemory&& other) noexcept {
    std::swap(blocks_, other.blocks_);
    return *this;
}

void ReusedMemory::keep_at_most(std::size_t bytes) {
    if (unused_bytes() > bytes) blocks_->free_unused();
}
std::size_t ReusedMemory::unused_bytes() const {
    std::size_t bytes = 0;
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
    void* block = nullptr;
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
    if (!open_blocks || !same(open_blocks->on, on)) return false;
    const auto found = open_blocks->taken.find(memory);
    if (found == open_blocks->taken.end()) return false;
    open_blocks->unused.emplace(found->second, memory);
    open_blocks->taken.erase(found);
    return true;
}

}  // namespace kasane::cuda
