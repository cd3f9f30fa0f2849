// Progress of a long computation: a bar with the time left on a terminal, a plain line every half minute elsewhere.
// Invariants: writes to standard error only, at most ten times a second; showing progress never changes the work.
#pragma once

#include <kasane/core/base/timer.hpp>

#include <functional>
#include <string>

namespace kasane {

/// How progress is shown.
enum class ProgressStyle {
    none,   ///< not at all
    bar,    ///< one line redrawn in place
    lines,  ///< a line every half minute, for logs
};

/// Bar on a terminal, lines elsewhere.
ProgressStyle progress_style_for_stderr();

/// "1:05:09", "3:25", "0:07"; "--:--" where it is unknown (negative or not finite).
std::string clock_text(double seconds);

/// A long computation calls it with the fraction that is done, 0 to 1, and the name of the present part. May be empty; called from one
/// thread.
using ProgressFunction = std::function<void(double done, const std::string& what)>;
/// Returns the progress function of a part that covers the fractions `first` to `last` of the whole; empty if `whole` is empty.
inline ProgressFunction part_of(const ProgressFunction& whole, double first, double last) {
    if (!whole) return {};
    return [=](double done, const std::string& what) { whole(first + (last - first) * done, what); };
}

/// Shows the progress of one computation on standard error.
class Progress {
   public:
    /// @param style  form of the display   @param title  shown before the bar   @param total  work of the whole, in any unit (steps)
    /// @param done   work that was finished before (a resumed run)
    Progress(ProgressStyle style, std::string title, double total, double done = 0);
    /// Wipes the bar.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Draws the bar again, at most ten times a second.
    /// @param done  work done so far, in units of `total`   @param note  shown after the bar: "t = 1.25, dE/E = 3e-6"
    void update(double done, const std::string& note = "");
    /// Wipes the bar, so that a log line has the terminal's line to itself; the next update draws it again.
    void clear();
    /// The line as it would be drawn `seconds` after the start.
    std::string line(double done, double seconds, const std::string& note) const;

   private:
    ProgressStyle style_;
    std::string title_;
    double total_;
    double first_;
    double next_ = 0;
    bool drawn_ = false;
    Stopwatch watch_;
};

}  // namespace kasane
