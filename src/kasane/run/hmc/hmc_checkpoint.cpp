#include <kasane/run/gauge/gauge_checkpoint.hpp>
#include <kasane/run/hmc/hmc_checkpoint.hpp>

#include <utility>

namespace kasane::run {
namespace {

const GaugeCheckpointLayout hmc_layout{"hmc", "Trajectory", {"Plaquette", "Rectangle", "DH", "Accepted"}};

}  // namespace

void write_hmc_checkpoint(const std::filesystem::path& path, HmcCheckpoint from) {
    GaugeCheckpoint to;
    to.record = std::move(from.record), to.field = std::move(from.field), to.update = from.trajectory;
    for (const auto& r : from.rows) to.updates.push_back(r.trajectory);
    to.columns = {column(from.rows, [](const auto& r) { return r.plaquette; }),
                  column(from.rows, [](const auto& r) { return r.rectangle; }), column(from.rows, [](const auto& r) { return r.dH; }),
                  column(from.rows, [](const auto& r) { return r.accepted; })};
    for (const auto* table : from.tables.all()) to.tables.push_back(*table);
    write_gauge_checkpoint(path, hmc_layout, std::move(to));
}

HmcCheckpoint read_hmc_checkpoint(const std::filesystem::path& path) {
    auto from = read_gauge_checkpoint(path, hmc_layout);
    HmcCheckpoint to;
    to.record = std::move(from.record), to.field = std::move(from.field), to.trajectory = from.update;
    const auto& c = from.columns;
    for (std::size_t i = 0; i < from.updates.size(); ++i) to.rows.push_back({from.updates[i], c[0][i], c[1][i], c[2][i], c[3][i]});
    for (auto* known : to.tables.all())
        for (const auto& table : from.tables)
            if (known->name == table.name) *known = table;
    return to;
}

}  // namespace kasane::run
