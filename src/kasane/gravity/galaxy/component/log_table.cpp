#include <kasane/gravity/galaxy/component/log_table.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace kasane::gravity {
namespace {

std::vector<double> logarithms(const std::vector<double>& values, double unit) {
    std::vector<double> logs;
    for (const double value : values) logs.push_back(std::log(value) - std::log(unit));
    return logs;
}

}  // namespace

LogTable::LogTable(const Table& table) : spline_(logarithms(table.radius, 1), logarithms(table.density, table.density.front())) {}

double LogTable::spacing() const {
    double least = std::numeric_limits<double>::infinity();
    const auto& x = spline_.knots();
    for (std::size_t i = 1; i < x.size(); ++i) least = std::min(least, x[i] - x[i - 1]);
    return least;
}

}  // namespace kasane::gravity
