// Bad input: exit status 2, a message that names file, key or line and what to do, the same as JSON, and nothing written.
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <cmath>
#include <limits>
#include <sys/stat.h>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class BadInput : public test::CommandTest {
   protected:
    /// `run` and `check` refuse the small run with these settings, with these words, and leave no directory.
    void expect_refused(const std::vector<std::string>& settings, const std::vector<std::string>& words) {
        small_run();
        for (const char* verb : {"run", "check"}) {
            std::vector<std::string> arguments{verb, "small.toml", "--json"};
            for (const auto& each : settings) arguments.insert(arguments.end(), {"--set", each});
            test::expect_bad_input(kasane(arguments), words);
        }
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
    /// The same for a run that starts from `start.hdf5` (or another file).
    void expect_file_refused(const std::vector<std::string>& words, const std::string& file = "start.hdf5") {
        test::write_file(directory / "file.toml", "[run]\nproblem = 'gravity'\nuntil = 1\n[initial]\nfile = '" + file +
                                                      "'\n[force]\nsoftening = 0.1\n[step]\ndt = 0.1\n[output]\ndirectory = 'out'\n");
        for (const char* verb : {"run", "check"}) test::expect_bad_input(kasane({verb, "file.toml", "--json"}), words);
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
    static gravity::Snapshot three() {
        gravity::Snapshot s;
        s.particles.resize(3);
        for (std::size_t i = 0; i < 3; ++i) {
            s.particles.position[i] = {static_cast<double>(i), 0, 0};
            s.particles.mass[i] = 1 + static_cast<double>(i);  // unequal, so that they are stored one by one
            s.particles.id[i] = i + 1;
            s.particles.type[i] = 1;
        }
        s.units = gravity::galactic_units();
        return s;
    }
};

TEST_F(BadInput, OutputsThatAreInputsAreRefused) {
    gravity::write_snapshot(directory / "start.hdf5", three());
    test::write_file(directory / "model.toml", "units = \"nbody\"\nmodel = \"plummer\"\ncount = 100\n");
    const auto snapshot = test::read_file(directory / "start.hdf5"), model = test::read_file(directory / "model.toml");
    const auto refused = [&](std::vector<std::string> arguments, const char* file) {
        arguments.insert(arguments.end(), {"--force", "--json"});
        test::expect_bad_input(kasane(arguments), {file, "also an input"});
    };
    refused({"forces", "start.hdf5", "-o", "./start.hdf5", "--softening", "0.1"}, "start.hdf5");
    refused({"sample", "model.toml", "-o", "model.toml"}, "model.toml");
    refused({"sample", "model.toml", "-o", "s.hdf5", "--report", "./model.toml"}, "model.toml");
    EXPECT_TRUE(test::read_file(directory / "start.hdf5") == snapshot);
    EXPECT_EQ(test::read_file(directory / "model.toml"), model);
}

TEST_F(BadInput, ForcesThatSinglePrecisionDoesNotHoldAreRefused) {
    auto far = three(), heavy = three();
    far.particles.position[0].x = 1e20;
    heavy.particles.mass[0] = 1e200;
    for (const auto& [name, snapshot] : {std::pair("far", far), std::pair("heavy", heavy)}) {
        gravity::write_snapshot(directory / "start.hdf5", snapshot, {.double_precision = true});
        test::expect_bad_input(kasane({"forces", "start.hdf5", "-o", "f.hdf5", "--softening", "0.1", "--json"}),
                               {"start.hdf5", "single precision", "--precision double"});
        EXPECT_FALSE(fs::exists(directory / "f.hdf5")) << name;
    }
}

TEST_F(BadInput, AnIdThatOccursTwiceIsAWarning) {
    auto twice = three();
    twice.particles.id = {7, 9, 7};
    test::write_file(directory / "file.toml",
                     "[run]\nproblem = 'gravity'\nuntil = 0.01\n[initial]\nfile = 'start.hdf5'\n"
                     "[force]\nsoftening = 0.1\n[step]\ndt = 0.01\n[output]\ndirectory = 'out'\n");
    for (const auto& start : {three(), twice}) {
        gravity::write_snapshot(directory / "start.hdf5", start);
        const auto outcome = kasane({"run", "file.toml", "--force"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const bool warned = start.particles.id == twice.particles.id;
        for (const auto& text : {outcome.err, test::read_file(directory / "out/log.txt")})
            EXPECT_EQ(text.find("start.hdf5: the id 7 occurs more than once") != std::string::npos, warned) << text;
    }
    EXPECT_EQ(gravity::repeated_id(three().particles), std::nullopt);
    auto shuffled = three();
    shuffled.particles.id = {9, 7, 8};
    EXPECT_EQ(gravity::repeated_id(shuffled.particles), std::nullopt);
}

TEST_F(BadInput, MissingFileDirectoryAndNonsense) {
    fs::create_directory(directory / "folder");
    test::write_file(directory / "empty.toml", "");
    test::write_file(directory / "nonsense.toml", "[run\nproblem = 3\n");
    for (const char* verb : {"run", "check"}) {
        test::expect_bad_input(kasane({verb, "missing.toml", "--json"}), {"missing.toml", "no such file"});
        test::expect_bad_input(kasane({verb, "folder", "--json"}), {"folder", "directory"});
        test::expect_bad_input(kasane({verb, "empty.toml", "--json"}), {"empty.toml", "too short"});
        test::expect_bad_input(kasane({verb, "nonsense.toml", "--json"}), {"nonsense.toml", "TOML"});
    }
    const auto plain = kasane({"run", "missing.toml"});
    EXPECT_EQ(plain.status, 2);
    EXPECT_NE(plain.err.find("missing.toml: there is no such file"), std::string::npos) << plain.err;
    EXPECT_EQ(plain.out, "");
    test::expect_bad_input(kasane({"forces", "missing.hdf5", "-o", "f.hdf5", "--json"}), {"missing.hdf5"});
    test::expect_bad_input(kasane({"forces", "folder", "-o", "f.hdf5", "--json"}), {"folder"});
    test::expect_bad_input(kasane({"sample", "missing.toml", "-o", "f.hdf5", "--json"}), {"missing.toml"});
    test::expect_bad_input(kasane({"report", "folder", "--json"}), {"folder"});
    EXPECT_FALSE(fs::exists(directory / "f.hdf5"));
}

TEST_F(BadInput, AllProblemsOfARunFileAtOnceWithTheirLines) {
    const auto path = small_run("chekpoint_every = 10\n");
    auto text = test::read_file(path);
    text.replace(text.find("softening = 0.05"), 16, "softening = -1.0");
    text.replace(text.find("count = 257"), 11, "count = 0.5");
    test::write_file(path, text);
    const auto outcome = kasane({"run", "small.toml", "--json"});
    test::expect_bad_input(outcome, {"small.toml", "9", "initial.count", "whole number"});
    const auto problems = outcome.json()["problems"];
    ASSERT_EQ(problems.size(), 3u) << problems;
    EXPECT_EQ(problems[1]["key"], "force.softening");
    EXPECT_EQ(problems[1]["line"], 11);
    EXPECT_EQ(problems[1]["column"], 13);
    EXPECT_EQ(problems[2]["key"], "output.chekpoint_every");
    EXPECT_NE(problems[2]["message"].get<std::string>().find("did you mean 'checkpoint_every'?"), std::string::npos);
    EXPECT_NE(outcome.err.find("small.toml:11:13: force.softening: is -1"), std::string::npos) << outcome.err;
}

TEST_F(BadInput, ValuesOutOfRangeNameTheRange) {
    expect_refused({"force.softening=-0.1"}, {"--set", "force.softening", "at least 0"});
    expect_refused({"force.softening=nan"}, {"force.softening", "finite"});
    expect_refused({"initial.count=0"}, {"initial.count", "at least 1"});
    expect_refused({"initial.count=-5"}, {"initial.count", "at least 1"});
    expect_refused({"initial.mass=-1"}, {"initial.mass", "above 0"});
    expect_refused({"initial.mass=nan"}, {"initial.mass", "finite"});
    expect_refused({"step.dt=0"}, {"step.dt", "above 0"});
    expect_refused({"step.dt=5"}, {"step.dt", "longer than the whole run"});
    expect_refused({"run.until=-1"}, {"run.until", "not after the start"});
    expect_refused({"output.snapshot_every=0.001"}, {"output.snapshot_every", "shorter than one step"});
    expect_refused({"output.directory="}, {"output.directory", "empty"});
    expect_refused({"run.threads=-1"}, {"run.threads", "at least 0"});
}

TEST_F(BadInput, NamesThatAreNotKnown) {
    expect_refused({"run.problem=gravitation"}, {"run.problem", "gravity"});
    expect_refused({"run.units=nbodi"}, {"run.units", "nbody", "galactic"});
    expect_refused({"run.units=galactic", "initial.mass=1", "initial.scale=3 parsec"}, {"initial.scale", "parsec", "pc"});
    expect_refused({"run.units=galactic", "initial.mass=1", "initial.scale=3 km/s"}, {"initial.scale", "length"});
    expect_refused({"force.softening=50 pc"}, {"force.softening", "pc"});
    expect_refused({"initial.model=plumer"}, {"initial.model", "plummer"});
    expect_refused({"force.method=threes"}, {"force.method", "direct", "tree"});
    expect_refused({"force.variant=fast"}, {"force.variant", "simd"});
    expect_refused({"force.variant=tile"}, {"force.variant", "device"});
    expect_refused({"run.device=gpu"}, {"run.device", "cuda"});
    expect_refused({"stp.dt=1"}, {"stp", "step"});
    expect_refused({"initial.truncation.radius=1"}, {"truncation"});
}

TEST_F(BadInput, TheTreesCriteriaAreInRange) {
    const auto tree = [&](std::vector<std::string> settings, const std::vector<std::string>& words) {
        settings.insert(settings.begin(), "force.method=tree");
        expect_refused(settings, words);
    };
    for (const char* theta : {"0", "-0.3", "1.01", "nan"})
        tree({"force.mac=geometric", std::string("force.theta=") + theta},
             {"force.theta", theta == std::string("nan") ? "finite" : "Try 0.6"});
    for (const char* delta : {"0", "-1e-3"}) tree({std::string("force.delta=") + delta}, {"force.delta", "above 0", "Try 0.002"});
    tree({"force.delta=inf"}, {"force.delta", "finite"});
    tree({"force.mac=multipole"}, {"force.error", "missing"});
    tree({"force.mac=multipole", "force.error=-1"}, {"force.error", "above 0"});
    tree({"force.mac=opening"}, {"force.mac", "geometric", "acceleration", "multipole"});
    tree({"force.leaf_size=0"}, {"force.leaf_size", "at least 1"});
    tree({"force.leaf_size=65"}, {"force.leaf_size", "at most 64"});
    tree({"force.multipole=octupole"}, {"force.multipole", "quadrupole"});
    tree({"force.walk=stroll"}, {"force.walk", "lists"});
    tree({"force.walk=links", "force.vector=0"}, {"force.vector", "at least 1"});
    tree({"force.curve=dragon"}, {"force.curve", "hilbert"});
}

TEST_F(BadInput, KeysOfAnotherMethodAreNotSilentlyIgnored) {
    expect_refused({"force.theta=0.5"}, {"force.theta", "no effect", "tree", "direct"});
    expect_refused({"force.delta=0.5"}, {"force.delta", "no effect", "tree"});
    expect_refused({"force.method=tree", "force.precision=double"}, {"force.precision", "no effect", "direct"});
    expect_refused({"force.method=tree", "force.variant=simd"}, {"force.variant", "no effect", "direct"});
    expect_refused({"force.method=tree", "force.theta=0.5"}, {"force.theta", "no effect", "geometric", "acceleration"});
    expect_refused({"force.method=tree", "force.mac=geometric", "force.delta=0.5"}, {"force.delta", "no effect", "acceleration"});
    expect_refused({"force.method=tree", "force.group=4"}, {"force.group", "no effect", "links"});
    expect_refused({"step.eta=0.5"}, {"step.eta", "no effect", "block", "leapfrog"});
    expect_refused({"step.method=block", "step.dt_max=0.1"}, {"step.dt", "no effect", "leapfrog", "dt_max"});
}

TEST_F(BadInput, StepsOfTheirOwnAreInRange) {
    auto text = test::read_file(small_run());
    const auto block = [&](const std::string& keys, const std::vector<std::string>& words) {
        for (const char* method : {"adaptive", "block"}) {
            auto file = text;
            file.replace(file.find("dt = 0.015625"), 13, std::string("method = '") + method + "'\n" + keys);
            test::write_file(directory / "block.toml", file);
            for (const char* verb : {"run", "check"}) test::expect_bad_input(kasane({verb, "block.toml", "--json"}), words);
            EXPECT_FALSE(fs::exists(directory / "out"));
        }
    };
    block("", {"step.dt_max", "missing"});
    block("dt_max = 0", {"step.dt_max", "14", "above 0"});
    block("dt_max = -1", {"step.dt_max", "above 0"});
    block("dt_max = 5", {"step.dt_max", "longer than the whole run"});
    block("dt_max = 0.1\neta = 0", {"step.eta", "15", "above 0", "Try 0.5"});
    block("dt_max = 0.1\neta = -0.5", {"step.eta", "above 0"});
    block("dt_max = 0.1\ndeepest = 31", {"step.deepest", "at most 30"});
    block("dt_max = 0.1\ndeepest = -1", {"step.deepest", "at least 0"});
    block("dt_max = 0.1\ncriterion = 'jerk'", {"step.criterion", "velocity-and-acceleration"});
    block("dt_max = 0.1\nlength = 0.1", {"step.length", "no effect", "softening"});
    expect_refused({"output.audit=-1"}, {"output.audit", "at least 0"});
    expect_refused({"output.audit=2.5"}, {"output.audit", "whole number"});
}

TEST_F(BadInput, UserUnitsMustBeComplete) {
    expect_refused({"run.units=user", "initial.mass=1", "initial.scale=1"}, {"units.length_cm", "missing"});
    expect_refused({"run.units=user", "units.length_cm=1", "units.mass_g=-1", "units.velocity_cm_s=1"}, {"units.mass_g", "above 0"});
}

TEST_F(BadInput, AnNfwSphereNeedsATruncation) { expect_refused({"initial.model=nfw", "initial.scale=1"}, {"initial.truncation"}); }

TEST_F(BadInput, ObjectsAndOrbits) {
    small_run();
    const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
        test::write_file(directory / "o.toml",
                         "[run]\nproblem='gravity'\nunits='nbody'\nuntil=1\n[force]\nsoftening=0\n[step]\ndt=0.1\n"
                         "[output]\ndirectory='out'\n" +
                             text);
        test::expect_bad_input(kasane({"run", "o.toml", "--json"}), words);
        EXPECT_FALSE(fs::exists(directory / "out"));
    };
    const std::string point = "[[object]]\nmodel='point'\nmass=1\n";
    refused("", {"initial", "model", "file"});
    refused("[orbit]\nseparation=1\npericentre=1\n" + point, {"orbit", "two"});
    refused("[orbit]\nseparation=1\npericentre=2\n" + point + point, {"orbit", "separation"});
    refused("[orbit]\nseparation=1\npericentre=1\n" + point + point + "position=[1,2,3]\n", {"object.1.position", "orbit"});
    refused(point + "position=[1,2]\n", {"object.0.position", "3 numbers"});
    refused(point + "[initial]\nmodel='plummer'\ncount=3\n", {"object"});
    refused("[[object]]\nmodel='missing.toml'\n", {"object.0.model", "missing.toml"});
    refused("[[object]]\nfile='missing.hdf5'\n", {"object.0.file", "missing.hdf5"});
    test::write_file(directory / "self.toml", "model = 'self.toml'\n");
    refused("[[object]]\nmodel='self.toml'\n", {"object.0.model", "self.toml"});
}

TEST_F(BadInput, SnapshotsThatCannotBeUsed) {
    expect_file_refused({"initial.file", "start.hdf5"});
    fs::create_directory(directory / "folder");
    expect_file_refused({"initial.file", "folder", "directory"}, "folder");
    test::write_file(directory / "start.hdf5", "no snapshot at all, but longer than the shortest header of a format");
    expect_file_refused({"initial.file", "start.hdf5"});

    gravity::write_snapshot(directory / "start.hdf5", three());
    const auto whole = test::read_file(directory / "start.hdf5");
    for (const std::size_t part : {1u, 2u, 3u}) {
        test::write_file(directory / "start.hdf5", whole.substr(0, whole.size() * part / 4));
        expect_file_refused({"initial.file", "start.hdf5"});
    }
}

TEST_F(BadInput, OptionsOfForcesInRangeAndOfTheMethod) {
    gravity::write_snapshot(directory / "s.hdf5", three());
    const auto refused = [&](std::vector<std::string> options, const std::vector<std::string>& words) {
        options.insert(options.begin(), {"forces", "s.hdf5", "-o", "f.hdf5", "--softening", "0.1", "--json"});
        test::expect_bad_input(kasane(options), words);
        EXPECT_FALSE(fs::exists(directory / "f.hdf5"));
    };
    refused({"--theta", "0.5"}, {"--theta", "direct"});
    refused({"--method", "tree", "--precision", "double"}, {"--precision", "tree"});
    refused({"--method", "tree", "--theta", "0.5", "--delta", "0.1"}, {"--theta", "--delta"});
    refused({"--method", "tree", "--theta", "0"}, {"--theta", "is 0"});
    refused({"--method", "tree", "--theta", "nan"}, {"--theta", "is nan", "at most 1"});
    refused({"--method", "tree", "--vector", "2"}, {"--vector", "has no effect without --walk links"});
    refused({"--method", "tree", "--walk", "lists", "--group", "2"}, {"--group", "has no effect without --walk links"});
    auto plain = three();
    plain.units = gravity::nbody_units();
    gravity::write_snapshot(directory / "n.hdf5", plain);
    test::expect_bad_input(kasane({"forces", "n.hdf5", "-o", "f.hdf5", "--units", "galactic", "--json"}),
                           {"--units", "n.hdf5 states nbody units (G = 1, without a scale)"});
    test::expect_bad_input(kasane({"forces", "s.hdf5", "-o", "f.hdf5", "--softening", "-1", "--json"}), {"--softening", "is -1"});
    refused({"--method", "tree", "--theta", "1.5"}, {"theta"});
    refused({"--method", "tree", "--delta", "-1"}, {"delta"});
    refused({"--method", "tree", "--error", "0"}, {"error"});
    refused({"--method", "tree", "--leaf-size", "0"}, {"--leaf-size: is 0", "from 1 to 64"});
    refused({"--method", "tree", "--audit", "-1"}, {"--audit: is -1", "whole number from 0"});
}

TEST_F(BadInput, ATruncatedBinarySnapshotNamesItsBlock) {
    gravity::write_snapshot(directory / "start.hdf5", three(), {.format = gravity::SnapshotFormat::gadget1});
    const auto whole = test::read_file(directory / "start.hdf5");
    test::write_file(directory / "start.hdf5", whole.substr(0, whole.size() - 10));
    expect_file_refused({"initial.file", "start.hdf5"});
}

TEST_F(BadInput, ParticlesThatCannotBeUsed) {
    // The writer takes what it is given; the reader must not.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    auto s = three();
    s.particles.mass[1] = -1;
    gravity::write_snapshot(directory / "start.hdf5", s);
    expect_file_refused({"initial.file", "mass", "-1"});
    s = three();
    s.particles.mass[2] = nan;
    gravity::write_snapshot(directory / "start.hdf5", s);
    expect_file_refused({"initial.file", "mass", "nan"});
    for (const double value : {nan, std::numeric_limits<double>::infinity()}) {
        s = three();
        s.particles.id[1] = 4711;
        s.particles.position[1].y = value;
        gravity::write_snapshot(directory / "start.hdf5", s);
        expect_file_refused({"initial.file", "id 4711", "position", std::isnan(value) ? "nan" : "inf"});
        test::expect_bad_input(kasane({"forces", "start.hdf5", "-o", "f.hdf5", "--method", "tree", "--json"}), {"id 4711", "position"});
        s.particles.position[1] = {1, 0, 0};
        s.particles.velocity[1].z = value;
        gravity::write_snapshot(directory / "start.hdf5", s);
        expect_file_refused({"initial.file", "id 4711", "velocity"});
    }
    EXPECT_FALSE(fs::exists(directory / "f.hdf5"));
}

TEST_F(BadInput, AnOutputDirectoryThatExistsIsNeverTouched) {
    small_run();
    fs::create_directory(directory / "out");
    test::write_file(directory / "out/thesis.txt", "years of work");
    test::expect_bad_input(kasane({"run", "small.toml", "--json"}), {"output.directory", "out", "exists", "--force"});
    // --force is for runs of kasane alone.
    test::expect_bad_input(kasane({"run", "small.toml", "--force", "--json"}), {"output.directory", "out", "other things"});
    EXPECT_EQ(test::read_file(directory / "out/thesis.txt"), "years of work");
    EXPECT_EQ(std::distance(fs::directory_iterator(directory / "out"), {}), 1);
    test::write_file(directory / "file", "");
    test::expect_bad_input(kasane({"run", "small.toml", "-o", "file", "--force", "--json"}), {"file", "not a directory"});
    test::expect_bad_input(kasane({"run", "small.toml", "-o", "file/below", "--json"}), {"file/below"});

    ASSERT_EQ(kasane({"run", "small.toml", "-o", "done"}).status, 0);
    const auto energy = test::read_file(directory / "done/energy.csv");
    test::expect_bad_input(kasane({"run", "small.toml", "-o", "done", "--json"}), {"exists already"});
    EXPECT_EQ(test::read_file(directory / "done/energy.csv"), energy);
}

TEST_F(BadInput, NoPermissionToWrite) {
    small_run();
    // No user can create a file in /proc.
    test::expect_bad_input(kasane({"run", "small.toml", "-o", "/proc/kasane", "--json"}),
                           {"/proc/kasane", "output.directory", "cannot be created"});
    test::expect_bad_input(kasane({"sample", "small.toml", "-o", "/proc/kasane.hdf5", "--json"}), {"/proc/kasane.hdf5"});
    if (geteuid() == 0) return;  // permissions do not bind root
    fs::create_directory(directory / "locked");
    chmod((directory / "locked").c_str(), 0555);
    test::expect_bad_input(kasane({"run", "small.toml", "-o", "locked/out", "--json"}), {"locked/out", "cannot be created"});
}

TEST_F(BadInput, MoreParticlesThanMemory) {
    expect_refused({"initial.count=900_000_000_000"}, {"initial.count", "GiB", "free"});
    test::expect_bad_input(kasane({"sample", "small.toml", "-o", "s.hdf5", "--count", "900000000000", "--json"}), {"count", "GiB"});
    EXPECT_FALSE(fs::exists(directory / "s.hdf5"));
}

TEST_F(BadInput, NoCudaDevice) {
    if (why_no_cuda().empty()) GTEST_SKIP() << "this machine has a CUDA device: set CUDA_VISIBLE_DEVICES to nothing";
    small_run();
    test::expect_bad_input(kasane({"run", "small.toml", "--device", "cuda", "--json"}),
                           {"--device", "run.device", "cuda", "not available"});
    expect_refused({"run.device=cuda:1"}, {"run.device", "not available"});
    ASSERT_EQ(kasane({"sample", "small.toml", "-o", "s.hdf5"}).status, 0);
    test::expect_bad_input(kasane({"forces", "s.hdf5", "-o", "f.hdf5", "--device", "cuda", "--json"}), {"cuda", "not available"});
}

std::string times(int count, const std::string& text) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
}

TEST_F(BadInput, DeepNestingIsRefused) {
    const auto keys = times(40'000, "a.") + "a";
    for (const auto& text : {keys + " = 1\n", "[" + keys + "]\n", "x = " + times(40'000, "[") + times(40'000, "]") + "\n",
                             "x = " + times(40'000, "{a=") + "1" + times(40'000, "}") + "\n"}) {
        test::write_file(directory / "deep.toml", "[run]\nproblem = 'gravity'\n" + text);
        for (const char* verb : {"run", "check"})
            test::expect_bad_input(kasane({verb, "deep.toml", "--json"}), {"deep.toml", " 3 ", "nested deeper than 64 levels"});
        test::expect_bad_input(kasane({"sample", "deep.toml", "-o", "s.hdf5", "--json"}), {"deep.toml", "nested deeper"});
    }
    expect_refused({keys + "=1"}, {"--set", "nested deeper"});
}

TEST_F(BadInput, DeepNestingInTheFilesOfARun) {
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml", "--quiet"}).status, 0);
    const auto good = test::read_file(directory / "out/run.toml");
    test::write_file(directory / "out/run.toml", good + "\n[" + times(40'000, "a.") + "a]\n");
    EXPECT_EQ(kasane({"report", "out"}).status, 0) << "the page names the files that cannot be read";
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"run.toml", "nested deeper"});
    test::write_file(directory / "out/run.toml", good);
    test::write_file(directory / "out/record.json", times(50'000, "[") + times(50'000, "]"));
    EXPECT_EQ(kasane({"report", "out"}).status, 0);
    EXPECT_EQ(kasane({"resume", "out"}).status, 0);
    test::write_file(directory / "bench.json", times(50'000, "["));
    test::expect_bad_input(kasane({"bench", "--from", "bench.json", "--page", "p.html", "--quiet", "--json"}),
                           {"bench.json", "nested deeper"});
    test::write_file(directory / "calibration.json", "{\"measured\": " + times(500'000, "[") + times(500'000, "]") + "}");
    const auto outcome = kasane({"predict", "small.toml", "--calibration", "calibration.json", "--json"});
    test::expect_bad_input(outcome, {"calibration.json", "kasane calibrate"});
    EXPECT_NE(outcome.err.find("warning: calibration.json is passed over"), std::string::npos) << outcome.err;
}

TEST_F(BadInput, PipesAreRefusedNotWaitedFor) {
    ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
    const auto ten_seconds = [] { alarm(10); };
    for (const auto& arguments : std::vector<std::vector<std::string>>{{"run", "pipe"},
                                                                       {"check", "pipe"},
                                                                       {"sample", "pipe", "-o", "s.hdf5"},
                                                                       {"predict", "pipe"},
                                                                       {"lattice", "generate", "pipe"},
                                                                       {"lattice", "info", "pipe"},
                                                                       {"forces", "pipe", "-o", "f.hdf5", "--softening", "1"},
                                                                       {"bench", "--from", "pipe", "--page", "p.html"}}) {
        auto with_json = arguments;
        with_json.emplace_back("--json");
        test::expect_bad_input(kasane(with_json, ten_seconds), {"pipe", "not a regular file"});
    }
}

TEST_F(BadInput, EmptyOptionsAreNotIgnored) {
    small_run();
    for (const char* option : {"-o", "--set", "--device"})
        test::expect_bad_input(kasane({"run", "small.toml", option, "", "--json"}), {"is empty"});
    test::expect_bad_input(kasane({"run", "", "--json"}), {"FILE", "is empty"});
    test::expect_bad_input(kasane({"lattice", "generate", "small.toml", "-o", "", "--json"}), {"--output", "is empty"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(BadInput, NumbersThatOverflowNameTheirKey) {
    for (const char* softening : {"1e300", "1e-300"})
        expect_refused({std::string("force.softening=") + softening},
                       {"--set force.softening=" + std::string(softening), "force.softening", "single"});
    for (const char* key : {"initial.mass", "initial.scale"})
        for (const char* value : {"1e300", "1e-300"})
            expect_refused({std::string(key) + "=" + value}, {std::string("--set ") + key + "=" + value, key, "overflow"});
    small_run();
    test::expect_bad_input(kasane({"run", "small.toml", "--set", "force.softening=1e-11", "--set", "initial.mass=1e20", "--json"}),
                           {"small.toml", "force", "single precision"});
    EXPECT_FALSE(fs::exists(directory / "out")) << "nothing is written before the particles are checked";
    for (const char* key : {"output.snapshot_every", "output.diagnostics_every", "output.checkpoint_every"}) {
        const auto outcome = kasane({"run", "small.toml", "-o", key, "--quiet", "--set", std::string(key) + "=1e300"}, [] { alarm(60); });
        EXPECT_EQ(outcome.status, 0) << key << outcome.err;
    }
}

TEST_F(BadInput, OneMistakeIsOneProblem) {
    small_run();
    const auto one = [&](const std::string& setting, const std::vector<std::string>& words) {
        const auto outcome = kasane({"run", "small.toml", "--set", setting, "--json"});
        test::expect_bad_input(outcome, words);
        EXPECT_EQ(outcome.json()["problems"].size(), 1u) << outcome.out;
    };
    one("run.until=nan", {"run.until", "finite"});
    one("run.until=1 Gyr", {"run.until", "Gyr"});
    one("initial.count=99999999999999999999", {"initial.count", "is 99999999999999999999, out of range: it must be at least"});
    one("initial.count=\"5\"", {"initial.count", "must be a whole number, not a string"});
}

TEST_F(BadInput, SettingsAreNamed) {
    small_run();
    const auto outcome = kasane({"run", "small.toml", "--set", "force.softening=-1", "--set", "stp.dt=1", "--set", "nonsense"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("--set nonsense: "), std::string::npos) << outcome.err;
    const auto others = kasane({"run", "small.toml", "--set", "force.softening=-1", "--set", "stp.dt=1"});
    EXPECT_NE(others.err.find("--set force.softening=-1: force.softening: is -1"), std::string::npos) << others.err;
    EXPECT_NE(others.err.find("--set stp.dt=1: stp"), std::string::npos) << others.err;
}

}  // namespace
