// gravity.direct.scaling: figures 7 to 10 and table 2 of [MTM13] on the workers of this run: the devices of one process or of several
// ranks.
#include <bench/benchmarks.hpp>
#include <bench/bench_workers.hpp>
#include <bench/gravity/scaling.hpp>
#include <bench/gravity/scaling_measure.hpp>
#include <bench/gravity/scaling_model.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/performance/bound.hpp>
#include <kasane/gravity/performance/direct_model.hpp>
#include <kasane/perf/sync_times.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <map>
#include <string>
#include <vector>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr double longest_call = 4;                                                     // [s]
constexpr index_t least_each = 256, most_each_cpu = 8192, most_each_device = 1048576;  // N/P; the paper's
constexpr index_t quick_each_cpu = 1024, quick_each_device = 65536;

const char* form_name(PairForm form) { return form == PairForm::automatic ? "both-sides" : "one-sided"; }

std::string engine_name(comm::Engine engine) {
    return engine == comm::Engine::copy ? "copy" : engine == comm::Engine::nccl ? "nccl" : engine == comm::Engine::staged ? "staged" : "";
}

std::string label_of(const ScalingWay& way, int workers) {
    const auto engine = workers > 1 ? ", " + engine_name(way.engine) : "";
    return fmt::format("{}, {}{}, P {}", scaling_study, form_name(way.form), engine, workers);
}

class ScalingStudy {
   public:
    explicit ScalingStudy(const BenchmarkContext& context)
        : context_(context), workers_(context), here_(workers_.here), on_cpu_(workers_.on_cpu) {
        std::vector<int> counts;
        for (const auto& set : workers_.sets) counts.push_back(set.size());
        const auto most_each = context.quick ? (on_cpu_ ? quick_each_cpu : quick_each_device) : on_cpu_ ? most_each_cpu : most_each_device;
        sizes_ = scaling_sizes(counts, context.sizes, least_each, most_each);
        for (const auto form : forms())
            if (leads())
                bounds_[form] =
                    direct_bound(here_.front(), {.softening = direct_softening, .variant = variant_of(form)}, most_each_device, true);
    }

    void run() {
        workers_.for_each_set(
            [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) { measure(communicator, here); });
    }

   private:
    bool leads() const { return workers_.leads(); }
    std::vector<PairForm> forms() const {
        if (on_cpu_) return {PairForm::one_sided};
        return {PairForm::automatic, PairForm::one_sided};
    }
    DirectVariant variant_of(PairForm form) const {
        return on_cpu_ ? DirectVariant::automatic : form == PairForm::automatic ? DirectVariant::pair : DirectVariant::tile;
    }
    /// The engines that work between these workers, with the speeds of their messages.
    struct Engine {
        comm::Engine engine = comm::Engine::automatic;
        LinkTime link;
    };
    std::vector<Engine> engines(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) const {
        if (communicator.size() == 1) return {{}};
        std::vector<Engine> found;
        for (const auto engine : {comm::Engine::copy, comm::Engine::nccl, comm::Engine::staged}) {
            try {
                const auto speed = measure_link(communicator, here, engine);
                found.push_back({engine, {speed.latency_seconds, speed.bytes_per_second}});
            } catch (const InputError&) {  // thrown on every rank: these workers cannot use this engine
                continue;
            }
            if (leads()) report_link(communicator.size(), found.back());
        }
        return found;
    }

    struct Timed {
        ScalingWay way;
        LinkTime link;
        index_t n = 0;
        BenchmarkResult row{};
    };

    void measure(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        const int workers = communicator.size();
        const auto sync = measure_sync(communicator, here);
        const auto note = shared_note(communicator.ranks(), here);
        if (leads()) report_sync(sync, note);
        std::vector<Timed> ways;
        for (const auto& engine : engines(communicator, here))
            for (const auto form : forms()) ways.push_back({.way = {form, engine.engine}, .link = engine.link});
        const auto& sizes = sizes_.at(workers);
        std::vector<double> pair_seconds(ways.size(), 0);  // seconds of the last size
        std::vector<AloneTime> alone;
        std::vector<Timed> waiting;  // points that wait for the model
        const auto pairs = [](index_t n) { return static_cast<double>(n) * static_cast<double>(n); };
        for (const auto n : sizes) {
            std::optional<Particles> particles;
            for (std::size_t w = 0; w < ways.size(); ++w) {
                // Sizes of --n are always measured. Default sizes double, and their time grows at most as N^2.
                const auto too_long = [&](index_t size) { return context_.sizes.empty() && pair_seconds[w] * pairs(size) > longest_call; };
                if (too_long(n)) continue;
                if (!particles) particles = direct_problem(n, true);
                auto timed = ways[w];
                timed.n = n;
                auto point = measure_scaling(communicator, here, *particles, timed.way, std::max(0.0, sync.t_sync));
                pair_seconds[w] = point.seconds / pairs(n);
                if (!leads()) continue;
                timed.row = row_of(timed.way, workers, *particles, point, sync, note);
                // The host's launches and messages bound the time of a call with few particles: the smallest size of a form measures it.
                auto& least = point.both_sides ? ways[w].link.least_both_sides : ways[w].link.least_one_sided;
                if (workers > 1 && least == 0) least = timed.row.seconds;
                const auto next = std::upper_bound(sizes.begin(), sizes.end(), n);
                const bool largest = next == sizes.end() || too_long(*next);
                if (workers == workers_.sets.back().size() && (n == small(sizes, workers) || largest)) timed.row.timeline = point.timeline;
                if (workers > 1) {
                    report(timed, workers);
                } else {
                    // For small sizes the form both-sides is the one-sided form too.
                    if (timed.way.form == PairForm::one_sided || point.both_sides)
                        alone.push_back({n, timed.row.seconds, point.both_sides});
                    waiting.push_back(std::move(timed));
                }
            }
        }
        if (!leads() || workers > 1) return;
        model_.emplace(here.front(), alone);
        for (const auto& row : model_->rows()) context_.report(row);
        for (auto& timed : waiting) report(timed, workers);
    }

    /// The size for which the overlap is shown, besides the largest one.
    index_t small(const std::vector<index_t>& sizes, int workers) const {
        const auto at = std::find_if(sizes.begin(), sizes.end(), [&](index_t n) { return n >= workers * (on_cpu_ ? 1024 : 8192); });
        return at == sizes.end() ? sizes.front() : *at;
    }

    void report_link(int workers, const Engine& engine) const {
        BenchmarkResult row;
        row.name = fmt::format("{}, link, {}, P {}", scaling_study, engine_name(engine.engine), workers);
        row.seconds = engine.link.latency;
        row.rate = engine.link.bytes_per_second;
        row.unit = "bytes/s";
        row.more = {{"members", workers}, {"latency", engine.link.latency}, {"bytes_per_second", engine.link.bytes_per_second}};
        row.note = "every worker sends and receives at once";
        context_.report(row);
    }

    void report_sync(const SyncTimes& sync, const std::string& note) const {
        BenchmarkResult row;
        row.name = fmt::format("{}, sync, P {}", scaling_study, sync.workers);
        row.seconds = sync.t_sync;
        row.more = {{"members", sync.workers},
                    {"t_sync", sync.t_sync},
                    {"t_kernel", sync.t_kernel},
                    {"t_sync_error", sync.t_sync_error},
                    {"t_kernel_error", sync.t_kernel_error}};
        for (const auto& paper : mtm13::table2)
            if (paper.devices == sync.workers) {
                row.more.emplace_back("paper_t_sync", paper.t_sync);
                row.more.emplace_back("paper_t_kernel", paper.t_kernel);
            }
        std::vector<double> launches, seconds;
        for (const auto& timing : sync.timings) launches.push_back(timing.kernels), seconds.push_back(timing.seconds);
        row.lists = {{"launches", launches}, {"launch_seconds", seconds}};
        row.note = note;
        context_.report(row);
    }

    BenchmarkResult row_of(const ScalingWay& way, int workers, const Particles& particles, const ScalingPoint& point, const SyncTimes& sync,
                           const std::string& note) {
        const auto n = particles.size();
        BenchmarkResult row;
        row.name = label_of(way, workers);
        row.n = n;
        const double t_sync = std::max(0.0, sync.t_sync);    // the intercept may be below zero if waiting takes no time
        row.seconds = point.seconds - t_sync / point.calls;  // [MTM13] section 5
        row.spread = point.spread;
        row.rate = static_cast<double>(n) * static_cast<double>(n) / row.seconds;
        row.unit = "interactions/s";
        row.tflops = 1e-12 * direct_flops * row.rate;
        const auto& bound = bounds_.at(way.form);
        row.bound = workers * bound.rate;
        row.bound_reason = "for each worker, " + bound.reason;
        auto& exact = exact_[n];
        if (exact.empty()) exact = exact_accelerations(particles, audited_of(n));
        row.error = largest_error(point.audited, exact);
        row.more = {{"members", workers},
                    {"seconds_raw", point.seconds},
                    {"t_sync", t_sync},
                    {"calls", point.calls},
                    {"both_sides", point.both_sides}};
        if (workers > 1) {
            row.more.emplace_back("messages", point.messages);
            row.more.emplace_back("bytes", point.bytes);
            row.more.emplace_back("hidden", point.hidden);
        }
        row.note = point.engine + (point.engine.empty() || note.empty() ? "" : "; ") + note;
        times_[way.form].set(workers, n, row.seconds);
        return row;
    }

    void report(Timed& timed, int workers) {
        const auto& times = times_[timed.way.form];
        const auto add = [&](const char* key, double value) {
            if (std::isfinite(value)) timed.row.more.emplace_back(key, value);
        };
        if (workers > 1) add("strong", times.strong(workers, timed.n)), add("weak", times.weak(workers, timed.n));
        if (model_) add("model_seconds", model_->seconds(timed.way.form, workers, timed.n, timed.link));
        context_.report(timed.row);
    }

    const BenchmarkContext& context_;
    BenchWorkers workers_;
    const std::vector<AnySpace>& here_;
    bool on_cpu_;
    std::map<int, std::vector<index_t>> sizes_;
    std::map<PairForm, DirectBound> bounds_;
    std::map<index_t, std::vector<Vec3<double>>> exact_;
    std::map<PairForm, ScalingTimes> times_;
    std::optional<ScalingModel> model_;
};

}  // namespace

std::vector<Benchmark> gravity_direct_scaling() {
    return {
        {scaling_study,
         fmt::format(
             "Figures 7 to 10 and table 2 of [MTM13]: accelerations of N particles on themselves by P workers, a device or a share of "
             "the CPU each; Plummer sphere, softening {}. Calls follow each other without a wait, from positions in double to "
             "accelerations in double; both-sides: each pair once where this is faster, one-sided: never; the slowest worker counts, and "
             "the barrier of all workers at the end is subtracted "
             "(`seconds_raw` includes it). `strong` = P(N; P) / (P(N; 1) P), `weak` = P(N; P) / (P(N/P; 1) P), P(N; P) = N^2 over the "
             "seconds. `hidden` is the fraction of the message time during which kernels run, on the worst worker. TFLOPS count {} "
             "flops per interaction. The bound is that of gravity.direct times P; the error is the largest relative one of {} "
             "accelerations against a plain sum in double.",
             direct_softening, direct_flops, direct_audited),
         [](const BenchmarkContext& context) { ScalingStudy(context).run(); }, true}};
}

}  // namespace kasane::bench
