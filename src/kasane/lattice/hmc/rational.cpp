#include <kasane/lattice/hmc/rational.hpp>

#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace kasane::lattice {
namespace {

/// Jacobi's elliptic functions of one modulus k by arithmetic-geometric means.                       [Abramowitz & Stegun, section 16.4]
class EllipticFunctions {
   public:
    /// @param complement  k' = sqrt(1 - k^2), which keeps its digits where k is near 1
    explicit EllipticFunctions(long double complement) : complement_(complement), means_{{1, complement, 0}} {
        while (means_.back().a - means_.back().b > 1e-19L * means_.back().a && means_.size() < 20) {
            const auto [a, b, c] = means_.back();
            means_.push_back({(a + b) / 2, std::sqrt(a * b), (a - b) / 2});
        }
    }
    /// The complete integral K.
    long double quarter_period() const { return std::numbers::pi_v<long double> / (2 * means_.back().a); }
    /// (cn / sn)^2 of u between 0 and K. Above K / 2, where cn loses its digits, it follows from that of K - u.
    long double cotangent2(long double u) const {
        const long double K = quarter_period();
        if (2 * u > K) return complement_ * complement_ / cotangent2_of_half(K - u);
        return cotangent2_of_half(u);
    }

   private:
    long double cotangent2_of_half(long double u) const {
        long double phi = std::ldexp(means_.back().a * u, static_cast<int>(means_.size()) - 1);
        for (std::size_t n = means_.size(); n-- > 1;) {
            // phi += asin(c / a sin phi), halved; near pi / 2 the arc sine loses digits and the arc tangent does not: a^2 - c^2 = b^2.
            const auto [mean_a, mean_b, mean_c] = means_[n];
            const long double sine = std::sin(phi), cosine = std::cos(phi);
            phi = (phi + std::atan2(mean_c * sine, std::hypot(mean_a * cosine, mean_b * sine))) / 2;
        }
        const long double cotangent = std::cos(phi) / std::sin(phi);
        return cotangent * cotangent;
    }

    struct Mean {
        long double a, b, c;
    };
    long double complement_;
    std::vector<Mean> means_;
};

void check_range(double least, double most) {
    KS_VALIDATE(least > 0 && most > least && std::isfinite(most),
                fmt::format("the range of the rational approximation, {} to {}, must have two positive numbers, the smaller one first",
                            least, most));
}

}  // namespace

double RationalApproximation::operator()(double x) const {
    double product = scale;
    for (std::size_t k = 0; k < poles.size(); ++k) product *= (x + zeros[k]) / (x + poles[k]);
    return product;
}

std::vector<double> RationalApproximation::residues() const {
    std::vector<double> all;
    for (std::size_t k = 0; k < poles.size(); ++k) {
        double product = zeros[k] - poles[k];
        for (std::size_t j = 0; j < poles.size(); ++j)
            if (j != k) product *= (zeros[j] - poles[k]) / (poles[j] - poles[k]);
        all.push_back(product);
    }
    return all;
}

std::vector<double> RationalApproximation::heat_bath_residues() const {
    std::vector<double> all;
    for (std::size_t k = 0; k < zeros.size(); ++k) {
        const double at = std::sqrt(zeros[k]);
        double product = std::sqrt(poles[k]) - at;
        for (std::size_t j = 0; j < zeros.size(); ++j)
            if (j != k) product *= (std::sqrt(poles[j]) - at) / (std::sqrt(zeros[j]) - at);
        all.push_back(product);
    }
    return all;
}

RationalApproximation inverse_root(double least, double most, int degree) {
    check_range(least, most);
    KS_VALIDATE(degree >= 1 && degree <= most_poles,
                fmt::format("the degree {} of the rational approximation must be from 1 to {}", degree, most_poles));
    // With k'^2 = least / most and a_r = (cn / sn)^2(r K / (2 degree + 1)): on k'^2 <= y <= 1 the zeros of -y are a_1, a_3, ..., the poles
    // a_2, a_4, ...; c_r = sn^2 = 1 / (1 + a_r); d = k^(2 degree + 1) prod c_(2r-1)^2; error = d^2 / (1 + sqrt(1 - d^2))^2.
    const long double ratio = static_cast<long double>(least) / most;
    const EllipticFunctions elliptic(std::sqrt(ratio));
    const long double step = elliptic.quarter_period() / (2 * degree + 1);
    RationalApproximation R;
    R.least = least, R.most = most;
    long double d = std::pow(1 - ratio, degree + 0.5L), scale = 1;
    for (int r = 1; r <= degree; ++r) {
        const long double zero = elliptic.cotangent2((2 * r - 1) * step), pole = elliptic.cotangent2(2 * r * step);
        d /= (1 + zero) * (1 + zero);
        scale *= (1 + pole) / (1 + zero);
        R.zeros.push_back(static_cast<double>(most * zero));
        R.poles.push_back(static_cast<double>(most * pole));
    }
    std::ranges::reverse(R.zeros);
    std::ranges::reverse(R.poles);
    const long double root = std::sqrt((1 - d) * (1 + d));
    R.error = static_cast<double>(d * d / ((1 + root) * (1 + root)));
    R.scale = static_cast<double>(2 * scale / ((1 + root) * std::sqrt(static_cast<long double>(most))));
    return R;
}

RationalApproximation inverse_root_within(double least, double most, double error) {
    KS_VALIDATE(
        error >= 1e-14 && error <= 0.5,
        fmt::format("the error {:.1e} of the rational approximation must be from 1e-14, which double precision holds, to 0.5", error));
    for (int degree = 1; degree <= most_poles; ++degree) {
        auto R = inverse_root(least, most, degree);
        if (R.error <= error) return R;
    }
    throw InputError(
        fmt::format("{} poles do not approximate the root on {:.3g} to {:.3g} within {:.1e}: take a shorter range or a larger error",
                    most_poles, least, most, error));
}

}  // namespace kasane::lattice
