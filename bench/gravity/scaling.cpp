#include <bench/gravity/scaling.hpp>

#include <set>

namespace kasane::bench {

std::vector<int> doublings_up_to(int most) {
    std::vector<int> counts;
    for (int p = 1; p < most; p *= 2) counts.push_back(p);
    counts.push_back(most);
    return counts;
}

double ScalingTimes::strong(int workers, index_t n) const { return of(1, n) / (workers * of(workers, n)); }

double ScalingTimes::weak(int workers, index_t n) const {
    if (n % workers != 0) return std::numeric_limits<double>::quiet_NaN();
    // N^2 / ((N/P)^2 P) = P
    return workers * of(1, n / workers) / of(workers, n);
}

std::map<int, std::vector<index_t>> scaling_sizes(const std::vector<int>& workers, const std::vector<index_t>& wanted, index_t least,
                                                  index_t most) {
    std::map<int, std::set<index_t>> sizes;
    for (const int p : workers) {
        auto totals = wanted;
        if (totals.empty())
            for (index_t each = least; each <= most; each *= 2) totals.push_back(p * each);
        for (const auto n : totals) {
            sizes[p].insert(n);
            sizes[1].insert(n);
            if (n % p == 0) sizes[1].insert(n / p);
        }
    }
    std::map<int, std::vector<index_t>> lists;
    for (const auto& [p, set] : sizes) lists[p] = {set.begin(), set.end()};
    return lists;
}

}  // namespace kasane::bench
