// Where the time goes: a Stopwatch, and Timers, a table of named parts that grow by scopes.
// Parts may nest; a part's seconds include its inner parts' only if both are named.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace kasane {

class Stopwatch {
   public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void restart() { start_ = Clock::now(); }

   private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

class Timers {
   public:
    struct Part {
        double seconds = 0;
        std::int64_t calls = 0;
    };

    class Scope {
       public:
        explicit Scope(Part& part) : part_(part) {}
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

    /// Adds the life of the returned object to the part `name`.
    [[nodiscard]] Scope scope(const std::string& name) { return Scope(parts_[name]); }
    void add(const std::string& name, double seconds, std::int64_t calls = 1) {
        auto& part = parts_[name];
        part.seconds += seconds;
        part.calls += calls;
    }
    const std::map<std::string, Part>& parts() const { return parts_; }

   private:
    std::map<std::string, Part> parts_;
};

}  // namespace kasane
