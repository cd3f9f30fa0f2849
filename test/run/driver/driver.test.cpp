// A kind of run in one file: a damped oscillator. The driver gives it run, check, resume, report, and the same bytes after a kill.
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/driver/newest_checkpoint.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/driver/run_texts.hpp>
#include <kasane/run/kinds.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;

struct OscillatorFile : run::RunFile {
    double damping = 0, dt = 0;  ///< of x'' = -x - damping x'
    std::int64_t steps = 0;
    std::int64_t pause = 0;  ///< [ms] in each step, so that a test can stop the run
    Where steps_where;
};

struct OscillatorState : run::Checkpoint {
    std::int64_t step = 0;
    double x = 1, v = 0;
};

class Oscillator : public run::Run {
   public:
    explicit Oscillator(OscillatorFile file) : file_(std::move(file)) {}

    const run::RunFile& file() const override { return file_; }
    run::Record& record() override { return record_; }
    nlohmann::ordered_json part() const override { return {{"damping", file_.damping}, {"steps", state_.step}, {"x", state_.x}}; }
    std::vector<run::RunMemory> memory() const override {
        return {{.host_bytes = 16 * static_cast<std::uint64_t>(file_.steps), .host_available = available_memory(Cpu{})}};
    }
    run::RunSize size() const override { return {std::to_string(file_.steps), "steps", file_.steps_where}; }
    run::Summary check(const run::RunControls&) override { return {{{"steps", file_.steps}}, std::to_string(file_.steps) + " steps"}; }

    void create(const run::RunControls&) override {}
    void restore(run::Checkpoint& from) override {
        run::read_record(from.record, file_.path, "oscillator", [&](const auto& json) {
            run::read_common(json, "step", record_);
            run::check_kept({{"oscillator.damping", nlohmann::json(file_.damping).dump()}},
                            {{"oscillator.damping", json.at("damping").dump()}}, file_.path);
            state_.step = json.at("steps");
            state_.x = json.at("x");
        });
        if (const auto* state = dynamic_cast<OscillatorState*>(&from)) state_ = *state;
    }

    std::int64_t progress() const override { return state_.step; }
    bool done() const override { return state_.step == file_.steps; }
    double total() const override { return static_cast<double>(file_.steps); }
    std::string headline() const override { return "an oscillator at step " + std::to_string(state_.step); }

    void begin(run::Loop& loop) override { loop.write_record(); }
    void advance(run::Loop& loop) override {
        const auto timer = loop.timers().scope("steps");
        state_.v -= file_.dt * (state_.x + file_.damping * state_.v);
        state_.x += file_.dt * state_.v;
        ++state_.step;
        if (!std::isfinite(state_.x)) throw ComputationError("the oscillator left the range of numbers: take a smaller dt");
        std::this_thread::sleep_for(std::chrono::milliseconds(file_.pause));
        loop.show(static_cast<double>(state_.step), "x = " + std::to_string(state_.x));
    }
    std::function<void()> save(run::Loop& loop, const fs::path& path) override {
        const nlohmann::json all{{"step", state_.step}, {"x", state_.x}, {"v", state_.v}, {"record", loop.record()}};
        return [path, text = all.dump()] { write_atomically(path, text); };
    }
    void complete(run::Loop& loop) override {
        write_atomically(loop.directory().path() / "end.txt", nlohmann::json{state_.x, state_.v}.dump() + "\n");
    }
    run::Summary summary(const fs::path&) const override {
        return {{{"steps", state_.step}, {"x", state_.x}}, std::to_string(state_.step) + " steps"};
    }

   private:
    OscillatorFile file_;
    run::Record record_;
    OscillatorState state_;
};

std::unique_ptr<run::Run> read(const run::RunSource& source) {
    io::RunFileReader reader(source.path, source.settings);
    OscillatorFile file;
    run::read_run_keys(reader, "oscillator", source.problems, file);
    auto table = reader.root().table("oscillator", "x'' = -x - damping x'");
    file.damping = table.number("damping", {.help = "of the speed", .range = io::at_least(0)});
    file.dt = table.number("dt", {.help = "time step", .fallback = 0.01, .range = io::above(0)});
    file.steps = table.integer("steps", {.help = "in all", .least = 1});
    file.steps_where = table.where("steps");
    auto output = reader.root().table("output", "what is written");
    file.directory = run::read_output_directory(output);
    file.checkpoint_every = output.number("checkpoint_every", {.help = "wall time", .unit = "s", .fallback = 60.0});
    file.pause = output.integer("pause", {.help = "in each step, in milliseconds", .fallback = 0, .least = 0});
    run::finish(reader, file);
    file.papers = {"C. Huygens, Horologium Oscillatorium (1673)"};
    return std::make_unique<Oscillator>(std::move(file));
}

std::unique_ptr<run::Checkpoint> read_checkpoint(const fs::path& path) {
    const auto json = io::parse_json(run::content(path).value_or(""), path);
    auto state = std::make_unique<OscillatorState>();
    state->step = json.at("step"), state->x = json.at("x"), state->v = json.at("v"), state->record = json.at("record");
    return state;
}

run::RunPage page(run::RunHistory& history) {
    run::RunPage page;
    page.done = "at rest";
    if (history.record.is_null()) return page;
    run::read_common(history.record, "step", page.head);
    page.lead = "An oscillator at <strong>x = " + report::number(run::number_or_nan(history.record.at("x"))) + "</strong>.";
    page.facts.add("Damping", history.record.at("damping").get<double>());
    return page;
}

const run::Kind oscillator{.name = "oscillator",
                           .step = "step",
                           .folders = {},
                           .manifest = [](const io::Json&) { return run::Manifest{.files = {"end.txt"}, .series = {}}; },
                           .checkpoints_when_done = 1,
                           .results = nullptr,
                           .read = read,
                           .read_checkpoint = read_checkpoint,
                           .page = page};

class Driver : public test::CommandTest {
   protected:
    void SetUp() override {
        CommandTest::SetUp();
        kinds.push_back(&oscillator);
        write("small.toml", "");
    }
    /// @param changes  lines of [oscillator]
    void write(const std::string& name, const std::string& changes) {
        test::write_file(directory / name,
                         "[run]\nproblem = \"oscillator\"\ndevice = \"cpu\"\nthreads = 1\n[oscillator]\ndamping = 0.1\nsteps = 300\n" +
                             changes + "[output]\ndirectory = \"" + (directory / "out").string() + "\"\n");
    }
    run::RunResult start(const std::string& out, std::vector<io::Setting> settings = {}, const run::RunControls& controls = {},
                         run::RunDirectory::Existing existing = run::RunDirectory::Existing::refuse) {
        settings.push_back({"output.directory=" + (directory / out).string(), "-o"});
        return run::start(kinds, directory / "small.toml", settings, existing, controls);
    }
    run::RunResult resume(const std::string& out) { return run::resume(kinds, directory / out); }
    nlohmann::json record(const std::string& out) { return nlohmann::json::parse(read_file(directory / out / "record.json")); }
    std::size_t checkpoints(const std::string& out) { return run::checkpoints_in(directory / out).size(); }

    run::Kinds kinds = run::kinds();
};

TEST_F(Driver, RunsAKindThatATestAdds) {
    const auto result = start("out");
    EXPECT_EQ(result.status, "done");
    EXPECT_EQ(result.summary.object["steps"], 300);
    const auto json = record("out");
    EXPECT_EQ(json["problem"], "oscillator");
    EXPECT_EQ(json["status"], "done");
    EXPECT_EQ(json["segments"][0]["last_step"], 300);
    EXPECT_EQ(json["timers"]["steps"]["calls"], 300);
    EXPECT_EQ(json["timers"]["checkpoint"]["calls"], 1);
    EXPECT_EQ(json["timers"]["output"]["calls"], 1) << "the thread that wrote the checkpoint";
    EXPECT_EQ(checkpoints("out"), 1u);
    for (const char* name : {"run.toml", "log.txt", "report.html", "end.txt"}) EXPECT_TRUE(fs::exists(directory / "out" / name)) << name;
    EXPECT_THROW(start("out"), InputError) << "it exists";
    EXPECT_EQ(start("out", {}, {}, run::RunDirectory::Existing::replace).status, "done");
}

TEST_F(Driver, ReportsWhatTheRunFileSaysWrongly) {
    write("small.toml", "mass = 1\n");
    EXPECT_THROW(start("out"), InputError);
    EXPECT_FALSE(fs::exists(directory / "out"));
    write("small.toml", "");
    EXPECT_THROW(start("out", {{"oscillator.steps=9000000000000000", "--set"}}), InputError) << "more memory than there is";
    EXPECT_THROW(run::start(run::kinds(), directory / "small.toml", {}, run::RunDirectory::Existing::refuse), InputError)
        << "the program itself has no such kind";
}

TEST_F(Driver, ChecksIt) {
    const auto reported = run::check(kinds, directory / "small.toml", {});
    EXPECT_EQ(reported.object["problem"], "oscillator");
    EXPECT_EQ(reported.object["steps"], 300);
    EXPECT_GT(reported.object["memory"]["host_available"], reported.object["memory"]["host_bytes"]);
    EXPECT_NE(reported.text.find("Horologium"), std::string::npos);
    EXPECT_NE(reported.text.find("damping = 0.1"), std::string::npos) << "the resolved file";
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(Driver, WritesItsPage) {
    start("out");
    const auto text = read_file(run::write_report(kinds, directory / "out"));
    for (const char* part : {"at rest", "An oscillator at", "Damping", "Horologium", "kasane resume"})
        EXPECT_EQ(text.find(part) != std::string::npos, std::string(part) != "kasane resume") << part;
}

TEST_F(Driver, AnInterruptedRunContinuesToTheSameBytes) {
    start("whole");
    int asked = 0;
    const auto stopped = start("parts", {}, {.progress = ProgressStyle::none, .stop = [&] { return ++asked > 100; }, .ranks = nullptr});
    EXPECT_EQ(stopped.status, "interrupted");
    EXPECT_EQ(record("parts")["status"], "interrupted");
    EXPECT_FALSE(fs::exists(directory / "parts/end.txt"));
    EXPECT_EQ(resume("parts").status, "done");
    EXPECT_EQ(read_file(directory / "parts/end.txt"), read_file(directory / "whole/end.txt"));
    EXPECT_EQ(record("parts")["segments"].size(), 2u);
    EXPECT_EQ(record("parts")["timers"]["steps"]["calls"], 300);
}

TEST_F(Driver, AKilledRunContinuesToTheSameBytes) {
    start("whole");
    for (const bool before_the_first_checkpoint : {false, true}) {
        const std::string out = before_the_first_checkpoint ? "early" : "killed";
        const auto child = fork();
        if (child == 0) {
            const auto every = before_the_first_checkpoint ? "output.checkpoint_every=1000" : "output.checkpoint_every=0";
            start(out, {{every, "test"}, {"output.pause=5", "test"}});
            _exit(0);
        }
        EXPECT_TRUE(
            wait_for([&] { return before_the_first_checkpoint ? fs::exists(directory / out / "record.json") : checkpoints(out) == 2; }));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        EXPECT_EQ(record(out)["status"], "running");
        EXPECT_EQ(run::resume(kinds, directory / out, {{"output.pause=0", "test"}}).status, "done");
        EXPECT_EQ(read_file(directory / out / "end.txt"), read_file(directory / "whole/end.txt"));
        EXPECT_EQ(record(out)["status"], "done");
    }
}

TEST_F(Driver, ADamagedCheckpointIsSetAside) {
    start("whole");
    int asked = 0;
    start("out", {{"output.checkpoint_every=0", "test"}},
          {.progress = ProgressStyle::none, .stop = [&] { return ++asked > 100; }, .ranks = nullptr});
    const auto newest = run::checkpoints_in(directory / "out").front();
    test::write_file(newest, "no checkpoint");
    EXPECT_EQ(resume("out").status, "done");
    EXPECT_TRUE(fs::exists(newest.string() + ".unread"));
    EXPECT_EQ(read_file(directory / "out/end.txt"), read_file(directory / "whole/end.txt"));
}

// The checkpoint is intact: an older one would repeat steps that are done, and its name would be lost.
TEST_F(Driver, ACheckpointThatDoesNotFitIntoMemoryEndsTheSearch) {
    int asked = 0;
    start("out", {{"output.checkpoint_every=0", "test"}},
          {.progress = ProgressStyle::none, .stop = [&] { return ++asked > 100; }, .ranks = nullptr});
    ASSERT_GE(run::checkpoints_in(directory / "out").size(), 2u);
    int read = 0;
    const auto low_memory = [&](const fs::path& path) -> int {
        if (++read == 1) throw MemoryError("does not fit into memory", 2, 1, {path.string(), 0, 0, ""});
        return 0;
    };
    EXPECT_THROW(run::newest_checkpoint(run::RunDirectory::open(directory / "out"), low_memory), MemoryError);
    EXPECT_EQ(read, 1);
}

TEST_F(Driver, ARunThatIsDoneIsLeftAlone) {
    start("out");
    const auto before = read_file(directory / "out/record.json");
    EXPECT_EQ(resume("out").status, "done");
    EXPECT_EQ(read_file(directory / "out/record.json"), before);
    for (const auto& path : run::checkpoints_in(directory / "out")) fs::remove(path);
    EXPECT_EQ(resume("out").summary.object["steps"], 300) << "by its record alone";
}

TEST_F(Driver, KeptKeysAndLostCheckpointsAreErrors) {
    int asked = 0;
    start("out", {}, {.progress = ProgressStyle::none, .stop = [&] { return ++asked > 100; }, .ranks = nullptr});
    EXPECT_THROW(run::resume(kinds, directory / "out", {{"oscillator.damping=0.2", "test"}}), InputError);
    for (const auto& path : run::checkpoints_in(directory / "out")) fs::remove(path);
    EXPECT_THROW(resume("out"), InputError) << "its record reports steps";
}

TEST_F(Driver, RecordsWhyARunFailed) {
    EXPECT_THROW(start("out", {{"oscillator.dt=1e200", "test"}}), ComputationError);
    EXPECT_EQ(record("out")["status"], "failed");
    EXPECT_NE(record("out")["message"].get<std::string>().find("smaller dt"), std::string::npos);
    EXPECT_NE(read_file(run::write_report(kinds, directory / "out")).find("This run failed"), std::string::npos);
}

}  // namespace
