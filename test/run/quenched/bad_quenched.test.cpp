// Bad run files of quenched updates: exit status 2, messages that name file, line and key, all at once, and nothing written.
#include <test/run/quenched/quenched_fixture.hpp>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class BadQuenched : public test::QuenchedTest {
   protected:
    /// `run`, `generate` and `check` refuse a good file with these settings, with these words, and leave no directory.
    void expect_refused(const std::vector<std::string>& settings, const std::vector<std::string>& words) {
        quenched_file();
        for (auto arguments : {std::vector<std::string>{"run"}, {"lattice", "generate"}, {"check"}}) {
            arguments.insert(arguments.end(), {"quenched.toml", "--json"});
            for (const auto& each : settings) arguments.insert(arguments.end(), {"--set", each});
            test::expect_bad_input(kasane(arguments), words);
        }
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
    void expect_text_refused(const std::string& text, const std::vector<std::string>& words) {
        test::write_file(directory / "text.toml", text);
        const auto outcome = kasane({"run", "text.toml"});
        EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
        for (const auto& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << "no '" << word << "' in " << outcome.err;
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
};

TEST_F(BadQuenched, AllProblemsAtOnceWithTheirLines) {
    expect_text_refused(
        "[run]\nproblem = 'quenched'\ndevice = 'cpu'\n"
        "[lattice]\nextents = [4, 4, 3, 4]\nboundry = 'periodic'\n"
        "[start]\nkind = 'warm'\n"
        "[action]\nbeta = 0\n"
        "[update]\nsweeps = 10\nthermalization = 5\noverrelaxation = -1\n"
        "[output]\nformat = 'milc'\nbits = 16\n",
        {"text.toml:5:",
         "4x4x3x4",
         "even",
         "text.toml:6:",
         "did you mean 'boundary'",
         "text.toml:8:",
         "'warm' is not known",
         "weak:EPS",
         "text.toml:10:",
         "above 0",
         "text.toml:13:",
         "did you mean 'thermalisation'",
         "text.toml:14:",
         "text.toml:16:",
         "'milc'",
         "ildg",
         "text.toml:17:",
         "32 or 64",
         "output.directory",
         "is missing"});
    expect_text_refused("[run]\nproblem = 'quenched'\n[output]\ndirectory = 'out'\n",
                        {"lattice.extents", "action.beta", "update.sweeps", "is missing"});
    expect_text_refused("[run]\nproblem = 'quench'\n", {"Did you mean 'quenched'"});
}

TEST_F(BadQuenched, Lattices) {
    expect_refused({"lattice.extents=[4, 4, 4]"}, {"lattice.extents", "must have 4 whole numbers, not 3"});
    expect_refused({"lattice.extents=[4, 4, 4, 0]"}, {"lattice.extents", "is 0"});
    expect_refused({"lattice.extents=[4, 4, 4, -2]"}, {"lattice.extents"});
    expect_refused({"lattice.extents=[4, 5, 4, 4]"}, {"lattice.extents", "4x5x4x4", "even"});
    expect_refused({"lattice.extents=[4096, 4096, 4096, 4096]"}, {"lattice.extents", "too many sites"});
    expect_refused({"lattice.extents=[100000, 4, 4, 4]"}, {"lattice.extents", "at most 4096"});
    expect_refused({"lattice.boundary=open"}, {"lattice.boundary", "periodic"});
}

TEST_F(BadQuenched, MoreSitesThanMemory) {
    expect_refused({"lattice.extents=[250, 250, 250, 250]"}, {"lattice.extents", "250x250x250x250 sites need", "GiB", "are free"});
}

TEST_F(BadQuenched, Starts) {
    expect_refused({"start.kind=weak"}, {"start.kind", "'weak' is not known"});
    expect_refused({"start.kind=weak:"}, {"start.kind", "a number above 0"});
    expect_refused({"start.kind=weak:-1"}, {"start.kind", "a number above 0"});
    expect_refused({"start.kind=weak:1e-3x"}, {"start.kind", "a number above 0"});
    expect_refused({"start.kind=weak:inf"}, {"start.kind", "a number above 0"});
    expect_refused({"start.kind=weak:1e300"}, {"start.kind", "weak:1e300", "at most 10"});
    expect_refused({"start.kind=weak:10.1"}, {"start.kind", "at most 10"});
    expect_refused({"start.kind=cold", "start.seed=4"}, {"start.seed", "has no effect here"});
    expect_refused({"start.seed=-1"}, {"start.seed"});
    expect_refused({"start.file=conf.lime"}, {"start.file", "belongs to kind = \\\"file\\\""});
    expect_refused({"start.kind=file"}, {"start.file", "is missing"});
    expect_refused({"start.kind=file", "start.file=absent.lime"}, {"start.file", "there is no file", "absent.lime"});
    expect_refused({"start.kind=file", "start.file="}, {"start.file"});
}

TEST_F(BadQuenched, StartFiles) {
    test::write_file(directory / "noise.lime", "this is not a configuration");
    expect_refused({"start.kind=file", "start.file=noise.lime"}, {"start.file", "noise.lime"});
    lattice::GaugeField other(lattice::Extents{{2, 2, 2, 2}});
    for (auto& link : other.links) link = lattice::Su3<double>::unit();
    lattice::write_gauge(directory / "other.lime", other, {});
    expect_refused({"start.kind=file", "start.file=other.lime"}, {"start.file", "2x2x2x2", "2x4x6x4"});
}

TEST_F(BadQuenched, Updates) {
    for (const char* beta : {"-1", "0", "nan", "inf", "six"}) expect_refused({std::string("action.beta=") + beta}, {"action.beta"});
    expect_refused({"update.sweeps=0"}, {"update.sweeps", "is 0"});
    expect_refused({"update.thermalisation=12"}, {"update.thermalisation", "is 12 of 12 sweeps"});
    expect_refused({"update.thermalisation=-1"}, {"update.thermalisation"});
    expect_refused({"update.heatbath=2"}, {"update.heatbath", "is not known"});
}

TEST_F(BadQuenched, Outputs) {
    expect_refused({"output.format=openqcd", "output.bits=32"}, {"output.bits", "openQCD"});
    expect_refused({"output.configuration=deep/conf.lime"}, {"output.configuration", "no / in it"});
    expect_refused({"output.configuration=.."}, {"output.configuration"});
    expect_refused({"output.configuration="}, {"output.configuration"});
    expect_refused({"output.configuration=record.json"}, {"output.configuration", "another file of the run"});
    expect_refused({"output.every=-1"}, {"output.every"});
    expect_refused({"output.measure_every=0"}, {"output.measure_every"});
    expect_refused({"output.checkpoint_every=-5"}, {"output.checkpoint_every"});
    expect_refused({"output.directory="}, {"output.directory", "is empty"});
}

TEST_F(BadQuenched, Devices) {
    expect_refused({"run.device=gpu"}, {"run.device"});
    quenched_file();
    test::expect_bad_input(kasane({"sample", "quenched.toml", "-o", "s.hdf5", "--json"}), {"quenched.toml", "run.problem"});
}

}  // namespace
