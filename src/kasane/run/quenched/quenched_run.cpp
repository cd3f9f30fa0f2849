#include <kasane/core/base/counted.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/gauge/gauge_workers.hpp>
#include <kasane/run/quenched/quenched.hpp>
#include <kasane/run/quenched/quenched_checkpoint.hpp>
#include <kasane/run/quenched/quenched_file.hpp>
#include <kasane/run/quenched/quenched_links.hpp>
#include <kasane/run/quenched/quenched_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* table = "measurements.csv";

void check_resumable(const QuenchedFile& file, const QuenchedCheckpoint& checkpoint, const QuenchedRecord& record) {
    const auto keys = [](const lattice::Extents& extents, const auto& of) {
        return KeptKeys{{"lattice.extents", text(extents)},
                        {"action.beta", fmt::format("{}", of.beta)},
                        {"update.overrelaxation", fmt::format("{}", of.overrelaxation)},
                        {"update.seed", fmt::format("{}", of.seed)},
                        {"output.measure_every", fmt::format("{}", of.measure_every)}};
    };
    check_kept(keys(file.extents, file), keys(checkpoint.field.extents, record), file.path);
    KS_VALIDATE(file.sweeps >= checkpoint.sweep,
                fmt::format("is {}, and the checkpoint was written after sweep {}: take at least as many", file.sweeps, checkpoint.sweep),
                {file.path.string(), 0, 0, "update.sweeps"});
}

class QuenchedRun : public Run {
   public:
    QuenchedRun(QuenchedFile file, RankCoordinator& ranks) : file_(std::move(file)), ranks_(ranks) {}

    const RunFile& file() const override { return file_; }
    Record& record() override { return record_; }
    io::Json part() const override { return part_of(record_); }
    std::vector<RunMemory> memory() const override {
        if (file_.grid) return divided_memory(file_, ranks_, lattice::local_gauge_bytes(*file_.grid));
        return {gauge_memory(file_, links_bytes)};
    }
    RunSize size() const override { return {lattice::text(file_.extents), "sites", file_.extents_where}; }

    Summary check(const RunControls&) override {
        if (file_.start.kind == StartKind::file) load_start(file_);  // it may be damaged
        return {{{"extents", file_.extents.n}, {"sweeps", file_.sweeps}},
                fmt::format("{} sites, {} sweeps", lattice::text(file_.extents), file_.sweeps)};
    }

    void create(const RunControls& controls) override {
        u_ = quenched_links(file_, ranks_);
        u_->start(controls);
    }

    void restore(Checkpoint& from) override {
        record_ = quenched_record_from_json(from.record, file_.path);
        sweep_ = record_.sweeps_done;
        auto* checkpoint = dynamic_cast<QuenchedCheckpoint*>(&from);
        if (!checkpoint) return;
        check_resumable(file_, *checkpoint, record_);
        sweep_ = checkpoint->sweep;
        measurements_ = std::move(checkpoint->measurements);
        field_ = std::move(checkpoint->field);
        record_.means = means_of(measurements_, file_.thermalisation, file_.measure_every, file_.extents);
    }

    std::int64_t progress() const override { return sweep_; }
    bool done() const override { return sweep_ == file_.sweeps; }
    double total() const override { return static_cast<double>(file_.sweeps); }
    bool results_in(const RunDirectory& directory) const override { return fs::exists(directory.path() / file_.configuration); }
    bool tables_in(const RunDirectory& directory) const override { return fs::exists(directory.path() / table); }
    std::string memory_line(const RunMemory& memory) const override { return "memory at most: " + text(memory, file_.extents); }
    std::string headline() const override {
        return fmt::format("{} sites at beta = {} on {}{}, {} of {}", lattice::text(file_.extents), file_.beta,
                           device_info(file_.space).name, file_.grid ? ", " + file_.grid->text() : "", file_.sweeps - sweep_,
                           counted(file_.sweeps, "sweep"));
    }

    void begin(Loop& loop) override {
        log::info("memory: {}", text(memory().front(), file_.extents));
        auto& r = record_;
        take_over(file_, r);
        r.boundary = file_.boundary;
        r.beta = file_.beta, r.sweeps = file_.sweeps;
        r.overrelaxation = file_.overrelaxation, r.seed = file_.seed, r.measure_every = file_.measure_every;
        if (!u_) u_ = quenched_links(file_, ranks_);
        if (field_) u_->load(*field_);
        field_.reset();
        loop.write_record();
        if (measurements_.empty()) measure(loop);
    }

    void advance(Loop& loop) override {
        sweep(loop);
        if (file_.measures(sweep_)) measure(loop);
        if (file_.writes(sweep_)) {
            loop.clear_bar();
            write_configuration(loop, file_.configuration_of(sweep_), u_->field(), file_, record_.configurations);
        }
        loop.show(static_cast<double>(sweep_), fmt::format("plaquette {:.5f}", measurements_.back().plaquette()));
    }

    /// Writes the checkpoint itself, because a second copy of the links would take much memory.
    std::function<void()> save(Loop& loop, const fs::path& path) override {
        QuenchedCheckpoint checkpoint;
        checkpoint.field = u_->field();
        checkpoint.sweep = sweep_;
        checkpoint.measurements = measurements_;
        checkpoint.record = loop.record();
        write_quenched_checkpoint(path, std::move(checkpoint));
        log::debug("sweep {}, plaquette {:.6f}: checkpoint", sweep_, measurements_.back().plaquette());
        return {};
    }

    void complete(Loop& loop) override { write_configuration(loop, file_.configuration, u_->field(), file_, record_.configurations); }

    void update() override {
        record_.sweeps_done = sweep_;
        record_.means = means_of(measurements_, file_.thermalisation, file_.measure_every, file_.extents);
    }

    void write_tables(const RunDirectory& directory) override { write_measurements(directory.path() / table, measurements_); }

    Summary summary(const fs::path& directory) const override {
        const auto& m = record_.means;
        const auto last = fs::absolute(directory / record_.configuration).lexically_normal().string();
        const bool done = record_.status == "done";
        auto line = fmt::format("{} in {:.1f} s, plaquette {} ({} in space, {} in time), |P| {}, tau {}: {}",
                                counted(record_.sweeps_done, "sweep"), record_.seconds, text(m.plaquette), text(m.plaquette_space),
                                text(m.plaquette_time), text(m.polyakov), time_text(m.plaquette, "sweeps"), record_.status);
        if (done) line += "\nlast configuration: " + last;
        return {{{"steps", record_.sweeps_done},
                 {"measurements", m.plaquette.count},
                 {"plaquette", json_of(m.plaquette)},
                 {"plaquette_space", json_of(m.plaquette_space)},
                 {"plaquette_time", json_of(m.plaquette_time)},
                 {"polyakov_modulus", json_of(m.polyakov)},
                 {"links_per_second", link_rate(record_)},
                 {"configurations", record_.configurations.size()},
                 {"configuration", text_or_null(done ? last : "")}},
                line};
    }

   private:
    void sweep(Loop& loop) {
        {
            const auto timer = loop.timers().scope("heatbath");
            u_->heatbath(static_cast<std::uint64_t>(sweep_));
        }
        {
            const auto timer = loop.timers().scope("overrelaxation");
            u_->overrelaxation();
        }
        ++sweep_;
        record_.link_updates += 4.0 * static_cast<double>(file_.extents.volume()) * (1 + file_.overrelaxation);
    }

    void measure(Loop& loop) {
        const auto timer = loop.timers().scope("measurements");
        const auto [plaquette, polyakov] = u_->measure();
        measurements_.push_back({sweep_, plaquette.space, plaquette.time, polyakov.real(), polyakov.imag()});
        // A trace of SU(3) is at most 3; links with a larger one are no longer a gauge field.
        if (!(std::abs(plaquette.mean()) <= 1 + 1e-9))
            throw ComputationError(fmt::format("the plaquette is {} after sweep {}: the links have left SU(3)", plaquette.mean(), sweep_));
    }

    QuenchedFile file_;
    RankCoordinator& ranks_;
    QuenchedRecord record_;
    std::unique_ptr<QuenchedLinks> u_;
    std::optional<lattice::GaugeField> field_;  ///< of a checkpoint, until begin()
    std::int64_t sweep_ = 0;
    std::vector<Measurement> measurements_;
};

std::unique_ptr<Run> read(const RunSource& source) { return std::make_unique<QuenchedRun>(read_quenched_file(source), source.ranks); }

std::unique_ptr<Checkpoint> read_checkpoint(const fs::path& path) {
    return std::make_unique<QuenchedCheckpoint>(read_quenched_checkpoint(path));
}

}  // namespace

const Kind quenched_kind{.name = "quenched",
                         .step = "sweep",
                         .folders = {},
                         .manifest = [](const io::Json& record) { return gauge_manifest(record, {table}); },
                         .checkpoints_when_done = 1,
                         .results = nullptr,
                         .read = read,
                         .read_checkpoint = read_checkpoint,
                         .page = quenched_page,
                         .worker = lattice::gauge_worker_loop};

}  // namespace kasane::run
