// Streams of a space's device beside the space's own stream, so that parts of one work may overlap. They wait for each other on the
// device, never on the host. On the CPU work runs in the order in which it is submitted: a side stream is the space itself, and nothing
// waits.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/device/stream_cuda.hpp>

namespace kasane {

template <Space S>
class SideStream;

template <>
class SideStream<Cpu> {
   public:
    SideStream(Cpu of, Urgency) : on_(of) {}
    Cpu space() const { return on_; }
    void follow(Cpu) {}
    void lead(Cpu) {}

   private:
    Cpu on_;
};

#if defined(KASANE_CUDA)
template <>
class SideStream<Cuda> {
   public:
    SideStream(Cuda of, Urgency urgency) : stream_(of.device, urgency), passed_(of.device) {}
    Cuda space() const { return stream_.space(); }
    /// Work submitted to this stream from now on begins after the work that `earlier` has so far.
    void follow(Cuda earlier) { order(earlier, space()); }
    /// Work submitted to `later` from now on begins after the work that this stream has so far.
    void lead(Cuda later) { order(space(), later); }

   private:
    // One event is enough: a wait refers to the record that came before it, and later records do not change it.
    void order(Cuda earlier, Cuda later) {
        passed_.record(earlier);
        passed_.hold(later);
    }
    cuda::Stream stream_;
    cuda::Event passed_;
};
#endif

}  // namespace kasane
