// A thread that writes files beside a computation: jobs, one after another in the order in which they are added.
// Invariants: at most one job waits while another one is executed; a job that fails drops the job after it, and its error is thrown once.
// HDF5 is not thread-safe: other threads use it only after flush().
#pragma once

#include <kasane/core/base/timer.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace kasane::io {

class OutputThread {
   public:
    using Job = std::function<void()>;

    OutputThread() = default;
    /// Waits until all jobs are finished. An error that no call has thrown is lost.
    ~OutputThread();
    OutputThread(const OutputThread&) = delete;
    OutputThread& operator=(const OutputThread&) = delete;

    /// Returns at once. @throws the error of a job, if one has failed since the last call that threw
    void check();
    /// Adds a job; first waits until no other job waits. The first job starts the thread; where the system allows no more threads, the
    /// caller executes the jobs. @throws as check(), and does not add the job
    void add(Job job);
    /// Waits until all jobs are finished. @throws as check()
    void flush();
    /// Time and number of the jobs that are finished.
    Timers::Part time() const;

   private:
    void work();
    void execute(Job job, std::unique_lock<std::mutex>& lock);
    void throw_error();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Job waiting_;  ///< empty: none
    bool executes_ = false, ends_ = false;
    std::exception_ptr error_;
    Timers::Part time_;
    std::thread thread_;
};

}  // namespace kasane::io
