// lattice.scaling: hops and solves on the workers of this run, the devices of one process or of several ranks.
#include <bench/bench_workers.hpp>
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/channel_speed.hpp>
#include <kasane/lattice/distributed/local_part.hpp>
#include <kasane/lattice/distributed/local_solver.hpp>
#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/random_field.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kasane::bench {

using namespace lattice;

namespace {

constexpr int rounds = 5;
constexpr double round_seconds = 0.05;
constexpr int sources = 8;  ///< of solves: in half the numbers of iterations scatter by a tenth from source to source

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Seconds of a collective call on the slowest worker: the median of several rounds of as many calls as fill round_seconds.
template <Space S, class Call>
double time_together(S on, comm::Worker& worker, Call call) {
    const auto round = [&](int calls) {
        synchronize(on);
        worker.barrier();
        const Stopwatch watch;
        for (int i = 0; i < calls; ++i) call();
        synchronize(on);
        double seconds = watch.seconds() / calls;
        worker.all_reduce({&seconds, 1}, comm::Reduce::max);
        return seconds;
    };
    round(1);
    const int calls = std::max(1, static_cast<int>(round_seconds / round(4)));
    std::vector<double> seconds;
    for (int i = 0; i < rounds; ++i) seconds.push_back(round(calls));
    return median(seconds);
}

struct SolveTimes {
    std::vector<double> seconds;     ///< of each source
    std::vector<double> iterations;  ///< of the inner solver
    SolveLog last;
    bool converged = true;  ///< all of them
    double residual = 0;    ///< the largest
};

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}
/// Of the largest and the smallest value.
double difference(const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *most - *least;
}

struct HopTimes {
    double seconds = 0, alone = 0;  ///< of a hop; of the local lattice's hop without messages
    double norm2 = 0;               ///< of the result
    double face_bytes = 0;          ///< that a worker receives
    bool in_kernels = false;        ///< written into halos by kernels, in place of messages
};

/// A^-1 H from odd to even sites.
template <Precision P, Space S>
HopTimes time_hop(LocalLattice<S>& local, comm::Worker& worker, const typename LocalLattice<S>::Packed& packed, const SpinorField& source,
                  const LinkStorage& storage) {
    const S on = local.space();
    const auto dirac = local.template dirac<P>(packed, benchmark_operator.boundary, storage);
    const Dirac<S, P> inner(local.lattice(), packed.links, &*packed.clover, benchmark_operator.boundary, storage);
    Field<S, P> in(local.lattice()), out(local.lattice());
    load(source, Parity::odd, in);
    HopTimes times;
    times.alone = time_together(on, worker, [&] { inner.hop(HopForm::inverse, Parity::even, false, 1, in, nullptr, out); });
    times.seconds = time_together(on, worker, [&] { dirac.hop(HopForm::inverse, Parity::even, false, 1, in, nullptr, out); });
    const double before = local.exchange().bytes();
    dirac.hop(HopForm::inverse, Parity::even, false, 1, in, nullptr, out);
    times.face_bytes = local.exchange().bytes() - before;
    times.in_kernels = local.exchange().peers() != nullptr;
    auto algebra = local.template algebra<P>();
    times.norm2 = algebra.norm2(out);
    return times;
}

class LatticeScaling {
   public:
    LatticeScaling(const BenchmarkContext& context, LatticeProblems& problems)
        : context_(context), problems_(problems), workers_(context), shared_(shared_note(workers_.ranks, workers_.here)) {}

    void run() {
        workers_.for_each_set([&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            std::optional<comm::ChannelSpeed> link;
            if (communicator.size() > 1) link = link_speed(communicator, here);
            for (const auto& extents : lattices(communicator.size())) measure(communicator, here, extents, link);
        });
    }

   private:
    /// The strong problem, and L^3 x (L P) for this number of workers and for the largest.
    std::vector<Extents> lattices(int workers) const {
        const int edge = !context_.sizes.empty() ? static_cast<int>(context_.sizes.front()) : workers_.on_cpu ? 8 : 32;
        const Extents strong = workers_.on_cpu ? Extents{{8, 8, 8, 16}} : Extents{{24, 24, 24, 48}};
        std::vector<Extents> all;
        const auto add = [&](const Extents& extents) {
            const bool there = std::any_of(all.begin(), all.end(), [&](const Extents& other) { return text(other) == text(extents); });
            if (!there && extents[3] % (2 * workers) == 0) all.push_back(extents);
        };
        add({{edge, edge, edge, edge * workers}});
        if (context_.sizes.empty()) add(strong);
        add({{edge, edge, edge, edge * workers_.sets.back().size()}});
        return all;
    }

    comm::ChannelSpeed link_speed(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        std::vector<comm::ChannelSpeed> speeds(here.size());
        communicator.run([&](comm::Worker& worker) {
            const auto k = static_cast<std::size_t>(worker.local());
            std::visit(
                [&]<Space S>(S on) {
                    comm::Channel<S> channel(on, worker, 0);
                    speeds[k] = comm::measure_channel(on, worker, channel);
                },
                here[k]);
        });
        return speeds.front();
    }

    void measure(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Extents& extents,
                 const std::optional<comm::ChannelSpeed>& link) {
        const int count = communicator.size();
        const auto grid = RankGrid::given(extents, count, {1, 1, 1, count});
        const auto& links = problems_.weak(extents);
        const auto source = random_source(extents, 2);
        std::map<std::string, HopTimes> hops;
        std::map<std::string, SolveTimes> solves;
        communicator.run([&](comm::Worker& worker) {
            std::visit(
                [&]<Space S>(S on) {
                    const auto own_links = local_part(grid, worker.index(), links);
                    const auto own_source = local_part(grid, worker.index(), source);
                    const bool reports = worker.local() == 0;
                    {
                        LocalLattice<S> local(on, worker, grid);
                        const auto packed = local.pack(own_links, benchmark_operator);
                        const auto hop = [&]<Precision P>(const LinkStorage& storage) {
                            const auto times = time_hop<P>(local, worker, packed, own_source, storage);
                            if (reports) hops[name(P, storage)] = times;
                        };
                        hop.template operator()<Precision::double_>({});
                        hop.template operator()<Precision::single>({LinkReals::two_rows});
                        hop.template operator()<Precision::half>({LinkReals::two_rows});
                    }
                    if (context_.quick) return;
                    for (const auto inner : {Precision::single, Precision::half}) {
                        // One worker: the solver of one device, whose scalars stay there.
                        auto solved = count == 1 ? solve(OneDevice<S>(on, extents), worker, grid, own_links, own_source, inner)
                                                 : solve(LocalLattice<S>(on, worker, grid), worker, grid, own_links, own_source, inner);
                        if (reports) solves[name(inner, {LinkReals::two_rows})] = std::move(solved);
                    }
                },
                here[static_cast<std::size_t>(worker.local())]);
        });
        if (!workers_.leads()) return;
        for (const auto& [precision, times] : hops) report_hop(extents, count, precision, times, link);
        for (const auto& [precision, solved] : solves) report_solve(extents, count, precision, solved);
    }

    template <class Domain>
    static SolveTimes solve(Domain domain, comm::Worker& worker, const RankGrid& grid, const GaugeField& links, const SpinorField& source,
                            Precision inner) {
        const auto on = domain.space();
        SolverOptions options;
        options.method = Method::nested_bicgstab;
        options.inner = inner;
        ResidentSolver<Domain> solver(std::move(domain), links, benchmark_operator, options);
        ResidentField<typename Domain::On> b(solver.lattice), x(solver.lattice);
        load(source, Parity::even, b.even);
        load(source, Parity::odd, b.odd);
        SolveTimes times;
        for (int k = -1; k < sources; ++k) {  // the first solve is a warm-up
            if (k > 0) random_field(k, grid.lattice(), grid.origin(worker.index()), b.even);
            solver.zero(x);
            synchronize(on);
            worker.barrier();
            const Stopwatch watch;
            times.last = solver.solve(b, x);
            double taken = watch.seconds();
            worker.all_reduce({&taken, 1}, comm::Reduce::max);
            times.converged = times.converged && times.last.converged();
            times.residual = std::max(times.residual, times.last.true_residual);
            if (k < 0) continue;
            times.seconds.push_back(taken);
            times.iterations.push_back(times.last.inner_iterations);
        }
        return times;
    }

    /// strong = t(V; 1) / (P t(V; P)), weak = t(V / P; 1) / t(V; P); the lattice of V / P has the same first three extents.
    void add_efficiencies(BenchmarkResult& row, const Extents& extents, int count, const std::string& key) {
        seconds_[{key, count, text(extents)}] = row.seconds;
        if (count == 1) return;
        if (const auto one = seconds_.find({key, 1, text(extents)}); one != seconds_.end())
            row.more.emplace_back("strong", one->second / (count * row.seconds));
        auto part = extents;
        part.n[3] /= count;
        if (const auto one = seconds_.find({key, 1, text(part)}); one != seconds_.end())
            row.more.emplace_back("weak", one->second / row.seconds);
    }

    void report_hop(const Extents& extents, int count, const std::string& precision, const HopTimes& times,
                    const std::optional<comm::ChannelSpeed>& link) {
        BenchmarkResult row;
        row.name = fmt::format("lattice.scaling, hop, {}, {}, P {}", precision, text(extents), count);
        row.n = extents.volume();
        row.seconds = times.seconds;
        const double flops = clover_flops * static_cast<double>(extents.half());
        row.rate = flops / row.seconds;
        row.unit = "flop/s";
        row.tflops = 1e-12 * row.rate;
        const double messages = link ? (times.in_kernels ? 0 : link->latency_seconds) + times.face_bytes / link->bytes_per_second : 0;
        row.bound = flops / std::max(times.alone, messages);
        row.bound_reason = "the local lattice's hop without messages, and the messages at the same time, whichever takes longer";
        row.more = {{"members", count},
                    {"alone_seconds", times.alone},
                    {"message_seconds", messages},
                    {"face_bytes", times.face_bytes},
                    {"in_kernels", times.in_kernels ? 1 : 0},
                    {"efficiency", times.alone / times.seconds}};
        if (link) {
            row.more.emplace_back("latency", link->latency_seconds);
            row.more.emplace_back("bytes_per_second", link->bytes_per_second);
        }
        const auto key = "hop, " + precision;
        if (count == 1) norms_[{key, text(extents)}] = times.norm2;
        if (const auto one = norms_.find({key, text(extents)}); one != norms_.end()) row.error = std::abs(times.norm2 / one->second - 1);
        add_efficiencies(row, extents, count, key);
        row.note = shared_;
        context_.report(row);
    }

    void report_solve(const Extents& extents, int count, const std::string& precision, const SolveTimes& times) {
        BenchmarkResult row;
        row.name = fmt::format("lattice.scaling, solve, inner {}, {}, P {}", precision, text(extents), count);
        row.n = extents.volume();
        row.seconds = mean(times.seconds);
        row.spread = difference(times.seconds) / row.seconds;
        row.rate = 1e9 * times.last.gflops;
        row.unit = "flop/s";
        row.tflops = 1e-3 * times.last.gflops;
        row.error = times.residual;
        row.more = {{"members", count},
                    {"inner_iterations", mean(times.iterations)},
                    {"inner_iterations_spread", difference(times.iterations)},
                    {"iterations", times.last.iterations}};
        const auto key = "solve, " + precision;
        add_efficiencies(row, extents, count, key);
        if (const auto one = seconds_.find({key, 1, text(extents)}); one != seconds_.end()) {
            row.bound = row.rate * row.seconds * count / one->second;
            row.bound_reason = "as many times the speed of one worker with the same lattice";
        }
        row.note = shared_ + (times.converged ? "" : " NOT CONVERGED");
        context_.report(row);
    }

    const BenchmarkContext& context_;
    LatticeProblems& problems_;
    BenchWorkers workers_;
    std::string shared_;
    std::map<std::tuple<std::string, int, std::string>, double> seconds_;
    std::map<std::pair<std::string, std::string>, double> norms_;
};

}  // namespace

Benchmark lattice_scaling(const SharedLattice& shared) {
    return {
        "lattice.scaling",
        "Hops (A^-1 H of one parity) and solves (nested BiCGStab to a true residual of 1e-10, fields on the workers, from x = 0, the mean "
        "of eight Gaussian sources) of lattices divided in time among P workers, a device or a share of the CPU each: 24^3 x 48 (8^3 x 16 "
        "on a CPU), L^3 x (L P), and that of the largest P, L = 32 (8), or `--n L` and these lattices alone. Links U = exp(0.3 i P), "
        "antiperiodic time, kappa = 0.125, c_sw = 1. `strong` = t(V; 1) / (P t(V; P)), `weak` = t(V / P; 1) / t(V; P); `alone_seconds` "
        "is the local lattice's hop without messages, `message_seconds` the time of a hop's messages at the link's measured speed, without "
        "latency where kernels write into the halos of other devices (`in_kernels`). `--quick`: no solves. "
        "The error of a hop is the relative difference of |out|^2 to one worker's, that of a solve its true residual.",
        [shared](const BenchmarkContext& context) {
            LatticeScaling(context, *shared).run();
            shared->clear();
        },
        true};
}

}  // namespace kasane::bench
