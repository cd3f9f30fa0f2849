#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/performance/calibrate.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr double sphere_softening = 0.01;
constexpr index_t smallest = 1024, largest = 1048576;
constexpr double burst_seconds = 0.005;  ///< least time of the steps that are timed together
constexpr std::size_t least_sizes = 7;   ///< sizes that are measured even if the device is slow, because a fit needs them
constexpr int least_rounds = 3;

Particles sphere(index_t n, bool equal_masses) {
    auto particles = plummer({.count = n, .seed = 1});
    if (!equal_masses)
        for (std::size_t i = 0; i < particles.mass.size(); ++i) particles.mass[i] *= 0.5 + RandomStream(7, i).uniform();
    return particles;
}

SimulationOptions options_of(const ForceMethod& method, bool cuda) {
    Direct force{.softening = sphere_softening, .precision = method.precision};
    if (cuda) force.variant = method.both_sides ? DirectVariant::pair : DirectVariant::tile;
    return {.force = force, .step = Leapfrog{1e-9}};
}

/// A simulation of one size, whose steps are timed repeatedly.
class Timed {
   public:
    explicit Timed(Simulation simulation) : simulation_(std::move(simulation)) {
        simulation_.step();
        const Stopwatch watch;
        simulation_.step();
        burst_ = static_cast<std::int64_t>(std::ceil(burst_seconds / std::max(watch.seconds(), 1e-7)));
        time();
    }
    void time() {
        const Stopwatch watch;
        simulation_.step(burst_);
        seconds_ = std::min(seconds_, watch.seconds() / static_cast<double>(burst_));
    }
    /// Time of a step: the fastest so far, because disturbances only add time.
    double seconds() const { return seconds_; }
    double burst() const { return static_cast<double>(burst_) * seconds_; }
    index_t size() const { return simulation_.size(); }

   private:
    Simulation simulation_;
    std::int64_t burst_ = 1;
    double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::string ForceMethod::text() const {
    return fmt::format("{}, {}, {} masses", precision == Precision::single_ ? "single" : "double", both_sides ? "both sides" : "one-sided",
                       equal_masses ? "equal" : "unequal");
}

ForceDevice force_device(const AnySpace& on) {
    if (const auto* cpu = std::get_if<Cpu>(&on)) return {false, thread_count(*cpu)};
    return {true, device_info(on).units};
}

CalibrationKey force_key(const std::string& device_name, const ForceMethod& method) { return {"force", device_name, method.text()}; }

CalibrationEntry ForceCalibration::entry(const std::string& device_name) const {
    CalibrationEntry out{force_key(device_name, method), {}, ""};
    out.numbers = {{"cuda", device.cuda ? 1 : 0},
                   {"units", device.units},
                   {"launch", time.launch},
                   {"particle", time.particle},
                   {"step", time.step},
                   {"load", time.load},
                   {"addition", time.addition},
                   {"draw", time.take},
                   {"hiding", time.hiding},
                   {"scatter", time.scatter},
                   {"largest", time.largest},
                   {"fewest", time.fewest},
                   {"most", time.most}};
    return out;
}

KnownForce known_force(const CalibrationEntry& entry) {
    KnownForce out;
    out.device.cuda = entry["cuda"] > 0;
    KS_VALIDATE(entry["units"] >= 1 && entry["units"] <= 1e6,
                fmt::format("the calibration of {} has 'units' outside 1 to 1e6: calibrate the device again", entry.key.device));
    out.device.units = static_cast<int>(entry["units"]);
    out.time = {entry["launch"], entry["particle"], entry["step"],    entry["load"],   entry["addition"], entry["draw"],
                entry["hiding"], entry["scatter"],  entry["largest"], entry["fewest"], entry["most"]};
    return out;
}

ForceCalibration calibrate_force(const AnySpace& on, const ForceMethod& method, double seconds, const ProgressFunction& progress) {
    ForceCalibration out{method, force_device(on), {}, {}, {}};
    std::vector<index_t> sizes;
    for (index_t n = smallest; n <= largest; n *= 2) {
        sizes.push_back(n);
        if (n < 65536) sizes.push_back(n / 2 * 3);  // more sizes where the shape of the kernels changes
    }
    const Stopwatch watch;
    const auto report = [&](const std::string& what) {
        if (progress) progress(std::min(1.0, watch.seconds() / seconds), what);
    };
    std::vector<Timed> timed;
    double round = 0;  // seconds of one burst of each size
    for (const auto n : sizes) {
        if (timed.size() >= least_sizes) {
            const double grown = static_cast<double>(n) / static_cast<double>(timed.back().size());
            const double expected = std::max(burst_seconds, grown * grown * timed.back().seconds());
            if (watch.seconds() + 3 * expected + least_rounds * (round + expected) > seconds) break;
        }
        report(fmt::format("{}: {} particles", method.text(), n));
        timed.emplace_back(Simulation(on, sphere(n, method.equal_masses), options_of(method, out.device.cuda)));
        round += timed.back().burst();
    }
    // The sizes take turns, so that a disturbance does not fall on one of them alone.
    for (int rounds = 0; rounds < least_rounds || watch.seconds() + round < seconds; ++rounds)
        for (auto& size : timed) {
            report(method.text());
            size.time();
        }
    for (const auto& size : timed) {
        out.sizes.push_back(size.size());
        out.seconds.push_back(size.seconds());
    }
    std::vector<ForceWork> work;
    for (const auto n : out.sizes) work.push_back(step_work(out.device, {.precision = method.precision}, n, method.both_sides));
    out.time = fit_force_time(work, out.seconds);
    return out;
}

double least_step_seconds(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const ForceMethod& method) {
    if (communicator.ranks().rank() > 0) {
        worker_loop(communicator, here);
        return 0;
    }
    constexpr index_t few = 256;  // one grain
    Timed timed(distributed_simulation(communicator, here, sphere(few * communicator.size(), true),
                                       options_of(method, force_device(here.front()).cuda)));
    for (int round = 0; round < 10; ++round) timed.time();
    return timed.seconds();
}

}  // namespace kasane::gravity
