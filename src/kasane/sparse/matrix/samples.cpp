#include <kasane/core/math/random.hpp>
#include <kasane/sparse/matrix/samples.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

namespace kasane::sparse {
namespace {

constexpr std::size_t most_distances = 4;

template <class Use>
void for_sampled_rows(index_t n, Use&& use) {
    for (const auto [first, end] : sampled_rows(n))
        for (index_t row = first; row < end; ++row) use(row);
}

double diagonal_of(const CsrView& A, index_t row) {
    for (index_t e = A.begin(row); e < A.end(row); ++e)
        if (A.column(e) == row) return A.value[e];
    return 0;
}

}  // namespace

std::vector<RowRange> sampled_rows(index_t rows) {
    constexpr index_t of_a_range = 60, ranges = 64;
    if (rows <= of_a_range * ranges) return {{0, rows}};
    std::vector<RowRange> sampled;
    RandomStream random(2, 0);
    const index_t places = rows / of_a_range;
    for (index_t range = 0; range < ranges; ++range) {
        const index_t least = places * range / ranges, choices = places * (range + 1) / ranges - least;
        const auto first = (least + static_cast<index_t>(random.uniform() * static_cast<double>(choices))) * of_a_range;
        sampled.push_back({first, first + of_a_range});
    }
    return sampled;
}

RowSumFacts row_sum_facts(const CsrView& A) {
    std::vector<double> slack;
    double positive = 0, all = 0;
    for_sampled_rows(A.n, [&](index_t row) {
        double diagonal = 0, others = 0;
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            if (A.column(e) == row) {
                diagonal = std::fabs(A.value[e]);
            } else {
                others += std::fabs(A.value[e]);
                positive += std::max(0., A.value[e]);
            }
        }
        all += others;
        slack.push_back(std::max(0., (diagonal - others) / diagonal));
    });
    const auto middle = slack.begin() + static_cast<std::ptrdiff_t>(slack.size() / 2);
    std::nth_element(slack.begin(), middle, slack.end());
    return {*middle, all > 0 ? positive / all : 0};
}

bool is_rough(const CsrView& A) {
    double all = 0, rough = 0;
    for_sampled_rows(A.n, [&](index_t row) {
        const double own = diagonal_of(A, row);
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            if (A.column(e) == row) continue;
            const double other = diagonal_of(A, A.column(e)), size = std::fabs(A.value[e]);
            all += size;
            if (std::max(own, other) > 2 * std::min(own, other)) rough += size;
        }
    });
    return rough > all / 4;
}

double share_of_one_distance(const CsrView& A) {
    std::vector<std::pair<index_t, double>> sizes;
    double all = 0;
    for_sampled_rows(A.n, [&](index_t row) {
        for (index_t e = A.begin(row); e < A.end(row) && sizes.size() <= most_distances; ++e) {
            const index_t distance = std::abs(A.column(e) - row);
            if (distance == 0) continue;
            auto found = std::ranges::find(sizes, distance, &std::pair<index_t, double>::first);
            if (found == sizes.end()) found = sizes.insert(sizes.end(), {distance, 0.});
            found->second += std::fabs(A.value[e]);
            all += std::fabs(A.value[e]);
        }
    });
    if (sizes.size() < 2 || sizes.size() > most_distances || !(all > 0)) return 0;
    return std::ranges::max(sizes, {}, &std::pair<index_t, double>::second).second / all;
}

Neighbourhood middle_neighbourhood(const CsrView& A, index_t most) {
    const auto at = [](auto i) { return static_cast<std::size_t>(i); };
    const index_t n = std::min(A.n, most);
    std::vector<std::int32_t> place(at(A.n), -1), row, steps;  // place: in `row`, which has the neighbourhood in the order of its steps
    Neighbourhood out;
    const auto add = [&](index_t one, std::int32_t its_steps) {
        if (static_cast<index_t>(row.size()) == n) return;
        place[at(one)] = static_cast<std::int32_t>(row.size());
        row.push_back(static_cast<std::int32_t>(one));
        steps.push_back(its_steps);
    };
    index_t start = A.n / 2;  // and the following ones, where those that it reaches are too few
    for (std::size_t i = 0; i < at(n); ++i) {
        if (i == row.size()) {
            while (place[at(start)] >= 0) start = (start + 1) % A.n;
            add(start, 0);
        }
        for (index_t e = A.begin(row[i]); e < A.end(row[i]); ++e)
            if (place[at(A.column(e))] < 0) add(A.column(e), steps[i] + 1);
    }
    CsrMatrix& scaled = out.scaled;
    std::vector<double> root;
    scaled.begin.push_back(0);
    for (std::size_t i = 0; i < at(n); ++i) {
        root.push_back(std::sqrt(diagonal_of(A, row[i])));
        for (index_t e = A.begin(row[i]); e < A.end(row[i]); ++e) {
            const auto j = place[at(A.column(e))];
            if (j < 0) continue;
            if (at(j) != i && steps[at(j)] == steps[i]) out.two_colours = false;
            scaled.column.push_back(j);
            scaled.value.push_back(A.value[e]);
        }
        scaled.begin.push_back(static_cast<index_t>(scaled.column.size()));
    }
    for (std::size_t i = 0; i < at(n); ++i)
        for (auto e = at(scaled.begin[i]); e < at(scaled.begin[i + 1]); ++e) scaled.value[e] /= root[i] * root[at(scaled.column[e])];
    return out;
}

double share_of_shifted_rows(const CsrView& A) {
    index_t shifted = 0, all = 0;
    for (const auto [first, end] : sampled_rows(A.n))
        for (index_t row = first + 1; row < end; ++row, ++all) {
            const index_t length = A.end(row) - A.begin(row);
            bool same = length == A.begin(row) - A.begin(row - 1);
            for (index_t k = 0; same && k < length; ++k) same = A.column(A.begin(row) + k) == A.column(A.begin(row - 1) + k) + 1;
            shifted += same;
        }
    return all > 0 ? static_cast<double>(shifted) / static_cast<double>(all) : 0;
}

}  // namespace kasane::sparse
