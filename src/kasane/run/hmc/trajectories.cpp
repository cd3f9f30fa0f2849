#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/input_file.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace kasane::run {
namespace {

constexpr const char* trajectory_columns = "trajectory,plaquette,rectangle,dH,accepted,exp_minus_dH";

}  // namespace

void write_trajectories(const std::filesystem::path& path, const std::vector<TrajectoryRow>& rows) {
    auto text = std::string(trajectory_columns) + "\n";
    for (const auto& r : rows)
        text += fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g}\n", r.trajectory, r.plaquette, r.rectangle, r.dH, r.accepted,
                            r.weight());
    write_atomically(path, text);
}

std::vector<TrajectoryRow> read_trajectories(const std::filesystem::path& path) {
    io::check_regular_file(path, "a table of trajectories");
    std::ifstream file(path, std::ios::binary);
    KS_VALIDATE(file, "cannot be read", {path.string(), 0, 0, ""});
    std::string line;
    std::getline(file, line);
    KS_VALIDATE(line == trajectory_columns, fmt::format("does not begin with the line \"{}\"", trajectory_columns),
                {path.string(), 1, 0, ""});
    std::vector<TrajectoryRow> rows;
    for (int number = 2; std::getline(file, line); ++number) {
        TrajectoryRow r;
        double weight = 0;
        std::string_view rest = line;
        const bool good = take(rest, r.trajectory) && take(rest, r.plaquette) && take(rest, r.rectangle) && take(rest, r.dH) &&
                          take(rest, r.accepted) && take(rest, weight) && rest.empty();
        KS_VALIDATE(good, "is not a row of six numbers", {path.string(), number, 0, ""});
        rows.push_back(r);
    }
    return rows;
}

std::vector<TrajectoryRow> thermalised(const std::vector<TrajectoryRow>& rows, std::int64_t thermalisation) {
    const auto first = std::ranges::find_if(rows, [&](const auto& r) { return r.trajectory > thermalisation; });
    return {first, rows.end()};
}

HmcMeans means_of(const std::vector<TrajectoryRow>& all, std::int64_t thermalisation) {
    const auto rows = thermalised(all, thermalisation);
    const auto of = [&](auto value) { return lattice::estimate(column(rows, value)); };
    return {.plaquette = of([](const auto& r) { return r.plaquette; }),
            .rectangle = of([](const auto& r) { return r.rectangle; }),
            .dH = of([](const auto& r) { return r.dH; }),
            .acceptance = of([](const auto& r) { return r.accepted; }),
            .weight = of([](const auto& r) { return r.weight(); })};
}

}  // namespace kasane::run
