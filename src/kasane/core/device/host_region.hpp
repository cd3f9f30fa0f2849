// One allocation of the host that is divided into large blocks, at the lowest free addresses. The next blocks of any size use the pages
// that a released block has touched; pages that no block has touched take no memory.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace kasane {

/// Created by open(), and deleted by itself when it is closed and its last part has been given back. Any thread may call its functions.
class HostRegion {
   public:
    /// Opens a region; null if the system does not give this many addresses.
    static HostRegion* open(std::size_t bytes);
    HostRegion(const HostRegion&) = delete;
    HostRegion& operator=(const HostRegion&) = delete;

    /// Takes a part, at a multiple of `unit`; null if no free part has this many bytes.
    std::byte* take(std::size_t bytes);
    /// Gives back a part of take().
    void give(std::byte* part, std::size_t bytes) noexcept;
    /// Ends the taking of parts. On Linux the pages of free parts return to the system at once, and those of the other parts when they are
    /// given back; on other systems all pages return with the last part.
    void close() noexcept;

    static constexpr std::size_t unit = std::size_t{64} << 10;  ///< [byte] neighbouring parts share huge pages

   private:
    HostRegion(std::byte* memory, std::size_t bytes);
    ~HostRegion();

    std::mutex mutex_;
    std::byte* memory_;
    std::map<std::byte*, std::size_t> free_;  ///< free parts, none beside another
    std::size_t taken_ = 0;                   ///< number of parts
    bool open_ = true;
};

}  // namespace kasane
