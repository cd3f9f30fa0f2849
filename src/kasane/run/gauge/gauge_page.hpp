// The common parts of the pages of gauge fields.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/geometry.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/run/driver/record.hpp>
#include <kasane/run/driver/run_page.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// A quantity of a chain: numbers after some of its updates.
struct ChainCurve {
    std::string name;  ///< empty where the plot has one curve
    int color = 0;
    std::vector<std::int64_t> updates;
    std::vector<double> values;
};
/// Plots the course of the quantity. @param update  "sweep", "trajectory"
report::Plot chain_plot(std::string title, const char* update, std::string y_label, const std::vector<ChainCurve>& curves);

/// A quantity of measurements at equal distances.
struct CorrelatedSeries {
    std::string name;
    int color = 0;
    std::vector<double> values;
    int window = 0;  ///< of its estimate
};
/// The normalised autocorrelation functions of quantities that were measured together, up to three times the longest window; empty where
/// there are too few measurements. @param updates  "sweeps"   @param every  updates between measurements
std::string autocorrelation_chart(const char* heading, const char* updates, std::int64_t every, const std::vector<CorrelatedSeries>& all,
                                  const std::string& caption);

/// Runs `read`; where it throws InputError, adds a note "WHAT REASON." to the page.
template <class F>
void read_or_note(RunHistory& run, const char* what, F read) {
    try {
        read();
    } catch (const InputError& error) {
        run.notes.push_back(std::string(what) + " " + error.problems()[0].message + ".");
    }
}

/// "16³ × 32"
std::string lattice_text(const lattice::Extents& n);
/// "a hot start, random links". @param kind  start.kind of the run file   @param file  that it starts from
std::string start_text(const std::string& kind, const std::string& file);
/// Command lines for the last configuration; empty where there is none.
std::string configuration_commands(const std::vector<std::string>& configurations, const std::filesystem::path& directory);
/// "3 in ildg, 64 bits"; empty where there is none.
std::string configurations_text(const std::vector<std::string>& configurations, const std::string& format, int bits);

}  // namespace kasane::run
