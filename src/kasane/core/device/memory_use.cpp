#include <kasane/core/device/memory_use.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

namespace kasane {
namespace {

struct Device {
    MemoryUse use;
    std::unordered_map<const void*, std::size_t> block;
};

/// Never destroyed: buffers of static objects may be released later.
struct Devices {
    std::mutex mutex;
    std::map<int, Device> of;
};
Devices& devices_in_use() {
    static auto& all = *new Devices;
    return all;
}

}  // namespace

MemoryUse memory_use(int device) {
    auto& all = devices_in_use();
    const std::lock_guard lock(all.mutex);
    return all.of[device].use;
}

void forget_most_memory(int device) {
    auto& all = devices_in_use();
    const std::lock_guard lock(all.mutex);
    auto& use = all.of[device].use;
    use.most = use.now;
}

namespace detail {

void count_allocation(int device, const void* memory, std::size_t bytes) {
    auto& all = devices_in_use();
    const std::lock_guard lock(all.mutex);
    auto& [use, block] = all.of[device];
    block[memory] = bytes;
    use.now += bytes;
    use.most = std::max(use.most, use.now);
}

void count_release(int device, const void* memory) noexcept {
    auto& all = devices_in_use();
    const std::lock_guard lock(all.mutex);
    auto& [use, block] = all.of[device];
    const auto found = block.find(memory);
    if (found == block.end()) return;
    use.now -= found->second;
    block.erase(found);
}

}  // namespace detail
}  // namespace kasane
