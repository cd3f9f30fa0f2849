// When the kernels and messages of one evaluation end, from how long each takes alone and what it waits for: the picture of [MTM13] fig.
// 11 for any device, any number of streams and any exchange.
// Invariants: a kernel takes a part of the device, and kernels at the same time share it: as long as their parts add up to less than one,
// none is slowed down (the superlinear region: two streams fill each other's idle multiprocessors); beyond, those with priority are
// executed first, the others equally. Messages share their link alike, after a latency that is not shared.
#pragma once

#include <vector>

namespace kasane::gravity {

class EventSimulation {
   public:
    using Task = int;

    /// @param seconds  alone   @param part  of the device that it keeps busy then, above 0, at most 1   @param after  tasks that end
    /// before it begins
    Task kernel(double seconds, double part, const std::vector<Task>& after, bool priority = false);
    /// @param latency  before the bytes flow   @param seconds  of the bytes, alone on the link
    Task message(double latency, double seconds, const std::vector<Task>& after);

    /// When everything is done.
    double run();
    /// After run().
    double end_of(Task task) const { return tasks_[static_cast<std::size_t>(task)].end; }
    double begin_of(Task task) const { return tasks_[static_cast<std::size_t>(task)].begin; }
    /// Seconds in which no kernel was on the device, though messages were under way: communication that shows.
    double exposed() const { return exposed_; }

   private:
    struct Entry {
        bool is_kernel = true, priority = false;
        double latency = 0, seconds = 0, part = 1;
        std::vector<Task> after;
        double begin = -1, end = -1, left = 0, waits = 0;
        double speed = 0;
    };
    void share(bool kernels);
    std::vector<Entry> tasks_;
    double exposed_ = 0;
};

}  // namespace kasane::gravity
