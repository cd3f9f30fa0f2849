#include <kasane/gravity/distributed/local_workers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace kasane::gravity {
namespace {

constexpr int slab_tag = 4001;  // of messages with particles between rank 0 and the others

comm::Partition partition_of(const AnySpace& kind, const Setup& setup, int workers) {
    return std::visit(
        [&](auto space) {
            return comm::Partition{setup.total, DirectForce<decltype(space)>(space, setup.force, setup.total).grain(), workers};
        },
        kind);
}

/// Throws on every rank alike if one of them has a problem.
void agree(comm::Communicator& ranks, const std::string& problem) {
    const auto all = ranks.all_gather(problem);
    const auto bad = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    if (bad == all.end()) return;
    const bool everywhere = std::all_of(all.begin(), all.end(), [&](const std::string& text) { return text == *bad; });
    throw InputError(everywhere ? *bad : fmt::format("rank {}: {}", bad - all.begin(), *bad));
}

/// body(), and in words what is wrong with it.
template <class F>
std::string problem_of(F body) {
    try {
        body();
    } catch (const std::exception& error) {
        return error.what()[0] != '\0' ? error.what() : "it cannot go on";
    }
    return {};
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

Simulation::Workers::Workers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup,
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
        }
    std::vector<Particles> slabs;
    for (int l = 0; l < local; ++l) slabs.push_back(slab(particles, mine + l));

    SimulationOptions options{
        .force = setup.force, .step = setup.step, .start_time = setup.start_time, .steps = setup.steps, .exchange = setup.exchange};
    options.state.frame = setup.frame;
    engines_.resize(static_cast<std::size_t>(local));
    std::vector<std::string> problems(static_cast<std::size_t>(local));
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        problems[l] = problem_of([&] {
            const Place place{&worker, setup.total, setup.largest_mass, setup.exchange};
            engines_[l] = std::visit(
                [&](auto space) -> std::unique_ptr<Engine> {
                    return std::make_unique<EngineOn<DirectGravity<decltype(space)>>>(space, std::move(slabs[l]), options, setup.scheme,
                                                                                      place);
                },
                here[l]);
        });
    });
    const auto bad = std::find_if(problems.begin(), problems.end(), [](const std::string& text) { return !text.empty(); });
    agree(ranks(), bad == problems.end() ? std::string() : *bad);
    communicator_.run([&](comm::Worker& worker) { engines_[static_cast<std::size_t>(worker.local())]->connect(); });
}

/// Before anything is taken.
void Simulation::Workers::check(const std::vector<AnySpace>& here, const Setup& setup) const {
    KS_VALIDATE(
        here.size() == static_cast<std::size_t>(communicator_.workers_per_rank()),
        fmt::format("a rank has {} workers and {} spaces for them: each worker needs one", communicator_.workers_per_rank(), here.size()));
    for (const auto& space : here)
        KS_VALIDATE(
            space.index() == setup.kind,
            fmt::format(
                "a worker works on {}, and the first one of the communicator on another kind of device: take cpu for all, or cuda for all",
                name(space)));
    check_worker_memory(here, setup.total, setup.force, setup.exchange, communicator_.size(), first_worker(ranks().rank()),
                        ranks().local_size());
}

Particles Simulation::Workers::slab(const Particles& all, int worker) const {
    const index_t first = partition_.begin(worker), count = partition_.count(worker);
    Particles to;
    if (ranks().rank() == 0) {
        const auto part = [&](const auto& from, auto& into) { into.assign(from.begin() + first, from.begin() + first + count); };
        part(all.position, to.position);
        part(all.velocity, to.velocity);
        part(all.mass, to.mass);
        return to;
    }
    const auto size = static_cast<std::size_t>(count);
    to.position.resize(size);
    to.velocity.resize(size);
    to.mass.resize(size);
    receive(ranks(), to.position.data(), count, 0);
    receive(ranks(), to.velocity.data(), count, 0);
    receive(ranks(), to.mass.data(), count, 0);
    return to;
}

/// The slabs of all workers, in their order, on rank 0. @param local  of this rank's workers
template <class T>
std::vector<T> Simulation::Workers::gather(const std::vector<std::vector<T>>& local) const {
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

Answer Simulation::Workers::run(const Command& command) {
    using enum Command::Verb;
    const std::size_t local = engines_.size();
    const auto each = [&](auto body) {
        communicator_.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            body(*engines_[l], l);
        });
    };
    std::vector<std::vector<Vec3<double>>> vectors(local), velocities(local);
    std::vector<std::vector<double>> scalars(local);
    Answer answer;
    switch (command.verb) {
        case step: each([&](Engine& engine, std::size_t) { engine.step(command.count); }); break;
        case fetch:
            each([&](Engine& engine, std::size_t l) {
                Particles now;
                const auto count = static_cast<std::size_t>(partition_.count(first_worker(ranks().rank()) + static_cast<int>(l)));
                now.position.resize(count);
                now.velocity.resize(count);
                engine.fetch(now);
                vectors[l] = std::move(now.position);
                velocities[l] = std::move(now.velocity);
            });
            answer.vector = gather(vectors);
            answer.velocity = gather(velocities);
            break;
        case acceleration:
            each([&](Engine& engine, std::size_t l) { vectors[l] = engine.acceleration(); });
            answer.vector = gather(vectors);
            break;
        case potential:
            each([&](Engine& engine, std::size_t l) { scalars[l] = engine.potential(); });
            answer.scalar = gather(scalars);
            break;
        case audit:
            each([&](Engine& engine, std::size_t l) {
                const auto found = engine.audit(command.count);
                if (l == 0) answer.audit = found;
            });
            break;
        case make:
        case end: break;
    }
    return answer;
}

Simulation::TeamEngine::TeamEngine(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                                   const SimulationOptions& chosen)
    : ranks_(communicator.ranks()) {
    options = {
        .force = chosen.force, .step = chosen.step, .start_time = chosen.start_time, .steps = chosen.steps, .exchange = chosen.exchange};
    host_step = steps = chosen.steps;
    Setup setup{.total = particles.size(),
                .largest_mass = *std::max_element(particles.mass.begin(), particles.mass.end()),
                .force = std::get<Direct>(chosen.force),
                .step = chosen.step,
                .scheme = Scheme(chosen.step, softening(chosen.force), chosen.state.step_length, particles),
                .start_time = chosen.start_time,
                .steps = chosen.steps,
                .frame = chosen.state.frame,
                .exchange = chosen.exchange,
                .kind = here.empty() ? 0 : here.front().index()};
    Command command{Command::Verb::make, 0};
    tell_all(ranks_, command);
    tell_all(ranks_, setup);
    workers_ = std::make_unique<Workers>(communicator, here, setup, particles);
    host = std::move(particles);
}

Simulation::TeamEngine::~TeamEngine() {
    // A destructor cannot throw; if the ranks do not answer any more, whoever failed has said so.
    problem_of([&] {
        Command command{Command::Verb::end, 0};
        tell_all(ranks_, command);
    });
}

Answer Simulation::TeamEngine::run(Command::Verb verb, std::int64_t count) {
    Command command{verb, count};
    tell_all(ranks_, command);
    return workers_->run(command);
}

void Simulation::TeamEngine::step(std::int64_t n) {
    try {
        run(Command::Verb::step, n);
        steps += n;
    } catch (const BlowUp& what) {
        steps = workers_->first().steps;
        tell(what);
    }
}

void Simulation::TeamEngine::fetch(Particles& to) {
    auto now = run(Command::Verb::fetch);
    to.position = std::move(now.vector);
    to.velocity = std::move(now.velocity);
}

}  // namespace kasane::gravity
