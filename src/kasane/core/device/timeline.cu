#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/core/device/timeline.hpp>

#include <deque>

namespace kasane {

// Pairs of events, used again after each take(). Times are measured from a base event that take() renews: the runtime gives differences as
// float milliseconds, which resolve 0.1 us for a second at most.
template <>
struct Timeline<Cuda>::State {
    struct Marks {
        std::string name;
        cuda::Event begin, end;
    };

    explicit State(Cuda space)
        : on(space), base(space.device, cuda::Event::Clock::timed), next_base(space.device, cuda::Event::Clock::timed) {
        base.record(on);
    }

    Cuda on;
    cuda::Event base, next_base;
    double base_seconds = 0;
    std::deque<Marks> marks;
    std::size_t used = 0;
};

template <>
Timeline<Cuda>::Timeline(Cuda on) : state_(std::make_unique<State>(on)) {}
template <>
Timeline<Cuda>::~Timeline() = default;
template <>
Timeline<Cuda>::Timeline(Timeline&&) noexcept = default;
template <>
Timeline<Cuda>& Timeline<Cuda>::operator=(Timeline&&) noexcept = default;

template <>
int Timeline<Cuda>::begin(Cuda on, const char* name) {
    auto& state = *state_;
    if (state.used == state.marks.size()) {
        constexpr auto timed = cuda::Event::Clock::timed;
        state.marks.push_back({name, cuda::Event(state.on.device, timed), cuda::Event(state.on.device, timed)});
    }
    auto& marks = state.marks[state.used];
    marks.name = name;
    marks.begin.record(on);
    return static_cast<int>(state.used++);
}

template <>
void Timeline<Cuda>::end(Cuda on, int span) {
    state_->marks[static_cast<std::size_t>(span)].end.record(on);
}

template <>
std::vector<Span> Timeline<Cuda>::take() {
    auto& state = *state_;
    std::vector<Span> spans;
    state.base.wait();
    for (std::size_t i = 0; i < state.used; ++i) {
        auto& marks = state.marks[i];
        marks.begin.wait();
        marks.end.wait();
        spans.push_back({marks.name, state.base_seconds + marks.begin.seconds_since(state.base),
                         state.base_seconds + marks.end.seconds_since(state.base)});
    }
    state.used = 0;
    state.next_base.record(state.on);
    state.next_base.wait();
    state.base_seconds += state.next_base.seconds_since(state.base);
    std::swap(state.base, state.next_base);
    return spans;
}

}  // namespace kasane
