#include <kasane/run/hmc/hmc_tables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kasane::run {
namespace {

constexpr std::array<const char*, 4> term_columns{"force_mean", "force_largest", "iterations", "force_iterations"};

double mean_of(const std::vector<double>& values) {
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// 0 of an empty list.
double largest_of(const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

}  // namespace

std::vector<std::string> dynamics_columns(const std::vector<std::string>& terms) {
    std::vector<std::string> columns{"steps"};
    for (auto term : terms) {
        std::erase(term, ',');  // "clover determinant, quark 2"
        for (const char* each : term_columns) columns.push_back(fmt::format("{}[{}]", each, term));
    }
    return columns;
}

std::vector<double> dynamics_row(int steps, const std::vector<lattice::TermDynamics>& terms) {
    std::vector<double> row{static_cast<double>(steps)};
    for (const auto& t : terms)
        row.insert(row.end(), {t.force_mean, t.force_largest, static_cast<double>(t.iterations), static_cast<double>(t.force_iterations)});
    return row;
}

HmcSummary summary_of(const HmcTables& tables, std::int64_t thermalisation, const HmcMeasurements& how) {
    HmcSummary s;
    const auto& dynamics = tables.dynamics;
    for (std::size_t k = 1; k < dynamics.columns.size(); k += term_columns.size()) {
        const auto& first = dynamics.columns[k];  // "force_mean[quark 1]"
        const auto open = first.find('[');
        if (open == std::string::npos) continue;
        const auto of = [&](std::size_t i) { return dynamics.column(term_columns[i] + first.substr(open), thermalisation); };
        s.terms.push_back(
            {first.substr(open + 1, first.size() - open - 2), mean_of(of(0)), largest_of(of(1)), mean_of(of(2)), mean_of(of(3))});
    }
    s.returns = std::ssize(tables.reversibility.updates);
    s.return_distance = largest_of(tables.reversibility.column("distance"));
    s.return_dH = largest_of(tables.reversibility.column("dH"));
    const auto flow = [&](const char* column) { return tables.flow.column(column, thermalisation); };
    auto square = flow("charge");
    for (auto& charge : square) charge *= charge;
    s.charge = estimate_of_chain(flow("charge"), how.flow_every), s.charge2 = estimate_of_chain(square, how.flow_every);
    s.t2E = estimate_of_chain(flow("t2E"), how.flow_every), s.t0 = estimate_of_chain(flow("t0"), how.flow_every);
    const auto smallest = tables.spectrum.column("smallest", thermalisation);
    s.eigenvalue = estimate_of_chain(smallest, how.spectrum_every);
    if (!smallest.empty()) s.least_eigenvalue = *std::ranges::min_element(smallest);
    return s;
}

void write_hmc_tables(const std::filesystem::path& directory, const HmcTables& tables) {
    for (const auto* table : tables.all())
        if (!table->empty()) write_table(directory / (table->name + ".csv"), "trajectory", *table);
}

HmcTables read_hmc_tables(const std::filesystem::path& directory) {
    HmcTables tables;
    for (auto* table : tables.all())
        if (const auto path = directory / (table->name + ".csv"); std::filesystem::exists(path))
            *table = read_table(path, "trajectory", table->columns);
    return tables;
}

}  // namespace kasane::run
