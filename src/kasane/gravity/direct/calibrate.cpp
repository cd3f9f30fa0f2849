#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/direct/calibrate.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/simulation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr double sphere_softening = 0.01;
constexpr index_t smallest = 1024, largest = 1048576;
constexpr int repetitions = 5;
constexpr double batch_seconds = 0.02;  ///< of one repetition, at least
constexpr std::size_t least_sizes = 7;  ///< a fit needs them, however slow the device is

Particles sphere(index_t n, bool equal_masses) {
    auto particles = plummer({.count = n, .seed = 1});
    if (!equal_masses)
        for (std::size_t i = 0; i < particles.mass.size(); ++i) particles.mass[i] *= 0.5 + RandomStream(7, i).uniform();
    return particles;
}

/// Seconds of a step: the fastest of a few bursts, since what disturbs one only adds to it.
double timed_step(const AnySpace& on, const ForceMethod& method, index_t n) {
    SimulationOptions options{.force = method.options(sphere_softening), .step = Leapfrog{1e-9}};
    if (force_device(on).cuda) options.exchange.form = method.both_sides ? PairForm::both_sides : PairForm::one_sided;
    Simulation simulation(on, sphere(n, method.equal_masses), options);
    simulation.step();
    Stopwatch watch;
    simulation.step();
    const auto batch = static_cast<std::int64_t>(std::ceil(batch_seconds / std::max(watch.seconds(), 1e-7)));
    double fastest = std::numeric_limits<double>::infinity();
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        watch.restart();
        simulation.step(batch);
        fastest = std::min(fastest, watch.seconds() / static_cast<double>(batch));
    }
    return fastest;
}

}  // namespace

std::string ForceMethod::text() const {
    return fmt::format("{}, sums in {}, {}, {} masses", precision == Precision::single_ ? "single" : "double",
                       accumulation == Accumulation::double_ || precision == Precision::double_ ? "double" : "single",
                       both_sides ? "both sides" : "one-sided", equal_masses ? "equal" : "unequal");
}

Direct ForceMethod::options(double chosen) const {
    return {.softening = chosen, .precision = precision, .accumulation = accumulation};
}

ForceDevice force_device(const AnySpace& on) {
    if (const auto* cpu = std::get_if<Cpu>(&on)) return {false, thread_count(*cpu)};
    return {true, device_info(on).units};
}

CalibrationKey force_key(const std::string& device_name, const ForceMethod& method) { return {"force", device_name, method.text()}; }

CalibrationEntry ForceCalibration::entry(const std::string& device_name) const {
    CalibrationEntry out{force_key(device_name, method), {}, ""};
    out.numbers = {{"cuda", device.cuda ? 1 : 0},    {"units", device.units},         {"launch", time.launch}, {"particle", time.particle},
                   {"step", time.step},              {"load", time.load},             {"addition", time.addition},
                   {"hiding", time.hiding},          {"scatter", time.scatter},       {"largest", time.largest},
                   {"fewest", time.fewest},          {"most", time.most}};
    return out;
}

KnownForce known_force(const CalibrationEntry& entry) {
    KnownForce out;
    out.device.cuda = entry["cuda"] > 0;
    KS_VALIDATE(entry["units"] >= 1 && entry["units"] <= 1e6, fmt::format("the calibration of {} has no sensible 'units'", entry.key.device));
    out.device.units = static_cast<int>(entry["units"]);
    out.time = {entry["launch"], entry["particle"], entry["step"],    entry["load"],   entry["addition"],
                entry["hiding"], entry["scatter"],  entry["largest"], entry["fewest"], entry["most"]};
    return out;
}

ForceCalibration calibrate_force(const AnySpace& on, const ForceMethod& method, double seconds, const ProgressFunction& progress) {
    ForceCalibration out{method, force_device(on), {}, {}, {}};
    std::vector<index_t> sizes;
    for (index_t n = smallest; n <= largest; n *= 2) {
        sizes.push_back(n);
        if (n < 65536) sizes.push_back(n / 2 * 3);  // where the shape of the kernels changes more sizes are wanted
    }
    const Stopwatch watch;
    double share = 0;  // of the time, before the present size
    for (const auto n : sizes) {
        const double left = seconds - watch.seconds();
        // The next size takes about 9/4 or 4 of the last one's, for a warm-up and the repetitions.
        const double grown = out.sizes.empty() ? 0 : static_cast<double>(n) / static_cast<double>(out.sizes.back());
        const double expected = out.sizes.empty() ? 0 : grown * grown * out.seconds.back();
        if (out.sizes.size() >= least_sizes && (repetitions + 3) * std::max(expected, batch_seconds) > left) break;
        if (progress) progress(share, fmt::format("{}: {} particles", method.text(), n));
        out.seconds.push_back(timed_step(on, method, n));
        out.sizes.push_back(n);
        share = std::max(share, std::min(1.0, watch.seconds() / seconds));
    }
    std::vector<ForceWork> work;
    for (const auto n : out.sizes) work.push_back(step_work(out.device, method.options(sphere_softening), n, method.both_sides));
    out.time = fit_force_time(work, out.seconds);
    return out;
}

}  // namespace kasane::gravity
