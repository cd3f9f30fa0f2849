#include <kasane/sparse/distributed/near_null_of_rows.hpp>

#include <kasane/sparse/distributed/row_division.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::sparse {

std::vector<std::complex<double>> near_null_of_rows(const ComplexCsrMatrix& A, const std::vector<std::int32_t>& row_scale,
                                                    const std::vector<std::int32_t>& aggregate, index_t aggregates) {
    using Value = std::complex<double>;
    constexpr int sweeps = 8;
    std::vector<double> size(at(A.rows()), 1.);
    if (!row_scale.empty()) {
        std::vector<std::int32_t> least(at(aggregates), std::numeric_limits<std::int32_t>::max());
        for (std::size_t i = 0; i < size.size(); ++i) least[at(aggregate[i])] = std::min(least[at(aggregate[i])], row_scale[i]);
        for (std::size_t i = 0; i < size.size(); ++i) size[i] = std::ldexp(1., least[at(aggregate[i])] - row_scale[i]);
    }

    std::vector<Value> v(size.size(), 0.);
    std::vector<char> known(size.size(), 0);
    const auto turn = [&](std::int32_t row) {
        Value sum = 0;
        for (auto e = at(A.begin[at(row)]); e < at(A.begin[at(row) + 1]); ++e)
            if (const auto other = A.column[e]; other != row && aggregate[at(other)] == aggregate[at(row)])
                sum -= A.value[e] * v[at(other)];
        if (const double length = std::abs(sum); length > 0)
            v[at(row)] = size[at(row)] / length * sum;
        else if (!known[at(row)])
            v[at(row)] = size[at(row)];
        known[at(row)] = 1;
    };
    std::vector<std::int32_t> found;
    for (std::int32_t first = 0; first < A.rows(); ++first) {
        if (known[at(first)]) continue;
        turn(first);
        found.assign(1, first);
        for (std::size_t head = 0; head < found.size(); ++head)
            for (auto e = at(A.begin[at(found[head])]); e < at(A.begin[at(found[head]) + 1]); ++e)
                if (const auto other = A.column[e]; !known[at(other)] && aggregate[at(other)] == aggregate[at(first)]) {
                    turn(other);
                    found.push_back(other);
                }
    }
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (std::int32_t row = 0; row < A.rows(); ++row) turn(row);
    return v;
}

}  // namespace kasane::sparse
