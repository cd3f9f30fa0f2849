#include <kasane/gravity/distributed/local_workers.hpp>

namespace kasane::gravity {

void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    auto& ranks = communicator.ranks();
    Command command;
    tell_all(ranks, command);
    if (command.verb != Command::Verb::make) return;  // rank 0 has refused its input
    Setup setup;
    tell_all(ranks, setup);
    std::unique_ptr<Simulation::Workers> workers;
    try {
        workers = std::make_unique<Simulation::Workers>(communicator, here, setup, Particles{});
    } catch (const InputError&) {
        return;  // rank 0 says so
    }
    for (;;) {
        tell_all(ranks, command);
        if (command.verb == Command::Verb::end) return;
        try {
            workers->run(command);
        } catch (const Error&) {
            // All workers throw it, those of rank 0 too; what becomes of the run is decided there.
        }
    }
}

}  // namespace kasane::gravity
