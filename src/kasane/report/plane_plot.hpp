// Points in a plane as inline SVG, in the style of the page's plots: one dot for each point, the same scale on both axes.
#pragma once

#include <complex>
#include <string>
#include <vector>

namespace kasane::report {

struct PlanePlot {
    std::string title;  ///< description of the picture for screen readers
    std::string x_label, y_label;
    std::vector<std::complex<double>> points;
    std::vector<double> rays;  ///< angles of dotted lines from the origin [rad]
};

/// An <svg> element with the origin in its middle, or an empty string where no point is finite. More than 2000 points are thinned evenly.
std::string to_svg(const PlanePlot& plot);

}  // namespace kasane::report
