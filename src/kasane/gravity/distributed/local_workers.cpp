#include <kasane/gravity/distributed/local_workers.hpp>
#include <kasane/gravity/distributed/memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace kasane::gravity {
namespace {

constexpr int slab_tag = 4001;  // tag of messages with particles between the root rank and the others

comm::Partition partition_of(const AnySpace& kind, const Setup& setup, int workers) {
    return std::visit(
        [&](auto space) {
            return comm::Partition{setup.total, DirectForce<decltype(space)>(space, setup.force, setup.total).grain(), workers};
        },
        kind);
}

/// Throws InputError on every rank if `problem` is not empty on one of them. Collective.
void agree(comm::Communicator& ranks, const std::string& problem) {
    const auto all = ranks.all_gather(problem);
    const auto bad = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    if (bad == all.end()) return;
    const bool everywhere = std::all_of(all.begin(), all.end(), [&](const std::string& text) { return text == *bad; });
    throw InputError(everywhere ? *bad : fmt::format("rank {}: {}", bad - all.begin(), *bad));
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

LocalWorkers::LocalWorkers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup,
                           const Particles& particles)
    : communicator_(communicator) {
    agree(ranks(), problem_of([&] {
              check(here, setup);
              partition_ = partition_of(here.front(), setup, communicator_.size());
          }));

    const int local = communicator_.workers_per_rank(), mine = first_worker(ranks().rank());
    if (ranks().rank() == 0)
        for (int m = local; m < communicator_.size(); ++m) {
            const index_t first = partition_.begin(m), count = partition_.count(m);
            send(ranks(), particles.position.data() + first, count, m / local);
            send(ranks(), particles.velocity.data() + first, count, m / local);
            send(ranks(), particles.mass.data() + first, count, m / local);
            if (setup.force.softening_per_particle) send(ranks(), particles.softening.data() + first, count, m / local);
        }
    std::vector<Particles> slabs;
    for (int l = 0; l < local; ++l) slabs.push_back(slab(particles, mine + l, setup.force.softening_per_particle));

    SimulationOptions options{.force = setup.force, .step = setup.step, .start_time = setup.start_time, .steps = setup.steps};
    options.state.frame = setup.frame;
    workers_.resize(static_cast<std::size_t>(local));
    std::vector<std::string> problems(static_cast<std::size_t>(local));
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        problems[l] = problem_of([&] {
            const Slab of{setup.total, partition_.begin(mine + worker.local()), setup.largest_mass};
            workers_[l] = std::visit(
                [&](auto space) -> std::unique_ptr<WorkerStepper> {
                    return std::make_unique<DistributedStepper<decltype(space)>>(space, slabs[l], options, setup.scheme, of, setup.exchange,
                                                                                 worker);
                },
                here[l]);
            slabs[l] = {};
        });
    });
    const auto bad = std::find_if(problems.begin(), problems.end(), [](const std::string& text) { return !text.empty(); });
    agree(ranks(), bad == problems.end() ? std::string() : *bad);
    communicator_.run([&](comm::Worker& worker) { workers_[static_cast<std::size_t>(worker.local())]->connect(); });
}

/// Checks the spaces and the memory of this rank, before memory is allocated.
void LocalWorkers::check(const std::vector<AnySpace>& here, const Setup& setup) const {
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
                        ranks().local_size());
}

Particles LocalWorkers::slab(const Particles& all, int worker, bool softenings) const {
    const index_t first = partition_.begin(worker), count = partition_.count(worker);
    Particles to;
    if (ranks().rank() == 0) {
        const auto part = [&](const auto& from, auto& into) { into.assign(from.begin() + first, from.begin() + first + count); };
        part(all.position, to.position);
        part(all.velocity, to.velocity);
        part(all.mass, to.mass);
        if (softenings) part(all.softening, to.softening);
        return to;
    }
    const auto size = static_cast<std::size_t>(count);
    to.position.resize(size);
    to.velocity.resize(size);
    to.mass.resize(size);
    receive(ranks(), to.position.data(), count, 0);
    receive(ranks(), to.velocity.data(), count, 0);
    receive(ranks(), to.mass.data(), count, 0);
    if (softenings) {
        to.softening.resize(size);
        receive(ranks(), to.softening.data(), count, 0);
    }
    return to;
}

/// Gathers the slabs of all workers on the root rank, in their order. @param local  slabs of this rank's workers
template <class T>
std::vector<T> LocalWorkers::gather(const std::vector<std::vector<T>>& local) const {
    std::vector<T> all;
    if (ranks().rank() != 0) {
        for (const auto& slab : local) send(ranks(), slab.data(), static_cast<index_t>(slab.size()), 0);
        return all;
    }
    all.reserve(static_cast<std::size_t>(partition_.n));
    for (const auto& slab : local) all.insert(all.end(), slab.begin(), slab.end());
    all.resize(static_cast<std::size_t>(partition_.n));
    for (int m = communicator_.workers_per_rank(); m < communicator_.size(); ++m)
        receive(ranks(), all.data() + partition_.begin(m), partition_.count(m), m / communicator_.workers_per_rank());
    return all;
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
                const auto count = static_cast<std::size_t>(partition_.count(first_worker(ranks().rank()) + static_cast<int>(l)));
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
        case make:
        case end: break;
    }
    return answer;
}

}  // namespace kasane::gravity
