// Everything of the gravity module that a user's program needs: #include <kasane/gravity.hpp>.
#pragma once

#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/place.hpp>
#include <kasane/gravity/local_force.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/gravity/particles/units.hpp>

/// Self-gravity of particles.
namespace kasane::gravity {}
