// Event simulation of the kernels and messages of one evaluation: computes their ends from their durations alone and their dependencies.
// [MTM13] fig. 11 for any device, any number of streams and any exchange.
// Invariants: a kernel uses a part of the device, and concurrent kernels share it. If their parts add up to one or less, none is slowed
// down (the superlinear region: two streams fill each other's idle multiprocessors); otherwise kernels with priority run at full speed
// first and the others share the rest equally. Concurrent messages share their link equally, after a latency that is not shared.
#pragma once

#include <vector>

namespace kasane::gravity {

/// Tasks, their dependencies, and the times that follow.
class EventSimulation {
   public:
    using Task = int;

    /// Adds a kernel. @param seconds  its duration if it runs alone   @param part  part of the device that it keeps busy then, above 0, at
    /// most 1   @param after  tasks that end before it begins
    Task kernel(double seconds, double part, const std::vector<Task>& after, bool priority = false);
    /// Adds a message. @param latency  time before the transfer begins   @param seconds  of the transfer, alone on the link
    Task message(double latency, double seconds, const std::vector<Task>& after);

    /// Runs the simulation. @return the time when all tasks have ended
    double run();
    /// Times of a task; valid after run().
    double end_of(Task task) const { return tasks_[static_cast<std::size_t>(task)].end; }
    double begin_of(Task task) const { return tasks_[static_cast<std::size_t>(task)].begin; }
    /// Exposed communication: seconds in which messages are under way and no kernel runs.
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
