// Large blocks of allocate_host() that are taken again instead of freed, while a set-up or a solve runs.
#pragma once

#include <cstddef>

namespace kasane {

/// As long as an object exists, large blocks that any thread releases are kept, up to `most_kept_bytes` of them, and allocate_host()
/// returns them again, because the system clears every page of a new block. The last object to end frees the blocks that are left.
class HostMemoryReuse {
   public:
    HostMemoryReuse();
    ~HostMemoryReuse();
    HostMemoryReuse(const HostMemoryReuse&) = delete;
    HostMemoryReuse& operator=(const HostMemoryReuse&) = delete;

    /// Makes new large blocks parts of one region of that many bytes (host_region.hpp), as long as it has free parts of their size. Blocks
    /// may outlive the object.
    void reserve(std::size_t bytes);

    static constexpr std::size_t most_kept_bytes = std::size_t{1} << 30;
};

}  // namespace kasane
