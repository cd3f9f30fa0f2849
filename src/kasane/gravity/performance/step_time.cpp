#include <kasane/core/comm/plan.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/direct/schedule.hpp>
#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/gravity/performance/event_simulation.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::gravity {
namespace {

double body_bytes(Precision precision) { return static_cast<double>(DirectLayout{precision}.body_bytes()); }
double reaction_bytes(Precision precision) { return static_cast<double>(DirectLayout{precision}.reaction_bytes()); }

/// Workers that are checked for pairs at a distance. A few suffice, because the circulant order is the same around the circle.
constexpr int looked_at = 16;

using Task = EventSimulation::Task;
using Tasks = std::vector<Task>;

/// Kernels and messages of one worker, with the costs of this device and link.
class Plan {
   public:
    Plan(const ForceDevice& device, const ForceTime& time, const LinkTime& link) : device_(device), time_(time), link_(link) {}

    /// Work that fills the device: advance, pack, merge, finish.
    Task plain(double seconds, const Tasks& after, bool priority = false) { return table_.kernel(seconds, 1, after, priority); }

    Task kernel(const KernelWork& work, const Tasks& after, bool priority = false) {
        const double seconds = time_.seconds(work);
        busy_ += (time_.step + time_.load / work.targets) * work.whole;
        kernels_ += seconds;
        // A launch takes time, but uses no part of the device.
        return table_.kernel(time_.launch + seconds, seconds > 0 ? time_.part(work) * seconds / (time_.launch + seconds) : 1, after,
                             priority);
    }

    /// On the CPU the computing threads also transfer the messages, so that a message and an earlier kernel do not overlap.
    Task message(double bytes, Tasks after, const Tasks& kernels_before) {
        ++messages_;
        if (!device_.cuda) after.insert(after.end(), kernels_before.begin(), kernels_before.end());
        return table_.message(link_.latency, bytes / link_.bytes_per_second, after);
    }

    EventSimulation& table() { return table_; }
    double busy() const { return busy_; }
    double kernels() const { return kernels_; }
    int messages() const { return messages_; }

   private:
    ForceDevice device_;
    ForceTime time_;
    LinkTime link_;
    EventSimulation table_;
    double busy_ = 0, kernels_ = 0;
    int messages_ = 0;
};

int fullest_worker(const comm::Partition& partition) {
    int fullest = 0;
    for (int m = 1; m < partition.workers; ++m)
        if (partition.count(m) > partition.count(fullest)) fullest = m;
    return fullest;
}

/// Accumulation and transport of positions, with kernels on two streams alternately.
void one_sided(Plan& plan, const ForceDevice& device, const Direct& options, const comm::Partition& partition, index_t buffer, int worker,
               Task packed, Tasks& last) {
    const auto exchange = comm::exchange_plan(partition, worker, buffer);
    const auto own = partition.count(worker);
    const auto work = [&](index_t sources) { return one_sided_work(device, options.precision, own, sources, partition.n); };
    Tasks given{plan.kernel(work(own), {packed})}, stream[2] = {given, {packed}};
    Task link = packed;
    for (std::size_t h = 0; h < exchange.hops.size(); ++h) {
        const auto& hop = exchange.hops[h];
        Tasks after{link};
        // In the ring, a message fills a buffer after the kernels before the last one have read it.
        if (!hop.accumulates && h > 0 && !exchange.hops[h - 1].accumulates) after.insert(after.end(), given.begin(), given.end() - 1);
        const double bytes = body_bytes(options.precision) * static_cast<double>(partition.count(hop.received.first, hop.received.count));
        link = plan.message(bytes, after, {given.back()});
        auto& here = stream[(h + 1) % 2];
        here.push_back(link);
        given.push_back(plan.kernel(work(partition.count(hop.received.first, hop.received.count)), here));
        here = {given.back()};
    }
    last.insert(last.end(), given.begin(), given.end());
}

/// Each pair once: positions are received, reactions are sent back.
void both_sides(Plan& plan, const ForceDevice& device, const Direct& options, const comm::Partition& partition, const ForceTime& time,
                int worker, Task packed, Tasks& last) {
    const auto work = [&](int a, int b, Share share = Share::all) {
        return both_sides_work(device, options.precision, partition.n, partition.begin(a), partition.end(a), partition.begin(b),
                               partition.end(b), share);
    };
    const auto shape = pair_shape(options.precision, partition.n);
    const auto has_pairs = [&](int a, int b) {
        return partition.count(a) > 0 && partition.count(b) > 0 &&
               count_tile_pairs(shape, partition.n, partition.begin(a), partition.end(a), partition.begin(b), partition.end(b)).strips > 0;
    };
    const auto own = static_cast<double>(partition.count(worker));
    Task low = plan.kernel(work(worker, worker, Share::before), {packed}), high[2] = {packed, packed}, link = packed, home = packed;
    int turn = 0;
    // Every worker has a turn for each distance at which any worker has pairs; its own turn may be without work.
    for (int away = 1; away < partition.workers; ++away) {
        bool needed = has_pairs(worker, (worker + away) % partition.workers);
        for (int k = 0; k < looked_at && !needed; ++k) {
            const int m = k * partition.workers / looked_at;
            needed = has_pairs(m, (m + away) % partition.workers);
        }
        if (!needed) continue;
        const int from = (worker + away) % partition.workers, to = (worker + partition.workers - away) % partition.workers;
        const bool takes = has_pairs(worker, from), gives = has_pairs(to, worker);
        auto& here = high[turn++ % 2];  // two streams and two buffers for positions
        link = plan.message(takes ? body_bytes(options.precision) * static_cast<double>(partition.count(from)) : 0, {link, here}, {low});
        if (takes) here = plan.kernel(work(worker, from), {link, here}, true);
        home = plan.message(gives ? reaction_bytes(options.precision) * own : 0, {home, here}, {here});
        if (gives) home = plan.plain(time.launch + time.particle * own / 4, {home}, true);
    }
    low = plan.kernel(work(worker, worker, Share::after), {low});
    last = {low, high[0], high[1], home, link};
}

}  // namespace

comm::Partition worker_partition(const ForceDevice& device, const Direct& options, index_t n, int workers) {
    const index_t grain =
        device.cuda ? pair_shape(options.precision, n).grain() : DirectForce<Cpu>(Cpu{}, {.precision = options.precision}, n).grain();
    return {n, grain, workers};
}

StepTime step_time(const ForceDevice& device, const Direct& options, const Exchange& exchange, index_t n, int workers,
                   const ForceTime& time, const LinkTime& link) {
    StepTime step;
    step.both_sides = exchange.form != PairForm::one_sided && takes_both_sides(device, options, n, workers);
    if (workers == 1) {
        const auto work = step_work(device, options, n, step.both_sides);
        step.seconds = time.seconds(work);
        step.busy = (time.step + time.load / work.kernels[0].targets) * work.kernels[0].whole;
        step.idle = step.seconds - step.busy;
        return step;
    }
    const auto partition = worker_partition(device, options, n, workers);
    const int worker = fullest_worker(partition);
    const double around = time.launch * (launches_of_step - 1) + time.particle * static_cast<double>(partition.count(worker));
    Plan plan(device, time, link);
    const auto packed = plan.plain(around / 2, {});
    Tasks last;
    if (step.both_sides)
        both_sides(plan, device, options, partition, time, worker, packed, last);
    else
        one_sided(plan, device, options, partition, static_cast<index_t>(exchange.buffer_bytes / body_bytes(options.precision)), worker,
                  packed, last);
    plan.plain(around / 2, last);
    // With few particles the host needs more time to launch the work than the devices need to execute it.
    step.seconds = std::max(plan.table().run(), step.both_sides ? link.least_both_sides : link.least_one_sided);
    step.exposed = plan.table().exposed();
    step.busy = plan.busy();
    step.idle = std::max(0.0, step.seconds - step.exposed - step.busy);
    step.messages = plan.messages();
    const double others = static_cast<double>(n) * (1 - 1.0 / workers);
    // One-sided: every worker receives the particles of all other workers, and sends as much on average. Both sides: half of them, and
    // their reactions.
    step.bytes = step.both_sides ? others / 2 * (body_bytes(options.precision) + reaction_bytes(options.precision))
                                 : others * body_bytes(options.precision);
    return step;
}

}  // namespace kasane::gravity
