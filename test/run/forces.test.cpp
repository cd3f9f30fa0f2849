// Forces of a snapshot as a call of the library; the verb is tested in run.test.cpp.
#include <kasane/core/base/error.hpp>
#include <kasane/run/forces.hpp>

#include <gtest/gtest.h>

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
    EXPECT_THROW(run::forces(Cpu{1}, pair_of(1e308), options), ComputationError) << "1e308 / (1e-3)^2 is no double";
}

}  // namespace
