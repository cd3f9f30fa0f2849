#include <kasane/lattice/distributed/hmc_setup.hpp>
#include <kasane/lattice/distributed/solver_commands.hpp>

namespace kasane::lattice {
namespace {

template <class T>
void broadcast_list(comm::Communicator& ranks, std::vector<T>& values) {
    auto size = static_cast<std::uint64_t>(values.size());
    lattice::broadcast(ranks, size);
    values.resize(size);
    if (size > 0) ranks.broadcast(values.data(), size * sizeof(T), 0);
}

}  // namespace

void broadcast(comm::Communicator& ranks, std::vector<Level>& levels) {
    std::vector<std::int64_t> plain;  // integrator, steps, number of terms, terms of each level
    for (const auto& level : levels) {
        plain.insert(plain.end(), {static_cast<std::int64_t>(level.integrator), level.steps, std::ssize(level.terms)});
        plain.insert(plain.end(), level.terms.begin(), level.terms.end());
    }
    broadcast_list(ranks, plain);
    levels.clear();
    for (auto at = plain.begin(); at != plain.end();) {
        Level level{static_cast<Integrator>(at[0]), static_cast<int>(at[1]), {}};
        const auto terms = at[2];
        at += 3;
        for (auto end = at + terms; at != end; ++at) level.terms.push_back(static_cast<int>(*at));
        levels.push_back(std::move(level));
    }
}

void broadcast(comm::Communicator& ranks, HmcSetup& setup) {
    broadcast(ranks, setup.action);
    broadcast(ranks, setup.levels);
    auto has_quarks = static_cast<std::uint64_t>(setup.quarks.has_value());
    broadcast(ranks, has_quarks);
    if (has_quarks) {
        if (!setup.quarks) setup.quarks.emplace();
        broadcast(ranks, setup.quarks->parameters);
        broadcast(ranks, setup.quarks->solver);
        broadcast(ranks, setup.quarks->tolerances);
        broadcast_list(ranks, setup.quarks->masses);
    }
    broadcast_list(ranks, setup.flavours);
    broadcast(ranks, setup.length);
    broadcast(ranks, setup.seed);
}

void broadcast(comm::Communicator& ranks, RationalApproximation& R) {
    for (double* number : {&R.least, &R.most, &R.error, &R.scale}) broadcast(ranks, *number);
    broadcast_list(ranks, R.zeros);
    broadcast_list(ranks, R.poles);
}

}  // namespace kasane::lattice
