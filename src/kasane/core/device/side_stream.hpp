// Streams of a space's device beside the space's own, so that parts of one work may overlap, and how they wait for one another: on the
// device, never on the host. On the CPU work is done in the order in which it is given: a side stream is the space itself, and nothing
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
    /// What is given to this stream from now on begins after what `earlier` was given so far.
    void follow(Cuda earlier) { order(earlier, space()); }
    /// What is given to `later` from now on begins after what this stream was given so far.
    void lead(Cuda later) { order(space(), later); }

   private:
    // One event serves all: a wait holds on to the record that came before it, and later records do not touch it.
    void order(Cuda earlier, Cuda later) {
        passed_.record(earlier);
        passed_.hold(later);
    }
    cuda::Stream stream_;
    cuda::Event passed_;
};
#endif

}  // namespace kasane
