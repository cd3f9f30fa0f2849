#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/span_timer.hpp>

#include <array>

namespace kasane {

// A ring of event pairs: a pair is read when it is used again, 64 spans later, long after its span has ended.
struct SpanTimer<Cuda>::Events {
    static constexpr std::size_t length = 64;
    struct Pair {
        cudaEvent_t begin{}, end{};
        bool pending = false;
    };

    Cuda on;
    std::array<Pair, length> ring;
    std::size_t next = 0;
    double seconds = 0;

    explicit Events(Cuda space) : on(space) {
        KS_CUDA(cudaSetDevice(on.device));
        for (auto& pair : ring) {
            KS_CUDA(cudaEventCreate(&pair.begin));
            KS_CUDA(cudaEventCreate(&pair.end));
        }
    }
    ~Events() {
        for (auto& pair : ring) {
            static_cast<void>(cudaEventDestroy(pair.begin));
            static_cast<void>(cudaEventDestroy(pair.end));
        }
    }
    void collect(Pair& pair) {
        if (!pair.pending) return;
        KS_CUDA(cudaEventSynchronize(pair.end));
        float milliseconds = 0;
        KS_CUDA(cudaEventElapsedTime(&milliseconds, pair.begin, pair.end));
        seconds += 1e-3 * static_cast<double>(milliseconds);
        pair.pending = false;
    }
};

SpanTimer<Cuda>::SpanTimer(Cuda on) : events_(std::make_unique<Events>(on)) {}
SpanTimer<Cuda>::~SpanTimer() = default;
SpanTimer<Cuda>::SpanTimer(SpanTimer&&) noexcept = default;

void SpanTimer<Cuda>::begin() {
    auto& pair = events_->ring[events_->next];
    events_->collect(pair);
    KS_CUDA(cudaSetDevice(events_->on.device));  // a stream that is not named is that of the current device
    KS_CUDA(cudaEventRecord(pair.begin, events_->on.stream));
}

void SpanTimer<Cuda>::end() {
    auto& pair = events_->ring[events_->next];
    KS_CUDA(cudaSetDevice(events_->on.device));
    KS_CUDA(cudaEventRecord(pair.end, events_->on.stream));
    pair.pending = true;
    events_->next = (events_->next + 1) % Events::length;
}

double SpanTimer<Cuda>::seconds() {
    for (auto& pair : events_->ring) events_->collect(pair);
    return events_->seconds;
}

}  // namespace kasane
