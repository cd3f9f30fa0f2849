#include <kasane/core/math/random.hpp>
#include <kasane/sparse/aggregation/tridiagonal.hpp>
#include <kasane/sparse/condition.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace kasane::sparse {

double least_condition(const CsrMatrix& part, double enough) {
    constexpr int most_steps = 10;
    const auto n = static_cast<std::size_t>(part.rows());
    std::vector<double> v(n), w(n), before(n, 0.), alphas, betas;
    RandomStream random(1, 0);
    double square = 0, ratio = 1, beta = 0;
    for (auto& one : v) {
        one = random.uniform() - 0.5;
        square += one * one;
    }
    for (auto& one : v) one /= std::sqrt(square);
    for (int step = 0; step < most_steps && ratio <= enough; ++step) {
        double alpha = 0, next2 = 0;
        for (std::size_t row = 0; row < n; ++row) {
            double sum = 0;
            for (auto e = static_cast<std::size_t>(part.begin[row]); e < static_cast<std::size_t>(part.begin[row + 1]); ++e)
                sum += part.value[e] * v[static_cast<std::size_t>(part.column[e])];
            w[row] = sum - beta * before[row];
            alpha += w[row] * v[row];
        }
        for (std::size_t row = 0; row < n; ++row) {
            w[row] -= alpha * v[row];
            next2 += w[row] * w[row];
        }
        alphas.push_back(alpha);
        std::vector<double> negative;
        for (const double one : alphas) negative.push_back(-one);
        const double least = -largest_of_tridiagonal(negative, betas);
        ratio = least > 0 ? largest_of_tridiagonal(alphas, betas) / least : INFINITY;
        beta = std::sqrt(next2);
        if (!(beta > 1e-8)) break;
        betas.push_back(beta);
        std::swap(before, v);
        for (std::size_t row = 0; row < n; ++row) v[row] = w[row] / beta;
    }
    return ratio;
}

}  // namespace kasane::sparse
