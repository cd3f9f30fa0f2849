#include <kasane/core/base/error.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/gravity/performance/calibrate.hpp>
#include <kasane/run/gravity/predict.hpp>
#include <kasane/run/gravity/predict_parts.hpp>
#include <kasane/run/gravity/predict_tree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

namespace kasane::run {
namespace {

using gravity::ForceMethod;
using gravity::KnownForce;

// Assumed relative errors of the uncertain parts of a prediction.
constexpr double least_residual = 0.02;  ///< a run's particles are not a Plummer sphere at rest, and clock rates vary
constexpr double per_doubling = 0.01;    ///< above the measured sizes the time grows nearly as N^2
constexpr double per_halving = 0.1;      ///< below them launches and latency dominate
constexpr double other_threads = 0.15;   ///< parameters of another number of threads, whose clocks and caches differ

/// The calibration of a device for one method.
struct Found {
    std::string device;
    KnownForce force;
    std::vector<std::string> doubts;
    double widened = 0;
};

std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
    return text;
}

/// The requested device, or this machine's, or the only one of the calibration.
Found find_device(const GravityFile& file, const Calibration& calibration, const PredictionRequest& request) {
    const auto devices = calibration.devices("force");
    std::error_code unknown;
    const std::string why = calibration.file.empty()                             ? "there is no calibration"
                            : std::filesystem::exists(calibration.file, unknown) ? "has no calibration of a force"
                                                                                 : "there is no such file";
    KS_VALIDATE(!devices.empty(), why + ": run `kasane calibrate` on the machine that is to compute, and name its file with --calibration");
    const auto known = [&](const std::string& device) { return std::find(devices.begin(), devices.end(), device) != devices.end(); };
    Found out;
    if (!request.device.empty()) {
        KS_VALIDATE(known(request.device), fmt::format("the calibration has no device '{}'; it has {}", request.device, join(devices)));
        out.device = request.device;
        return out;
    }
    const auto here = device_of(file.space);
    if (known(here)) {
        out.device = here;
        return out;
    }
    for (const auto& device : devices)
        if (processor(device) == processor(here) && std::holds_alternative<Cpu>(file.space)) {
            out.device = device;
            out.doubts.push_back(fmt::format("the calibration is of '{}', and this is '{}'", device, here));
            out.widened = other_threads;
            return out;
        }
    KS_VALIDATE(
        devices.size() == 1,
        fmt::format("the calibration has no '{}', but {}: choose one of them with --on, or run `kasane calibrate`", here, join(devices)));
    out.device = devices.front();
    out.doubts.push_back(fmt::format("the prediction is for '{}', not for this machine's '{}'", out.device, here));
    return out;
}

const CalibrationEntry* find_force(const Calibration& calibration, const std::string& device, ForceMethod method) {
    if (const auto* entry = calibration.find(gravity::force_key(device, method))) return entry;
    if (!method.equal_masses) {  // a CPU's loop is the same for both
        method.equal_masses = true;
        return calibration.find(gravity::force_key(device, method));
    }
    return nullptr;
}

/// The parameters of the method of a step: each pair from one side or once for both sides, as the run with so many workers would choose.
KnownForce force_of(const Calibration& calibration, const Found& device, const GravityFile& file, const gravity::Direct& direct,
                    int workers, bool equal_masses) {
    ForceMethod method{direct.precision, false, equal_masses};
    const CalibrationEntry* entry = nullptr;
    for (const bool both : {true, false}) {
        method.both_sides = both;
        entry = find_force(calibration, device.device, method);
        if (!entry) continue;
        const auto known = gravity::known_force(*entry);
        const bool taken = file.exchange.form != gravity::PairForm::one_sided &&
                           gravity::takes_both_sides(known.device, direct, file.initial.count(), workers);
        if (taken == both) return known;
        entry = nullptr;
    }
    method.both_sides = false;
    KS_VALIDATE(entry,
                fmt::format("the calibration of '{}' has nothing for this method ({}): run `kasane calibrate{}` there", device.device,
                            method.text(), direct.precision == gravity::Precision::double_ ? " --precision double" : ""));
    return gravity::known_force(*entry);
}

/// Are the masses of neighbouring particles equal? Yes for models, whose components follow each other in the order of the particles; taken
/// to be unequal for snapshots.
bool masses_are_equal(const Initial& initial) {
    return std::all_of(initial.sources.begin(), initial.sources.end(), [](const Source& source) { return !source.file(); });
}

std::string bound_of(const gravity::StepTime& step) {
    const auto percent = [&](double part) { return 100 * part / step.seconds; };
    if (step.exposed > 0.1 * step.seconds)
        return fmt::format("messages: for {:.0f}% of a step no kernel runs while they are sent", percent(step.exposed));
    if (step.idle > 0.4 * step.seconds)
        return fmt::format("too few particles for the devices: {:.0f}% of a step are launches, latency and idle units", percent(step.idle));
    return fmt::format("arithmetic: the pairs alone would take {:.0f}% of a step", percent(step.busy));
}

/// Device memory on a device that this build or machine does not have: state, packed particles and sums of DistributedForce and
/// DirectForce.
std::uint64_t device_bytes_of(const gravity::ForceDevice& device, const gravity::Direct& direct, const gravity::Exchange& exchange,
                              index_t n, int workers, bool both) {
    const auto own = static_cast<double>(gravity::worker_partition(device, direct, n, workers).largest());
    const gravity::DirectLayout layout{direct.precision, gravity::combines_softenings(direct)};
    const auto body = static_cast<double>(layout.body_bytes()), reaction = static_cast<double>(layout.reaction_bytes());
    double bytes = own * (80 + body + 4. / 3 * reaction);
    if (workers > 1) bytes += both ? own * (2 * body + 4 * reaction) : 2 * std::min(exchange.buffer_bytes, static_cast<double>(n) * body);
    return static_cast<std::uint64_t>(bytes);
}

void add_memory(Prediction& out, const GravityFile& file, const gravity::Direct& direct, const gravity::ForceDevice& device,
                const PredictionRequest& request) {
    const int workers = request.ranks * request.workers;
    const bool here = device.cuda != std::holds_alternative<Cpu>(file.space);
    const auto of = [&](int worker) {
        const AnySpace kind = here ? file.space : AnySpace(Cpu{1});
        auto memory = workers > 1 ? gravity::worker_memory(kind, out.particles, direct, file.exchange, workers, worker, request.workers)
                                  : gravity::simulation_memory(kind, out.particles, direct);
        if (!here) memory.device_bytes = device_bytes_of(device, direct, file.exchange, out.particles, workers, out.step.both_sides);
        return memory;
    };
    for (int m = 0; m < request.workers; ++m) {  // of the root rank, which takes most
        const auto memory = of(m);
        out.host_bytes += memory.host_bytes;
        out.device_bytes += memory.device_bytes;
    }
    out.host_bytes = root_host_bytes(file, out.host_bytes, request.ranks, available_memory(Cpu{}));
}

}  // namespace

Prediction predict(const GravityFile& file, const Calibration& calibration, const PredictionRequest& request) {
    const auto* direct = std::get_if<gravity::Direct>(&file.force);
    if (!direct) return predict_tree(file, calibration, request);
    KS_VALIDATE(std::holds_alternative<gravity::Leapfrog>(file.steps),
                "with direct summation only constant steps are predicted, not adaptive or block steps",
                {file.path.string(), 0, 0, "step.method"});
    KS_VALIDATE(direct->variant != gravity::DirectVariant::plain,
                "the variant \"plain\" is a reference that is not made for speed: it is not predicted",
                {file.path.string(), 0, 0, "force.variant"});
    check_request(request);
    const int workers = request.ranks * request.workers;
    const auto n = file.initial.count();

    auto device = find_device(file, calibration, request);
    const bool equal = masses_are_equal(file.initial);
    device.force = force_of(calibration, device, file, *direct, workers, equal);
    const auto other_masses = force_of(calibration, device, file, *direct, workers, !equal);
    const auto link = find_channel(calibration, device.device, request);

    Prediction out;
    out.device = device.device;
    out.particles = n;
    out.steps = file.schedule.last();
    out.ranks = request.ranks, out.workers = request.workers;
    const auto seconds = [&](const KnownForce& force, const gravity::LinkTime& time) {
        return gravity::step_time(force.device, *direct, file.exchange, n, workers, force.time, time);
    };
    out.step = seconds(device.force, link.time);
    out.method = out.step.both_sides ? "both sides" : "one-sided";
    out.seconds_per_step.expected = out.step.seconds;
    const auto alone = gravity::step_time(device.force.device, *direct, file.exchange, n, 1, device.force.time, {});
    const index_t own = std::max<index_t>(1, n / workers);
    const auto small = gravity::step_time(device.force.device, *direct, file.exchange, own, 1, device.force.time, {});
    const auto pairs = [](index_t count) { return static_cast<double>(count) * static_cast<double>(count); };
    out.interactions_per_second = pairs(n) / out.step.seconds;
    out.strong_efficiency = alone.seconds / (workers * out.step.seconds);
    out.weak_efficiency = out.interactions_per_second / (workers * pairs(own) / small.seconds);

    // Uncertainty.
    double off = std::max(least_residual, device.force.time.largest) + device.widened;
    out.doubts = device.doubts;
    out.doubts.push_back(fmt::format("the model fits its {:.0f} to {:.0f} particles to {:.1f}%", device.force.time.fewest,
                                     device.force.time.most, 100 * device.force.time.largest));
    // A kernel with `own` targets and n sources does as much work as one with this number of targets and sources.
    const double size = std::sqrt(static_cast<double>(own) * static_cast<double>(n));
    if (size > device.force.time.most) {
        const double doublings = std::log2(size / device.force.time.most);
        off += per_doubling * doublings;
        out.doubts.push_back(fmt::format("a device's work is {:.3g} times the largest that was measured", std::exp2(2 * doublings)));
    } else if (size < device.force.time.fewest) {
        off += per_halving * std::log2(device.force.time.fewest / size);
        out.doubts.push_back(fmt::format("a device's work is that of {:.0f} particles, fewer than were measured", size));
    }
    if (!link.doubt.empty()) out.doubts.push_back(link.doubt);
    if (!equal && other_masses.time.step + other_masses.time.load != device.force.time.step + device.force.time.load)
        out.doubts.push_back("the masses of the snapshot are taken to be unequal; equal ones are faster");
    auto worse = link.time, better = link.time;
    worse.latency *= link.factor, worse.bytes_per_second /= link.factor;
    better.latency /= link.factor, better.bytes_per_second *= link.factor;
    double low = seconds(device.force, better).seconds, high = seconds(device.force, worse).seconds;
    if (!equal) low = std::min(low, seconds(other_masses, better).seconds);
    out.seconds_per_step.low = low * std::max(0.1, 1 - off);
    out.seconds_per_step.high = high * (1 + off);
    const auto steps = static_cast<double>(out.steps);
    out.run_seconds = {steps * out.seconds_per_step.expected, steps * out.seconds_per_step.low, steps * out.seconds_per_step.high};
    out.bound = bound_of(out.step);
    add_memory(out, file, *direct, device.force.device, request);
    return out;
}

std::optional<double> predicted_step(const GravityFile& file, int ranks, int workers) {
    if (!std::holds_alternative<gravity::Direct>(file.force) || !std::holds_alternative<gravity::Leapfrog>(file.steps)) return {};
    if (gravity::combines_softenings(file.force)) return {};  // calibrations measure pairs of one Plummer softening
    try {
        const auto calibration = read_calibration(default_calibration_file());
        const auto devices = calibration.devices("force");
        const auto here = processor(device_of(file.space));
        if (std::none_of(devices.begin(), devices.end(), [&](const auto& device) { return processor(device) == here; })) return {};
        return predict(file, calibration, {ranks, workers, ""}).seconds_per_step.expected;
    } catch (const Error&) {  // a run needs no calibration
        return {};
    }
}

}  // namespace kasane::run
