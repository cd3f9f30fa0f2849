// Streams and events of a CUDA device, pinned memory of the host and copies that do not block the host: for host code, without the headers
// of the CUDA runtime. Nearly empty in a build without CUDA. Every call is checked and throws ComputationError. Invariants: each object
// belongs to one device; events may be waited for by streams of other devices.
#pragma once

#include <kasane/core/device/space.hpp>

#include <cstddef>
#include <utility>

namespace kasane {

/// Kernels of urgent streams run before those of the default stream where both are ready.
enum class Urgency { usual, high };

}  // namespace kasane

#if defined(KASANE_CUDA)
struct CUevent_st;

namespace kasane::cuda {

/// A separate stream: it neither waits for the default stream nor delays it.
class Stream {
   public:
    explicit Stream(int device, Urgency urgency = Urgency::high);
    ~Stream();
    Stream(Stream&& other) noexcept : on_(std::exchange(other.on_, {})) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(on_, other.on_);
        return *this;
    }
    Cuda space() const { return on_; }

   private:
    Cuda on_;
};

/// A mark in a stream.
class Event {
   public:
    enum class Clock { none, timed };
    explicit Event(int device, Clock clock = Clock::none);
    ~Event();
    Event(Event&& other) noexcept : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(event_, other.event_);
        return *this;
    }

    /// Marks the work that the stream has so far.
    void record(Cuda on);
    /// Work submitted to this stream, of any device, from now on waits for the last mark. The host does not wait.
    void hold(Cuda on) const;
    /// Whether the device has passed the mark.
    bool passed() const;
    /// Blocks the host until the device has passed the mark.
    void wait() const;
    /// Seconds from another mark to this one; both timed and passed.
    double seconds_since(const Event& earlier) const;

   private:
    int device_;
    CUevent_st* event_ = nullptr;
};

/// Pinned memory of the host, which devices read and write directly.
class PinnedMemory {
   public:
    PinnedMemory() = default;
    ~PinnedMemory();
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    /// The content is lost when it grows. The current device does not matter.
    void reserve_discarding(std::size_t bytes);
    std::byte* data() { return data_; }

   private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Lets `device` read and write the memory of `peer` directly. False: the hardware does not allow it.
bool enable_peer_access(int device, int peer);

/// Enqueued on the stream; from_device may be any device.
void start_copy_from_device(Cuda on, void* to, const void* from, int from_device, std::size_t bytes);
/// The memory of the host must be pinned.
void start_copy_to_host(Cuda on, void* to_host, const void* from, std::size_t bytes);
void start_copy_to_device(Cuda on, void* to, const void* from_host, std::size_t bytes);

/// 128 bits that identify the device, whatever its number in this process: two devices never have the same.
std::pair<std::uint64_t, std::uint64_t> device_identity(int device);

}  // namespace kasane::cuda
#endif
