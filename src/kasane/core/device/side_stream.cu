#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/side_stream.hpp>

namespace kasane {

SideStream<Cuda>::SideStream(Cuda of, Urgency urgency) : on_(of) {
    KS_CUDA(cudaSetDevice(of.device));
    int least = 0, greatest = 0;
    KS_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    const int priority = urgency == Urgency::low ? least : urgency == Urgency::high ? greatest : (least + greatest) / 2;
    cudaStream_t stream = nullptr;
    // Not blocking: the space's own stream may be the default one, and is waited for by events alone.
    KS_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    on_.stream = stream;
    cudaEvent_t event = nullptr;
    const auto made = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (made != cudaSuccess) static_cast<void>(cudaStreamDestroy(stream));
    KS_CUDA(made);
    passed_ = event;
}

SideStream<Cuda>::~SideStream() {
    if (!passed_) return;
    static_cast<void>(cudaSetDevice(on_.device));
    static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(passed_)));
    static_cast<void>(cudaStreamDestroy(on_.stream));
}

// One event serves all: a wait holds on to the record that came before it, and later records do not touch it.
void SideStream<Cuda>::order(Cuda earlier, Cuda later) {
    KS_CUDA(cudaSetDevice(on_.device));
    KS_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(passed_), earlier.stream));
    KS_CUDA(cudaStreamWaitEvent(later.stream, static_cast<cudaEvent_t>(passed_), 0));
}

void SideStream<Cuda>::follow(Cuda earlier) { order(earlier, on_); }
void SideStream<Cuda>::lead(Cuda later) { order(on_, later); }

}  // namespace kasane
