// Records when a space executes which work: named spans, on Cuda between events of any of its device's streams, all on one clock.
// Benchmarks find from it how much of the communication was hidden; usual runs do not use it.
#pragma once

#include <kasane/core/device/space.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kasane {

struct Span {
    std::string name;
    double begin = 0, end = 0;  ///< seconds since the timeline began
};

/// Seconds of the spans called `name` that overlap spans with another name, and the sum of all spans called `name`.
struct Hidden {
    double hidden = 0, total = 0;
    double fraction() const { return total > 0 ? hidden / total : 1; }
};
Hidden hidden(const std::vector<Span>& spans, const std::string& name);

template <Space S>
class Timeline {
   public:
    explicit Timeline(S on);
    ~Timeline();
    Timeline(Timeline&&) noexcept;
    Timeline& operator=(Timeline&&) noexcept;

    /// Marks the beginning of a span on the stream of `on`; returns its number.
    int begin(S on, const char* name);
    void end(S on, int span);
    /// Waits for the end of all spans; empties the timeline.
    std::vector<Span> take();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane
