// The loop of one segment of a run: advances the run between checkpoints, keeps its record up to date, and records how it ended.
// Invariants: the record is written with every checkpoint and at the end, also of a run that fails; a checkpoint holds the record of the
// same time; the newest two checkpoints are kept during the run. Files that the output thread writes appear in the order in which they
// were added, and all exist before the loop ends.
#pragma once

#include <kasane/core/io/output_thread.hpp>
#include <kasane/run/driver/kind.hpp>

#include <optional>

namespace kasane::run {

/// The text of record.json from a run's present record.
std::string record_text(const Kind& kind, Run& run);

class Loop {
   public:
    /// Opens a segment in the run's record. All arguments must outlive this.
    Loop(const Kind& kind, Run& run, const RunDirectory& directory, const RunControls& controls, RankCoordinator& ranks);

    /// Runs to the end or until an interrupt, and records which. @throws the error of the run, after the record has the reason
    void run();

    // For the run, from begin(), advance(), save() and complete():
    const RunDirectory& directory() const { return directory_; }
    const RunControls& controls() const { return controls_; }
    RankCoordinator& ranks() const { return ranks_; }
    /// Timers whose parts are added to the record.
    Timers& timers() { return timers_; }
    /// The thread that writes files while the run goes on.
    io::OutputThread& output() { return output_; }
    /// Wall time of all segments so far.
    double seconds() const { return seconds_before_ + watch_.seconds(); }
    /// Whether advance() must return, because of an interrupt or a checkpoint that is due.
    bool pause() const { return controls_.stop() || checkpoint_due(); }
    /// Draws the progress bar. @param done  out of Run::total()
    void show(double done, const std::string& note);
    /// Removes the bar, so that the next log message has its own line.
    void clear_bar();
    /// The text of record.json now.
    std::string record();
    /// Writes the record, after the jobs of the output thread.
    void write_record();
    /// Writes a checkpoint, removes old ones and writes the record of the present time; on the output thread if the run can.
    void save();

   private:
    bool checkpoint_due() const { return since_checkpoint_.seconds() >= run_.file().checkpoint_every; }
    void update();
    void end(const std::string& status);
    void finish();

    const Kind& kind_;
    Run& run_;
    const RunDirectory& directory_;
    const RunControls& controls_;
    RankCoordinator& ranks_;
    Timers timers_;
    std::map<std::string, Timers::Part> timers_before_;
    double seconds_before_;
    std::optional<Progress> bar_;
    Stopwatch watch_, since_checkpoint_;
    io::OutputThread output_;  // last: its jobs use the others
};

}  // namespace kasane::run
