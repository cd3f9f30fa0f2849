// Numeric derivative by a central difference of eighth order: error h^8/630 f^(9), and 2 eps |f| / h from rounding.
#pragma once

template <class F>
double stencil(F f, double t, double h) {
    constexpr double weight[] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
    double sum = 0;
    for (int k = 1; k <= 4; ++k) sum += weight[k - 1] * (f(t + k * h) - f(t - k * h));
    return sum / h;
}
