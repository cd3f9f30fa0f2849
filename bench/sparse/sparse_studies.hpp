// Common parts of the studies of the sparse module: the box of [HOHNI17] with its exact solution, the memory's speed, and a solve as a row.
// Invariants: a problem, a speed and our own best time are measured once and kept for the later studies of a run; a row's
// error is the largest relative one over all cells against the exact solution; bytes are those that the solver counts for an iteration.
#pragma once

#include <bench/threads.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/perf/benchmark.hpp>
#include <kasane/sparse/solver.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::bench {

/// side^3 unit cells, source i + j + k.
struct SparseProblem {
    index_t side = 0;
    sparse::CsrMatrix matrix;
    std::vector<double> rhs, exact;
    index_t rows() const { return matrix.rows(); }
    /// Largest |x - exact| / |exact| of all cells.
    double error(const std::vector<double>& x) const;
};

/// Keeps the last problem, every speed and every time.
class SparseProblems {
   public:
    /// @throws InputError for a side without a box that fits
    const SparseProblem& box(index_t side);
    const MemorySpeed& speed(const AnySpace& on) { return speeds_.of(on); }
    /// Seconds of a solve with all options automatic, without the set-up; measured where it is unknown.
    double our_seconds(const AnySpace& on, index_t side);
    void remember(const AnySpace& on, index_t side, double seconds);
    /// Releases the problem's memory; times and speeds stay.
    void clear() { box_.reset(); }

   private:
    std::optional<SparseProblem> box_;
    Speeds speeds_;
    std::map<std::string, double> seconds_;
};
using SharedSparse = std::shared_ptr<SparseProblems>;

struct Scheme {
    std::string name;  ///< "cm-rcm:8, eisenstat"
    sparse::SolverOptions options;
};
/// A scheme by rule, without tuning. @param format  "auto" and the like
Scheme scheme(const std::string& ordering, sparse::Iteration iteration, const std::string& format = "auto", bool single_factor = false);

/// Solves from zero, the median of several solves where they are short.
struct Measured {
    sparse::SolveLog log;
    sparse::SetupFacts setup;
    Timing solve;
    double iteration_seconds = 0;  ///< of the iterations of the median solve
    double error = 0;
};
Measured measure(sparse::Solver& solver, const SparseProblem& problem);

/// Seconds of one iteration, over a fixed number of them: the best of three runs.
double seconds_per_iteration(sparse::Solver& solver, const std::vector<double>& rhs, int iterations = 30);

/// A row whose rate is the bandwidth that the iterations reach and whose bound is the triad's.
BenchmarkResult row_of(const std::string& name, const Measured& measured, const MemorySpeed& speed);
/// The chosen options, in words: "cm-rcm:8, coalesced, sell:64:1, ic0, eisenstat, cooperative".
std::string words(const sparse::SetupFacts& setup);
/// A row that states why there are no numbers.
BenchmarkResult absent(const std::string& name, index_t n, const std::string& reason);

/// Sides of the box: those of --n, else the defaults of this kind of device.
std::vector<index_t> sides_or(const BenchmarkContext& context, const std::vector<index_t>& on_cpu, const std::vector<index_t>& on_gpu);

Benchmark sparse_triad(const SharedSparse& shared);
Benchmark sparse_solve(const SharedSparse& shared);
Benchmark sparse_peer_eigen(const SharedSparse& shared);
Benchmark sparse_peer_cusparse(const SharedSparse& shared);
Benchmark sparse_colors(const SharedSparse& shared);
Benchmark sparse_formats(const SharedSparse& shared);
Benchmark sparse_openmp(const SharedSparse& shared);
Benchmark sparse_multigrid(const SharedSparse& shared);
Benchmark sparse_multigrid_device(const SharedSparse& shared);
Benchmark sparse_general();
Benchmark sparse_blocks();
Benchmark sparse_matrices();
Benchmark sparse_scaling();

}  // namespace kasane::bench
