// Common parts of the studies of the lattice module: problem, volumes, links that are made once, memory bandwidth.
// Invariants: `--n L` selects volumes L^4; n of a row is the number of sites; a row's flop are useful ones (1320 per site of a hop, 1824
// with A^-1), without the additional work of a storage.
#pragma once

#include <bench/threads.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/perf/benchmark.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kasane::bench {

inline constexpr double wilson_flops = 1320, clover_flops = 1824;

/// U = exp(0.3 i P) with c_sw = 1, kappa = 0.125, antiperiodic time: the problem of QUDA's published rates.
inline constexpr double weak_epsilon = 0.3;
inline constexpr lattice::DiracParameters benchmark_operator{0.125, 1.0, lattice::Boundary::antiperiodic};

/// Keeps the last links, and every speed.
class LatticeProblems {
   public:
    const lattice::GaugeField& weak(const lattice::Extents& extents);
    /// Links of the Wilson gauge action at this beta, from a cold start by sweeps of one heatbath and four overrelaxations on that space.
    const lattice::GaugeField& thermalised(const AnySpace& on, const lattice::Extents& extents, double beta, int sweeps);
    const MemorySpeed& speed(const AnySpace& on) { return speeds_.of(on); }
    /// Releases the links' memory.
    void clear() { name_.clear(), links_ = {}; }

   private:
    std::string name_;
    lattice::GaugeField links_;
    Speeds speeds_;
};
using SharedLattice = std::shared_ptr<LatticeProblems>;

/// L^4 for each L of --n, else this one.   @throws InputError for an invalid L
std::vector<lattice::Extents> volumes_or(const BenchmarkContext& context, const lattice::Extents& own);
/// 16^4 on a CPU, 32^3 x 64 on a device.
lattice::Extents main_volume(const AnySpace& on);
/// Edges of the talk's curves: those of --n, else from 8 on, up to a limit for CPUs and one for devices.
std::vector<lattice::Extents> curve_volumes(const BenchmarkContext& context);

/// A row that states why there are no numbers.
BenchmarkResult absent_hop(const std::string& name, const lattice::Extents& extents, const std::string& reason);

Benchmark lattice_dslash(const SharedLattice& shared);
Benchmark lattice_solver_methods(const SharedLattice& shared);
Benchmark lattice_solver_volumes(const SharedLattice& shared);
Benchmark lattice_solver_light(const SharedLattice& shared);
Benchmark lattice_columns(const SharedLattice& shared);
Benchmark lattice_schwarz(const SharedLattice& shared);
Benchmark lattice_quark(const SharedLattice& shared);
Benchmark lattice_hmc(const SharedLattice& shared);
Benchmark lattice_trajectory(const SharedLattice& shared);
Benchmark lattice_scaling(const SharedLattice& shared);

}  // namespace kasane::bench
