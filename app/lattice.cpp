// kasane lattice VERB …: gauge configurations, quark propagators, quenched updates.
#include <app/lattice.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace kasane::app {
namespace {

const std::vector<Verb> lattice_verbs = {
    {"convert", "Write a gauge configuration in another format: NERSC, ILDG, MILC or openQCD", add_lattice_convert},
    {"info", "Print extents, format, plaquette and checksum of a gauge configuration", add_lattice_info, OnRanks::led},
    {"solve", "Quark propagators and single solutions on a configuration, and their correlators", add_lattice_solve, OnRanks::led},
    {"measure", "Plaquettes, Polyakov loop, topological charge and Wilson flow of a configuration", add_lattice_measure, OnRanks::led},
    {"generate", "Quenched configurations: the updates that a run file describes", add_lattice_generate, OnRanks::led},
};

}  // namespace

Action add_lattice(CLI::App& app, const Common& common) {
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const auto& verb : lattice_verbs) {
        auto* sub = app.add_subcommand(verb.name, verb.help);
        actions.emplace_back(sub, verb.add(*sub, common));
    }
    return [actions, &common] {
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const auto& [sub, action] = actions[i];
            if (!sub->parsed()) continue;
            const auto& verb = lattice_verbs[i];
            KS_VALIDATE(verb.on_ranks == OnRanks::led || common.ranks->size() == 1,
                        fmt::format("`kasane lattice {}` runs on one rank, and {} were started: start it without mpirun", verb.name,
                                    common.ranks->size()));
            return action();
        }
        return static_cast<int>(bad_input);
    };
}

}  // namespace kasane::app
