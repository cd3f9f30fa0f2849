// Galaxies of many components as files: the shipped ones, the components in a snapshot, objects made of them, and memory.
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace kasane;
namespace fs = std::filesystem;
using nlohmann::json;

fs::path shipped(const std::string& name) { return fs::path(KASANE_SOURCE_DIR) / "models" / (name + ".toml"); }

std::vector<std::string> shipped_models() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(KASANE_SOURCE_DIR) / "models"))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// A run with one softening for all particles writes it to the components of its snapshots.
std::vector<gravity::SnapshotComponent> with_softening(std::vector<gravity::SnapshotComponent> components, double softening) {
    for (auto& component : components) component.softening = softening;
    return components;
}

class Models : public test::CommandTest {
   protected:
    void model(const std::string& text, const std::string& name = "model.toml") { test::write_file(directory / name, text); }
    /// A halo, a bulge and a black hole, types 1, 3 and 5.
    void three_components() {
        model(
            "title = 'three'\nunits = 'nbody'\ncount = 1000\nseed = 4\n"
            "[[component]]\nname = 'halo'\nmodel = 'hernquist'\nmass = 9\nscale = 5\n"
            "truncation = { radius = 100, width = 20 }\nsoftening = 0.5\n"
            "[[component]]\nname = 'bulge'\nmodel = 'hernquist'\nmass = 1\nscale = 0.5\n"
            "truncation = { radius = 10, width = 2 }\ntype = 3\n"
            "[[component]]\nmodel = 'black-hole'\nmass = 0.01\n");
    }
    gravity::Snapshot sample(std::vector<std::string> arguments, const std::string& name = "s.hdf5") {
        arguments.insert(arguments.begin(), {"sample"});
        arguments.insert(arguments.end(), {"-o", name, "--force", "--json"});
        last = kasane(arguments);
        EXPECT_EQ(last.status, 0) << last.err;
        return last.status == 0 ? gravity::read_snapshot(directory / name) : gravity::Snapshot{};
    }
    test::Outcome last;
};

Vec3<double> mean(const std::vector<Vec3<double>>& all, const gravity::Particles& p, const gravity::SnapshotComponent& of) {
    Vec3<double> sum;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (p.id[i] - of.first_id < of.count) sum += all[i];
    return (1 / static_cast<double>(of.count)) * sum;
}

TEST_F(Models, SnapshotsNameTheirComponents) {
    three_components();
    const auto s = sample({"model.toml"});
    ASSERT_EQ(s.components.size(), 3u);
    // Shares of 1,000 by mass, and the black hole.
    EXPECT_EQ(s.components[0], (gravity::SnapshotComponent{"halo", "hernquist", 1, 900, 1, 9, 4, 0.5}));
    EXPECT_EQ(s.components[1], (gravity::SnapshotComponent{"bulge", "hernquist", 901, 100, 3, 1, 4}));
    EXPECT_EQ(s.components[2], (gravity::SnapshotComponent{"black-hole", "black-hole", 1001, 1, 5, 0.01, 4}));
    EXPECT_EQ(s.softening, (std::array<double, 6>{0, 0.5, 0, 0, 0, 0}));
    ASSERT_EQ(s.particles.size(), 1001);
    for (const auto& c : s.components) {
        double mass = 0;
        for (std::size_t i = 0; i < s.particles.id.size(); ++i) {
            if (s.particles.id[i] - c.first_id >= c.count) continue;
            EXPECT_EQ(s.particles.type[i], c.type);
            mass += s.particles.mass[i];
        }
        EXPECT_NEAR(mass, c.mass, 1e-12);  // a thousand additions
        const auto x = mean(s.particles.position, s.particles, c);
        EXPECT_NEAR(std::sqrt(dot(x, x)), 0, 1e-10) << c.name;
    }
    // Everything that the particles came from is in the file.
    EXPECT_NE(s.model.find("\ntitle = \"three\""), std::string::npos) << s.model;
    EXPECT_NE(s.model.find("[[component]]\nname = \"bulge\""), std::string::npos) << s.model;

    const auto object = last.json();
    EXPECT_EQ(object["n"], 1001);
    ASSERT_EQ(object["components"].size(), 3u);
    EXPECT_EQ(object["components"][1], json::parse(R"({"name": "bulge", "model": "hernquist", "count": 100, "type": 3, "mass": 1.0})"));
    const auto plain = kasane({"sample", "model.toml", "-o", "p.hdf5"});
    EXPECT_NE(plain.out.find("bulge"), std::string::npos) << plain.out;

    // The resolved text makes the same particles, byte for byte except for its own text.
    model(s.model, "again.toml");
    test::write_file(directory / "again.toml", s.model);
    EXPECT_EQ(sample({"again.toml"}, "again.hdf5").particles.position, s.particles.position);
}

TEST_F(Models, CountAndSeedOfTheCommandLine) {
    three_components();
    const auto s = sample({"model.toml", "--count", "3001", "--seed", "11"});
    ASSERT_EQ(s.components.size(), 3u);
    EXPECT_EQ(s.components[0].count, 2700u);
    EXPECT_EQ(s.components[1].count, 300u);
    EXPECT_EQ(s.components[2].count, 1u);
    EXPECT_EQ(s.components[0].seed, 11u);
    EXPECT_NE(s.model.find("--count 3001"), std::string::npos);
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "t.hdf5", "--count", "2", "--json"}), {"--count", "3 components"});
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "t.hdf5", "--count", "0", "--json"}), {"--count"});
    // Counts of their own keep their proportion.
    model(
        "units = 'nbody'\n[[component]]\nmodel = 'plummer'\ncount = 300\n[[component]]\nmodel = 'plummer'\nname = 'b'\ncount = 100\n"
        "[[component]]\nmodel = 'plummer'\nname = 'c'\nparticle_mass = 0.01\ntype = 2\n");
    EXPECT_EQ(sample({"model.toml"}).components[2].count, 100u);
    const auto more = sample({"model.toml", "--count", "1001"});
    EXPECT_EQ(more.components[0].count, 601u);  // 600.6, 200.2, 200.2
    EXPECT_EQ(more.components[1].count, 200u);
    EXPECT_EQ(more.components[2].count, 200u);
    EXPECT_EQ(more.particles.size(), 1001);
    EXPECT_FALSE(fs::exists(directory / "t.hdf5"));
}

TEST_F(Models, TheCommandLineSuppliesACountThatTheFileLeavesOut) {
    const std::string halo_and_hole =
        "units = 'nbody'\n[[component]]\nmodel = 'plummer'\n[[component]]\nmodel = 'black-hole'\nmass = 0.01\n";
    model(halo_and_hole);
    const auto s = sample({"model.toml", "--count", "301"});
    EXPECT_EQ(s.particles.size(), 301);
    EXPECT_NE(s.model.find("--count 301"), std::string::npos) << s.model;
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "t.hdf5", "--json"}), {"model.toml", "count", "missing"});
    model("units = 'nbody'\nmodel = 'cold'\nscale = 1\n", "ball.toml");
    EXPECT_EQ(sample({"ball.toml", "--count", "50"}).particles.size(), 50);
    // What a run file starts from, and a model file that an object counts.
    model(
        "[run]\nproblem = 'gravity'\nunits = 'nbody'\nuntil = 1\n[initial]\nmodel = 'model.toml'\n"
        "[force]\nsoftening = 0.1\n[step]\ndt = 0.1\n[output]\ndirectory = 'out'\n",
        "run.toml");
    EXPECT_EQ(sample({"run.toml", "--count", "40"}).particles.size(), 40);
    model("units = 'nbody'\n[[object]]\nmodel = 'model.toml'\ncount = 20\n[[object]]\nmodel = 'model.toml'\ncount = 10\n", "two.toml");
    EXPECT_EQ(sample({"two.toml"}).particles.size(), 30);
    // Objects share a count in proportion to their own: without any there is no proportion.
    model("units = 'nbody'\n[[object]]\nmodel = 'plummer'\n", "object.toml");
    test::expect_bad_input(kasane({"sample", "object.toml", "-o", "t.hdf5", "--count", "9", "--json"}),
                           {"object.toml", "count", "missing"});
}

TEST_F(Models, TheSameFileForAnyNumberOfThreads) {
    three_components();
    sample({"model.toml", "--threads", "1", "--count", "70001"}, "one.hdf5");
    sample({"model.toml", "--threads", "2", "--count", "70001"}, "two.hdf5");
    EXPECT_TRUE(test::read_file(directory / "one.hdf5") == test::read_file(directory / "two.hdf5"));
}

TEST_F(Models, InlineInARunFileAndReadAgainFromItsDirectory) {
    model(
        "[run]\nproblem = 'gravity'\nunits = 'nbody'\nuntil = 0.02\ndevice = 'cpu'\n"
        "[initial]\ncount = 300\n"
        "[[initial.component]]\nmodel = 'plummer'\ntruncation = { radius = 10, width = 2 }\nanisotropy_radius = 3\n"
        "[[initial.component]]\nname = 'outer'\nmodel = 'plummer'\nscale = 3\nmass = 2\n"
        "[force]\nsoftening = 0.1\n[step]\ndt = 0.01\n[output]\ndirectory = 'out'\n",
        "run.toml");
    const auto check = kasane({"check", "run.toml", "--json"});
    ASSERT_EQ(check.status, 0) << check.err;
    EXPECT_EQ(check.json()["particles"], 300);
    const auto papers = check.json()["papers"].dump();
    for (const char* paper : {"Plummer", "Miki, M. Umemura, MNRAS 475", "Eddington", "Osipkov", "Merritt"})
        EXPECT_NE(papers.find(paper), std::string::npos) << paper;
    ASSERT_EQ(kasane({"run", "run.toml"}).status, 0);
    const auto again = kasane({"check", "out/run.toml", "--json", "--set", "output.directory=again"});
    ASSERT_EQ(again.status, 0) << again.err;
    const auto a = sample({"run.toml"}, "a.hdf5"), b = sample({"out/run.toml", "--set", "output.directory=again"}, "b.hdf5");
    EXPECT_EQ(a.particles.position, b.particles.position);
    EXPECT_EQ(a.components, b.components);
    // The snapshots of a run keep the labels, by the particles' ids.
    ASSERT_EQ(a.components.size(), 2u);
    EXPECT_EQ(gravity::read_snapshot(directory / "out/snapshots/snapshot_0001.hdf5").components, with_softening(a.components, 0.1));
    // And a snapshot that is a start as it is hands them on.
    const auto c = sample({"run.toml", "--set", "initial={file = \"a.hdf5\"}"}, "c.hdf5");
    EXPECT_EQ(c.components, a.components);
}

TEST_F(Models, ObjectsOfManyComponents) {
    three_components();
    test::write_file(directory / "pair.toml",
                     "units = 'nbody'\n"
                     "[[object]]\nname = 'first'\nmodel = 'model.toml'\ncount = 101\nposition = [50, 0, 0]\n"
                     "[[object]]\nmodel = 'model.toml'\nvelocity = [0, 0, 7]\n"
                     "[[object]]\nname = 'visitor'\nmodel = 'point'\nmass = 3\nposition = [0, -9, 0]\n");
    const auto s = sample({"pair.toml"});
    ASSERT_EQ(s.components.size(), 7u);
    EXPECT_EQ(s.components[0].name, "first/halo");
    EXPECT_EQ(s.components[0].count, 90u);
    EXPECT_EQ(s.components[3], (gravity::SnapshotComponent{"2/halo", "hernquist", 102, 900, 1, 9, 2, 0.5}));
    EXPECT_EQ(s.components[6], (gravity::SnapshotComponent{"visitor/point", "point", 1103, 1, 1, 3, 1}));
    for (const auto& c : s.components) {
        const auto x = mean(s.particles.position, s.particles, c), v = mean(s.particles.velocity, s.particles, c);
        EXPECT_NEAR(x.x, c.name.starts_with("first/") ? 50 : 0, 1e-10) << c.name;
        EXPECT_NEAR(x.y, c.name.starts_with("visitor/") ? -9 : 0, 1e-10) << c.name;
        EXPECT_NEAR(v.z, c.name.starts_with("2/") ? 7 : 0, 1e-10) << c.name;
    }
    // Three kinds of masses of type 1: each particle has its own in the file.
    double mass = 0;
    for (const auto m : s.particles.mass) mass += m;
    EXPECT_NEAR(mass, 2 * 10.01 + 3, 1e-11);
    // The halves of one file are no copies of each other: each object has its seed.
    EXPECT_NE(s.particles.velocity[0].x, s.particles.velocity[90].x);

    test::write_file(directory / "typed.toml", "units = 'nbody'\n[[object]]\nmodel = 'model.toml'\ntype = 2\n");
    test::expect_bad_input(kasane({"sample", "typed.toml", "-o", "t.hdf5", "--json"}), {"object.0.type", "each component"});
    test::write_file(directory / "units.toml", "[[object]]\nmodel = 'model.toml'\n");
    test::expect_bad_input(kasane({"sample", "units.toml", "-o", "t.hdf5", "--json"}), {"object.0.model", "nbody", "galactic"});
    test::write_file(directory / "few.toml", "units = 'nbody'\n[[object]]\nmodel = 'model.toml'\ncount = 2\n");
    test::expect_bad_input(kasane({"sample", "few.toml", "-o", "t.hdf5", "--json"}), {"object.0.count", "3 components"});
}

TEST_F(Models, ARunBeginsWithTheParticlesOfSample) {
    three_components();
    sample({"model.toml", "--count", "70"}, "seventy.hdf5");
    model(
        "[run]\nproblem = 'gravity'\nunits = 'nbody'\nuntil = 1e-3\ndevice = 'cpu'\n"
        "[[object]]\nmodel = 'model.toml'\ncount = 5001\nposition = [50, 0, 0]\nspin = [10, 20, 30]\n"
        "[[object]]\nmodel = 'cold'\ncount = 1000\nscale = 2\nvelocity = [0, 0, 7]\n"
        "[[object]]\nfile = 'seventy.hdf5'\nposition = [0, -9, 0]\nspin = [0, 90, 0]\n"
        "[force]\nsoftening = 0.1\n[step]\ndt = 1e-3\n[output]\ndirectory = 'out'\n",
        "run.toml");
    const auto s = sample({"run.toml"});
    const auto outcome = kasane({"run", "run.toml"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto first = gravity::read_snapshot(directory / "out/snapshots/snapshot_0000.hdf5");
    EXPECT_EQ(first.particles.position, s.particles.position);
    EXPECT_EQ(first.particles.velocity, s.particles.velocity);
    EXPECT_EQ(first.particles.mass, s.particles.mass);
    EXPECT_EQ(first.particles.id, s.particles.id);
    EXPECT_EQ(first.particles.type, s.particles.type);
    EXPECT_EQ(first.components, with_softening(s.components, 0.1));

    // One source is not copied.
    const auto settings = std::vector<std::string>{"--set", "object=[{model = \"model.toml\", count = 500, position = [1, 2, 3]}]"};
    auto arguments = std::vector<std::string>{"run", "run.toml", "--force"};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    ASSERT_EQ(kasane(arguments).status, 0);
    const auto one = sample({"run.toml", settings[0], settings[1]});
    EXPECT_EQ(gravity::read_snapshot(directory / "out/snapshots/snapshot_0000.hdf5").particles.position, one.particles.position);
}

TEST_F(Models, SnapshotsOnAnOrbit) {
    three_components();
    sample({"model.toml", "--count", "50"}, "a.hdf5");
    model("units = 'nbody'\n[orbit]\nseparation = 100\npericentre = 100\n[[object]]\nfile = 'a.hdf5'\n[[object]]\nfile = 'a.hdf5'\n",
          "pair.toml");
    const auto s = sample({"pair.toml"});
    // Equal masses: the centres are at equal distances from the origin.
    const auto& p = s.particles;
    ASSERT_EQ(p.id.size(), 100u);
    Vec3<double> first, second;
    double mass = 0;
    for (std::size_t i = 0; i < p.id.size(); ++i) {
        (p.id[i] <= 50 ? first : second) += p.mass[i] * p.position[i];
        mass += p.mass[i] / 2;
    }
    const auto apart = (1 / mass) * (first - second), middle = (1 / mass) * (first + second);
    EXPECT_NEAR(std::sqrt(dot(apart, apart)), 100, 1e-9);
    EXPECT_NEAR(std::sqrt(dot(middle, middle)), 0, 1e-9);
}

/// Direction of the angular momentum of a component about its own centre.
Vec3<double> spin_of(const gravity::Snapshot& s, const std::string& name) {
    for (const auto& c : s.components) {
        if (c.name != name) continue;
        const auto& p = s.particles;
        const auto x0 = mean(p.position, p, c), v0 = mean(p.velocity, p, c);
        Vec3<double> sum;
        for (std::size_t i = 0; i < p.id.size(); ++i)
            if (p.id[i] - c.first_id < c.count) sum += cross(p.position[i] - x0, p.velocity[i] - v0);
        return (1 / std::sqrt(dot(sum, sum))) * sum;
    }
    ADD_FAILURE() << "no component " << name;
    return {};
}

TEST_F(Models, DisksOfAnEncounterAreInclined) {
    // At pericentre, both on the x axis: the other one is seen from the first in -x and moves to -y.
    const auto encounter = [](const std::string& first, const std::string& second) {
        std::string text = "units = 'nbody'\n[orbit]\nseparation = 100\npericentre = 100\n";
        for (const auto& [name, angles] : {std::pair{"a", first}, {"b", second}})
            text += std::string("[[object]]\nname = '") + name + "'\ncount = 2000\n" + angles +
                    "[[object.component]]\nmodel = 'hernquist'\nmass = 5\nscale = 3\ntruncation = { radius = 30, width = 6 }\n"
                    "[[object.component]]\nname = 'disk'\nmodel = 'exponential-disk'\nmass = 1\nscale = 1\nheight = 0.1\n"
                    "truncation = { radius = 8, width = 1 }\n";
        return text;
    };
    // Half the disk's particles (333) have random motions of a third of the rotation: 0.02 rad in the mean; three times that.
    const auto expect_spin = [&](const gravity::Snapshot& s, const std::string& name, const Vec3<double>& expected) {
        EXPECT_GT(dot(spin_of(s, name), expected), std::cos(0.06)) << name;
    };
    model(encounter("inclination = 90\n", "inclination = 180\nargument = 33\n"));
    auto s = sample({"model.toml"});
    expect_spin(s, "a/disk", {0, -1, 0});
    expect_spin(s, "b/disk", {0, 0, -1});
    model(encounter("inclination = 30\nargument = 90\n", "spin = [0, 90, 0]\n"));
    s = sample({"model.toml"});
    expect_spin(s, "a/disk", {-0.5, 0, std::sqrt(0.75)});
    expect_spin(s, "b/disk", {1, 0, 0});

    model(encounter("inclination = 30\nspin = [0, 0, 1]\n", ""));
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "t.hdf5", "--json"}), {"object.0.spin", "inclination", "9"});
    model("units = 'nbody'\n[[object]]\nmodel = 'plummer'\ncount = 10\nargument = 3\n");
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "t.hdf5", "--json"}), {"object.0.argument", "[orbit]"});
}

TEST_F(Models, MemoryIsThatOfTheSnapshot) {
    three_components();
    constexpr std::int64_t n = 1 << 20;
    const auto outcome = kasane({"sample", "model.toml", "-o", "s.hdf5", "--count", std::to_string(n), "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto file = static_cast<std::int64_t>(fs::file_size(directory / "s.hdf5"));
    EXPECT_GT(file, 56 * n);
    // The program, its libraries, the galaxy's tables and a block of particles, whatever n is: 32 MiB. A second copy would be 56 MiB more.
    EXPECT_LT(outcome.peak_bytes, file + (std::int64_t{32} << 20)) << "the file has " << file;
}

// Balls too are made block by block.
TEST_F(Models, MemoryOfABallIsThatOfTheSnapshot) {
    model("units = 'nbody'\nmodel = 'uniform'\nscale = 1\ncount = 1048576\n");
    const auto outcome = kasane({"sample", "model.toml", "-o", "s.hdf5", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto file = static_cast<std::int64_t>(fs::file_size(directory / "s.hdf5"));
    EXPECT_LT(outcome.peak_bytes, file + (std::int64_t{32} << 20)) << "the file has " << file;
}

TEST_F(Models, AnInterruptedSamplingLeavesNothing) {
    model("units = 'nbody'\nmodel = 'plummer'\ncount = 4000000\n");  // some seconds' work for a thread
    for (const int signal : {SIGINT, SIGTERM}) {
        auto process = start({"sample", "model.toml", "-o", "s.hdf5", "--json", "--threads", "1"});
        ASSERT_TRUE(wait_for([&] { return fs::exists(directory / ".s.hdf5.tmp") || !process.running(); }));
        process.signal(signal);
        const auto outcome = process.wait();
        EXPECT_EQ(outcome.status, 130) << outcome.err;
        EXPECT_NE(outcome.json()["error"]["message"].dump().find("nothing was written"), std::string::npos) << outcome.out;
        EXPECT_FALSE(fs::exists(directory / "s.hdf5") || fs::exists(directory / ".s.hdf5.tmp"));
    }
}

TEST_F(Models, CheckReadsThemAsSampleDoes) {
    three_components();
    const auto check = kasane({"check", "model.toml", "--json"});
    ASSERT_EQ(check.status, 0) << check.err;
    const auto result = check.json();
    sample({"model.toml"});
    for (const char* same : {"components", "galaxies", "units"}) EXPECT_EQ(result[same], last.json()[same]) << same;
    EXPECT_EQ(result["particles"], 1001);
    EXPECT_EQ(result["title"], "three");
    EXPECT_GT(result["memory"]["host_available"], result["memory"]["host_bytes"]);
    EXPECT_NE(result["papers"].dump().find("Hernquist"), std::string::npos);
    EXPECT_NE(result["resolved"].dump().find("anisotropy_radius"), std::string::npos);
    const auto plain = kasane({"check", "model.toml", "--set", "count=77"});
    for (const char* word : {"78 particles", "half-mass radius", "rests on:", "memory"})
        EXPECT_NE(plain.out.find(word), std::string::npos) << word << " in " << plain.out;
    test::expect_bad_input(kasane({"check", "model.toml", "--json", "--set", "component.1.scale=-1"}), {"component.1.scale", "above 0"});
}

// A model that differs from its request gives a warning that is result on the terminal, in the object and on the page.
TEST_F(Models, CautionsReachTheUser) {
    // A core about a black hole, in two galaxies: one named, one not; radii in kpc.
    model(
        "units = 'galactic'\ncount = 1000\n[[component]]\nname = 'stars'\nmodel = 'plummer'\nscale = 1\nmass = 1\n"
        "[[component]]\nmodel = 'black-hole'\nmass = 0.01\n");
    const std::string words = "component \"stars\": the distribution function is negative for 0.028% of the mass",
                      unit = " kpc: near this radius";
    const auto result = [&](const std::string& text, const std::string& galaxy) {
        EXPECT_NE(text.find("model.toml:5:"), std::string::npos) << text;
        for (const auto& word : {std::string("component.0.model: "), galaxy + words, unit})
            EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
    };
    const auto outcome = kasane({"sample", "model.toml", "-o", "s.hdf5", "--report", "s.html", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    result(outcome.err, "");
    const auto galaxy = outcome.json()["galaxies"][0];
    ASSERT_EQ(galaxy["warnings"].size(), 1u);
    result(galaxy["warnings"][0], "");
    EXPECT_GT(galaxy["components"][0]["clamped_radius"], 0);
    const auto page = test::read_file(directory / "s.html");
    const auto note = page.find("<strong>Note:</strong>");
    ASSERT_NE(note, std::string::npos);
    for (const char* word : {"component &quot;stars&quot;", "component.0.model", " kpc: near this radius"})
        EXPECT_NE(page.find(word, note), std::string::npos) << word;

    test::write_file(directory / "run.toml",
                     "[run]\nproblem = 'gravity'\nunits = 'galactic'\ndevice = 'cpu'\nuntil = 0.001\n"
                     "[[object]]\nname = 'first'\nmodel = 'model.toml'\n[[object]]\nmodel = 'model.toml'\nposition = [50, 0, 0]\n"
                     "[force]\nsoftening = 0.1\n[step]\ndt = 0.001\n[output]\ndirectory = 'out'\n");
    const auto run = kasane({"run", "run.toml", "--json"});
    ASSERT_EQ(run.status, 0) << run.err;
    const auto record = json::parse(test::read_file(directory / "out/record.json"));
    const auto check = kasane({"check", "run.toml", "--json"}).json();
    for (const auto& from : {run.json(), record, check}) {
        ASSERT_EQ(from["warnings"].size(), 2u);
        result(from["warnings"][0], "galaxy \"first\", ");
        result(from["warnings"][1], "galaxy 2, ");
    }
    result(test::read_file(directory / "out/log.txt"), "galaxy \"first\", ");
    EXPECT_NE(test::read_file(directory / "out/report.html").find("galaxy &quot;first&quot;, component &quot;stars&quot;"),
              std::string::npos);
    // A report that is written again, and a run that was resumed, have them too.
    ASSERT_EQ(kasane({"resume", "out", "--json"}).json()["warnings"], run.json()["warnings"]);
}

TEST_F(Models, ShippedOnesAreFoundByName) {
    const auto by_name = sample({"king-cluster", "--count", "100"}), by_file = sample({shipped("king-cluster").string(), "--count", "100"});
    EXPECT_EQ(by_name.particles.position, by_file.particles.position);
    EXPECT_EQ(kasane({"check", "king-cluster", "--json"}).json()["title"],
              kasane({"check", shipped("king-cluster").string(), "--json"}).json()["title"]);
    const std::vector<std::string> known{"no-such-model", "black-hole-bulge, dwarf, king-cluster, m31, milky-way"};
    test::expect_bad_input(kasane({"sample", "no-such-model", "-o", "t.hdf5", "--json"}), known);
    test::expect_bad_input(kasane({"check", "no-such-model", "--json"}), known);
    test::expect_bad_input(kasane({"sample", "m31.toml", "-o", "t.hdf5", "--json"}), {"m31.toml", "no such file"});
    // A file of that name comes first.
    model("units = 'nbody'\nmodel = 'plummer'\ncount = 7\n", "m31");
    EXPECT_EQ(sample({"m31"}).particles.size(), 7);
}

TEST_F(Models, AnInstalledProgramFindsThem) {
    const auto program = directory / "prefix/bin/kasane", models = directory / "prefix/share/kasane/models";
    fs::create_directories(program.parent_path());
    fs::copy_file(KASANE_COMMAND, program);
    const auto installed = [&](const std::string& name) {
        return Process(directory, {"check", name, "--json"}, {}, {program.string()}).wait();
    };
    test::expect_bad_input(installed("king-cluster"), {"king-cluster", "prefix/bin/models", models.string()});
    fs::create_directories(models);
    fs::copy_file(shipped("king-cluster"), models / "king-cluster.toml");
    const auto found = installed("king-cluster");
    ASSERT_EQ(found.status, 0) << found.out << found.err;
    EXPECT_EQ(found.json()["file"], (models / "king-cluster.toml").string());
}

class ShippedModel : public Models, public ::testing::WithParamInterface<std::string> {};

TEST_P(ShippedModel, IsSampledAndNamesItsSource) {
    const auto text = test::read_file(shipped(GetParam()));
    for (const char* key : {"\ntitle ", "\nsource ", "\nunits ", "\nseed "}) EXPECT_NE(text.find(key), std::string::npos) << key;
    EXPECT_NE(text.find("kasane sample models/" + GetParam() + ".toml"), std::string::npos);
    const auto s = sample({shipped(GetParam()).string(), "--count", "3000"});
    ASSERT_EQ(s.particles.size(), 3000);
    EXPECT_EQ(s.units.name, "galactic");
    std::uint64_t next = 1;
    for (const auto& c : s.components) {
        EXPECT_EQ(c.first_id, next);
        next += c.count;
    }
    EXPECT_EQ(next, 3001u);
    // 2K = |W| of the softened, sampled system is the studies' to show; that it is bound and at rest is cheap to see here.
    Vec3<double> momentum;
    double mass = 0;
    for (std::size_t i = 0; i < s.particles.mass.size(); ++i) {
        momentum += s.particles.mass[i] * s.particles.velocity[i];
        mass += s.particles.mass[i];
    }
    EXPECT_LT(std::sqrt(dot(momentum, momentum)), 1e-9 * mass);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedModel, ::testing::ValuesIn(shipped_models()), [](const auto& each) {
    auto name = each.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST_F(Models, AndromedaHasItsBenchmarkCounts) {
    const auto s = sample({shipped("m31").string(), "--count", "1048576"});
    ASSERT_EQ(s.components.size(), 4u);
    EXPECT_NEAR(static_cast<double>(s.components[0].count), 957'654, 0.001 * 957'654);  // of MAGI, with equal masses
}

}  // namespace
