#include <kasane/run/hmc/hmc_flavours.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>
#include <kasane/run/hmc/hmc_links.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace kasane::run {
namespace {

/// A measured range has these margins, and is chosen again where less than their roots is left: the smallest eigenvalue of a field without
/// quarks is several times that of thermalised ones, and a factor of 10 takes two or three poles.
constexpr double margin_below = 10, margin_above = 1.3;

/// To two digits, so that the range does not depend on roundings of the spectrum.
double two_digits(double x, double (*round)(double)) {
    const int exponent = static_cast<int>(std::floor(std::log10(x))) - 1;
    return std::stod(fmt::format("{}e{}", std::lround(round(x / std::pow(10., exponent))), exponent));
}

}  // namespace

std::string FlavourRecord::text() const {
    return fmt::format("{} poles on {:.4g} to {:.4g}, relative error {:.1e}", poles, least, most, error);
}

RunFlavours::RunFlavours(const lattice::Extents& extents, const HmcQuarks& quarks, std::int64_t thermalisation)
    : extents_(extents), quarks_(quarks), thermalisation_(thermalisation) {}

void RunFlavours::measure(HmcLinks& links, std::size_t flavour, std::int64_t trajectory, bool may_choose, FlavourRecord& record) const {
    const auto& given = quarks_.single[flavour];
    const int number = static_cast<int>(flavour) + (quarks_.flavours == 2);
    const auto found = links.spectrum(number, static_cast<std::uint64_t>(trajectory));
    const auto name = fmt::format("quark {} (kappa = {})", quarks_.single_field(flavour) + 1, given.kappa);
    const double smallest = found.smallest - found.smallest_error, largest = found.largest + found.largest_error;
    if (!found.converged || smallest <= 0)
        throw ComputationError(
            fmt::format("the smallest eigenvalue of Dhat^+ Dhat of {} after trajectory {} is {:.2g} with an error of {:.1g} after {} steps "
                        "of Lanczos's "
                        "method: no rational approximation covers a range down to 0. Take a smaller kappa",
                        name, trajectory, found.smallest, found.smallest_error, found.steps));
    record.measured_after = trajectory;
    const bool open = record.most == 0;
    if ((open || (may_choose && !given.has_range())) &&
        (open || smallest < record.least * std::sqrt(margin_below) || largest * std::sqrt(margin_above) > record.most)) {
        record.range = "measured";
        record.least = two_digits(smallest / margin_below, std::floor), record.most = two_digits(largest * margin_above, std::ceil);
        record.smallest = smallest, record.largest = largest;
    }
    if (!(smallest >= record.least && largest <= record.most))
        throw ComputationError(fmt::format(
            "the eigenvalues of Dhat^+ Dhat of {} are {:.4g} to {:.4g} after trajectory {}, outside the range {:.4g} to {:.4g} of its "
            "rational approximation, so that the weight of this configuration is not known within weight_error = {:.1e}. Give a wider "
            "range by spectrum_least and spectrum_most in {} and resume the run, or start a new one; where the smallest eigenvalue is near "
            "0, take a smaller kappa",
            name, smallest, largest, trajectory, record.least, record.most, quarks_.weight_error, given.table));
    record.smallest = record.smallest > 0 ? std::min(record.smallest, smallest) : smallest;
    record.largest = std::max(record.largest, largest);
    log::debug("trajectory {}: {}: eigenvalues {:.4g} to {:.4g}, {} steps of Lanczos's method", trajectory, name, smallest, largest,
               found.steps);
}

void RunFlavours::approximate(HmcLinks& links, std::size_t flavour, FlavourRecord& record) const {
    auto R = lattice::approximation_for(record.least, record.most, extents_, quarks_.weight_error);
    record.poles = R.degree(), record.error = R.error, record.weight_error = lattice::weight_error(R, extents_);
    log::info("quark {}: one flavour, kappa = {}: {}; the weight of a configuration is exact within {:.1e}",
              quarks_.single_field(flavour) + 1, record.kappa, record.text(), record.weight_error);
    links.set_approximation(static_cast<int>(flavour), std::move(R));
}

void RunFlavours::begin(HmcLinks& links, std::int64_t trajectory, std::vector<FlavourRecord>& records) const {
    const bool fresh = records.empty();
    records.resize(quarks_.single.size());
    for (std::size_t k = 0; k < records.size(); ++k) {
        const auto& given = quarks_.single[k];
        auto& record = records[k];
        record.kappa = given.kappa;
        const bool changed = given.has_range() && (record.least != given.least || record.most != given.most);
        if (changed) {
            record.range = "given", record.least = given.least, record.most = given.most;
            record.smallest = record.largest = 0;
        }
        // A resumed run measures where the whole run does, so that it does not end elsewhere.
        if (fresh || changed) measure(links, k, trajectory, fresh, record);
        approximate(links, k, record);
    }
}

void RunFlavours::check(HmcLinks& links, std::int64_t trajectory, std::vector<FlavourRecord>& records) const {
    if (trajectory % quarks_.spectrum_every != 0 && trajectory != thermalisation_) return;
    for (std::size_t k = 0; k < records.size(); ++k) {
        auto& record = records[k];
        const double least = record.least, most = record.most;
        measure(links, k, trajectory, trajectory <= thermalisation_, record);
        if (record.least != least || record.most != most) approximate(links, k, record);
    }
}

}  // namespace kasane::run
