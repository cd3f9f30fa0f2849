// One prepared solver on one space: the system, the vectors, and how it iterates. What Solver holds, and what the tuner times.
// Invariants: every option is decided (none is automatic); A is not needed once a PreparedSystem is made.
#pragma once

#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/format/system.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// Seconds of the parts of a set-up, in the order they ran.
class PartTimes {
   public:
    void add(const std::string& part, double seconds) {
        for (auto& [name, sum] : parts_)
            if (name == part) {
                sum += seconds;
                return;
            }
        parts_.emplace_back(part, seconds);
    }
    const std::vector<std::pair<std::string, double>>& parts() const { return parts_; }

   private:
    std::vector<std::pair<std::string, double>> parts_;
};

template <Space S>
struct PreparedSystem {
    System<S> system;
    IterationVectors<S> vectors;
    SolverOptions options;  ///< as decided
    double shift = 0;
    double rho_before = 0;            ///< of the direction in vectors.p, where the last run was stopped; else 0
    std::uint64_t scratch_bytes = 0;  ///< most that the set-up held beside what stays
    std::uint64_t bytes() const { return system.bytes() + static_cast<std::uint64_t>(6 * vectors.x.size()) * sizeof(double); }
};

/// @param A  on S, canonical   @param options  ordering, numbering, format, launch decided; iteration may be automatic
/// @throws InputError where the iteration that was asked for does not apply to this matrix, saying why
template <Space S>
PreparedSystem<S> prepare_system(S on, const CsrView& A, SpaceOrder<S> order, const SolverOptions& options, PartTimes& times);

/// @throws InputError: NaN or infinity in b or x
/// b and x in the user's numbers, on S. @param mean_free  constants are A's null space
/// @param start  where_stopped: with the search direction of the last run, which stop() ended, and the x that it left
template <Space S>
SolveLog solve_prepared(PreparedSystem<S>& prepared, View<const double> b, View<double> x, bool mean_free, Start start,
                        const StopFunction& stop);

/// The log of a b that A cannot give, with x = 0. @param share  of b's norm
SolveLog outside_range(double share);

/// Seconds per iteration, of so many behind a warm-up.
template <Space S>
double seconds_per_iteration(PreparedSystem<S>& prepared, int iterations);

/// Where the solve of white noise (mean_free: without its mean) stands after so many iterations from zero: b.x = ||x||_A^2, and ||b - A x||
/// / ||b||.
struct TrialProgress {
    int iterations = 0;  ///< fewer than asked for where it has converged
    double energy = 0, residual = 1;
};
template <Space S>
TrialProgress progress_after(PreparedSystem<S>& prepared, int iterations, bool mean_free);

/// Rows that a layout works on together, for a format: C of sell; elsewhere as wide as the space's vectors.
int chunk_of(const Format& format, bool cuda);

}  // namespace kasane::sparse
