#include <kasane/sparse/distributed/scaled_parts.hpp>

#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/general/number.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasane::sparse {
namespace {

using Value = std::complex<double>;

Value times_power(Value z, int exponent) { return scaled_back(scaled(z, 0), exponent); }

}  // namespace

std::vector<Value> scaled_values(const CsrView& A, const Value* values, const Scaling& scaling) {
    std::vector<Value> all;
    all.reserve(at(A.begin(A.n)));
    for (index_t row = 0; row < A.n; ++row)
        for (index_t e = A.begin(row); e < A.end(row); ++e)
            all.push_back(times_power(values[e], scaling.row[at(row)] + scaling.column[at(A.column(e))]));
    return all;
}

int scale_vectors(const Scaling& scaling, std::vector<Value>& b, std::vector<Value>& x) {
    int most = lowest_exponent;
    for (std::size_t i = 0; i < b.size(); ++i)
        if (b[i] != 0.) most = std::max(most, exponent_of(b[i]) + scaling.row[i]);
    const int exponent = most == lowest_exponent ? 0 : -most;
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = times_power(b[i], scaling.row[i] + exponent);
        x[i] = times_power(x[i], exponent - scaling.column[i]);
    }
    if (!std::ranges::all_of(x, [](Value one) { return is_finite(one); })) std::ranges::fill(x, 0.);
    return exponent;
}

void unscale_solution(const Scaling& scaling, int exponent, View<Value> x) {
    for (index_t i = 0; i < x.n; ++i) x[i] = times_power(x[i], scaling.column[at(i)] - exponent);
}

double relative_in_user_units(comm::Worker& worker, const std::vector<Value>& b, const std::vector<Value>& residual,
                              const std::vector<std::int32_t>& exponent) {
    double most = lowest_exponent;  // of b and residual in the user's units
    for (std::size_t i = 0; i < b.size(); ++i)
        for (const Value one : {b[i], residual[i]})
            if (one != 0. && is_finite(one)) most = std::max(most, static_cast<double>(exponent_of(one) - exponent[i]));
    worker.all_reduce({&most, 1}, comm::Reduce::max);
    if (most == lowest_exponent) return 0;
    std::array<double, 2> squares{};
    for (std::size_t i = 0; i < b.size(); ++i) {
        const int power = -exponent[i] - static_cast<int>(most);
        squares[0] += std::norm(times_power(residual[i], power));
        squares[1] += std::norm(times_power(b[i], power));
    }
    worker.all_reduce({squares.data(), 2}, comm::Reduce::sum);
    return squares[0] == 0 ? 0 : std::sqrt(squares[0] / squares[1]);
}

}  // namespace kasane::sparse
