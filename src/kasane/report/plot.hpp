// Curves as inline SVG. Colours come from the page's CSS (classes s0, s1, ...), so that they follow light and dark mode.
// Points that are not finite, or not positive on a logarithmic axis, leave a gap.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kasane::report {

inline constexpr int colors = 8;    ///< of curves, s0 to s7 in the page's style
inline constexpr int ink = colors;  ///< the colour of text, s8: for the sum of curves
enum class Stroke {
    solid,
    dashed,
    dotted,
    none,  ///< marks alone, whether the plot has marks or not
};
inline constexpr int shapes = 5;  ///< of marks: disc, square, diamond, triangle on its base, on its point

struct Series {
    std::string name;  ///< written at the end of the curve; empty: no label
    std::vector<double> x, y;
    int color = -1;  ///< below 0: its place among the series
    Stroke stroke = Stroke::solid;
    int shape = 0;  ///< of its marks, modulo `shapes`
};

enum class Scale {
    linear,
    decades,    ///< logarithmic, ticks at powers of ten
    doublings,  ///< logarithmic, ticks at powers of two
};

struct Plot {
    std::string title;  ///< description of the picture for screen readers
    std::string x_label, y_label;
    Scale x_scale = Scale::linear;
    bool log_y = false;
    bool marks = false;  ///< a mark at every point
    std::vector<Series> series;
    std::optional<double> reference;  ///< a thin level line
    std::string reference_name;
    bool from_zero = false;         ///< a linear y axis begins at 0
    std::vector<double> y_include;  ///< values that the y axis includes
};

/// Returns at most about `count` round numbers in [low, high], in steps of 1, 2 or 5 times a power of ten.
std::vector<double> nice_ticks(double low, double high, int count);

/// Tick positions of a logarithmic axis that spans [low, high], both positive: decades, thinned or with 2 and 5 between; round
/// numbers in even steps where these would be fewer than two.
std::vector<double> log_ticks(double low, double high);

/// Powers of two in [low, high], both positive; thinned evenly to at most ten.
std::vector<double> doubling_ticks(double low, double high);

/// An <svg> element, or an empty string where there is no point to draw. Its attributes data-x0, data-x1, data-left and data-right map x to
/// the drawing on a linear axis, for the script that moves the line of class "now".
std::string to_svg(const Plot& plot);

}  // namespace kasane::report
