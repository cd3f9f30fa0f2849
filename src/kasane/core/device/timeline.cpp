#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/timeline.hpp>

#include <algorithm>
#include <utility>

namespace kasane {

Hidden hidden(const std::vector<Span>& spans, const std::string& name) {
    // The other spans as disjoint intervals, so that no second of a span is counted twice.
    std::vector<std::pair<double, double>> others, joined;
    for (const auto& span : spans)
        if (span.name != name) others.emplace_back(span.begin, span.end);
    std::sort(others.begin(), others.end());
    for (const auto& [begin, end] : others) {
        if (joined.empty() || begin > joined.back().second)
            joined.emplace_back(begin, end);
        else
            joined.back().second = std::max(joined.back().second, end);
    }
    Hidden found;
    for (const auto& span : spans) {
        if (span.name != name) continue;
        found.total += span.end - span.begin;
        auto at = std::partition_point(joined.begin(), joined.end(), [&](const auto& other) { return other.second <= span.begin; });
        for (; at != joined.end() && at->first < span.end; ++at)
            found.hidden += std::min(at->second, span.end) - std::max(at->first, span.begin);
    }
    return found;
}

template <>
struct Timeline<Cpu>::State {
    Stopwatch clock;
    std::vector<Span> spans;
};

template <>
Timeline<Cpu>::Timeline(Cpu) : state_(std::make_unique<State>()) {}
template <>
Timeline<Cpu>::~Timeline() = default;
template <>
Timeline<Cpu>::Timeline(Timeline&&) noexcept = default;
template <>
Timeline<Cpu>& Timeline<Cpu>::operator=(Timeline&&) noexcept = default;

template <>
int Timeline<Cpu>::begin(Cpu, const char* name) {
    const double now = state_->clock.seconds();
    state_->spans.push_back({name, now, now});
    return static_cast<int>(state_->spans.size()) - 1;
}

template <>
void Timeline<Cpu>::end(Cpu, int span) {
    state_->spans[static_cast<std::size_t>(span)].end = state_->clock.seconds();
}

template <>
std::vector<Span> Timeline<Cpu>::take() {
    return std::exchange(state_->spans, {});
}

}  // namespace kasane
