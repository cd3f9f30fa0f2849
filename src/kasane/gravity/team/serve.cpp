#include <kasane/gravity/team/members.hpp>

namespace kasane::gravity {

void serve(comm::Team& team, const std::vector<AnySpace>& here) {
    auto& ranks = team.ranks();
    Command command;
    tell_all(ranks, command);
    if (command.verb != Command::Verb::make) return;  // rank 0 has refused its input
    Setup setup;
    tell_all(ranks, setup);
    std::unique_ptr<Simulation::Members> members;
    try {
        members = std::make_unique<Simulation::Members>(team, here, setup, Particles{});
    } catch (const InputError&) {
        return;  // rank 0 says so
    }
    for (;;) {
        tell_all(ranks, command);
        if (command.verb == Command::Verb::end) return;
        try {
            members->run(command);
        } catch (const Error&) {
            // All members throw it, those of rank 0 too; what becomes of the run is decided there.
        }
    }
}

}  // namespace kasane::gravity
