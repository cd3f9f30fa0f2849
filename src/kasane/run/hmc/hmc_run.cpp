#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/lattice/distributed/distributed_gauge.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/hmc/hmc.hpp>
#include <kasane/run/hmc/hmc_links.hpp>
#include <kasane/run/hmc/hmc_checkpoint.hpp>
#include <kasane/run/hmc/hmc_file.hpp>
#include <kasane/run/hmc/hmc_record.hpp>
#include <kasane/run/hmc/step_tuner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* trajectory_table = "measurements.csv";
/// Rejections in a row that end a run. With an acceptance of one half they have a probability of 1e-6.
constexpr int most_rejections = 20;

/// The keys of the quarks that a resumed run keeps: those of the action.
void add_quark_keys(const std::optional<HmcQuarks>& quarks, KeptKeys& keys) {
    const HmcQuarks none, &q = quarks ? *quarks : none;
    keys.emplace_back("quarks.kappa", quarks ? fmt::format("{}", q.kappa) : "none");
    keys.emplace_back("quarks.csw", fmt::format("{}", q.csw));
    keys.emplace_back("quarks.boundary", q.boundary);
    keys.emplace_back("quarks.twisted_mass", fmt::format("{}", q.twisted_mass));
    keys.emplace_back("hasenbusch.mass", q.masses_text());
    keys.emplace_back("quarks.flavours", fmt::format("{}", q.flavours));
    std::string kappas;
    for (const auto& each : q.single) kappas += fmt::format("{}{}", kappas.empty() ? "" : ", ", each.kappa);
    keys.emplace_back("flavour.kappa", kappas);
}

std::vector<std::string> hmc_table_files() {
    std::vector<std::string> files{trajectory_table};
    const HmcTables tables;  // all() has pointers to its members
    for (const auto* table : tables.all()) files.push_back(table->name + ".csv");
    return files;
}

void check_resumable(const HmcFile& file, const HmcCheckpoint& checkpoint, const HmcRecord& record) {
    KeptKeys now{{"lattice.extents", text(file.extents)},
                 {"gauge.beta", fmt::format("{}", file.action.beta)},
                 {"gauge.c1", fmt::format("{}", file.action.c1)},
                 {"hmc.length", fmt::format("{}", file.length)},
                 {"hmc.accept_first", fmt::format("{}", file.accept_first)},
                 {"hmc.seed", fmt::format("{}", file.seed)}};
    KeptKeys then{{"lattice.extents", text(checkpoint.field.extents)},
                  {"gauge.beta", fmt::format("{}", record.beta)},
                  {"gauge.c1", fmt::format("{}", record.c1)},
                  {"hmc.length", fmt::format("{}", record.length)},
                  {"hmc.accept_first", fmt::format("{}", record.accept_first)},
                  {"hmc.seed", fmt::format("{}", record.seed)}};
    add_quark_keys(file.quarks, now);
    add_quark_keys(record.quarks, then);
    check_kept(now, then, file.path);
    KS_VALIDATE(file.trajectories >= checkpoint.trajectory,
                fmt::format("is {}, and the checkpoint was written after trajectory {}: take at least as many", file.trajectories,
                            checkpoint.trajectory),
                {file.path.string(), 0, 0, "hmc.trajectories"});
}

class HmcRun : public Run {
   public:
    HmcRun(HmcFile file, RankCoordinator& ranks) : file_(std::move(file)), ranks_(ranks) {}

    const RunFile& file() const override { return file_; }
    Record& record() override { return record_; }
    io::Json part() const override { return part_of(record_); }
    std::vector<RunMemory> memory() const override { return hmc_memory(file_, ranks_); }
    RunSize size() const override { return {lattice::text(file_.extents), "sites", file_.extents_where}; }

    Summary check(const RunControls&) override {
        if (file_.start.kind == StartKind::file) load_start(file_);  // it may be damaged
        return {{{"extents", file_.extents.n}, {"trajectories", file_.trajectories}},
                fmt::format("{} sites, {} trajectories", lattice::text(file_.extents), file_.trajectories)};
    }

    void create(const RunControls& controls) override {
        links_ = hmc_links(file_, ranks_);
        links_->start(controls);
    }

    void restore(Checkpoint& from) override {
        record_ = hmc_record_from_json(from.record, file_.path);
        trajectory_ = record_.trajectories_done;
        if (auto* checkpoint = dynamic_cast<HmcCheckpoint*>(&from)) {
            check_resumable(file_, *checkpoint, record_);
            trajectory_ = checkpoint->trajectory;
            rows_ = std::move(checkpoint->rows);
            tables_ = std::move(checkpoint->tables);
            field_ = std::move(checkpoint->field);
            update();
        }
    }

    std::int64_t progress() const override { return trajectory_; }
    bool done() const override { return trajectory_ == file_.trajectories; }
    double total() const override { return static_cast<double>(file_.trajectories); }
    bool results_in(const RunDirectory& directory) const override { return fs::exists(directory.path() / file_.configuration); }
    bool tables_in(const RunDirectory& directory) const override { return fs::exists(directory.path() / trajectory_table); }
    std::string memory_line(const RunMemory& memory) const override { return "memory at most: " + text(memory, file_.extents); }
    std::string headline() const override {
        const auto quarks = file_.quarks ? fmt::format("{}, csw = {}, ", file_.quarks->flavours_text(), file_.quarks->csw) : "";
        return fmt::format("{} sites, gauge action {} at beta = {}, {}on {}{}, {} of {} trajectories", lattice::text(file_.extents),
                           file_.action_name, file_.action.beta, quarks, device_info(file_.space).name,
                           file_.grid ? ", " + file_.grid->text() : "", file_.trajectories - trajectory_, file_.trajectories);
    }

    void begin(Loop& loop) override {
        log::info("memory: {}", text(memory().front(), file_.extents));
        auto& r = record_;
        begin_tuning(r);
        take_over(file_, r);
        r.action = file_.action_name, r.beta = file_.action.beta, r.c1 = file_.action.c1;
        r.trajectories = file_.trajectories, r.accept_first = file_.accept_first;
        r.length = file_.length, r.integrator = file_.integrator, r.steps = file_.steps, r.seed = file_.seed;
        r.quarks = file_.quarks, r.measure = file_.measure;
        if (!links_) links_ = hmc_links(file_, ranks_);
        if (field_) links_->load(*field_);
        field_.reset();
        terms_ = links_->begin(r.tuning.steps);
        if (const auto flavours = single_flavours()) flavours->begin(*links_, trajectory_, r.flavours);
        prepare_dynamics();
        rejections_ = 0;
        loop.write_record();
    }

    /// One trajectory. An interrupt ends it, and the links are those of before: it is run again on resume.
    void advance(Loop& loop) override {
        const auto number = trajectory_ + 1;
        const bool test = number > file_.accept_first;
        const auto result = trajectory(loop, number, test);
        if (!result) return;
        trajectory_ = number;
        measure(loop, *result);
        if (HmcMeasurements::due(file_.measure.flow_every, number)) flow(loop);
        if (HmcMeasurements::due(file_.measure.spectrum_every, number)) measure_eigenvalue(loop);
        rejections_ = result->accepted ? 0 : rejections_ + 1;
        if (rejections_ == most_rejections)
            throw ComputationError(fmt::format(
                "{} trajectories in a row were rejected, the last one with dH = {:.3g}: the steps of the integrator are too long. Take "
                "more than hmc.steps = {} and resume the run; for a start far from equilibrium also hmc.accept_first",
                most_rejections, result->dH, record_.tuning.steps));
        if (const auto flavours = single_flavours()) {
            const auto timer = loop.timers().scope("spectrum");
            flavours->check(*links_, trajectory_, record_.flavours);
        }
        tune();
        if (file_.writes(trajectory_)) {
            loop.clear_bar();
            write_configuration(loop, file_.configuration_of(trajectory_), links_->field(), file_, record_.configurations);
        }
        loop.show(static_cast<double>(trajectory_),
                  fmt::format("plaquette {:.5f}, dH {:.2g}, {} of {} accepted", rows_.back().plaquette, result->dH, accepted_, shown_));
    }

    /// Writes the checkpoint itself, because a second copy of the links would take much memory.
    std::function<void()> save(Loop& loop, const fs::path& path) override {
        HmcCheckpoint checkpoint;
        checkpoint.record = loop.record();
        checkpoint.field = links_->field();
        checkpoint.trajectory = trajectory_;
        checkpoint.rows = rows_;
        checkpoint.tables = tables_;
        write_hmc_checkpoint(path, std::move(checkpoint));
        log::debug("trajectory {}: checkpoint", trajectory_);
        return {};
    }

    void complete(Loop& loop) override { write_configuration(loop, file_.configuration, links_->field(), file_, record_.configurations); }

    void update() override {
        record_.trajectories_done = trajectory_;
        record_.means = means_of(rows_, file_.thermalisation);
        record_.summary = summary_of(tables_, file_.thermalisation, file_.measure);
    }

    void write_tables(const RunDirectory& directory) override {
        write_trajectories(directory.path() / trajectory_table, rows_);
        write_hmc_tables(directory.path(), tables_);
    }

    Summary summary(const fs::path& directory) const override {
        const auto& m = record_.means;
        const bool done = record_.status == "done";
        const auto last = fs::absolute(directory / record_.configuration).lexically_normal().string();
        return {{{"steps", record_.trajectories_done},
                 {"measurements", m.plaquette.count},
                 {"plaquette", json_of(m.plaquette)},
                 {"rectangle", json_of(m.rectangle)},
                 {"dH", json_of(m.dH)},
                 {"exp_minus_dH", json_of(m.weight)},
                 {"acceptance", json_of(m.acceptance)},
                 {"seconds_per_trajectory", trajectory_seconds(record_)},
                 {"configurations", record_.configurations.size()},
                 {"configuration", text_or_null(done ? last : "")}},
                fmt::format("{} {} in {:.1f} s, plaquette {}, acceptance {}, <exp(-dH)> {}: {}{}", record_.trajectories_done,
                            record_.trajectories_done == 1 ? "trajectory" : "trajectories", record_.seconds, text(m.plaquette),
                            text(m.acceptance), text(m.weight), record_.status, done ? "\nlast configuration: " + last : "")};
    }

   private:
    /// Where there are quarks of one flavour.
    std::optional<RunFlavours> single_flavours() const {
        if (!file_.quarks || file_.quarks->single.empty()) return {};
        return RunFlavours(file_.extents, *file_.quarks, file_.thermalisation);
    }

    /// A trajectory that fails, because kappa is beyond its critical value on these links for example, leaves the links of before in a
    /// checkpoint.
    std::optional<lattice::TrajectoryResult> trajectory(Loop& loop, std::int64_t number, bool test) {
        try {
            return links_->trajectory(
                static_cast<std::uint64_t>(number), test, loop.timers(), [&] { return loop.controls().stop(); },
                HmcMeasurements::due(file_.measure.reversibility_every, number));
        } catch (const ComputationError& error) {
            if (trajectory_ == 0 || !saved(loop)) throw;
            throw ComputationError(
                fmt::format("trajectory {}: {}. The links of trajectory {} are in a checkpoint: `kasane resume` "
                            "continues from them after a change of the steps or tolerances in run.toml",
                            number, error.what(), trajectory_));
        }
    }

    /// False where the checkpoint cannot be written: an earlier error is reported then.
    static bool saved(Loop& loop) {
        try {
            loop.clear_bar();
            loop.save();
            return true;
        } catch (const Error&) {
            return false;
        }
    }

    /// Takes the number of steps from the run file, or from the checkpoint where it was tuned there.
    void begin_tuning(HmcRecord& r) const {
        const bool continues = r.tuning.acceptance > 0 && r.steps == file_.steps && file_.acceptance > 0;
        r.tuning = {file_.acceptance, continues ? r.tuning.steps : file_.steps, continues && r.tuning.done};
    }

    /// Changes the number of steps, at the end of a block of trajectories of thermalisation.
    void tune() {
        auto& tuning = record_.tuning;
        if (tuning.acceptance == 0 || tuning.done || trajectory_ <= file_.accept_first) return;
        tuning.done = trajectory_ >= file_.thermalisation;
        const auto tested = trajectory_ - file_.accept_first;
        if (trajectory_ > file_.thermalisation || tested % tuning_block != 0) return;
        // The later half of them, because the links of the first ones are far from equilibrium.
        const auto steps = tables_.dynamics.column("steps");
        const auto used = static_cast<std::size_t>(std::min(std::max(tuning_block, tested / 2), std::ssize(steps)));
        std::vector<TunedTrajectory> recent;
        for (std::size_t k = used; k > 0; --k) recent.push_back({static_cast<int>(steps[steps.size() - k]), rows_[rows_.size() - k].dH});
        const int next = tuned_steps(recent, tuning.acceptance, file_.order());
        if (next == tuning.steps) return;
        log::info("trajectory {}: {} steps in place of {}, for an acceptance of {}", trajectory_, next, tuning.steps, tuning.acceptance);
        tuning.steps = next;
        links_->set_steps(next);
    }

    void prepare_dynamics() {
        const auto columns = dynamics_columns(terms_);
        auto& table = tables_.dynamics;
        if (table.empty()) table = UpdateTable(table.name, columns);
        KS_VALIDATE(table.columns == columns, "has the terms of another action in its checkpoint", {file_.path.string(), 0, 0, ""});
    }

    void measure_eigenvalue(Loop& loop) {
        const auto timer = loop.timers().scope("spectrum");
        const auto found = links_->spectrum(0, static_cast<std::uint64_t>(trajectory_));
        tables_.spectrum.add(trajectory_, {found.smallest, found.smallest_error, found.largest, found.largest_error});
        log::debug("trajectory {}: eigenvalues of Dhat^+ Dhat {:.4g}({:.1g}) to {:.4g}, {} steps of Lanczos's method{}", trajectory_,
                   found.smallest, found.smallest_error, found.largest, found.steps,
                   found.converged ? "" : ", which did not converge: the smallest one is smaller");
    }

    void flow(Loop& loop) {
        const auto timer = loop.timers().scope("flow");
        const auto points = links_->flow();
        const auto& end = points.back();
        const double t0 = lattice::flow_scale_t0(points);
        tables_.flow.add(trajectory_, {end.charge, end.t2E, t0});
        log::debug("trajectory {}: topological charge {:.6g} and t^2 E {:.6g} at t = {:.4g}, t0 {:.6g}", trajectory_, end.charge, end.t2E,
                   end.t, t0);
    }

    void measure(Loop& loop, const lattice::TrajectoryResult& result) {
        const auto timer = loop.timers().scope("measurements");
        const auto loops = links_->loop_means();
        rows_.push_back({trajectory_, loops.plaquette, loops.rectangle, result.dH, result.accepted ? 1.0 : 0.0});
        ++shown_, accepted_ += result.accepted;
        tables_.dynamics.add(trajectory_, dynamics_row(record_.tuning.steps, result.terms));
        for (std::size_t k = 0; k < result.terms.size(); ++k) {
            const auto& t = result.terms[k];
            log::debug("trajectory {}: {}: force mean {:.4g}, largest {:.4g}, {} iterations, {} of them of forces, {:.3g} s", trajectory_,
                       terms_[k], t.force_mean, t.force_largest, t.iterations, t.force_iterations, t.seconds);
        }
        if (const auto& back = result.reversibility) {
            tables_.reversibility.add(trajectory_, {back->distance, back->dH});
            log::debug("trajectory {}: returned to its start within |dU| = {:.3g}, d(dH) = {:.3g}", trajectory_, back->distance, back->dH);
        }
        log::debug("trajectory {}: dH {:.6g}, {}, plaquette {:.8f}, rectangle {:.8f}", trajectory_, result.dH,
                   result.accepted ? "accepted" : "rejected", loops.plaquette, loops.rectangle);
        // A trace of SU(3) is at most 3; links with a larger one are no longer a gauge field.
        if (!(std::abs(loops.plaquette) <= 1 + 1e-9))
            throw ComputationError(
                fmt::format("the plaquette is {} after trajectory {}: the links have left SU(3)", loops.plaquette, trajectory_));
    }

    HmcFile file_;
    RankCoordinator& ranks_;
    HmcRecord record_;
    std::unique_ptr<HmcLinks> links_;
    std::vector<std::string> terms_;            ///< names of the terms of the action
    std::optional<lattice::GaugeField> field_;  ///< of a checkpoint, until begin()
    std::int64_t trajectory_ = 0;
    std::vector<TrajectoryRow> rows_;
    HmcTables tables_;
    int rejections_ = 0;                     ///< in a row, in this segment
    std::int64_t accepted_ = 0, shown_ = 0;  ///< in this segment
};

std::unique_ptr<Run> read_hmc(const RunSource& source) { return std::make_unique<HmcRun>(read_hmc_file(source), source.ranks); }

std::unique_ptr<Checkpoint> read_hmc_state(const fs::path& path) { return std::make_unique<HmcCheckpoint>(read_hmc_checkpoint(path)); }

}  // namespace

const Kind hmc_kind{.name = "hmc",
                    .step = "trajectory",
                    .folders = {},
                    .manifest = [](const io::Json& record) { return gauge_manifest(record, hmc_table_files()); },
                    .checkpoints_when_done = 1,
                    .results = nullptr,
                    .read = read_hmc,
                    .read_checkpoint = read_hmc_state,
                    .page = hmc_page,
                    .worker = lattice::gauge_worker_loop};

}  // namespace kasane::run
