#include <kasane/run/gauge/update_table.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <algorithm>

namespace kasane::run {
namespace {

const std::vector<std::string> trajectory_columns{"plaquette", "rectangle", "dH", "accepted", "exp_minus_dH"};

}  // namespace

void write_trajectories(const std::filesystem::path& path, const std::vector<TrajectoryRow>& rows) {
    UpdateTable table("measurements", trajectory_columns);
    for (const auto& r : rows) table.add(r.trajectory, {r.plaquette, r.rectangle, r.dH, r.accepted, r.weight()});
    write_table(path, "trajectory", table);
}

std::vector<TrajectoryRow> read_trajectories(const std::filesystem::path& path) {
    const auto table = read_table(path, "trajectory", trajectory_columns);
    const auto& v = table.values;
    std::vector<TrajectoryRow> rows;
    for (std::size_t i = 0; i < table.updates.size(); ++i) rows.push_back({table.updates[i], v[0][i], v[1][i], v[2][i], v[3][i]});
    return rows;
}

std::vector<TrajectoryRow> thermalised(const std::vector<TrajectoryRow>& rows, std::int64_t thermalisation) {
    const auto first = std::ranges::find_if(rows, [&](const auto& r) { return r.trajectory > thermalisation; });
    return {first, rows.end()};
}

HmcMeans means_of(const std::vector<TrajectoryRow>& all, std::int64_t thermalisation) {
    const auto rows = thermalised(all, thermalisation);
    const auto of = [&](auto value) { return estimate_of_chain(column(rows, value)); };
    return {.plaquette = of([](const auto& r) { return r.plaquette; }),
            .rectangle = of([](const auto& r) { return r.rectangle; }),
            .dH = of([](const auto& r) { return r.dH; }),
            .acceptance = of([](const auto& r) { return r.accepted; }),
            .weight = of([](const auto& r) { return r.weight(); })};
}

}  // namespace kasane::run
