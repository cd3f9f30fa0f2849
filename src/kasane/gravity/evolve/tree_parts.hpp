// Times and counts of the parts of a tree's force: walks, moments, builds. TreeStepper and the steppers of workers own one each.
#pragma once

#include <kasane/core/device/span_timer.hpp>

#include <cstdint>

namespace kasane::gravity {

/// One part: its spans and how often it was executed.
template <Space S>
class TreePart {
   public:
    explicit TreePart(S on) : span_(on) {}

    /// Executes body() as a call of this part.
    template <class F>
    void call(F body) {
        add(body);
        ++calls_;
    }
    /// Executes body(), whose time belongs to a call that is counted elsewhere.
    template <class F>
    void add(F body) {
        span_.begin();
        body();
        span_.end();
    }
    /// Waits for the spans.
    double seconds() { return span_.seconds(); }
    std::int64_t calls() const { return calls_; }

   private:
    SpanTimer<S> span_;
    std::int64_t calls_ = 0;
};

template <Space S>
struct TreeParts {
    explicit TreeParts(S on) : walk(on), moments(on), tree(on) {}

    /// Calls part(name, seconds, calls) for each.
    template <class F>
    void report(const F& part) {
        part("walk", walk.seconds(), walk.calls());
        part("moments", moments.seconds(), moments.calls());
        part("tree", tree.seconds(), tree.calls());
    }

    TreePart<S> walk, moments, tree;
};

}  // namespace kasane::gravity
