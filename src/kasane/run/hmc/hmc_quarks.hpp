// The quarks of a run of hybrid Monte Carlo, as in its run file and its record.
#pragma once

#include <kasane/lattice/hmc/quark_action.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace kasane::run {

struct HmcQuarks {
    double kappa = 0, csw = 0;
    std::string boundary = "antiperiodic";  ///< in time
    double twisted_mass = 0;                ///< 2 kappa mu
    std::vector<double> masses;             ///< Hasenbusch's, ascending
    std::string precision = "single";       ///< of the iterations of solves
    double action_rtol = 0, force_rtol = 0;
    int gauge_steps = 1;  ///< of the gauge action in each drift of the quarks

    lattice::QuarkParameters parameters() const {
        return {{kappa, csw, boundary == "periodic" ? lattice::Boundary::periodic : lattice::Boundary::antiperiodic}, twisted_mass};
    }
    lattice::QuarkSolverOptions solver() const {
        return {.inner = precision == "half"     ? lattice::Precision::half
                         : precision == "single" ? lattice::Precision::single
                                                 : lattice::Precision::double_};
    }
    /// Pseudofermion fields, and the determinant of the clover term.
    int terms() const { return static_cast<int>(masses.size()) + 1 + (csw != 0); }
    std::string masses_text() const { return fmt::format("{}", fmt::join(masses, ", ")); }
};

}  // namespace kasane::run
