// The list of cases of direct summation, for correctness and for speed: sizes that are no multiple of a tile, distinct sets, slices,
// unequal and zero masses, clusters far from the origin, coincident particles.
#pragma once

#include <kasane/gravity/direct/direct_sum.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kasane::test {

using gravity::Self;

enum class Layout {
    sphere,      ///< centrally concentrated, about the origin, half-mass radius about 1
    clusters,    ///< three tight clumps of radius 0.02, several lengths apart, 300 lengths away from the origin
    coincident,  ///< a sphere in which every third particle sits exactly on its neighbour
};

/// Sizes and layout of a case. shift >= 0: target i is source i + shift; Self::none: two distinct sets.
struct DirectCase {
    index_t targets;
    index_t sources;
    index_t shift;
    double softening;
    Layout layout = Layout::sphere;

    bool same_set() const { return shift == 0 && targets == sources; }
    std::string name() const {
        const char* layouts[] = {"sphere", "clusters", "coincident"};
        return std::to_string(targets) + " targets of " + std::to_string(sources) + " sources, shift " + std::to_string(shift) +
               ", softening " + std::to_string(softening) + ", " + layouts[static_cast<int>(layout)];
    }
};

struct DirectProblem {
    std::vector<Vec3<double>> target;
    std::vector<Vec3<double>> source;
    std::vector<double> mass;
    Self self;
    double softening = 0;
};

inline const std::vector<DirectCase>& direct_cases() {
    static const std::vector<DirectCase> cases = [] {
        std::vector<DirectCase> all;
        for (const index_t n : {1, 2, 31, 257, 4097})
            for (const double softening : {0.01, 0.0}) all.push_back({n, n, 0, softening});
        for (const double softening : {0.01, 0.0}) {
            all.push_back({1, 31, 30, softening});
            all.push_back({31, 257, 226, softening});
            all.push_back({257, 4097, 1003, softening});
            all.push_back({1, 4097, Self::none, softening});
            all.push_back({2, 31, Self::none, softening});
            all.push_back({31, 257, Self::none, softening});
            all.push_back({257, 31, Self::none, softening});
            all.push_back({4097, 2, Self::none, softening});
            all.push_back({257, 257, 0, softening, Layout::coincident});
            all.push_back({31, 257, 17, softening, Layout::coincident});
            all.push_back({257, 257, Self::none, softening, Layout::coincident});
        }
        // Softened only: in float a clump of 0.02 at 300 is resolved to 3e-5, so unsoftened close pairs carry no digit.
        all.push_back({257, 257, 0, 0.05, Layout::clusters});
        all.push_back({4097, 4097, 0, 0.05, Layout::clusters});
        all.push_back({31, 4097, Self::none, 0.05, Layout::clusters});
        return all;
    }();
    return cases;
}

namespace detail {

class Random {
   public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    Vec3<double> direction() {
        const double z = 2 * uniform() - 1, angle = 2 * M_PI * uniform(), rho = std::sqrt(1 - z * z);
        return {rho * std::cos(angle), rho * std::sin(angle), z};
    }

   private:
    std::mt19937_64 engine_;
};

inline std::vector<Vec3<double>> positions(Random& random, Layout layout, index_t n) {
    std::vector<Vec3<double>> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double q = 0.02 + 0.96 * random.uniform();
        // Plummer's radius for the mass fraction q: M(r) = r^3 / (1 + r^2)^(3/2)
        const double radius = 1 / std::sqrt(std::pow(q, -2. / 3) - 1);
        x[i] = radius * random.direction();
        if (layout == Layout::clusters) {
            const Vec3<double> center[] = {{300, -200, 100}, {304, -200, 100}, {300, -203, 101}};
            x[i] = center[i % 3] + 0.02 * x[i];
        }
        if (layout == Layout::coincident && i % 3 == 2) x[i] = x[i - 1];
        // Numbers that float represents exactly: then only differences are rounded, for any origin of a variant.
        x[i] = {static_cast<float>(x[i].x), static_cast<float>(x[i].y), static_cast<float>(x[i].z)};
    }
    return x;
}

}  // namespace detail

/// Positions and masses of a case; the same in every run.
inline DirectProblem make(const DirectCase& of) {
    detail::Random random(static_cast<std::uint64_t>(7919 * of.targets + of.sources));
    DirectProblem made;
    made.self.shift = of.shift;
    made.softening = of.softening;
    made.source = detail::positions(random, of.layout, of.sources);
    for (index_t j = 0; j < of.sources; ++j)  // four decades, every fifth massless
        made.mass.push_back(of.sources > 4 && j % 5 == 4 ? 0.0 : std::pow(10.0, -4 * random.uniform()));
    if (of.shift != Self::none) {
        made.target.assign(made.source.begin() + of.shift, made.source.begin() + of.shift + of.targets);
    } else {
        made.target = detail::positions(random, of.layout, of.targets);
        if (of.layout == Layout::coincident)  // targets of another set that sit on sources
            for (std::size_t i = 0; i < made.target.size(); i += 4) made.target[i] = made.source[i % made.source.size()];
    }
    return made;
}

}  // namespace kasane::test
