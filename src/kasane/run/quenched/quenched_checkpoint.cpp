#include <kasane/run/gauge/gauge_checkpoint.hpp>
#include <kasane/run/quenched/quenched_checkpoint.hpp>

#include <utility>

namespace kasane::run {
namespace {

const GaugeCheckpointLayout quenched_layout{"quenched", "Sweep", {"PlaquetteSpace", "PlaquetteTime", "PolyakovRe", "PolyakovIm"}};
constexpr double Measurement::* quenched_columns[] = {&Measurement::plaquette_space, &Measurement::plaquette_time,
                                                      &Measurement::polyakov_re, &Measurement::polyakov_im};

}  // namespace

void write_quenched_checkpoint(const std::filesystem::path& path, QuenchedCheckpoint checkpoint) {
    GaugeCheckpoint chain;
    chain.record = std::move(checkpoint.record);
    chain.field = std::move(checkpoint.field);
    chain.update = checkpoint.sweep;
    for (const auto& row : checkpoint.measurements) chain.updates.push_back(row.sweep);
    for (const auto member : quenched_columns)
        chain.columns.push_back(column(checkpoint.measurements, [&](const auto& row) { return row.*member; }));
    write_gauge_checkpoint(path, quenched_layout, std::move(chain));
}

QuenchedCheckpoint read_quenched_checkpoint(const std::filesystem::path& path) {
    auto chain = read_gauge_checkpoint(path, quenched_layout);
    QuenchedCheckpoint checkpoint;
    checkpoint.record = std::move(chain.record);
    checkpoint.field = std::move(chain.field);
    checkpoint.sweep = chain.update;
    checkpoint.measurements.resize(chain.updates.size());
    for (std::size_t i = 0; i < chain.updates.size(); ++i) {
        checkpoint.measurements[i].sweep = chain.updates[i];
        for (std::size_t k = 0; k < std::size(quenched_columns); ++k) checkpoint.measurements[i].*quenched_columns[k] = chain.columns[k][i];
    }
    return checkpoint;
}

}  // namespace kasane::run
