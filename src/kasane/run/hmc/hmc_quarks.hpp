// The quarks of a run of hybrid Monte Carlo, as in its run file and its record.
#pragma once

#include <kasane/lattice/distributed/hmc_setup.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kasane::run {

/// One flavour, by a rational approximation.
struct HmcFlavour {
    double kappa = 0;
    double least = 0, most = 0;         ///< range of the eigenvalues of Dhat^+ Dhat; 0: measured
    std::string table = "[[flavour]]";  ///< of the run file
    bool has_range() const { return most > 0; }
};

struct HmcQuarks {
    int flavours = 2;  ///< of `kappa`
    double kappa = 0, csw = 0;
    std::string boundary = "antiperiodic";  ///< in time
    double twisted_mass = 0;                ///< 2 kappa mu
    std::vector<double> masses;             ///< Hasenbusch's, ascending
    std::vector<int> mass_steps;       ///< for each mass: of its field in each drift of the field before it; 0: one time scale for both
    std::string precision = "single";  ///< of the iterations of solves
    std::string force_precision;       ///< of the solves of forces; empty: as `precision`
    double action_rtol = 0, force_rtol = 0;
    int deflate = 0;                   ///< near-null vectors of inexact deflation; 0: none
    std::vector<int> deflation_block;  ///< extents of its blocks; empty: chosen
    int chronological = 0;             ///< earlier solutions in the first guess of a force's solve
    int gauge_steps = 1;               ///< of the gauge action in each drift of the quarks
    std::vector<HmcFlavour> single;    ///< of one flavour each; the first is that of `kappa` where flavours = 1
    double weight_error = 0;           ///< bound of the relative error of a configuration's weight, of each of them
    int spectrum_every = 1;            ///< trajectories between measurements of their spectra

    lattice::QuarkParameters parameters() const {
        return {{kappa, csw, boundary == "periodic" ? lattice::Boundary::periodic : lattice::Boundary::antiperiodic}, twisted_mass};
    }
    lattice::QuarkParameters parameters(const HmcFlavour& flavour) const {
        auto dirac = parameters().dirac;
        dirac.kappa = flavour.kappa;
        return dirac;
    }
    /// Set-ups of the flavours in `single`.
    std::vector<lattice::FlavourSetup> flavour_setups() const {
        std::vector<lattice::FlavourSetup> all;
        for (const auto& each : single)
            all.push_back({parameters(each), flavour_solver(), {.value = action_rtol, .force = force_rtol}, single_field(all.size())});
        return all;
    }
    lattice::QuarkSolverOptions solver() const {
        const auto named = [](const std::string& name) {
            return name == "half" ? lattice::Precision::half : name == "single" ? lattice::Precision::single : lattice::Precision::double_;
        };
        lattice::QuarkSolverOptions options{.inner = named(precision),
                                            .force = named(force_precision.empty() ? precision : force_precision)};
        options.deflation.vectors = deflate;
        std::copy(deflation_block.begin(), deflation_block.end(), options.deflation.block);
        return options;
    }
    lattice::QuarkTolerances tolerances() const { return {.value = action_rtol, .force = force_rtol, .chronological = chronological}; }
    /// Options of the solves of one flavour, which begin in double precision and continue in single.
    static lattice::QuarkSolverOptions flavour_solver() { return {}; }
    /// Own steps of the field of a mass; 0: none (records of earlier versions have no list).
    int steps_of(std::size_t mass) const { return mass < mass_steps.size() ? mass_steps[mass] : 0; }
    /// Pseudofermion fields of the two flavours.
    int two_flavour_fields() const { return flavours == 2 ? static_cast<int>(masses.size()) + 1 : 0; }
    /// Number of the pseudofermion field of single[k].
    int single_field(std::size_t k) const { return two_flavour_fields() + static_cast<int>(k); }
    /// Pseudofermion fields, and the determinants of clover terms.
    int terms() const {
        const int clover = csw != 0;
        return (flavours == 2 ? two_flavour_fields() + clover : 0) + static_cast<int>(single.size()) * (1 + clover);
    }
    /// "two flavours and one with kappa = 0.12": how the actions are made up, without the parameters that they share.
    std::string flavours_text() const {
        std::string words = flavours == 2 ? fmt::format("two flavours with kappa = {}", kappa) : "";
        for (const auto& each : single) words += fmt::format("{}one flavour with kappa = {}", words.empty() ? "" : " and ", each.kappa);
        return words;
    }
    std::string masses_text() const { return fmt::format("{}", fmt::join(masses, ", ")); }
};

}  // namespace kasane::run
