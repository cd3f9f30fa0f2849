#include <kasane/core/base/error.hpp>
#include <kasane/core/math/least_squares.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace kasane {
namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr std::size_t most_parameters = 12;
/// A column is dependent where the columns before it leave less than this fraction of its length.
constexpr double dependent = 1e-12;

double length(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

struct Solved {
    std::vector<double> value, unit_error;  ///< the errors are in units of the scatter
    double squares = 0;                     ///< of the residuals
};

/// The selected columns by modified Gram-Schmidt, twice for each (Björck, Numerical Methods for Least Squares Problems, 2.4).
/// Empty: columns that depend on each other.
std::optional<Solved> solve(const Matrix& columns, const std::vector<std::size_t>& wanted, const std::vector<double>& y) {
    const std::size_t rows = y.size(), n = wanted.size();
    Matrix q, r(n, std::vector<double>(n, 0));
    std::vector<double> rest = y, projected(n, 0);
    for (std::size_t k = 0; k < n; ++k) {
        q.push_back(columns[wanted[k]]);
        auto& column = q.back();
        const double before = length(column);
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t j = 0; j < k; ++j) {
                double along = 0;
                for (std::size_t i = 0; i < rows; ++i) along += q[j][i] * column[i];
                for (std::size_t i = 0; i < rows; ++i) column[i] -= along * q[j][i];
                r[j][k] += along;
            }
        r[k][k] = length(column);
        if (!(r[k][k] > dependent * before)) return {};
        for (auto& value : column) value /= r[k][k];
        for (std::size_t i = 0; i < rows; ++i) projected[k] += column[i] * rest[i];
        for (std::size_t i = 0; i < rows; ++i) rest[i] -= projected[k] * column[i];
    }
    Solved out{std::vector<double>(n), std::vector<double>(n, 0), 0};
    const auto back_substituted = [&](std::vector<double> right) {
        for (std::size_t k = n; k-- > 0;) {
            for (std::size_t j = k + 1; j < n; ++j) right[k] -= r[k][j] * right[j];
            right[k] /= r[k][k];
        }
        return right;
    };
    out.value = back_substituted(projected);
    for (std::size_t k = 0; k < n; ++k) {  // the covariance is R^-1 R^-T
        std::vector<double> unit(n, 0);
        unit[k] = 1;
        const auto column = back_substituted(unit);
        for (std::size_t j = 0; j < n; ++j) out.unit_error[j] += column[j] * column[j];
    }
    for (auto& error : out.unit_error) error = std::sqrt(error);
    const double left = length(rest);
    out.squares = left * left;
    return out;
}

}  // namespace

LinearFit least_squares(const Matrix& rows, const std::vector<double>& y, Sign sign) {
    const std::size_t measurements = y.size(), parameters = rows.empty() ? 0 : rows.front().size();
    KS_VALIDATE(rows.size() == measurements && parameters > 0 && parameters <= most_parameters, "a fit needs a row for each measurement");
    KS_VALIDATE(measurements >= parameters, "a fit needs at least as many measurements as it has parameters: measure at more sizes");
    Matrix columns(parameters, std::vector<double>(measurements));
    for (std::size_t i = 0; i < measurements; ++i) {
        KS_VALIDATE(rows[i].size() == parameters && std::isfinite(y[i]), "a fit needs finite measurements, with all parameters each");
        for (std::size_t k = 0; k < parameters; ++k) {
            KS_VALIDATE(std::isfinite(rows[i][k]), "a fit needs finite coefficients");
            columns[k][i] = rows[i][k];
        }
    }
    std::vector<double> scale(parameters, 1);
    for (std::size_t k = 0; k < parameters; ++k)
        if (const double size = length(columns[k]); size > 0) {
            scale[k] = size;
            for (auto& value : columns[k]) value /= size;
        }

    // With signs: some set of parameters is free and the others are zero, so the result is the best of all sets whose free
    // solutions have no negative value. At most 4096 sets.
    std::optional<Solved> best;
    std::vector<std::size_t> chosen;
    const unsigned all = (1u << parameters) - 1;
    for (unsigned set = all;; --set) {
        std::vector<std::size_t> wanted;
        for (std::size_t k = 0; k < parameters; ++k)
            if (set >> k & 1u) wanted.push_back(k);
        auto solved = solve(columns, wanted, y);
        const bool allowed =
            solved && (sign == Sign::any || std::all_of(solved->value.begin(), solved->value.end(), [](double v) { return v >= 0; }));
        if (allowed && (!best || solved->squares < best->squares)) best = std::move(solved), chosen = wanted;
        if (best && set == all) break;  // no set of fewer parameters has smaller residuals than all parameters together
        KS_VALIDATE(sign == Sign::non_negative, "the measurements do not determine all parameters of the fit: measure at other sizes");
        if (set == 0) break;
    }
    LinearFit fit{std::vector<double>(parameters, 0), std::vector<double>(parameters, 0), 0, 0};
    const auto left_over = static_cast<double>(measurements - chosen.size());
    fit.scatter = left_over > 0 ? std::sqrt(best->squares / left_over) : 0;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        fit.value[chosen[k]] = best->value[k] / scale[chosen[k]];
        fit.error[chosen[k]] = fit.scatter * best->unit_error[k] / scale[chosen[k]];
    }
    for (std::size_t i = 0; i < measurements; ++i) {
        double residual = -y[i];
        for (std::size_t k = 0; k < parameters; ++k) residual += rows[i][k] * fit.value[k];
        fit.largest = std::max(fit.largest, std::abs(residual));
    }
    return fit;
}

LinearFit relative_least_squares(Matrix rows, const std::vector<double>& y, Sign sign) {
    KS_VALIDATE(rows.size() == y.size(), "a fit needs a row for each measurement");
    for (std::size_t i = 0; i < y.size(); ++i) {
        KS_VALIDATE(y[i] > 0, "a relative error needs measurements above zero");
        for (auto& value : rows[i]) value /= y[i];
    }
    return least_squares(rows, std::vector<double>(y.size(), 1.0), sign);
}

LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
    KS_VALIDATE(x.size() == y.size() && x.size() >= 2, "a line needs two points or more");
    KS_VALIDATE(*std::min_element(x.begin(), x.end()) < *std::max_element(x.begin(), x.end()), "a line needs two different x");
    Matrix rows;
    for (const double at : x) rows.push_back({1.0, at});
    const auto fit = least_squares(rows, y);
    return {fit.value[0], fit.value[1], fit.error[0], fit.error[1], fit.scatter};
}

}  // namespace kasane
