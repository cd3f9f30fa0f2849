// All of the lattice room: geometry, gauge and quark fields, files, updates, observables, the solver.
#pragma once

#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/solve/solver.hpp>
