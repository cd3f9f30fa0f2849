// A solver ready to iterate on one space: the system, the vectors, the decided options. Solver owns one; the tuner times several.
// Invariants: every option is decided (none is automatic); A is not needed once a PreparedSystem is made.
#pragma once

#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/format/system.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// Seconds of the parts of a set-up, in order.
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
    double rho_before = 0;            ///< rho of the direction in vectors.p, where the last run was stopped; else 0
    std::uint64_t scratch_bytes = 0;  ///< largest memory that the set-up held beside the result
    std::uint64_t bytes() const { return system.bytes() + static_cast<std::uint64_t>(6 * vectors.x.size()) * sizeof(double); }
};

/// @param A  on S, canonical   @param options  ordering, numbering, format, launch decided; iteration may be automatic
/// @throws InputError with the reason where the requested form of the iteration does not apply to this matrix
template <Space S>
PreparedSystem<S> prepare_system(S on, const CsrView& A, SpaceOrder<S> order, const SolverOptions& options, PartTimes& times);

/// New values of A on the same pattern: order, layout and options stay; entries are split, factorised and scaled again.
/// @param A  on S, canonical   @param iteration  as given; may be automatic
/// @throws as prepare_system(): then the system is empty and keeps its layout, so that another call with good values makes it again
template <Space S>
void update_system(PreparedSystem<S>& prepared, const CsrView& A, Iteration iteration, PartTimes& times);

/// @throws InputError: NaN or infinity in b or x
/// b and x in the user's numbers, on S. @param mean_free  constants are A's null space
/// @param start  where_stopped: with the search direction of the last run, which stop() ended, and the x that it left
template <Space S>
SolveLog solve_prepared(PreparedSystem<S>& prepared, View<const double> b, View<double> x, bool mean_free, Start start,
                        const StopFunction& stop);

/// The log of a b outside the range of a singular A, with x = 0. @param share  of b's norm that lies outside
SolveLog outside_range(double share);

/// Seconds per iteration, measured over this number of iterations after a warm-up.
template <Space S>
double seconds_per_iteration(PreparedSystem<S>& prepared, int iterations);

/// Progress of a solve of white noise (mean_free: without its mean) after that many iterations from zero: b.x = ||x||_A^2, and ||b - A x||
/// / ||b||.
struct TrialProgress {
    int iterations = 0;  ///< fewer than requested where the solve has converged
    double energy = 0, residual = 1;
};
template <Space S>
TrialProgress progress_after(PreparedSystem<S>& prepared, int iterations, bool mean_free);

/// Rows that a layout processes together, for a format: C of sell; otherwise the vector width of the space.
int chunk_of(const Format& format, bool cuda);

}  // namespace kasane::sparse
