// Runs with a softening for each component or type, as a user drives them: where the softenings come from, what is written, resuming, and
// the messages for what cannot be.
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>
#include <kasane/run/model/softening.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>
#include <set>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;
using json = nlohmann::json;

class SofteningRun : public test::CommandTest {
   protected:
    /// A halo and a bulge; the halo's softening is 0.125 in the model. @param force  lines of [force]
    void write(const std::string& force, const std::string& step = "method = \"block\"\ndt_max = 0.03125\n") {
        write_file(directory / "pair.toml",
                   "units = \"nbody\"\ncount = 300\n"
                   "[[component]]\nname = \"halo\"\nmodel = \"plummer\"\nmass = 1.0\nscale = 1.0\nsoftening = 0.125\n"
                   "[[component]]\nname = \"bulge\"\nmodel = \"plummer\"\nmass = 0.5\nscale = 0.75\ntype = 3\n");
        write_file(directory / "run.toml",
                   "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nthreads = 1\nuntil = 0.25\n"
                   "[initial]\nmodel = \"pair.toml\"\n[force]\n" +
                       force + "[step]\n" + step +
                       "[output]\ndirectory = \"out\"\nsnapshot_every = 0.125\ndiagnostics_every = 0.0625\naudit = 64\nreport = false\n");
    }
    json record(const std::string& name = "out") { return json::parse(read_file(directory / name / "record.json")); }
    gravity::Snapshot last_snapshot(const std::string& name = "out") {
        return gravity::read_snapshot(directory / name / "snapshots/snapshot_0002.hdf5");
    }
};

TEST_F(SofteningRun, EachComponentHasItsOwn) {
    for (const std::string method : {"direct", "tree"})
        for (const std::string kernel : {"plummer", "spline"}) {
            SCOPED_TRACE(method + " " + kernel);
            write("method = \"" + method + "\"\nsoftening_kernel = \"" + kernel + "\"\nsoftening = {bulge = 0.03125}\n");
            const auto name = method + kernel;
            const auto outcome = kasane({"run", "run.toml", "-o", name, "--json", "--set", "output.report=true"});
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            EXPECT_LT(outcome.json()["relative_energy_error"], 2e-3);
            const auto r = record(name);
            EXPECT_EQ(r["softening"], 0.03125) << "the smallest";
            EXPECT_EQ(r["softening_kernel"], kernel);
            ASSERT_EQ(r["softenings"].size(), 2u);
            EXPECT_EQ(r["softenings"][0]["name"], "halo");
            EXPECT_EQ(r["softenings"][0]["softening"], 0.125) << "from the model";
            EXPECT_EQ(r["softenings"][1]["softening"], 0.03125);
            // The audit compares with pairs of both softenings: with one softening for all, errors would be of the order of 0.1.
            EXPECT_LT(r["force_error"]["p99"], method == "direct" ? 1e-5 : 2e-2);
            EXPECT_NE(read_file(directory / name / "report.html").find("halo 0.125, bulge 0.03125"), std::string::npos);
            const auto snapshot = last_snapshot(name);
            EXPECT_EQ(snapshot.softening[1], 0.125);
            EXPECT_EQ(snapshot.softening[3], 0.03125);
            ASSERT_EQ(snapshot.components.size(), 2u);
            EXPECT_EQ(snapshot.components[1].softening, 0.03125);
            EXPECT_TRUE(snapshot.particles.softening.empty()) << "a snapshot has softenings of types, not of particles";
        }
}

TEST_F(SofteningRun, OneNumberReplacesThoseOfTheModel) {
    write("softening = 0.25\n");
    const auto outcome = kasane({"run", "run.toml"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("force.softening = 0.25 replaces the softenings of the initial particles (halo 0.125)"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(record()["softening"], 0.25);
    EXPECT_TRUE(record()["softenings"].empty());
    EXPECT_EQ(last_snapshot().softening[1], 0.25);
}

// The same bits as a run with one number: equal softenings are one softening.
TEST_F(SofteningRun, EqualSofteningsAreOneNumber) {
    write("softening = {halo = 0.125, type3 = 0.125}\n");
    ASSERT_EQ(kasane({"run", "run.toml", "-o", "table"}).status, 0);
    write("softening = 0.125\n");
    ASSERT_EQ(kasane({"run", "run.toml", "-o", "number"}).status, 0);
    EXPECT_EQ(read_file(directory / "table/energy.csv"), read_file(directory / "number/energy.csv"));
    EXPECT_EQ(last_snapshot("table").particles.velocity, last_snapshot("number").particles.velocity);
}

TEST_F(SofteningRun, SnapshotsCarryTheirSofteningsToTheNextRun) {
    write("softening = {bulge = 0.03125}\n");
    ASSERT_EQ(kasane({"run", "run.toml", "-o", "first"}).status, 0);
    write_file(directory / "next.toml",
               "[run]\nproblem = \"gravity\"\ndevice = \"cpu\"\nthreads = 1\nuntil = 0.375\n"
               "[initial]\nfile = \"first/snapshots/snapshot_0002.hdf5\"\n[force]\nmethod = \"direct\"\n[step]\nmethod = \"block\"\ndt_max "
               "= 0.03125\n"
               "[output]\ndirectory = \"next\"\nsnapshot_every = 0.0625\n");
    const auto outcome = kasane({"run", "next.toml"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto r = record("next");
    ASSERT_EQ(r["softenings"].size(), 2u) << r["softenings"];
    EXPECT_EQ(r["softenings"][0]["softening"], 0.125);
    EXPECT_EQ(r["softenings"][1]["softening"], 0.03125);
    EXPECT_EQ(last_snapshot("next").softening[3], 0.03125);
    // `kasane forces` takes them too.
    const auto forces = kasane({"forces", "next/snapshots/snapshot_0002.hdf5", "-o", "f.hdf5", "--audit", "64", "--json"});
    ASSERT_EQ(forces.status, 0) << forces.err;
    EXPECT_EQ(forces.json()["softening"], 0.03125);
    EXPECT_LT(forces.json()["audit"]["p99"], 1e-5);
    const auto spline = kasane({"forces", "next/snapshots/snapshot_0002.hdf5", "-o", "g.hdf5", "--method", "tree", "--softening-kernel",
                                "spline", "--audit", "64", "--json"});
    ASSERT_EQ(spline.status, 0) << spline.err;
    EXPECT_LT(spline.json()["audit"]["p99"], 2e-2);
}

// A run that stopped continues with the same bits, and refuses another table.
TEST_F(SofteningRun, ResumesWithTheSameBits) {
    for (const std::string method : {"direct", "tree"}) {
        write("method = \"" + method + "\"\nsoftening = {bulge = 0.03125}\n");
        ASSERT_EQ(kasane({"run", "run.toml", "-o", method + "whole"}).status, 0);
        ASSERT_EQ(kasane({"run", "run.toml", "-o", method, "--set", "run.until=0.125"}).status, 0);
        const auto file = directory / method / "run.toml";
        const auto replace = [&](const std::string& from, const std::string& to) {
            auto text = read_file(file);
            const auto at = text.find(from);
            ASSERT_NE(at, std::string::npos) << text;
            test::write_file(file, text.replace(at, from.size(), to));
        };
        replace("until = 0.125", "until = 0.25");
        replace("bulge = 0.03125", "bulge = 0.0625");
        test::expect_bad_input(kasane({"resume", method, "--json"}),
                               {"force.softening", "{bulge = 0.0625}", "{bulge = 0.03125}", "must not change on resume"});
        replace("bulge = 0.0625", "bulge = 0.03125");
        const auto outcome = kasane({"resume", method});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto a = last_snapshot(method), b = last_snapshot(method + "whole");
        EXPECT_EQ(a.particles.position, b.particles.position);
        EXPECT_EQ(a.particles.velocity, b.particles.velocity);
        EXPECT_EQ(a.softening, b.softening);
    }
}

TEST_F(SofteningRun, SaysWhatIsMissingOrUnknown) {
    const auto expect = [&](const std::string& force, std::initializer_list<std::string> words,
                            const std::string& step = "dt = 0.015625\n") {
        write(force, step);
        const auto outcome = kasane({"check", "run.toml"});
        EXPECT_EQ(outcome.status, 2) << force;
        for (const auto& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
    };
    expect("method = \"direct\"\n", {"force.softening", "missing for bulge", "softening = {bulge = 0.01}"});
    expect("softening = {bulg = 0.1, halo = 0.1}\n",
           {"run.toml:10", "force.softening.bulg", "is not a component", "halo, bulge and type0 to type5"});
    expect("softening = {bulge = -0.1}\n", {"force.softening.bulge", "at least 0"});
    expect("softening = {bulge = 0.1}\nsoftening_kernel = \"gauss\"\n", {"force.softening_kernel", "spline"});
    expect("softening = {bulge = 0.1}\nmethod = \"tree\"\nwalk = \"links\"\n", {"force.walk", "take auto or lists"});
    expect("softening = 0.1\nsoftening_kernel = \"spline\"\nmethod = \"tree\"\nwalk = \"links\"\n", {"force.walk", "spline"});
    expect("softening = {bulge = 0.1}\n", {"step.length", "softening above 0 for all"}, "method = \"block\"\ndt_max = 0.1\nlength = 0.1\n");
    write_file(directory / "bare.toml",
               "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nuntil = 1.0\n[initial]\nmodel = "
               "\"plummer\"\ncount = 10\n[step]\ndt = 0.1\n[output]\ndirectory = \"out\"\n");
    const auto bare = kasane({"check", "bare.toml"});
    EXPECT_EQ(bare.status, 2);
    EXPECT_NE(bare.err.find("force.softening: is missing"), std::string::npos) << bare.err;
}

TEST_F(SofteningRun, TypesThatAreAbsentMayBeNamed) {
    write("softening = {type0 = 0.5, type1 = 0.0625, type3 = 0.03125, type5 = 1.0}\n");
    const auto outcome = kasane({"run", "run.toml"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(record()["softenings"][0]["softening"], 0.0625) << "the type in the run file comes before the model";
    EXPECT_EQ(last_snapshot().softening[0], 0);
}

TEST(SofteningKeysOfRuns, WholeNamesComeBeforeNamesAndTypes) {
    gravity::SnapshotOutline outline;
    outline.components = {{"a/halo", "", 1, 10, 1, 1, 1, 0.5}, {"b/halo", "", 11, 10, 1, 1, 1, 0}, {"b/disk", "", 21, 5, 2, 1, 1, 0}};
    outline.count = {0, 20, 8, 0, 0, 0};
    outline.softening = {0, 0, 0.75, 0, 0, 0};
    run::SofteningKeys keys;
    keys.named = {{"halo", 0.1, {}}, {"a/halo", 0.2, {}}, {"type1", 0.3, {}}};
    const auto groups = run::resolve(keys, outline);
    ASSERT_EQ(groups.size(), 4u);
    EXPECT_EQ(groups[0].softening, 0.2);
    EXPECT_EQ(groups[1].softening, 0.1);
    EXPECT_EQ(groups[2].softening, 0.75) << "of the type";
    EXPECT_EQ(groups[3].name, "type 2") << "three particles that belong to no component";
    gravity::Particles p;
    p.id = {1, 10, 11, 20, 25, 26, 28};
    p.type = {1, 1, 1, 1, 2, 2, 2};
    p.mass.resize(7);
    EXPECT_EQ(run::softenings(p, groups), (std::vector<double>{0.2, 0.2, 0.1, 0.1, 0.75, 0.75, 0.75}));
    keys.named = {{"disk", 0.1, {}}};
    EXPECT_THROW(run::resolve(keys, outline), InputError) << "b/halo has none";
}

TEST(SofteningKeysOfRuns, CheckpointsKeepSofteningsBitByBit) {
    run::GravityCheckpoint c;
    c.particles.position = {{1, 2, 3}, {4, 5, 6}};
    c.particles.velocity = {{0, 0, 0}, {0, 0, 1}};
    c.particles.mass = {1, 2};
    c.particles.id = {1, 2};
    c.particles.type = {1, 2};
    c.particles.softening = {0.1, 1. / 3};
    c.record = "{}";
    const auto path = fs::temp_directory_path() / "kasane_softening_checkpoint.hdf5";
    run::write_gravity_checkpoint(path, c);
    EXPECT_EQ(run::read_gravity_checkpoint(path).particles.softening, c.particles.softening);
    c.particles.softening.clear();
    run::write_gravity_checkpoint(path, c);
    EXPECT_TRUE(run::read_gravity_checkpoint(path).particles.softening.empty());
    fs::remove(path);
}

}  // namespace
