#include <bench/gravity/scaling_measure.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/distributed/distributed_force.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr double shortest_batch = 0.03;  // [s]
constexpr int most_calls = 4096;         // limit of the calls of a batch

/// Seconds of a batch of calls, between two barriers of all workers; the same on every worker.
template <Space S, class Call>
double batch(S on, comm::Worker& worker, int calls, const Call& call) {
    worker.barrier();
    const Stopwatch watch;
    for (int k = 0; k < calls; ++k) call();
    synchronize(on);
    worker.barrier();
    double seconds[1] = {watch.seconds()};
    worker.all_reduce(View<double>(seconds, 1), comm::Reduce::max);
    return seconds[0];
}

/// @param t_sync  time of the barrier at the end of a batch; a batch must be long compared with it
template <Space S, class Call>
void time_batches(S on, comm::Worker& worker, const Call& call, double t_sync, ScalingPoint& point) {
    const double wanted = std::max(shortest_batch, 30 * t_sync);
    batch(on, worker, 1, call);  // allocates memory and opens connections
    int calls = 1;
    double whole = batch(on, worker, calls, call);
    while (whole < 0.5 * wanted && calls < most_calls) {
        calls = std::min(most_calls, calls * std::clamp(static_cast<int>(wanted / whole), 2, 16));
        whole = batch(on, worker, calls, call);
    }
    point.calls = calls;
    std::vector<double> seconds;
    for (int left = calls > 1 ? 5 : whole < 0.5 ? 3 : 2; left > 0; --left) seconds.push_back(batch(on, worker, calls, call) / calls);
    std::sort(seconds.begin(), seconds.end());
    point.seconds = seconds[seconds.size() / 2];
    point.spread = (seconds.back() - seconds.front()) / point.seconds;
}

/// Gathers the audited accelerations of all workers.
std::vector<Vec3<double>> gather_audited(comm::Worker& worker, index_t n, index_t first, const std::vector<Vec3<double>>& own) {
    const auto which = audited_of(n);
    std::vector<double> parts(3 * which.size(), 0);
    for (std::size_t k = 0; k < which.size(); ++k) {
        const auto at = static_cast<std::size_t>(which[k] - first);
        if (which[k] < first || at >= own.size()) continue;
        parts[3 * k] = own[at].x, parts[3 * k + 1] = own[at].y, parts[3 * k + 2] = own[at].z;
    }
    worker.all_reduce(view(parts), comm::Reduce::sum);
    std::vector<Vec3<double>> all;
    for (std::size_t k = 0; k < which.size(); ++k) all.push_back({parts[3 * k], parts[3 * k + 1], parts[3 * k + 2]});
    return all;
}

/// Gathers the spans of all workers, one line per worker.
std::string as_text(int worker, const std::vector<Span>& spans) {
    std::ostringstream text;
    text.precision(17);
    for (const auto& span : spans) text << worker << '\t' << span.begin << '\t' << span.end << '\t' << span.name << '\n';
    return text.str();
}

std::vector<std::vector<Span>> from_text(const std::vector<std::string>& texts, int workers) {
    std::vector<std::vector<Span>> timeline(static_cast<std::size_t>(workers));
    for (const auto& text : texts) {
        std::istringstream lines(text);
        std::size_t worker = 0;
        Span span;
        while (lines >> worker >> span.begin >> span.end && lines.get() == '\t' && std::getline(lines, span.name))
            timeline.at(worker).push_back(span);
    }
    return timeline;
}

/// Records one call behind two others, so that the host is as far ahead of the devices as in a batch.
template <Space S, class Call>
std::vector<Span> followed(S on, comm::Worker& worker, DistributedForce<S>& sum, const Call& call, ScalingPoint& point) {
    worker.barrier();
    Timeline<S> timeline(on);
    call();
    call();
    const double messages = static_cast<double>(sum.messages()), bytes = sum.bytes_received();
    sum.keep(&timeline);
    call();
    synchronize(on);
    point.messages = static_cast<double>(sum.messages()) - messages;
    point.bytes = sum.bytes_received() - bytes;
    sum.keep(nullptr);
    auto spans = timeline.take();
    double least[1] = {hidden(spans, "message").fraction()};
    worker.all_reduce(View<double>(least, 1), comm::Reduce::min);
    point.hidden = least[0];
    return spans;
}

template <Space S>
void measure_sizes(S on, comm::Worker& worker, const Particles& particles, const DirectFrame& frame, const ScalingWay& way, double t_sync,
                   ScalingPoint& point, std::string& spans) {
    Exchange exchange;
    exchange.form = way.form;
    exchange.engine = way.engine;
    const index_t n = particles.size();
    DistributedForce<S> sum(on, {.softening = direct_softening}, n, exchange, worker);
    sum.connect();
    sum.set(frame);
    const auto first = static_cast<std::ptrdiff_t>(sum.first()), end = first + static_cast<std::ptrdiff_t>(sum.count());
    const auto position = to_space(on, std::vector(particles.position.begin() + first, particles.position.begin() + end));
    const auto mass = to_space(on, std::vector(particles.mass.begin() + first, particles.mass.begin() + end));
    Buffer<Vec3<double>, S> acceleration(on, sum.count());
    const auto call = [&] { sum.accelerate({position.view(), mass.view()}, acceleration.view()); };
    time_batches(on, worker, call, t_sync, point);
    point.engine = sum.engine();
    point.both_sides = sum.both_sides();
    point.audited = gather_audited(worker, n, sum.first(), to_host(acceleration));
    if (worker.size() > 1) spans = as_text(worker.index(), followed(on, worker, sum, call, point));
}

}  // namespace

comm::ChannelSpeed measure_link(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, comm::Engine engine) {
    std::vector<comm::ChannelSpeed> speeds(here.size());
    communicator.run([&](comm::Worker& worker) {
        const auto k = static_cast<std::size_t>(worker.local());
        std::visit(
            [&]<Space S>(S on) {
                comm::Channel<S> channel(on, worker, 0, engine);
                speeds[k] = comm::measure_channel(on, worker, channel);
            },
            here[k]);
    });
    return speeds.front();
}

ScalingPoint measure_scaling(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Particles& particles,
                             const ScalingWay& way, double t_sync) {
    std::vector<ScalingPoint> points(here.size());
    std::vector<std::string> spans(here.size());
    const auto frame = direct_frame(particles);
    communicator.run([&](comm::Worker& worker) {
        const auto k = static_cast<std::size_t>(worker.local());
        std::visit([&]<Space S>(S on) { measure_sizes(on, worker, particles, frame, way, t_sync, points[k], spans[k]); }, here[k]);
    });
    std::string text;
    for (const auto& own : spans) text += own;
    auto point = points.front();
    if (communicator.size() > 1) point.timeline = from_text(communicator.ranks().all_gather(text), communicator.size());
    return point;
}

}  // namespace kasane::bench
