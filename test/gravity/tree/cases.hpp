// The particle distributions of the tests of the tree code: smooth, cuspy, clumped and flat ones, few particles, and difficult cases for
// trees: coincident particles, an escaper, masses over twelve decades, zero softening.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace kasane::test {

enum class Shape { plummer, cusp, cube, clusters, disk, one_place, escaper, masses };

struct TreeCase {
    Shape shape;
    index_t count;
    double softening;

    std::string name() const {
        const char* shapes[] = {"plummer", "cusp", "cube", "clusters", "disk", "one_place", "escaper", "masses"};
        return std::string(shapes[static_cast<int>(shape)]) + "_" + std::to_string(count) + (softening > 0 ? "" : "_unsoftened");
    }
};

struct TreeProblem {
    std::vector<Vec3<double>> position;
    std::vector<double> mass;
    double softening = 0;
    index_t size() const { return static_cast<index_t>(mass.size()); }
};

/// All cases, with so few particles that direct summation for a hundred of them is fast.
inline std::vector<TreeCase> tree_cases(index_t count = 4097) {
    std::vector<TreeCase> all;
    for (const auto shape :
         {Shape::plummer, Shape::cusp, Shape::cube, Shape::clusters, Shape::disk, Shape::one_place, Shape::escaper, Shape::masses})
        all.push_back({shape, count, 0.02});
    for (const auto shape : {Shape::plummer, Shape::disk, Shape::one_place, Shape::masses}) all.push_back({shape, count, 0.0});
    for (const index_t n : {1, 2, 3, 33}) all.push_back({Shape::plummer, n, 0.01});
    all.push_back({Shape::one_place, 33, 0.01});
    return all;
}

/// Makes the particles of a case: half-mass radius about 1; total mass 1, except for Shape::masses.
inline TreeProblem make(const TreeCase& of) {
    RandomStream random(17, static_cast<std::uint64_t>(of.shape));
    const auto direction = [&] {
        const double z = 2 * random.uniform() - 1, angle = 2 * std::numbers::pi * random.uniform(), rho = std::sqrt(1 - z * z);
        return Vec3<double>{rho * std::cos(angle), rho * std::sin(angle), z};
    };
    const auto plummer = [&] {  // M(r) = r^3 / (1 + r^2)^(3/2), without the outermost hundredth
        return 0.77 / std::sqrt(std::pow(0.99 * random.uniform(), -2. / 3) - 1) * direction();
    };
    TreeProblem made;
    made.softening = of.softening;
    for (index_t i = 0; i < of.count; ++i) {
        double mass = 1.0 / static_cast<double>(of.count);
        Vec3<double> x = plummer();
        switch (of.shape) {
            case Shape::plummer: break;
            case Shape::cusp: {  // rho ~ 1/r inside, as NFW's: M ~ r^2
                x = 1.4 * std::sqrt(random.uniform()) * direction();
                break;
            }
            case Shape::cube: x = {2.6 * random.uniform() - 1.3, 2.6 * random.uniform() - 1.3, 2.6 * random.uniform() - 1.3}; break;
            case Shape::clusters: x += Vec3<double>{i % 3 == 0 ? 20.0 : -10.0, i % 3 == 0 ? 3.0 : -1.5, 0}; break;
            case Shape::disk: {
                const double r = -0.6 * std::log(random.uniform() * random.uniform()), angle = 2 * std::numbers::pi * random.uniform();
                x = {r * std::cos(angle), r * std::sin(angle), 1e-3 * (random.uniform() - 0.5)};
                break;
            }
            case Shape::one_place: x = i == 0 ? Vec3<double>{1, 2, -1} : Vec3<double>{0.25, -0.125, 0.5}; break;
            case Shape::escaper:
                if (i == 0) x = {0.6e6, -0.8e6, 0.3e6};
                break;
            case Shape::masses: mass = i % 7 == 6 ? 0.0 : std::pow(10.0, -12 * random.uniform()); break;
        }
        made.position.push_back(x);
        made.mass.push_back(mass);
    }
    return made;
}

}  // namespace kasane::test
