#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/distributed/distributed_stepper.hpp>
#include <kasane/gravity/distributed/distributed_tree_stepper.hpp>
#include <kasane/gravity/distributed/local_workers.hpp>
#include <kasane/gravity/distributed/memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr int slab_tag = 8001;  // tag of messages with particles between the root rank and the others

comm::Partition partition_of(const AnySpace& kind, const Force& force, index_t total, int workers) {
    return std::visit(
        [&](auto space) {
            const auto* direct = std::get_if<Direct>(&force);
            return comm::Partition{total, direct ? DirectForce<decltype(space)>(space, *direct, total).grain() : 1, workers};
        },
        kind);
}

template <class T>
void send(comm::Communicator& ranks, const T* from, index_t count, int to) {
    if (count > 0) ranks.send(from, static_cast<std::size_t>(count) * sizeof(T), to, slab_tag);
}
template <class T>
void receive(comm::Communicator& ranks, T* to, index_t count, int from) {
    if (count > 0) ranks.receive(to, static_cast<std::size_t>(count) * sizeof(T), from, slab_tag);
}

}  // namespace

std::vector<index_t> rank_bounds(comm::WorkerCommunicator& communicator, const AnySpace& kind, const Force& force, index_t total) {
    const auto partition = partition_of(kind, force, total, communicator.size());
    std::vector<index_t> bounds;
    for (int r = 0; r <= communicator.ranks().size(); ++r) bounds.push_back(partition.begin(r * communicator.workers_per_rank()));
    return bounds;
}

LocalWorkers::LocalWorkers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup,
                           const Particles& particles, const std::vector<Vec3<float>>& acceleration)
    : communicator_(communicator), moving_(std::holds_alternative<Tree>(setup.force)) {
    agree(ranks(), problem_of([&] {
              check(here, setup, 0);
              partition_ = partition_of(here.front(), setup.force, setup.total, communicator_.size());
          }));

    const int local = communicator_.workers_per_rank(), mine = first_worker(ranks().rank());
    const bool softenings = softening_per_particle(setup.force);
    if (ranks().rank() == 0) {
        send_slabs(particles.position);
        send_slabs(particles.velocity);
        send_slabs(particles.mass);
        if (softenings) send_slabs(particles.softening);
        if (setup.accelerated) send_slabs(acceleration);
    }
    // In the order in which the root rank sends.
    std::vector<Start> starts(static_cast<std::size_t>(local));
    const auto each = [&](auto body) {
        for (int l = 0; l < local; ++l) body(starts[static_cast<std::size_t>(l)], mine + l);
    };
    each([&](Start& to, int worker) { to.particles.position = slab_of(particles.position, worker, to.received.position); });
    each([&](Start& to, int worker) { to.particles.velocity = slab_of(particles.velocity, worker, to.received.velocity); });
    each([&](Start& to, int worker) { to.particles.mass = slab_of(particles.mass, worker, to.received.mass); });
    if (softenings)
        each([&](Start& to, int worker) { to.particles.softening = slab_of(particles.softening, worker, to.received.softening); });
    if (setup.accelerated) each([&](Start& to, int worker) { to.acceleration = slab_of(acceleration, worker, to.received_acceleration); });

    make(here, setup, std::move(starts));
}

LocalWorkers::LocalWorkers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup, RankSlabs& slabs)
    : communicator_(communicator), moving_(std::holds_alternative<Tree>(setup.force)), slabs_(&slabs) {
    const int local = communicator_.workers_per_rank(), mine = first_worker(ranks().rank());
    const auto& slab = slabs.slab();
    agree(ranks(), problem_of([&] {
              constexpr auto bytes = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + 1;
              check(here, setup, static_cast<std::uint64_t>(slab.own.size()) * bytes);
              partition_ = partition_of(here.front(), setup.force, setup.total, communicator_.size());
              KS_EXPECT(slab.first == partition_.begin(mine) && slab.own.size() == partition_.count(mine, local));
          }));
    std::vector<Start> starts;
    for (int l = 0; l < local; ++l) {
        const index_t first = partition_.begin(mine + l) - slab.first, count = partition_.count(mine + l);
        auto& start = starts.emplace_back();
        start.particles = HostParticles(slab.own).part(first, count);
        if (!slab.acceleration.empty()) start.acceleration = view(slab.acceleration).subview(first, count);
    }
    make(here, setup, std::move(starts));
}

void LocalWorkers::make(const std::vector<AnySpace>& here, const Setup& setup, std::vector<Start> starts) {
    const int local = communicator_.workers_per_rank(), mine = first_worker(ranks().rank());
    workers_.resize(static_cast<std::size_t>(local));
    std::vector<std::string> problems(static_cast<std::size_t>(local));
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        problems[l] = problem_of([&] {
            SimulationOptions options{.force = setup.force, .step = setup.step, .start_time = setup.start_time, .steps = setup.steps};
            options.state.frame = setup.frame;
            options.state.acceleration.assign(starts[l].acceleration.begin(), starts[l].acceleration.end());
            const index_t first = partition_.begin(mine + worker.local());
            workers_[l] = std::visit(
                [&](auto space) -> std::unique_ptr<WorkerStepper> {
                    using S = decltype(space);
                    if (moving_)
                        return std::make_unique<DistributedTreeStepper<S>>(space, starts[l].particles, options, setup.scheme, first,
                                                                           setup.total, setup.accelerated, setup.exchange.engine, worker);
                    return std::make_unique<DistributedStepper<S>>(space, starts[l].particles, options, setup.scheme,
                                                                   Slab{setup.total, first, setup.largest_mass}, setup.exchange, worker);
                },
                here[l]);
            starts[l] = {};
        });
    });
    const auto bad = std::find_if(problems.begin(), problems.end(), [](const std::string& text) { return !text.empty(); });
    agree(ranks(), bad == problems.end() ? std::string() : *bad);
    communicator_.run([&](comm::Worker& worker) { workers_[static_cast<std::size_t>(worker.local())]->connect(); });
}

/// Checks the spaces and the memory of this rank, before memory is allocated.
void LocalWorkers::check(const std::vector<AnySpace>& here, const Setup& setup, std::uint64_t taken) const {
    KS_VALIDATE(
        here.size() == static_cast<std::size_t>(communicator_.workers_per_rank()),
        fmt::format("a rank has {} workers and {} spaces for them: each worker needs one", communicator_.workers_per_rank(), here.size()));
    for (const auto& space : here)
        KS_VALIDATE(
            space.index() == setup.kind,
            fmt::format(
                "a worker uses {}, but the first worker of the communicator uses another kind of device: take cpu for all, or cuda for all",
                name(space)));
    check_worker_memory(here, setup.total, setup.force, setup.exchange, communicator_.size(), first_worker(ranks().rank()),
                        ranks().local_size(), taken);
}

template <class T>
View<const T> LocalWorkers::slab_of(const std::vector<T>& all, int worker, std::vector<T>& received) const {
    const index_t first = partition_.begin(worker), count = partition_.count(worker);
    if (ranks().rank() == 0) return view(all).subview(first, count);
    received.resize(static_cast<std::size_t>(count));
    receive(ranks(), received.data(), count, 0);
    return view(std::as_const(received));
}

template <class T>
void LocalWorkers::send_slabs(const std::vector<T>& all) const {
    const int local = communicator_.workers_per_rank();
    for (int m = local; m < communicator_.size(); ++m) send(ranks(), all.data() + partition_.begin(m), partition_.count(m), m / local);
}

std::vector<index_t> LocalWorkers::counts() const {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(communicator_.size()));
    const int local = communicator_.workers_per_rank(), mine = first_worker(ranks().rank());
    for (int m = 0; m < communicator_.size(); ++m) {
        const bool here = m >= mine && m < mine + local;
        if (moving_ && here)
            words[static_cast<std::size_t>(m)] = workers_[static_cast<std::size_t>(m - mine)]->given().size();
        else if (!moving_)
            words[static_cast<std::size_t>(m)] = static_cast<std::uint64_t>(partition_.count(m));
    }
    if (moving_) ranks().all_reduce(view(words), comm::Reduce::sum);
    return {words.begin(), words.end()};
}

/// Gathers the values of all workers on the root rank, in the order of the particles. @param local  those of this rank's workers
template <class T>
std::vector<T> LocalWorkers::gather(const std::vector<std::vector<T>>& local) const {
    const auto count = counts();
    const auto gathered = [&]<class U>(const std::vector<std::vector<U>>& here) {
        std::vector<U> all;
        if (ranks().rank() != 0) {
            for (const auto& values : here) send(ranks(), values.data(), static_cast<index_t>(values.size()), 0);
            return all;
        }
        all.reserve(static_cast<std::size_t>(partition_.n));
        for (const auto& values : here) all.insert(all.end(), values.begin(), values.end());
        auto at = static_cast<index_t>(all.size());
        all.resize(static_cast<std::size_t>(partition_.n));
        for (int m = communicator_.workers_per_rank(); m < communicator_.size(); at += count[static_cast<std::size_t>(m++)])
            receive(ranks(), all.data() + at, count[static_cast<std::size_t>(m)], m / communicator_.workers_per_rank());
        return all;
    };
    auto values = gathered(local);
    if (!moving_) return values;
    std::vector<std::vector<std::uint32_t>> given;
    for (const auto& worker : workers_) given.push_back(worker->given());
    const auto number = gathered(given);
    auto ordered = values;
    for (std::size_t k = 0; k < number.size(); ++k) ordered[number[k]] = values[k];
    return ordered;
}

bool LocalWorkers::take_back() {
    std::vector<Particles> now(workers_.size());
    std::vector<std::vector<Vec3<float>>> accelerations(workers_.size());
    const bool accelerated = workers_.front()->keeps_accelerations();
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        const auto count = moving_ ? 0 : static_cast<std::size_t>(partition_.count(first_worker(ranks().rank()) + static_cast<int>(l)));
        now[l].position.resize(count);
        now[l].velocity.resize(count);
        workers_[l]->stepper().fetch(now[l]);
        if (accelerated) accelerations[l] = workers_[l]->stepper().state().acceleration;
    });
    std::vector<std::uint32_t> number;
    auto& all = now.front();
    for (std::size_t l = 0; l < workers_.size(); ++l) {
        if (moving_) {
            const auto given = workers_[l]->given();
            number.insert(number.end(), given.begin(), given.end());
        }
        if (l == 0) continue;
        all.position.insert(all.position.end(), now[l].position.begin(), now[l].position.end());
        all.velocity.insert(all.velocity.end(), now[l].velocity.begin(), now[l].velocity.end());
        accelerations[0].insert(accelerations[0].end(), accelerations[l].begin(), accelerations[l].end());
        now[l] = {};
        accelerations[l] = {};
    }
    return slabs_->take_back(number, std::move(all.position), std::move(all.velocity), std::move(accelerations[0]));
}

Answer LocalWorkers::run(const Command& command) {
    using enum Command::Verb;
    const std::size_t local = workers_.size();
    const auto each = [&](auto body) {
        communicator_.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            body(workers_[l]->stepper(), l);
        });
    };
    std::vector<std::vector<Vec3<double>>> vectors(local), velocities(local);
    std::vector<std::vector<double>> scalars(local);
    Answer answer;
    switch (command.verb) {
        case step: each([&](Stepper& stepper, std::size_t) { stepper.step(command.count); }); break;
        case fetch:
            each([&](Stepper& stepper, std::size_t l) {
                Particles now;
                const auto count =
                    moving_ ? 0 : static_cast<std::size_t>(partition_.count(first_worker(ranks().rank()) + static_cast<int>(l)));
                now.position.resize(count);
                now.velocity.resize(count);
                stepper.fetch(now);
                vectors[l] = std::move(now.position);
                velocities[l] = std::move(now.velocity);
            });
            answer.vector = gather(vectors);
            answer.velocity = gather(velocities);
            break;
        case acceleration:
            each([&](Stepper& stepper, std::size_t l) { vectors[l] = stepper.acceleration(); });
            answer.vector = gather(vectors);
            break;
        case potential:
            each([&](Stepper& stepper, std::size_t l) { scalars[l] = stepper.potential(); });
            answer.scalar = gather(scalars);
            break;
        case diagnostics:
            each([&](Stepper& stepper, std::size_t l) {
                auto found = stepper.diagnostics();
                if (l == 0) answer.diagnostics = std::move(found);
            });
            break;
        case audit:
            each([&](Stepper& stepper, std::size_t l) {
                const auto found = stepper.audit(command.count);
                if (l == 0) answer.audit = found;
            });
            break;
        case state: {
            std::vector<std::vector<Vec3<float>>> accelerations(local);
            each([&](Stepper& stepper, std::size_t l) {
                auto found = stepper.state();
                accelerations[l] = std::move(found.acceleration);
                if (l == 0) answer.state = std::move(found);
            });
            // Those of slabs go there by take_back.
            if (workers_.front()->keeps_accelerations() && !slabs_) answer.state.acceleration = gather(accelerations);
            break;
        }
        case take_back: answer.finite = this->take_back(); break;
        case make:
        case rows:
        case memory:
        case task:
        case end: break;
    }
    return answer;
}

}  // namespace kasane::gravity
