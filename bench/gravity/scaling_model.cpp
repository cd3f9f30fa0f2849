#include <bench/gravity/scaling.hpp>
#include <bench/gravity/scaling_model.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/performance/calibrate.hpp>
#include <kasane/perf/calibration.hpp>

#include <fmt/format.h>

#include <limits>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr std::size_t fewest_times = 6;  // fit_force_time's
const Direct options{.softening = direct_softening};

struct Found {
    ForceTime time;
    std::string source;
};

std::optional<Found> fitted(const ForceDevice& device, const std::vector<AloneTime>& alone, bool both_sides) {
    std::vector<ForceWork> work;
    std::vector<double> seconds;
    for (const auto& one : alone)
        if (one.both_sides == both_sides) {
            work.push_back(step_work(device, options, one.n, both_sides));
            seconds.push_back(one.seconds);
        }
    if (work.size() < fewest_times) return {};
    return Found{fit_force_time(work, seconds), fmt::format("fitted to the {} times of one worker of this run", work.size())};
}

std::optional<Found> calibrated(const AnySpace& on, bool both_sides) {
    const auto* cpu = std::get_if<Cpu>(&on);
    const auto calibration = read_calibration(default_calibration_file());
    const auto* entry =
        calibration.find(force_key(device_text(device_info(on), cpu ? thread_count(*cpu) : 0), ForceMethod{.both_sides = both_sides}));
    if (!entry) return {};
    try {
        return Found{known_force(*entry).time, fmt::format("from the calibration of {}, which measured whole steps", entry->date)};
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace

ScalingModel::ScalingModel(const AnySpace& on, const std::vector<AloneTime>& alone) : device_(force_device(on)) {
    for (const bool both_sides : {true, false}) {
        auto found = fitted(device_, alone, both_sides);
        if (!found) found = calibrated(on, both_sides);
        if (!found) continue;
        const auto& time = times_[both_sides] = found->time;
        BenchmarkResult row;
        row.name = fmt::format("{}, model, {}", scaling_study, both_sides ? "both-sides" : "one-sided");
        row.error = time.largest;
        row.more = {{"launch", time.launch},     {"particle", time.particle}, {"step", time.step},     {"load", time.load},
                    {"addition", time.addition}, {"draw", time.take},         {"hiding", time.hiding}, {"scatter", time.scatter}};
        row.note = found->source;
        rows_.push_back(row);
    }
}

double ScalingModel::seconds(PairForm form, int workers, index_t n, const LinkTime& link) const {
    Exchange exchange;
    exchange.form = form;
    const auto at = times_.find(form != PairForm::one_sided && takes_both_sides(device_, options, n, workers));
    if (at == times_.end()) return std::numeric_limits<double>::quiet_NaN();
    return step_time(device_, options, exchange, n, workers, at->second, link).seconds;
}

}  // namespace kasane::bench
