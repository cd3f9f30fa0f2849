// A system D x = b for the studies of the quark solver: it is solved with fields resident on the space, and the solve becomes a row.
#pragma once

#include <bench/lattice/lattice_studies.hpp>
#include <kasane/lattice/solve/solver.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace kasane::bench {

/// Options of a solve and their name in a row.
struct Way {
    std::string name;
    lattice::SolverOptions options;
};

/// A configuration with a Gaussian source, without gauge fixing and in temporal gauge.
class SolverProblem {
   public:
    /// @param study  the rows' names begin with it   @param links  must outlive the problem
    /// @param seconds  that the solves of a row may take; at least two are made where one is shorter than that
    SolverProblem(std::string study, const lattice::GaugeField& links, const lattice::DiracParameters& parameters, double seconds = 6);

    /// Solves from zero to a true residual of 1e-10, the median of up to five solves after a warm-up, and fills a row.
    /// @param base  seconds that `speedup` is over; NaN: none
    BenchmarkResult row(const AnySpace& on, const std::string& label, const Way& way, double base = std::nan(""));

   private:
    void fix_gauge();

    std::string study_;
    double seconds_;
    const lattice::GaugeField& links_;
    lattice::DiracParameters parameters_;
    lattice::SpinorField source_, fixed_source_;
    std::optional<lattice::TemporalGauge> fixed_;
};

}  // namespace kasane::bench
