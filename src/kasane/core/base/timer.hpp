// Measured times: a Stopwatch, and Timers, a table of named parts to which scopes add their time.
// Parts may nest: the seconds of an outer part include those of its inner parts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace kasane {

/// Wall-clock time since its construction or last restart().
class Stopwatch {
   public:
    /// Time so far [s].
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    /// Starts again from zero.
    void restart() { start_ = Clock::now(); }

   private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// Wall-clock time of named parts of a computation.
class Timers {
   public:
    /// The time of one part.
    struct Part {
        double seconds = 0;      ///< sum over all calls [s]
        std::int64_t calls = 0;  ///< number of scopes that ended
    };

    /// Adds the time from its construction to its destruction to a part, and one call.
    class Scope {
       public:
        /// @param part  must outlive the scope
        explicit Scope(Part& part) : part_(part) {}
        /// Adds the time since construction.
        ~Scope() {
            part_.seconds += watch_.seconds();
            ++part_.calls;
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

       private:
        Part& part_;
        Stopwatch watch_;
    };

    /// Adds the time until the destruction of the returned object to the part `name`.
    [[nodiscard]] Scope scope(const std::string& name) { return Scope(parts_[name]); }
    /// Adds a time that was measured elsewhere [s].
    void add(const std::string& name, double seconds, std::int64_t calls = 1) {
        auto& part = parts_[name];
        part.seconds += seconds;
        part.calls += calls;
    }
    /// All parts by name.
    const std::map<std::string, Part>& parts() const { return parts_; }

   private:
    std::map<std::string, Part> parts_;
};

}  // namespace kasane
