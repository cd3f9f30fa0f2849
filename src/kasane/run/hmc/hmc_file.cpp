#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/hmc/hmc_file.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::run {
namespace {

std::vector<std::string> action_names() {
    std::vector<std::string> names;
    for (const auto& each : lattice::gauge_actions) names.emplace_back(each.name);
    return names;
}

std::vector<std::string> integrator_names() {
    std::vector<std::string> names;
    for (const auto& each : lattice::integrators) names.emplace_back(each.name);
    return names;
}

void read_gauge_action(io::Section table, HmcFile& file) {
    file.action.beta = table.number("beta", {.help = "6 / g^2", .range = io::above(0)});
    if (table.has("c1")) {
        if (table.has("action")) table.problem("action", "is given beside c1, which names the action too: keep one of them");
        file.action.c1 =
            table.number("c1", {.help = "weight of a rectangle; a plaquette has c0 = 1 - 8 c1", .range = {.least = -10, .most = 0.12}});
        file.action_name = "c1";
        return;
    }
    file.action_name =
        table.text("action", {.help = "by the weight c1 of its rectangles", .fallback = "wilson", .choices = action_names()});
    for (const auto& each : lattice::gauge_actions)
        if (file.action_name == each.name) file.action.c1 = each.c1;
}

void read_hmc_keys(io::Section table, HmcFile& file) {
    file.trajectories = table.integer("trajectories", {.help = "in all", .least = 1, .most = most_updates});
    read_thermalisation(table, "hmc", "trajectories", file.trajectories, file);
    file.length = table.number("length", {.help = "of a trajectory", .fallback = 1.0, .range = io::above(0)});
    file.integrator =
        table.text("integrator", {.help = "of the molecular dynamics", .fallback = "omelyan2", .choices = integrator_names()});
    file.steps = static_cast<int>(table.integer("steps", {.help = "of the integrator in a trajectory", .least = 1, .most = 1'000'000}));
    file.accept_first = table.integer("accept_first", {.help = "trajectories without Metropolis's test, for a start far from equilibrium",
                                                       .fallback = 0,
                                                       .least = 0,
                                                       .most = most_updates});
    if (!table.faulty("hmc.accept_first") && !table.faulty("hmc.thermalisation") && file.accept_first > file.thermalisation)
        table.problem("accept_first",
                      fmt::format("is {}, and thermalisation is {}: trajectories without Metropolis's test must be left out "
                                  "of the means. Take at most as many",
                                  file.accept_first, file.thermalisation));
    file.seed = read_seed(table, "of momenta and of Metropolis's test");
}

/// The papers of the methods.
std::vector<std::string> hmc_papers(const HmcFile& file) {
    std::vector<std::string> all{"S. Duane, A. D. Kennedy, B. J. Pendleton, D. Roweth, Phys. Lett. B 195, 216 (1987) (hybrid Monte Carlo)"};
    for (const auto& each : lattice::gauge_actions)
        if (file.action_name == each.name) all.emplace_back(each.paper);
    for (const auto& each : lattice::integrators)
        if (file.integrator == each.name && each.integrator != lattice::Integrator::leapfrog) all.emplace_back(each.paper);
    all.emplace_back("U. Wolff, Comput. Phys. Commun. 156, 143 (2004) (errors of correlated measurements)");
    return all;
}

}  // namespace

std::vector<lattice::Level> HmcFile::levels() const {
    const auto found = std::ranges::find_if(lattice::integrators, [&](const auto& each) { return integrator == each.name; });
    return {{found->integrator, steps, {0}}};
}

HmcFile read_hmc_file(const RunSource& source) {
    io::RunFileReader reader(source.path, source.settings);
    auto root = reader.root();
    HmcFile file;
    read_run_keys(reader, "hmc", source.problems, file);
    auto lattice = root.table("lattice", "periodic in all directions");
    read_extents(lattice, file);
    read_start(root.table("start", "the links before the first trajectory"), !source.from, file);
    read_gauge_action(root.table("gauge", "S = beta sum of c0 (1 - Re tr P / 3) over plaquettes and c1 (1 - Re tr R / 3) over rectangles"),
                      file);
    read_hmc_keys(root.table("hmc", "hybrid Monte Carlo: momenta, molecular dynamics, Metropolis's test"), file);
    auto output = root.table("output", "what is written");
    file.directory = read_output_directory(output);
    read_configurations(output, "trajectories", file);
    read_intervals(output, "trajectory", file);
    finish(reader, file);
    file.papers = hmc_papers(file);
    return file;
}

}  // namespace kasane::run
