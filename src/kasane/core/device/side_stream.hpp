// Streams of a space's device beside the space's own, so that parts of one work may overlap, and how they wait for one another: on the device,
// never on the host. On the CPU work is done in the order in which it is given: a side stream is the space itself, and nothing waits.
#pragma once

#include <kasane/core/device/space.hpp>

#include <utility>

namespace kasane {

/// Which of two streams' blocks a device starts first where both have some.
enum class Urgency { low, usual, high };

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
    SideStream(Cuda of, Urgency urgency);
    ~SideStream();
    SideStream(SideStream&& other) noexcept : on_(other.on_), passed_(std::exchange(other.passed_, nullptr)) {}
    SideStream& operator=(SideStream&&) = delete;

    Cuda space() const { return on_; }
    /// What is given to this stream from now on begins after what `earlier` was given so far.
    void follow(Cuda earlier);
    /// What is given to `later` from now on begins after what this stream was given so far.
    void lead(Cuda later);

   private:
    void order(Cuda earlier, Cuda later);
    Cuda on_;
    void* passed_ = nullptr;
};
#endif

}  // namespace kasane
