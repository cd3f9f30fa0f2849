// Forces of a snapshot as a call of the library, and the units that the verb takes it in; the rest of the verb is tested in run.test.cpp.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/gravity/forces.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

namespace {

using namespace kasane;

gravity::Particles pair_of(double mass) {
    gravity::Particles p;
    p.resize(2);
    p.position = {{0, 0, 0}, {0, 0, 1e-3}};
    p.mass = {mass, mass};
    p.id = {1, 2};
    return p;
}

TEST(Forces, AreFiniteOrAnError) {
    const gravity::Direct options{.precision = gravity::Precision::double_};
    const auto forces = run::forces(Cpu{1}, pair_of(1), options);
    EXPECT_NEAR(forces.acceleration[0].z, 1e6, 1e-8);
    EXPECT_THROW(run::forces(Cpu{1}, pair_of(1e308), options), ComputationError) << "1e308 / (1e-3)^2 is not a double";
}

class UnitsOfForces : public test::CommandTest {
   protected:
    /// Two masses of 2 at a distance of 10; with the scales of /Units where they are not 0.
    void snapshot(double length_cm = 0, double mass_g = 0, double velocity_cm_s = 0) {
        auto file = hdf5::File::create(directory / "s.hdf5");
        file.create_group("/Header");
        file.set_attribute("/Header", "NumPart_ThisFile", std::array<std::uint32_t, 6>{0, 2, 0, 0, 0, 0});
        file.set_attribute("/Header", "Time", 0.0);
        file.write("/PartType1/Coordinates", std::vector<Vec3<double>>{{0, 0, 0}, {10, 0, 0}});
        file.write("/PartType1/Velocities", std::vector<Vec3<double>>(2));
        file.write("/PartType1/Masses", std::vector<double>{2, 2});
        file.write("/PartType1/ParticleIDs", std::vector<std::uint64_t>{1, 2});
        if (length_cm > 0) {
            file.create_group("/Units");
            file.set_attribute("/Units", "UnitLength_in_cm", length_cm);
            file.set_attribute("/Units", "UnitMass_in_g", mass_g);
            file.set_attribute("/Units", "UnitVelocity_in_cm_per_s", velocity_cm_s);
        }
        file.close();
    }
    test::Outcome forces(std::vector<std::string> options) {
        options.insert(options.begin(),
                       {"forces", "s.hdf5", "-o", "f.hdf5", "--precision", "double", "--force", "--device", "cpu", "--json"});
        return kasane(options);
    }
    double pull() const { return hdf5::File::open(directory / "f.hdf5").read<Vec3<double>>("/Acceleration")[0].x; }
};

TEST_F(UnitsOfForces, AreReportedWhereTheSnapshotStatesNone) {
    snapshot();
    const double one = 2. / 100;  // m / d^2
    struct Case {
        std::vector<std::string> options;
        double G;
        const char* units;
    };
    for (const auto& [options, G, units] :
         {Case{{}, 43007.1, "galactic"}, Case{{"--units", "galactic"}, 43007.1, "galactic"}, Case{{"--units", "nbody"}, 1, "nbody"},
          Case{{"--G", "1"}, 1, "nbody"}, Case{{"--G", "2.5"}, 2.5, "user"},
          Case{{"--units", "galactic", "--G", "43009.2"}, 43009.2, "galactic"}}) {
        const auto outcome = forces(options);
        ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        EXPECT_EQ(outcome.json()["G"], G);
        EXPECT_EQ(outcome.json()["units"], units);
        EXPECT_NEAR(pull(), G * one, 1e-12 * G);
        // Assumptions are printed.
        EXPECT_EQ(outcome.err.find("states no units") != std::string::npos, options.empty()) << outcome.err;
    }
    EXPECT_EQ(forces({"--units", "galactic", "--softening", "50 pc"}).json()["softening"], 0.05);
    test::expect_bad_input(forces({"--units", "nbody", "--softening", "50 pc"}), {"--softening"});
    test::expect_bad_input(forces({"--units", "nbody", "--G", "2"}), {"--G", "is 2", "of --units"});
    for (const char* G : {"0", "-1", "nan", "inf"}) test::expect_bad_input(forces({"--G", G}), {"--G"});
    test::expect_bad_input(forces({"--units", "parsec"}), {"--units"});
}

TEST_F(UnitsOfForces, AreRefusedWhereTheyContradictTheSnapshot) {
    snapshot(3.085678e21, 1.989e43, 1e5);
    EXPECT_EQ(forces({"--units", "galactic", "--G", "43009.2"}).json()["G"], 43009.2);
    test::expect_bad_input(forces({"--units", "nbody"}), {"--units", "s.hdf5 states galactic units", "leave the option out"});
    test::expect_bad_input(forces({"--G", "1"}), {"--G", "G = 43007.1", "s.hdf5 states"});
    snapshot(1.496e13, 1.989e33, 1e5);
    test::expect_bad_input(forces({"--units", "galactic"}), {"--units", "s.hdf5 states user units"});
    EXPECT_EQ(forces({}).json()["units"], "user");
}

}  // namespace
