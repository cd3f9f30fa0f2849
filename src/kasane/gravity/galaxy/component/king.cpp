#include <kasane/gravity/galaxy/component/king.hpp>

#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::gravity {
namespace {

constexpr double series_end = 0.01;     // x^8 = 1e-16 is the first term left out
constexpr double log_step = 1. / 64;    // step in ln x
constexpr double edge_step = 1. / 512;  // step in sqrt(1 - x / tidal); the edge's table extends from the tidal radius to half of it
constexpr int edge_steps = 384;

struct State {
    double a, b;
};

/// One step of y' = f(t, y) by the modified midpoint rule with 2, 4, ..., 12 substeps, extrapolated in h^2 to order 12.
///                                                                                   [Gragg 1965; Bulirsch & Stoer 1966]
template <class F>
State extrapolated(F f, double t, State y, double h) {
    constexpr int columns = 6;
    State table[columns];
    for (int k = 0; k < columns; ++k) {
        const int n = 2 * (k + 1);
        const double s = h / n;
        State before = y, slope = f(t, y);
        State now{y.a + s * slope.a, y.b + s * slope.b};
        for (int i = 1; i < n; ++i) {
            slope = f(t + i * s, now);
            const State next{before.a + 2 * s * slope.a, before.b + 2 * s * slope.b};
            before = now;
            now = next;
        }
        slope = f(t + h, now);
        table[k] = {(before.a + now.a + s * slope.a) / 2, (before.b + now.b + s * slope.b) / 2};
        for (int j = k - 1; j >= 0; --j) {  // Aitken-Neville extrapolation
            const double ratio = static_cast<double>(k + 1) / (j + 1), weight = 1 / (ratio * ratio - 1);
            table[j].a = table[j + 1].a + (table[j + 1].a - table[j].a) * weight;
            table[j].b = table[j + 1].b + (table[j + 1].b - table[j].b) * weight;
        }
    }
    return table[0];
}

}  // namespace

KingDensity king_density(double w) {
    if (!(w > 0)) return {};
    const double root = std::sqrt(w), unit = 2 / std::sqrt(std::numbers::pi);
    double rho = 0;
    if (w < 1.5) {
        // e^w erf(sqrt w) = 2/sqrt(pi) sum_k 2^k w^(k + 1/2) / (2k + 1)!!; its first two terms cancel.
        constexpr int terms = 22;  // from k = 2; the last term is below 1e-17 of the first at w = 1.5
        double sum = 1;
        for (int k = terms; k > 2; --k) sum = 1 + sum * 2 * w / (2 * k + 1);
        rho = unit * 4. / 15 * w * w * root * sum;
    } else {
        rho = std::exp(w) * std::erf(root) - unit * root * (1 + 2 * w / 3);
    }
    const double d = rho + unit * 2. / 3 * w * root;
    return {rho, d, d + unit * root};
}

KingSphere::KingSphere(double w0) : w0_(w0) {
    const auto [rho, d, dd] = king_density(w0);
    central_ = rho;
    // (x^2 W')' / x^2 = -9 rho(W) / rho(W0), order by order.
    c4_ = 27. / 40 * d / rho;
    c6_ = -9. / 42 * (d / rho * c4_ + dd / rho / 2 * 2.25);

    // In t = ln x: W' = -u, u' = -u + 9 x^2 rho/rho0; u = M / x in King's units.
    const auto source = [&](double x, double w) { return 9 * x * x * king_density(w).rho / central_; };
    const auto by_log = [&](double t, State y) { return State{-y.b, source(std::exp(t), y.a) - y.b}; };
    const double x0 = series_end, x2 = x0 * x0, first = std::log(x0);
    State y{w0 + x2 * (-1.5 + x2 * (c4_ + x2 * c6_)), x2 * (3 - x2 * (4 * c4_ + x2 * 6 * c6_))};
    std::vector<double> w, slope, curvature, pull, pull_slope, pull_curvature;
    double t = first;
    while (true) {
        const double r2 = std::exp(2 * t);
        const auto density = king_density(y.a);
        w.push_back(y.a);
        slope.push_back(-y.b);
        curvature.push_back(y.b - 9 * r2 * density.rho / central_);
        pull.push_back(y.b / r2);
        pull_slope.push_back(9 * density.rho / central_ - 3 * pull.back());
        pull_curvature.push_back(-9 * density.d / central_ * y.b - 3 * pull_slope.back());
        const auto next = extrapolated(by_log, t, y, log_step);
        if (next.a <= 0) break;
        y = next;
        t = first + log_step * static_cast<double>(w.size());
    }
    // The last step to W = 0, where rho ~ W^(5/2), uses s = sqrt(W), in which the solution is smooth.
    State last{t, y.b};
    const auto by_root = [&](double s, State z) {
        const double dt = -2 * s / z.b;
        return State{dt, dt * (source(std::exp(z.a), s * s) - z.b)};
    };
    constexpr int parts = 8;
    const double root = std::sqrt(y.a);
    for (int i = 0; i < parts; ++i) last = extrapolated(by_root, root * (parts - i) / parts, last, -root / parts);
    tidal_ = std::exp(last.a);
    inner_ = UniformQuintic(first, log_step, w, slope, curvature);
    pull_ = UniformQuintic(first, log_step, pull, pull_slope, pull_curvature);

    // Integrates back from the edge in p = sqrt(1 - x / tidal): dt/dp = -2 p / (1 - p^2).
    const auto by_edge = [&](double p, State z) {
        const double dt = -2 * p / (1 - p * p);
        return State{-z.b * dt, (source(tidal_ * (1 - p * p), z.a) - z.b) * dt};
    };
    std::vector<double> value, rise, bend;
    State z{0, last.b};
    for (int i = 0; i <= edge_steps; ++i) {
        const double p = i * edge_step, q = 1 - p * p;
        const double du = (source(tidal_ * q, z.a) - z.b) * (-2 * p / q);
        value.push_back(z.a);
        rise.push_back(2 * p * z.b / q);
        bend.push_back(2 * z.b * (1 + p * p) / (q * q) + 2 * p * du / q);
        z = extrapolated(by_edge, p, z, edge_step);
    }
    outer_ = UniformQuintic(0, edge_step, value, rise, bend);
}

KingSphere::Potential KingSphere::potential(double x) const {
    if (x >= tidal_) return {};
    if (x < series_end) {
        const double x2 = x * x;
        return {w0_ + x2 * (-1.5 + x2 * (c4_ + x2 * c6_)), x2 * (-3 + x2 * (4 * c4_ + x2 * 6 * c6_))};
    }
    if (x < tidal_ / 2) {
        const double t = std::log(x);
        return {inner_(t).value, -x * x * pull_(t).value};
    }
    const double q = x / tidal_, p = std::sqrt(1 - q);
    const auto [w, d, dd] = outer_(p);
    return {w, -d * q / (2 * p)};
}

ScaledDerivatives KingSphere::operator()(double x) const {
    const auto [w, slope] = potential(x);
    const auto [rho, d, dd] = king_density(w);
    if (rho == 0) return {};
    const double f = rho / central_;
    // d^2 W / d (ln x)^2 = -slope - 9 x^2 rho/rho0, from Poisson's equation.
    return {f, d / central_ * slope, (dd * slope * slope - d * (2 * slope + 9 * x * x * f)) / central_, 0};
}

}  // namespace kasane::gravity
