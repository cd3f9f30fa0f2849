#include <kasane/core/base/error.hpp>
#include <kasane/gravity/performance/event_simulation.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kasane::gravity {

EventSimulation::Task EventSimulation::kernel(double seconds, double part, const std::vector<Task>& after, bool priority) {
    Entry entry;
    entry.priority = priority, entry.seconds = seconds, entry.part = std::clamp(part, 1e-6, 1.0), entry.after = after;
    tasks_.push_back(entry);
    return static_cast<Task>(tasks_.size()) - 1;
}

EventSimulation::Task EventSimulation::message(double latency, double seconds, const std::vector<Task>& after) {
    Entry entry;
    entry.is_kernel = false, entry.latency = latency, entry.seconds = seconds, entry.after = after;
    tasks_.push_back(entry);
    return static_cast<Task>(tasks_.size()) - 1;
}

/// Sets the speeds of the running kernels (or messages), relative to their speed alone.
void EventSimulation::share(bool kernels) {
    double left = 1;
    for (const bool priority : {true, false}) {
        double wanted = 0;
        const auto here = [&](const Entry& entry) {
            return entry.is_kernel == kernels && entry.priority == priority && entry.begin >= 0 && entry.end < 0 && entry.waits <= 0;
        };
        for (const auto& entry : tasks_)
            if (here(entry)) wanted += entry.part;
        const double speed = wanted > left ? left / wanted : 1;
        for (auto& entry : tasks_)
            if (here(entry)) entry.speed = speed;
        left = std::max(0.0, left - wanted);
    }
}

double EventSimulation::run() {
    double now = 0;
    exposed_ = 0;
    for (auto& entry : tasks_) entry.begin = entry.end = -1, entry.left = entry.seconds, entry.waits = entry.latency;
    for (;;) {
        for (bool again = true; again;) {  // tasks without duration end at once, and others may begin
            again = false;
            for (auto& entry : tasks_) {
                if (entry.begin < 0 && std::all_of(entry.after.begin(), entry.after.end(), [&](Task task) { return end_of(task) >= 0; }))
                    entry.begin = now;
                if (entry.begin >= 0 && entry.end < 0 && entry.waits <= 0 && entry.left <= 0) entry.end = now, again = true;
            }
        }
        for (auto& entry : tasks_) entry.speed = 0;
        share(true);
        share(false);
        double next = std::numeric_limits<double>::infinity();
        bool kernels = false, messages = false, all = true;
        for (const auto& entry : tasks_) {
            all = all && entry.end >= 0;
            if (entry.begin < 0 || entry.end >= 0) continue;
            (entry.is_kernel ? kernels : messages) = true;
            if (entry.waits > 0)
                next = std::min(next, entry.waits);
            else if (entry.speed > 0)
                next = std::min(next, entry.left / entry.speed);
        }
        if (all) return now;
        KS_VALIDATE(next < std::numeric_limits<double>::infinity(),
                    "the event simulation has tasks that wait for each other: remove the cycle");
        if (messages && !kernels) exposed_ += next;
        for (auto& entry : tasks_) {
            if (entry.begin < 0 || entry.end >= 0) continue;
            // A task that ends now is set to exactly 0, because rounding could leave a remainder that never ends.
            if (entry.waits > 0)
                entry.waits = entry.waits <= next ? 0 : entry.waits - next;
            else if (entry.speed > 0)
                entry.left = entry.left / entry.speed <= next ? 0 : entry.left - next * entry.speed;
        }
        now += next;
    }
}

}  // namespace kasane::gravity
