// record.json of a gravity run: the part behind the common one: what was computed, how, and how well.
#pragma once

#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/gravity/units.hpp>
#include <kasane/run/driver/kept_keys.hpp>
#include <kasane/run/driver/record.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct GravityRecord : Record {
    /// What the particles were at the start: ids 1.. in this order.
    struct Object {
        std::string name;
        std::int64_t count = 0;
    };
    struct Bound {
        double rate = 0;  ///< what the hardware allows [interactions / s]; 0: not known
        std::string reason;
    };

    std::int64_t particles = 0;
    std::array<std::int64_t, gravity::type_count> particles_by_type{};
    std::vector<Object> objects;
    std::vector<gravity::SnapshotComponent> components;  ///< what the particles were sampled as, where known
    gravity::Units units;
    double softening = 0, dt = 0;  ///< dt: the macro step
    double snapshot_every = 0;     ///< [time]
    gravity::Force force;
    std::string variant;  ///< kernel or walk that runs
    gravity::Steps step_method;
    gravity::StepCounts step_counts;  ///< of all segments
    gravity::TreeTuning tuning;
    gravity::ForceAudit force_error;  ///< the last one; count 0: none
    std::int64_t steps = 0;
    double time = 0;
    double step_seconds = 0;            ///< wall, of a macro step of the last segment; 0: none was taken
    double predicted_step_seconds = 0;  ///< by the model of perf/, where this machine is calibrated; 0: not known
    double interactions = 0;
    Bound bound;
    double initial_energy = 0;         ///< E0; the errors below are relative to |E0|
    double relative_energy_error = 0;  ///< largest so far
    double final_relative_energy_error = 0;
    std::vector<std::string> warnings;  ///< of the model: see Sampling::warnings()
};

/// The part of record.json behind the common part.
nlohmann::ordered_json part_of(const GravityRecord& record);
/// @throws InputError when the text is not the record of a gravity run
GravityRecord gravity_record_from_json(const std::string& text, const std::filesystem::path& file);

/// Keys that must not change on resume. @param record  record.json, or its part of a run that begins; records of earlier versions may lack
/// keys
KeptKeys kept_keys(const nlohmann::json& record);

/// Mean share of the particles that a block step advances; NaN before the first.
double active_fraction(const gravity::StepCounts& counts, std::int64_t particles);

}  // namespace kasane::run
