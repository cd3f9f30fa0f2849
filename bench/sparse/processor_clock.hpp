// Processor time of this process, all threads together. Other programs of the machine change it much less than elapsed time.
#pragma once

#include <ctime>

namespace kasane::bench {

/// Measures processor time from its construction on.
class ProcessorClock {
   public:
    /// Processor time since the construction [s].
    double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

   private:
    std::clock_t start_ = std::clock();
};

}  // namespace kasane::bench
