// Quarks of one flavour in a run of hybrid Monte Carlo: the range of each rational approximation, chosen or given, and its comparison with
// the measured spectrum. Invariants: after thermalisation a range changes only by the run file; a spectrum outside ends the run; the ranges
// are in the record of every checkpoint, so that a resumed run has the same bits.
#pragma once

#include <kasane/run/hmc/hmc_quarks.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

/// The approximation of one flavour, as in the record.
struct FlavourRecord {
    double kappa = 0;
    std::string range;           ///< "given" by the run file, or "measured"
    double least = 0, most = 0;  ///< of the eigenvalues of Dhat^+ Dhat; most = 0: not chosen
    int poles = 0;
    double error = 0;                  ///< of the root on that range, relative
    double weight_error = 0;           ///< bound of the relative error of the weight of a configuration
    double smallest = 0, largest = 0;  ///< eigenvalues, of all measurements since the range was chosen
    std::int64_t measured_after = -1;  ///< trajectory of the last measurement; -1: none

    std::string text() const;  ///< "12 poles on 0.01 to 4, relative error 2e-9"
};

class HmcLinks;

class RunFlavours {
   public:
    /// @param quarks  of the run file; must outlive it
    RunFlavours(const lattice::Extents& extents, const HmcQuarks& quarks, std::int64_t thermalisation);

    /// Once, after HmcLinks::begin(): takes the ranges of the run file or of the records, measures the spectrum of the links, chooses the
    /// ranges that are open, and sets all approximations.
    /// @param records  of a checkpoint; empty: a new run. Brought up to date
    /// @throws ComputationError: a spectrum is outside its range; InputError: a range is too wide for weight_error
    void begin(HmcLinks& links, std::int64_t trajectory, std::vector<FlavourRecord>& records) const;

    /// Measures the spectra where that is due. Up to the end of thermalisation a measured range follows the spectrum.
    /// @throws ComputationError: a spectrum is outside its range
    void check(HmcLinks& links, std::int64_t trajectory, std::vector<FlavourRecord>& records) const;

   private:
    /// @throws ComputationError: the spectrum is outside a range that may not change
    void measure(HmcLinks& links, std::size_t flavour, std::int64_t trajectory, bool may_choose, FlavourRecord& record) const;
    /// Sets the approximation of the record's range; adds its numbers to the record.
    void approximate(HmcLinks& links, std::size_t flavour, FlavourRecord& record) const;

    lattice::Extents extents_;
    const HmcQuarks& quarks_;
    std::int64_t thermalisation_;
};

}  // namespace kasane::run
