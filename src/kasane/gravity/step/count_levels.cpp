// Histogram of levels on the CPU: one per thread, then their sum. Counts are integers, so the order of the additions does not matter.
#include <kasane/gravity/step/motion.hpp>

#include <algorithm>
#include <array>

namespace kasane::gravity {

void count_levels(Cpu on, View<const std::uint8_t> level, View<StepReport::Word> count) {
    std::fill(count.begin(), count.end(), StepReport::Word{0});
    const int threads = thread_count(on);
#pragma omp parallel num_threads(threads) if (level.n > 65536)
    {
        std::array<StepReport::Word, 256> own{};
#pragma omp for schedule(static)
        for (index_t i = 0; i < level.n; ++i) ++own[level[i]];
#pragma omp critical(kasane_count_levels)
        for (index_t l = 0; l < count.n; ++l) count[l] += own[static_cast<std::size_t>(l)];
    }
}

}  // namespace kasane::gravity
