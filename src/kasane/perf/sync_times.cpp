#include <kasane/core/base/timer.hpp>
#include <kasane/perf/least_squares.hpp>
#include <kasane/perf/sync_times.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace kasane {
namespace {

constexpr int numbers_of_kernels[] = {1, 2, 5, 10, 20, 40, 60, 80, 100};
constexpr int repetitions = 31;

/// The medians of `repetitions` of each, taken by turns, so that a disturbance does not fall on one N_sub alone.
std::vector<SyncTiming> medians(const AnySpace& on, const std::function<void()>& meet) {
    std::vector<std::vector<double>> seconds(std::size(numbers_of_kernels));
    for (int repetition = -2; repetition < repetitions; ++repetition)
        for (std::size_t k = 0; k < seconds.size(); ++k) {
            meet();
            const Stopwatch watch;
            std::visit(
                [&](auto space) {
                    for (int i = 0; i < numbers_of_kernels[k]; ++i) detail::start_nothing(space);
                },
                on);
            synchronize(on);
            meet();
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
        asm volatile("" ::: "memory");  // a region that does nothing may be left out
    }
}

SyncTimes fit_sync(int members, std::vector<SyncTiming> timings) {
    std::vector<double> x, y;
    for (const auto& timing : timings) x.push_back(timing.kernels), y.push_back(timing.seconds);
    const auto line = fit_line(x, y);
    return {members, line.intercept, line.slope, line.intercept_error, line.slope_error, std::move(timings)};
}

SyncTimes measure_sync(const AnySpace& on) {
    return fit_sync(1, medians(on, [] {}));
}

SyncTimes measure_sync(comm::Team& team, const std::vector<AnySpace>& here) {
    SyncTimes times;
    team.run([&](comm::Member& member) {
        auto timings = medians(here[static_cast<std::size_t>(member.local())], [&] {
            if (member.size() > 1) member.barrier();
        });
        member.broadcast(timings.data(), timings.size() * sizeof(SyncTiming), 0);
        if (member.local() == 0) times = fit_sync(member.size(), std::move(timings));
    });
    return times;
}

}  // namespace kasane
