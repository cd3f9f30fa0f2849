// kasane calibrate: measures the time of a step of direct summation and of a synchronisation on this machine, for `kasane predict` and for
// the prediction that runs print. Under mpirun: the time of messages and of synchronisations between the ranks.
#include <app/command.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/channel_speed.hpp>
#include <kasane/core/comm/placement.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/gravity/performance/calibrate.hpp>
#include <kasane/perf/calibration.hpp>
#include <kasane/perf/sync_times.hpp>
#include <kasane/run/gravity/predict.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kasane::app {
namespace {

struct CalibrateOptions {
    std::string file, precision = "single";
    int workers_per_rank = 1;
    double seconds = 40;
};

using io::Json;

/// The measurements: entries of the file, JSON for standard output, and sentences.
struct Outcome {
    std::vector<CalibrationEntry> entries;
    Json object = Json::array();
    std::string text;

    void add(CalibrationEntry entry, const std::string& sentence) {
        Json row{{"kind", entry.key.kind}, {"device", entry.key.device}, {"what", entry.key.what}};
        for (const auto& [name, value] : entry.numbers) row[name] = value;
        object.push_back(row);
        entries.push_back(std::move(entry));
        text += (text.empty() ? "" : "\n") + sentence;
    }
};

void forces(Outcome& outcome, const AnySpace& on, const std::string& device, const CalibrateOptions& options, const Common& common) {
    std::vector<gravity::ForceMethod> methods;
    const bool cuda = gravity::force_device(on).cuda;
    gravity::ForceMethod method;
    method.precision = options.precision == "double" ? gravity::Precision::double_ : gravity::Precision::single_;
    for (const bool both : {false, true})
        for (const bool equal : {true, false}) {
            if (!cuda && (both || !equal)) continue;  // the CPU has one loop for all
            method.both_sides = both, method.equal_masses = equal;
            methods.push_back(method);
        }
    Progress bar(common.progress(), "calibrating", 1);
    const auto share = 1.0 / static_cast<double>(methods.size());
    for (std::size_t k = 0; k < methods.size(); ++k) {
        const ProgressFunction show = [&](double done, const std::string& what) {
            stop_if_interrupted();
            bar.update(done, what);
        };
        const auto measured = gravity::calibrate_force(on, methods[k], share * options.seconds,
                                                       part_of(show, share * static_cast<double>(k), share * static_cast<double>(k + 1)));
        const auto& t = measured.time;
        outcome.add(measured.entry(device), fmt::format("{}: {} to {} particles, largest deviation of the model {:.1f}%", methods[k].text(),
                                                        measured.sizes.front(), measured.sizes.back(), 100 * t.largest));
        auto& row = outcome.object.back();
        row["sizes"] = measured.sizes;
        row["seconds"] = measured.seconds;
    }
}

void synchronisation(Outcome& outcome, const SyncTimes& times, CalibrationKey key) {
    CalibrationEntry entry{
        std::move(key),
        {{"members", times.workers}, {"t_sync", std::max(0.0, times.t_sync)}, {"t_kernel", std::max(0.0, times.t_kernel)}},
        ""};
    outcome.add(std::move(entry), fmt::format("{} {}: t_sync {:.3g} us (+- {:.1g}), t_kernel {:.3g} us (+- {:.1g})", times.workers,
                                              times.workers == 1 ? "worker" : "workers", 1e6 * times.t_sync, 1e6 * times.t_sync_error,
                                              1e6 * times.t_kernel, 1e6 * times.t_kernel_error));
    auto& row = outcome.object.back();
    for (const auto& timing : times.timings) row["timings"].push_back({timing.kernels, timing.seconds});
}

void channels(Outcome& outcome, comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const std::string& device,
              const CalibrateOptions& options) {
    comm::ChannelSpeed speed;
    std::string engine;
    workers.run([&](comm::Worker& worker) {
        std::visit(
            [&]<Space S>(S on) {
                comm::Channel<S> channel(on, worker, 0);
                const auto found = comm::measure_channel(on, worker, channel);
                if (worker.local() == 0) speed = found, engine = channel.text();
            },
            here[static_cast<std::size_t>(worker.local())]);
    });
    const int ranks = workers.ranks().size();
    CalibrationEntry entry{run::channel_key(device, ranks, workers.workers_per_rank()),
                           {{"members", workers.size()},
                            {"ranks", ranks},
                            {"latency", std::max(0.0, speed.latency_seconds)},
                            {"bytes_per_second", std::min(speed.bytes_per_second, 1e30)}},
                           ""};
    gravity::ForceMethod method{.precision = options.precision == "double" ? gravity::Precision::double_ : gravity::Precision::single_};
    entry.numbers["least_one_sided"] = gravity::least_step_seconds(workers, here, method);
    method.both_sides = true;
    if (gravity::force_device(here.front()).cuda) entry.numbers["least_both_sides"] = gravity::least_step_seconds(workers, here, method);
    outcome.add(std::move(entry), fmt::format("{} workers, {}: latency {:.3g} us, {:.3g} GB/s per worker while all send", workers.size(),
                                              engine, 1e6 * speed.latency_seconds, 1e-9 * speed.bytes_per_second));
    auto& row = outcome.object.back();
    row["engine"] = engine;
    for (const auto& timing : speed.timings) row["timings"].push_back({timing.bytes, timing.seconds});
}

int calibrate(const Common& common, const CalibrateOptions& options) {
    catch_interrupts();
    auto& ranks = comm::world();
    const auto here = comm::placement(ranks, common.device_or_auto(), options.workers_per_rank, common.threads_or_all());
    const auto file = options.file.empty() ? default_calibration_file() : std::filesystem::path(options.file);
    if (!options.file.empty() && ranks.rank() == 0) {  // a path that cannot be written is an error before the work
        AtomicFile probe(file);
        const auto why_not = why_calibration_kept(file);
        KS_VALIDATE(why_not.empty(), why_not, {options.file, 0, 0, "--file"});
    }
    const auto* cpu = std::get_if<Cpu>(&here.front());
    const auto device = device_text(device_info(here.front()), cpu ? thread_count(*cpu) : 0);
    const Stopwatch watch;
    Outcome outcome;
    comm::WorkerCommunicator workers(ranks, options.workers_per_rank);
    if (workers.size() == 1) {
        forces(outcome, here.front(), device, options, common);
        synchronisation(outcome, measure_sync(here.front()), run::synchronisation_key(device, 1, 1));
    } else {
        channels(outcome, workers, here, device, options);
        synchronisation(outcome, measure_sync(workers, here), run::synchronisation_key(device, ranks.size(), options.workers_per_rank));
    }
    if (ranks.rank() != 0) return success;
    stop_if_interrupted();
    const auto why_not = keep_calibration(file, outcome.entries);
    KS_VALIDATE(why_not.empty(), "the calibration was not written: " + why_not);
    Json object{{"file", file.string()},     {"device", device},           {"ranks", ranks.size()},
                {"members", workers.size()}, {"seconds", watch.seconds()}, {"measured", outcome.object}};
    print(common, object, fmt::format("{}\n{}\nwritten to {}", device, outcome.text, file.string()));
    return success;
}

}  // namespace

Action add_calibrate(CLI::App& app, const Common& common) {
    auto options = std::make_shared<CalibrateOptions>();
    app.add_option("--file", options->file,
                   "File to write to; entries of other machines in it stay (default: ~/.cache/kasane/calibration.json)")
        ->type_name("FILE");
    app.add_option("--precision", options->precision, "Precision of the pairs: single or double")
        ->check(CLI::IsMember({"single", "double"}));
    app.add_option("--gpus-per-rank,--members", options->workers_per_rank, "Workers of each rank: devices, or parts of the CPU's threads")
        ->check(whole_number(1, 64));
    app.add_option("--seconds", options->seconds, "Approximate time of the measurement [s]")->check(number(0.1, 600));
    return [options, &common] { return calibrate(common, *options); };
}

}  // namespace kasane::app
