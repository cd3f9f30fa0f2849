#include <kasane/run/gauge/update_table.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <algorithm>
#include <utility>

namespace kasane::run {
namespace {

const std::vector<std::string> measurement_columns{"plaquette", "plaquette_space", "plaquette_time", "polyakov_re", "polyakov_im"};

}  // namespace

void write_measurements(const std::filesystem::path& path, const std::vector<Measurement>& rows) {
    UpdateTable table("measurements", measurement_columns);
    for (const auto& m : rows) table.add(m.sweep, {m.plaquette(), m.plaquette_space, m.plaquette_time, m.polyakov_re, m.polyakov_im});
    write_table(path, "sweep", table);
}

std::vector<Measurement> read_measurements(const std::filesystem::path& path) {
    const auto table = read_table(path, "sweep", measurement_columns);
    const auto& v = table.values;
    std::vector<Measurement> rows;
    for (std::size_t i = 0; i < table.updates.size(); ++i) rows.push_back({table.updates[i], v[1][i], v[2][i], v[3][i], v[4][i]});
    return rows;
}

std::vector<Measurement> measured(const std::vector<Measurement>& rows, std::int64_t thermalisation) {
    const auto first = std::ranges::find_if(rows, [&](const auto& m) { return m.sweep > thermalisation; });
    return {first, rows.end()};
}

QuenchedMeans means_of(const std::vector<Measurement>& all, std::int64_t thermalisation, std::int64_t measure_every,
                       const lattice::Extents& extents) {
    const auto rows = measured(all, thermalisation);
    const auto of = [&](auto value) { return estimate_of_chain(column(rows, value), measure_every); };
    QuenchedMeans means;
    means.plaquette = of([](const auto& m) { return m.plaquette(); });
    means.plaquette_space = of([](const auto& m) { return m.plaquette_space; });
    means.plaquette_time = of([](const auto& m) { return m.plaquette_time; });
    means.polyakov_re = of([](const auto& m) { return m.polyakov_re; });
    means.polyakov_im = of([](const auto& m) { return m.polyakov_im; });
    means.polyakov = of([](const auto& m) { return m.polyakov(); });
    const auto size = column(rows, [](const auto& m) { return m.polyakov(); });
    auto square = size;
    for (auto& value : square) value *= value;
    // Bins of many autocorrelation times are nearly independent; the error estimate needs at least ten of them.
    const double tau = means.polyakov.tau / static_cast<double>(measure_every);
    const auto rows_of_bin = std::isfinite(tau) ? static_cast<index_t>(std::ceil(10 * tau)) : 1;
    const index_t bin = std::clamp<index_t>(rows_of_bin, 1, std::max<index_t>(1, std::ssize(rows) / 10));
    const auto volume = static_cast<double>(extents[0]) * extents[1] * extents[2];
    means.susceptibility =
        lattice::jackknife({square, size}, bin, [&](const auto& mean) { return volume * (mean[0] - mean[1] * mean[1]); });
    return means;
}

}  // namespace kasane::run
