// One life of a gravity run: the loop between events, and everything that is written on the way.
// Invariants: events happen at step numbers (Schedule), in the order energy row, snapshot, checkpoint, so that a checkpoint's step
// has all its rows and snapshots; how many steps are taken at once depends on the clock, and no result depends on that.
#pragma once

#include <kasane/gravity/simulation.hpp>
#include <kasane/run/checkpoint.hpp>
#include <kasane/run/energy_table.hpp>
#include <kasane/run/record.hpp>
#include <kasane/run/run.hpp>

namespace kasane::run {

/// Units, force, steps and the interval of snapshots: what the run file says of them.
void set_parameters(Record& record, const RunFile& file);

class GravityRun {
   public:
    /// @param state what the force keeps beside the particles   @param step of the particles: 0 at the beginning
    /// @param record of the earlier lives   @param crew  that the file was read with; null: this process alone. Both outlive this
    GravityRun(const RunFile& file, const RunDirectory& directory, gravity::Particles particles, gravity::SimulationState state,
               std::int64_t step, Record record, Crew* crew);

    /// Steps to the end or until asked to stop; the record says which.
    const Record& go(const RunControls& controls);

   private:
    void at_step(bool diagnostics, bool snapshot);
    /// Of this moment; measured when first asked for. The count is 0 when the run file wants none.
    const gravity::ForceAudit& force_error();
    gravity::StepCounts step_counts() const;
    void diagnose();
    void save_snapshot();
    void save_checkpoint();
    void update_record();
    void write_record();
    void fail_if_not_finite(bool finite) const;

    const RunFile& file_;
    const Schedule& schedule_;
    const RunDirectory& directory_;
    std::unique_ptr<Crew> alone_;  ///< when there is no other
    Crew& crew_;
    gravity::Simulation simulation_;
    EnergyTable energy_;
    Record record_;
    std::map<std::string, Timers::Part> timers_before_;
    Timers timers_;
    gravity::StepCounts counts_before_;
    std::int64_t audited_step_ = -1;
    double interactions_before_ = 0, seconds_before_ = 0;
    double last_good_time_ = 0;
    double stepping_seconds_ = 0;
    Stopwatch life_, since_checkpoint_;
};

}  // namespace kasane::run
