#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/least_squares.hpp>
#include <kasane/perf/sync_times.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace kasane {
namespace {

constexpr int numbers_of_kernels[] = {1, 2, 5, 10, 20, 40, 60, 80, 100};
constexpr int repetitions = 31;

/// The medians of `repetitions` measurements of each N_sub, taken in turn, so that a disturbance does not affect one N_sub alone.
std::vector<SyncTiming> medians(const AnySpace& on, const std::function<void()>& barrier) {
    std::vector<std::vector<double>> seconds(std::size(numbers_of_kernels));
    for (int repetition = -2; repetition < repetitions; ++repetition)
        for (std::size_t k = 0; k < seconds.size(); ++k) {
            barrier();
            const Stopwatch watch;
            std::visit(
                [&](auto space) {
                    for (int i = 0; i < numbers_of_kernels[k]; ++i) detail::start_nothing(space);
                },
                on);
            synchronize(on);
            barrier();
            if (repetition >= 0) seconds[k].push_back(watch.seconds());
        }
    std::vector<SyncTiming> timings;
    for (std::size_t k = 0; k < seconds.size(); ++k) {
        const auto middle = seconds[k].begin() + repetitions / 2;
        std::nth_element(seconds[k].begin(), middle, seconds[k].end());
        timings.push_back({numbers_of_kernels[k], *middle});
    }
    return timings;
}

}  // namespace

void detail::start_nothing(Cpu on) {
    const int threads = thread_count(on);
#pragma omp parallel num_threads(threads)
    {
        asm volatile("" ::: "memory");  // a compiler may remove an empty region
    }
}

SyncTimes fit_sync(int workers, std::vector<SyncTiming> timings) {
    std::vector<double> x, y;
    for (const auto& timing : timings) x.push_back(timing.kernels), y.push_back(timing.seconds);
    const auto line = fit_line(x, y);
    return {workers, line.intercept, line.slope, line.intercept_error, line.slope_error, std::move(timings)};
}

SyncTimes measure_sync(const AnySpace& on) {
    return fit_sync(1, medians(on, [] {}));
}

SyncTimes measure_sync(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    SyncTimes times;
    communicator.run([&](comm::Worker& worker) {
        auto timings = medians(here[static_cast<std::size_t>(worker.local())], [&] {
            if (worker.size() > 1) worker.barrier();
        });
        worker.broadcast(timings.data(), timings.size() * sizeof(SyncTiming), 0);
        if (worker.local() == 0) times = fit_sync(worker.size(), std::move(timings));
    });
    return times;
}

}  // namespace kasane
