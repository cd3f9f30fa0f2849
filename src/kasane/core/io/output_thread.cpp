#include <kasane/core/device/threads.hpp>
#include <kasane/core/io/output_thread.hpp>

#include <system_error>
#include <utility>

namespace kasane::io {

OutputThread::~OutputThread() {
    if (!thread_.joinable()) return;
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void OutputThread::throw_error() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void OutputThread::check() {
    const std::scoped_lock lock(mutex_);
    throw_error();
}

void OutputThread::add(Job job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_; });
    throw_error();
    if (!thread_.joinable()) {
        try {
            thread_ = std::thread([this] { work(); });
        } catch (const std::system_error&) {
            execute(std::move(job), lock);
            throw_error();
            return;
        }
    }
    waiting_ = std::move(job);
    changed_.notify_all();
}

void OutputThread::flush() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_ && !executes_; });
    throw_error();
}

Timers::Part OutputThread::time() const {
    const std::scoped_lock lock(mutex_);
    return time_;
}

void OutputThread::work() {
    run_on_any_processor();
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return waiting_ || ends_; });
        if (!waiting_) return;
        execute(std::exchange(waiting_, nullptr), lock);
    }
}

void OutputThread::execute(Job job, std::unique_lock<std::mutex>& lock) {
    executes_ = true;
    changed_.notify_all();
    lock.unlock();
    const Stopwatch watch;
    std::exception_ptr error;
    try {
        job();
    } catch (...) {
        error = std::current_exception();
    }
    job = nullptr;  // frees the copy that it holds
    lock.lock();
    time_.seconds += watch.seconds();
    ++time_.calls;
    executes_ = false;
    if (error) {
        error_ = error;
        waiting_ = nullptr;  // it may rely on the file that is missing now
    }
    changed_.notify_all();
}

}  // namespace kasane::io
