// Times a span of work on a space without blocking the host: on Cuda by events that are read long after the device has passed them.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>

#include <memory>

namespace kasane {

template <Space S>
class SpanTimer;

template <>
class SpanTimer<Cpu> {
   public:
    explicit SpanTimer(Cpu) {}
    void begin() { watch_.restart(); }
    void end() { seconds_ += watch_.seconds(); }
    /// Seconds of all spans so far.
    double seconds() { return seconds_; }

   private:
    Stopwatch watch_;
    double seconds_ = 0;
};

#if defined(KASANE_CUDA)
template <>
class SpanTimer<Cuda> {
   public:
    explicit SpanTimer(Cuda on);
    ~SpanTimer();
    SpanTimer(SpanTimer&&) noexcept;
    void begin();
    void end();
    /// Waits for the spans that have not ended yet.
    double seconds();

   private:
    struct Events;
    std::unique_ptr<Events> events_;
};
#endif

}  // namespace kasane
