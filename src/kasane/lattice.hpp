// Lattice QCD: geometry, gauge and quark fields, files, starts, updates, hybrid Monte Carlo, observables, flow, sources, the quark solver,
// propagators and correlators.
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/solve/coherent_options.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>
#include <kasane/lattice/dirac/eigenmodes.hpp>
#include <kasane/lattice/file/eigenmode_file.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/solution_file.hpp>
#include <kasane/lattice/gamma_basis.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/transform.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/geometry.hpp>
#include <kasane/lattice/hmc/hmc_chain.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/observe/correlators.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/observe/statistics.hpp>
#include <kasane/lattice/solve/solver.hpp>
#include <kasane/lattice/spinor_field.hpp>
#include <kasane/lattice/su3.hpp>

/// Lattice QCD.
namespace kasane::lattice {}
