// The run record of a gravity run: the part of record.json after the common part.
#pragma once

#include <kasane/gravity/domain/worker_load.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/driver/kept_keys.hpp>
#include <kasane/run/driver/record.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace kasane::run {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct GravityRecord : Record {
    /// The particles of one [[object]] at the start. The ids of all objects count from 1, in this order.
    struct Object {
        std::string name;
        std::int64_t count = 0;
    };
    /// [force] in the words of run files. A text is empty, and a number 0, where the method does not have it.
    struct Force {
        std::string method, variant;  ///< variant: kernel or walk that runs
        std::string precision;        ///< of direct summation
        std::string mac, multipole, curve;
        double mac_parameter = unknown;  ///< theta, delta or error, depending on `mac`
        int leaf_size = 0;
        int vector = 0, group = 0;  ///< of the walk "links" alone
        bool deterministic = false;
    };
    /// [step] in the words of run files.
    struct Step {
        std::string method;  ///< leapfrog | adaptive | block
        std::string criterion;
        double eta = unknown, length = 0;
        int deepest = 0;
    };
    struct Bound {
        double rate = 0;  ///< upper bound by the hardware [interactions / s]; 0: not known
        std::string reason;
    };

    std::int64_t particles = 0;
    std::array<std::int64_t, gravity::type_count> particles_by_type{};
    std::vector<Object> objects;
    std::vector<gravity::SnapshotComponent> components;  ///< what the particles were sampled as, where known
    gravity::Units units;
    double softening = 0, dt = 0;  ///< softening: the smallest of all particles; dt: the macro step
    std::string softening_kernel = "plummer";
    std::string softening_table;                       ///< SofteningKeys::text()
    std::vector<gravity::SnapshotComponent> softened;  ///< components and types by name, type and softening; empty: one for all
    double snapshot_every = 0;                         ///< [time]
    Force force;
    Step step;
    gravity::StepCounts step_counts;  ///< of all segments
    gravity::TreeTuning tuning;
    gravity::ForceAudit force_error;  ///< the last one; count 0: none
    std::int64_t steps = 0;
    double time = 0;
    double step_seconds = 0;            ///< wall, of a macro step of the last segment; 0: none was taken
    double predicted_step_seconds = 0;  ///< by the model of perf/, where this machine is calibrated; 0: not known
    double expected_energy_drift = 0;   ///< relative, per crossing time (gravity::expected_energy_drift); 0: no estimate
    double interactions = 0;
    std::vector<gravity::WorkerLoad> loads;  ///< of the workers of a tree, in the last segment; empty on one device
    std::vector<std::uint64_t> rank_memory;  ///< largest host memory of each of several ranks, in the last segment [byte]
    double rate = unknown;                   ///< interactions per second of force calculation
    Bound bound;
    double initial_energy = 0;         ///< E0; the errors below are relative to |E0|
    double relative_energy_error = 0;  ///< largest so far
    double final_relative_energy_error = 0;
    std::vector<std::string> warnings;  ///< of the model: see Sampling::warnings()

    /// Sets `force`, without its variant, and `step`.
    void describe(const gravity::Force& options, const gravity::Steps& steps);
    /// Number of workers on all ranks.
    int workers() const { return parallel ? parallel->ranks * parallel->workers : 1; }
    /// Mean share of the particles that a block step advances; NaN before the first.
    double active_fraction() const;
};

/// The part of record.json after the common part.
io::Json part_of(const GravityRecord& record);
/// @throws InputError when the text is not the record of a gravity run
GravityRecord gravity_record_from_json(const std::string& text, const std::filesystem::path& file);
/// Reads as much of a record as possible. Numbers that are missing are NaN where 0 could be meant, and 0 otherwise.
GravityRecord readable_gravity_record(const io::Json& object);

/// Keys that must not change on resume. @param record  record.json, or its part of a run that begins; records of earlier versions may lack
/// keys
KeptKeys kept_keys(const io::Json& record);

}  // namespace kasane::run
