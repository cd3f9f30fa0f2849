#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/host_copies.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <cstring>

namespace kasane::cuda {

Stream::Stream(int device, Urgency urgency) : on_{device, nullptr} {
    KS_CUDA(cudaSetDevice(device));
    int least = 0, greatest = 0;
    KS_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    const int priority = urgency == Urgency::high ? greatest : least;  // the default stream has the least
    KS_CUDA(cudaStreamCreateWithPriority(&on_.stream, cudaStreamNonBlocking, priority));
}

Stream::~Stream() {
    // As for memory: a destructor cannot throw, and the runtime may already be gone.
    if (!on_.stream) return;
    static_cast<void>(cudaSetDevice(on_.device));
    static_cast<void>(cudaStreamDestroy(on_.stream));
}

Event::Event(int device, Clock clock) : device_(device) {
    KS_CUDA(cudaSetDevice(device));
    KS_CUDA(cudaEventCreateWithFlags(&event_, clock == Clock::timed ? cudaEventDefault : cudaEventDisableTiming));
}

Event::~Event() {
    if (!event_) return;
    static_cast<void>(cudaSetDevice(device_));
    static_cast<void>(cudaEventDestroy(event_));
}

// The default stream means that of the current device, so the device is set even where a stream determines it.
void Event::record(Cuda on) {
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaEventRecord(event_, on.stream));
}

void Event::hold(Cuda on) const {
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaStreamWaitEvent(on.stream, event_, 0));
}

bool Event::passed() const {
    const auto status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    KS_CUDA(status);
    return true;
}

void Event::wait() const { KS_CUDA(cudaEventSynchronize(event_)); }

double Event::seconds_since(const Event& earlier) const {
    float milliseconds = 0;
    KS_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return 1e-3 * static_cast<double>(milliseconds);
}

PinnedMemory::~PinnedMemory() {
    if (data_) static_cast<void>(cudaFreeHost(data_));
}

void PinnedMemory::reserve_discarding(std::size_t bytes) {
    if (bytes <= bytes_) return;
    void* memory = nullptr;
    KS_CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable));
    if (data_) static_cast<void>(cudaFreeHost(data_));
    data_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
}

bool enable_peer_access(int device, int peer) {
    if (device == peer) return true;
    int possible = 0;
    KS_CUDA(cudaDeviceCanAccessPeer(&possible, device, peer));
    if (!possible) return false;
    KS_CUDA(cudaSetDevice(device));
    const auto status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());
        return true;
    }
    KS_CUDA(status);
    return true;
}

void start_copy_from_device(Cuda on, void* to, const void* from, int from_device, std::size_t bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    if (from_device == on.device)
        KS_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on.stream));
    else
        KS_CUDA(cudaMemcpyPeerAsync(to, on.device, from, from_device, bytes, on.stream));
}

void start_copy_to_host(Cuda on, void* to_host, const void* from, std::size_t bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    detail::count_host_copy(bytes);
    KS_CUDA(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, on.stream));
}

void start_copy_to_device(Cuda on, void* to, const void* from_host, std::size_t bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    detail::count_host_copy(bytes);
    KS_CUDA(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, on.stream));
}

std::pair<std::uint64_t, std::uint64_t> device_identity(int device) {
    cudaDeviceProp properties{};
    KS_CUDA(cudaGetDeviceProperties(&properties, device));
    std::uint64_t parts[2] = {};
    static_assert(sizeof parts == sizeof properties.uuid.bytes);
    std::memcpy(parts, properties.uuid.bytes, sizeof parts);
    return {parts[0], parts[1]};
}

}  // namespace kasane::cuda
