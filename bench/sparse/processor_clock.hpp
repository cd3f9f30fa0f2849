// Seconds that the processors spend on this process, all threads together: unlike the time of the clock on the wall it hardly depends on
// other programs of the machine.
#pragma once

#include <ctime>

namespace kasane::bench {

class ProcessorClock {
   public:
    double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

   private:
    std::clock_t start_ = std::clock();
};

}  // namespace kasane::bench
