#include <kasane/core/base/error.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/gravity/performance/calibrate.hpp>
#include <kasane/run/predict.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

namespace kasane::run {
namespace {

using gravity::ForceMethod;
using gravity::KnownForce;
using gravity::LinkTime;

// How much an uncertain part is taken to be off.
constexpr double least_residual = 0.02;                       ///< a run's particles are no Plummer sphere at rest, and clocks vary
constexpr double per_doubling = 0.01;                         ///< above the measured sizes the time grows as N^2 and little else
constexpr double per_halving = 0.1;                           ///< below them it is launches and latency
constexpr double other_threads = 0.15;                        ///< parameters of another number of threads, whose clocks and caches differ
constexpr int most_members = 4096;                            ///< a event simulation of more takes long to play
constexpr double link_measured = 1.2, link_extrapolated = 2;  ///< factors on latency and bandwidth

std::string this_device(const AnySpace& on) {
    const auto* cpu = std::get_if<Cpu>(&on);
    return device_text(device_info(on), cpu ? thread_count(*cpu) : 0);
}

/// A CPU's name without its threads.
std::string processor(const std::string& device) { return device.substr(0, device.rfind(", ")); }

/// Everything that is known of the device for one method.
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

/// The device that is asked for, or this machine's, or the only one.
Found find_device(const GravityFile& file, const Calibration& calibration, const PredictionWish& wish) {
    const auto devices = calibration.devices("force");
    std::error_code unknown;
    const std::string why = calibration.file.empty()                             ? "there is no calibration"
                            : std::filesystem::exists(calibration.file, unknown) ? "has no calibration of a force"
                                                                                 : "there is no such file";
    KS_VALIDATE(!devices.empty(), why + ": run `kasane calibrate` on the machine that is to compute, and name its file with --calibration");
    const auto known = [&](const std::string& device) { return std::find(devices.begin(), devices.end(), device) != devices.end(); };
    Found out;
    if (!wish.device.empty()) {
        KS_VALIDATE(known(wish.device), fmt::format("the calibration knows no device '{}'; there are {}", wish.device, join(devices)));
        out.device = wish.device;
        return out;
    }
    const auto here = this_device(file.space);
    if (known(here)) {
        out.device = here;
        return out;
    }
    for (const auto& device : devices)
        if (processor(device) == processor(here) && std::holds_alternative<Cpu>(file.space)) {
            out.device = device;
            out.doubts.push_back(fmt::format("measured were '{}', and this is '{}'", device, here));
            out.widened = other_threads;
            return out;
        }
    KS_VALIDATE(devices.size() == 1,
                fmt::format("the calibration has nothing of '{}', but of {}: choose one of them with --on, or run `kasane "
                            "calibrate`",
                            here, join(devices)));
    out.device = devices.front();
    out.doubts.push_back(fmt::format("it is for '{}', not for this machine's '{}'", out.device, here));
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

/// The method of a step, and its parameters. Where both sides are to be had is decided by the device's size.
KnownForce force_of(const Calibration& calibration, const Found& device, const GravityFile& file, const gravity::Direct& direct,
                    bool equal_masses) {
    ForceMethod method{direct.precision, false, equal_masses};
    const CalibrationEntry* entry = nullptr;
    for (const bool both : {true, false}) {
        method.both_sides = both;
        entry = find_force(calibration, device.device, method);
        if (!entry) continue;
        const auto known = gravity::known_force(*entry);
        const bool taken =
            file.exchange.form != gravity::PairForm::one_sided && gravity::takes_both_sides(known.device, direct, file.initial.count());
        if (taken == both) return known;
        entry = nullptr;
    }
    method.both_sides = false;
    KS_VALIDATE(entry,
                fmt::format("the calibration of '{}' has nothing for this method ({}): run `kasane calibrate{}` there", device.device,
                            method.text(), direct.precision == gravity::Precision::double_ ? " --precision double" : ""));
    return gravity::known_force(*entry);
}

/// Components follow each other in the order of the particles, so that the kernels meet equal masses nearly everywhere; a snapshot's are
/// not known.
bool masses_are_equal(const Initial& initial) {
    return std::all_of(initial.sources.begin(), initial.sources.end(), [](const Source& source) { return !source.file(); });
}

struct FoundLink {
    LinkTime time;
    double factor = 1;  ///< how far latency and bandwidth may be off
    std::string doubt;
};

/// The channel of so many members, or of the nearest number that was measured.
FoundLink find_link(const Calibration& calibration, const std::string& device, const PredictionWish& wish) {
    const int members = wish.ranks * wish.members;
    if (members == 1) return {};
    const CalibrationEntry* nearest = nullptr;
    double least = 0;
    for (const auto& entry : calibration.entries) {
        if (entry.key.kind != "channel" || processor(entry.key.device) != processor(device)) continue;
        // More ranks or fewer count more than members of a rank: their messages go another way.
        const double away = std::abs(std::log2(entry["members"] / members)) + ((entry["ranks"] > 1) == (wish.ranks > 1) ? 0 : 10) +
                            std::abs(std::log2(entry["members"] / entry["ranks"] / wish.members));
        if (!nearest || away < least) nearest = &entry, least = away;
    }
    KS_VALIDATE(nearest, fmt::format("the calibration of '{}' has no channel between members: run `mpirun -n 2 kasane calibrate{}` there",
                                     device, wish.members > 1 ? " --gpus-per-rank 2" : ""));
    const auto optional = [&](const char* name) { return nearest->numbers.contains(name) ? (*nearest)[name] : 0; };
    FoundLink out{{(*nearest)["latency"], (*nearest)["bytes_per_second"], optional("least_one_sided"), optional("least_both_sides")},
                  link_measured,
                  ""};
    KS_VALIDATE(out.time.bytes_per_second > 0, "the calibration's channel carries nothing: run `kasane calibrate` again");
    if ((*nearest)["members"] != members || (*nearest)["ranks"] != wish.ranks) {
        out.factor = link_extrapolated;
        out.doubt =
            fmt::format("messages were measured between {:.0f} members of {:.0f} {}, not between {} of {}: they are taken to be as fast",
                        (*nearest)["members"], (*nearest)["ranks"], (*nearest)["ranks"] == 1 ? "rank" : "ranks", members, wish.ranks);
    }
    return out;
}

std::string bound_of(const gravity::StepTime& step) {
    const auto percent = [&](double part) { return 100 * part / step.seconds; };
    if (step.exposed > 0.1 * step.seconds)
        return fmt::format("messages: for {:.0f}% of a step no kernel runs while they are under way", percent(step.exposed));
    if (step.idle > 0.4 * step.seconds)
        return fmt::format("too few particles for the devices: {:.0f}% of a step are launches, latency and units without work",
                           percent(step.idle));
    return fmt::format("arithmetic: the pairs alone would take {:.0f}% of a step", percent(step.busy));
}

/// Bytes on a device that this build or machine does not have: state, packed particles and sums of DistributedForce and DirectForce.
std::uint64_t device_bytes_of(const gravity::ForceDevice& device, const gravity::Direct& direct, const gravity::Exchange& exchange,
                              index_t n, int members, bool both) {
    const auto own = static_cast<double>(gravity::worker_partition(device, direct, n, members).largest());
    const gravity::DirectLayout layout{direct.precision};
    const auto body = static_cast<double>(layout.body_bytes()), reaction = static_cast<double>(layout.reaction_bytes());
    double bytes = own * (80 + body + 4. / 3 * reaction);
    if (members > 1) bytes += both ? own * (2 * body + 4 * reaction) : 2 * std::min(exchange.buffer_bytes, static_cast<double>(n) * body);
    return static_cast<std::uint64_t>(bytes);
}

void add_memory(Prediction& out, const GravityFile& file, const gravity::Direct& direct, const gravity::ForceDevice& device,
                const PredictionWish& wish) {
    const int members = wish.ranks * wish.members;
    const bool here = device.cuda != std::holds_alternative<Cpu>(file.space);
    const auto of = [&](int member) {
        const AnySpace kind = here ? file.space : AnySpace(Cpu{1});
        auto memory = members > 1 ? gravity::worker_memory(kind, out.particles, direct, file.exchange, members, member)
                                  : gravity::simulation_memory(kind, out.particles, direct);
        if (!here) memory.device_bytes = device_bytes_of(device, direct, file.exchange, out.particles, members, out.step.both_sides);
        return memory;
    };
    for (int m = 0; m < wish.members; ++m) {  // rank 0 holds all particles besides, so it is the one that takes most
        const auto memory = of(m);
        out.host_bytes += memory.host_bytes;
        out.device_bytes += memory.device_bytes;
    }
}

}  // namespace

CalibrationKey channel_key(const std::string& device, int ranks, int members) {
    return {"channel", device, fmt::format("{} members on {} {}", ranks * members, ranks, ranks == 1 ? "rank" : "ranks")};
}

CalibrationKey synchronisation_key(const std::string& device, int ranks, int members) {
    auto key = channel_key(device, ranks, members);
    key.kind = "synchronisation";
    return key;
}

Prediction predict(const GravityFile& file, const Calibration& calibration, const PredictionWish& wish) {
    const auto* direct = std::get_if<gravity::Direct>(&file.force);
    KS_VALIDATE(direct, "the time of a tree code depends on where the particles go: only direct summation can be predicted",
                {file.path.string(), 0, 0, "force.method"});
    KS_VALIDATE(std::holds_alternative<gravity::Leapfrog>(file.steps),
                "how many particles an adaptive or a block step takes along depends on where they go: only constant steps can be predicted",
                {file.path.string(), 0, 0, "step.method"});
    KS_VALIDATE(direct->variant != gravity::DirectVariant::plain,
                "the variant \"plain\" is there to be compared with, not to be fast: it is not predicted",
                {file.path.string(), 0, 0, "force.variant"});
    KS_VALIDATE(wish.ranks >= 1 && wish.members >= 1, "there must be at least one rank, with at least one member", {"", 0, 0, "--ranks"});
    const int members = wish.ranks * wish.members;
    KS_VALIDATE(members <= most_members, fmt::format("{} members are more than are predicted: at most {}", members, most_members),
                {"", 0, 0, wish.ranks > 1 ? "--ranks" : "--gpus-per-rank"});
    const auto n = file.initial.count();

    auto device = find_device(file, calibration, wish);
    const bool equal = masses_are_equal(file.initial);
    device.force = force_of(calibration, device, file, *direct, equal);
    const auto other_masses = force_of(calibration, device, file, *direct, !equal);
    const auto link = find_link(calibration, device.device, wish);

    Prediction out;
    out.device = device.device;
    out.particles = n;
    out.steps = file.schedule.last();
    out.ranks = wish.ranks, out.members = wish.members;
    const auto seconds = [&](const KnownForce& force, const LinkTime& time) {
        return gravity::step_time(force.device, *direct, file.exchange, n, members, force.time, time);
    };
    out.step = seconds(device.force, link.time);
    out.seconds_per_step.expected = out.step.seconds;
    const auto alone = gravity::step_time(device.force.device, *direct, file.exchange, n, 1, device.force.time, {});
    const index_t own = std::max<index_t>(1, n / members);
    const auto small = gravity::step_time(device.force.device, *direct, file.exchange, own, 1, device.force.time, {});
    const auto pairs = [](index_t count) { return static_cast<double>(count) * static_cast<double>(count); };
    out.interactions_per_second = pairs(n) / out.step.seconds;
    out.strong_efficiency = alone.seconds / (members * out.step.seconds);
    out.weak_efficiency = out.interactions_per_second / (members * pairs(own) / small.seconds);

    // How sure.
    double off = std::max(least_residual, device.force.time.largest) + device.widened;
    out.doubts = device.doubts;
    out.doubts.push_back(fmt::format("the model fits its {:.0f} to {:.0f} particles to {:.1f}%", device.force.time.fewest,
                                     device.force.time.most, 100 * device.force.time.largest));
    // A kernel with `own` targets and n sources is as much work as this number of particles on themselves.
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
    add_memory(out, file, *direct, device.force.device, wish);
    return out;
}

std::optional<double> predicted_step(const GravityFile& file, int ranks, int members) {
    if (!std::holds_alternative<gravity::Direct>(file.force) || !std::holds_alternative<gravity::Leapfrog>(file.steps)) return {};
    try {
        const auto calibration = read_calibration(default_calibration_file());
        const auto devices = calibration.devices("force");
        const auto here = processor(this_device(file.space));
        if (std::none_of(devices.begin(), devices.end(), [&](const auto& device) { return processor(device) == here; })) return {};
        return predict(file, calibration, {ranks, members, ""}).seconds_per_step.expected;
    } catch (const Error&) {  // a calibration that does not suffice is no reason to hold up a run
        return {};
    }
}

}  // namespace kasane::run
