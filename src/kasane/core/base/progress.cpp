#include <kasane/core/base/progress.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kasane {

ProgressStyle progress_style_for_stderr() { return isatty(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::lines; }

std::string clock_text(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "--:--";
    const auto whole = static_cast<long>(std::lround(seconds));
    const auto hours = whole / 3600, minutes = whole / 60 % 60;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60) : fmt::format("{}:{:02}", minutes, whole % 60);
}

Progress::Progress(ProgressStyle style, std::string title, double total, double done)
    : style_(style), title_(std::move(title)), total_(total), first_(done) {}

Progress::~Progress() { clear(); }

std::string Progress::line(double done, double seconds, const std::string& note) const {
    const double fraction = total_ > 0 ? std::clamp(done / total_, 0.0, 1.0) : 1.0;
    const double left = done > first_ ? seconds * (total_ - done) / (done - first_) : -1;
    const auto percent = static_cast<int>(100 * fraction);
    if (style_ != ProgressStyle::bar)
        return fmt::format("{}: {}%, {} gone, {} left{}{}", title_, percent, clock_text(seconds), clock_text(left),
                           note.empty() ? "" : ", ", note);
    constexpr int width = 24;
    const auto full = static_cast<int>(width * fraction);
    return fmt::format("{} [{:#<{}}{:.<{}}] {:3}%  {} left  {}", title_, "", full, "", width - full, percent, clock_text(left), note);
}

void Progress::update(double done, const std::string& note) {
    const double now = watch_.seconds();
    if (style_ == ProgressStyle::none || now < next_) return;
    if (style_ == ProgressStyle::bar) {
        std::fprintf(stderr, "\r\033[K%s", line(done, now, note).c_str());
        std::fflush(stderr);
        next_ = now + 0.1;
        drawn_ = true;
    } else {
        if (next_ > 0) std::fprintf(stderr, "%s\n", line(done, now, note).c_str());  // no estimate before the first part is done
        next_ = now + 30;
    }
}

void Progress::clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
}

}  // namespace kasane
