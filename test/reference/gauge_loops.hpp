// Gauge actions of plaquettes and rectangles and their forces from the list of all closed paths: an oracle for small lattices.
// Uses no staples.
#pragma once

#include <reference/paths.hpp>

#include <vector>

namespace kasane::reference {

struct Loops {
    std::vector<std::vector<int>> paths;  ///< steps of along(), from the lowest corner, each in one orientation
};
inline Loops all_plaquettes() {
    Loops all;
    for (int mu = 1; mu <= 4; ++mu)
        for (int nu = mu + 1; nu <= 4; ++nu) all.paths.push_back({mu, nu, -mu, -nu});
    return all;
}
/// Two links along mu, one along nu.
inline Loops all_rectangles() {
    Loops all;
    for (int mu = 1; mu <= 4; ++mu)
        for (int nu = 1; nu <= 4; ++nu)
            if (mu != nu) all.paths.push_back({mu, mu, nu, -mu, -mu, -nu});
    return all;
}

/// sum of 1 - Re tr / 3 over all loops of the lattice.
inline double deficit(const lattice::GaugeField& u, const Loops& loops) {
    double sum = 0;
    for_each_site(u.extents, [&](const auto& x) {
        for (const auto& path : loops.paths) sum += 1 - trace(along(u, x, path)).real() / 3;
    });
    return sum;
}

/// W of every link, [4 site + mu]: the sum of the products along all loops that begin with the link, both orientations of each loop, once
/// for every time that the loop passes the link forwards.
inline std::vector<Matrix> loops_through_links(const lattice::GaugeField& u, const Loops& loops) {
    const auto& n = u.extents;
    std::vector<Matrix> sum(u.links.size());
    for_each_site(n, [&](const std::array<int, 4>& corner) {
        for (const auto& path : loops.paths)
            for (const bool reversed : {false, true}) {
                auto steps = path;
                if (reversed) {
                    steps.assign(path.rbegin(), path.rend());
                    for (int& step : steps) step = -step;
                }
                auto at = corner;
                for (std::size_t k = 0; k < steps.size(); ++k) {
                    if (steps[k] > 0) {
                        std::vector<int> rotated(steps.begin() + static_cast<std::ptrdiff_t>(k), steps.end());
                        rotated.insert(rotated.end(), steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(k));
                        index_t site = 0;
                        for (int d = 3; d >= 0; --d) site = site * n.n[d] + (at[static_cast<std::size_t>(d)] % n.n[d] + n.n[d]) % n.n[d];
                        auto& of = sum[static_cast<std::size_t>(4 * site + steps[k] - 1)];
                        of = difference(of, scaled(along(u, at, rotated), -1));
                    }
                    at[static_cast<std::size_t>(std::abs(steps[k]) - 1)] += steps[k] > 0 ? 1 : -1;
                }
            }
    });
    return sum;
}

}  // namespace kasane::reference
