// Measures how much other programs use the processors: before a computation, from the count of runnable threads, and during one, from the
// time that the threads of this process waited for a processor.
#pragma once

#include <kasane/core/base/waiting.hpp>
#include <kasane/core/device/space.hpp>

#include <optional>
#include <string>

namespace kasane {

/// Threads of all programs that run or wait for a processor, the calling one included; nothing where the system does not report it.
/// @param loadavg  the text of /proc/loadavg
std::optional<int> runnable_threads(const std::string& loadavg);

/// Returns a warning if `threads` of this process and `runnable` threads (with the calling one) exceed the processors; else an empty text.
std::string load_warning(int runnable, int threads, int processors);

/// Logs load_warning() for a computation that begins now on this space. Silent on devices, and where the system does not report the load.
void warn_of_load(const AnySpace& space);

/// Measures, from its construction on, whether other programs disturbed this one.
class LoadMeter {
   public:
    LoadMeter();
    /// The fraction of the time that threads of this process waited for a processor, of the time they ran or waited; 0 where the system
    /// does not report it.
    double waiting() const;
    /// Whether timings taken since the construction are unreliable.
    bool disturbed() const { return waiting() > 0.05; }

   private:
    static ProcessorTimes now();  ///< of all threads of this process
    ProcessorTimes before_;
};

}  // namespace kasane
