#include <kasane/sparse/distributed/aggregates_of_rows.hpp>

#include <kasane/sparse/distributed/row_division.hpp>

#include <algorithm>

namespace kasane::sparse {
namespace {

/// f(row) for the rows that a row is coupled to.
template <class F>
void each_neighbor(const CsrView& A, std::int32_t row, const F& f) {
    for (index_t e = A.begin(row); e < A.end(row); ++e) f(static_cast<std::int32_t>(A.column(e)));
}

/// Numbers aggregates without gaps. @param joined  [aggregates] itself, or an earlier one that it has joined
void renumber(RowAggregates& aggregates, std::vector<std::int32_t> joined) {
    std::vector<std::int32_t> number(joined.size());
    for (std::size_t g = 0; g < joined.size(); ++g)
        number[g] = at(joined[g]) == g ? static_cast<std::int32_t>(aggregates.count++) : number[at(joined[g])];
    for (auto& g : aggregates.of) g = number[at(g)];
}

}  // namespace

RowAggregates aggregates_of_rows(const CsrView& A, index_t most) {
    const auto size = at((A.n + most - 1) / most);
    RowAggregates aggregates{std::vector<std::int32_t>(at(A.n), -1), 0};
    auto& of = aggregates.of;
    std::vector<std::int32_t> joined, members;
    std::vector<std::int32_t> seeds;  // rows beside finished aggregates: the next one begins there, so that few gaps remain
    const auto grow = [&](std::int32_t first) {
        const auto g = static_cast<std::int32_t>(joined.size());
        members.assign(1, first);
        of[at(first)] = g;
        std::int32_t beside = g;  // an earlier aggregate
        for (std::size_t head = 0; head < members.size(); ++head)
            each_neighbor(A, members[head], [&](std::int32_t other) {
                if (of[at(other)] >= 0) {
                    if (of[at(other)] != g) beside = of[at(other)];
                } else if (members.size() < size) {
                    of[at(other)] = g;
                    members.push_back(other);
                } else {
                    seeds.push_back(other);
                }
            });
        joined.push_back(4 * members.size() < size ? beside : g);
    };
    for (std::int32_t row = 0, seed = 0; row < A.n; ++row) {
        if (of[at(row)] < 0) grow(row);
        for (; at(seed) < seeds.size(); ++seed)
            if (of[at(seeds[at(seed)])] < 0) grow(seeds[at(seed)]);
    }
    renumber(aggregates, joined);
    return aggregates;
}

}  // namespace kasane::sparse
