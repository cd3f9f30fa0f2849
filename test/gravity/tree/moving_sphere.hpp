// Spheres whose particles move, for tests of nodes and LETs that are kept meanwhile.
#pragma once

#include <kasane/gravity/galaxy/sampler.hpp>

#include <gravity/tree/cases.hpp>

#include <cmath>
#include <vector>

namespace kasane::test {

/// A Plummer sphere whose particles move on parabolas; some are displaced at random, which is not predicted.
struct MovingSphere {
    TreeProblem problem;
    std::vector<Vec3<double>> velocity, bend, jump;
    std::vector<bool> deep;
    double turn = 0;  ///< angular velocity of the first `turning` particles about the z axis [1 / time]
    std::size_t turning = 0;

    explicit MovingSphere(index_t n) {
        const auto p = gravity::plummer({.count = n, .seed = 8});
        problem = {p.position, p.mass, 0.02};
        velocity = p.velocity;
        for (std::size_t i = 0; i < velocity.size(); ++i) {
            bend.push_back(-0.5 * p.position[i]);
            deep.push_back(i % 64 == 5);
            jump.push_back(deep.back()
                               ? 0.03 * Vec3<double>{std::sin(7. * static_cast<double>(i)), std::cos(3. * static_cast<double>(i)), 0.5}
                               : Vec3<double>{0, 0, 0});
        }
    }
    /// @param jumps  the displacements have happened
    Vec3<double> at(std::size_t i, double time, bool jumps) const {
        if (i < turning) {
            const auto& from = problem.position[i];
            const double c = std::cos(turn * time), s = std::sin(turn * time);
            return {c * from.x - s * from.y, s * from.x + c * from.y, from.z};
        }
        const auto x = problem.position[i] + time * (velocity[i] + 0.5 * time * bend[i]);
        return jumps ? x + jump[i] : x;
    }
    TreeProblem frozen(double time, bool jumps) const {
        TreeProblem there = problem;
        for (std::size_t i = 0; i < velocity.size(); ++i) there.position[i] = at(i, time, jumps);
        return there;
    }
};

/// Massive particles on fast circles in the middle of the sphere. They alone are on deep levels.
inline MovingSphere with_fast_cluster(index_t n, std::size_t few) {
    MovingSphere sphere(n);
    sphere.turn = 60, sphere.turning = few;
    for (std::size_t i = 0; i < sphere.deep.size(); ++i) sphere.deep[i] = i < few, sphere.jump[i] = {0, 0, 0};
    for (std::size_t k = 0; k < few; ++k) {
        const double angle = 2.4 * static_cast<double>(k), share = static_cast<double>(k) / static_cast<double>(few);
        const double radius = 0.05 + 0.35 * share;
        sphere.problem.position[k] = {radius * std::cos(angle), radius * std::sin(angle), 0.2 * std::sin(40 * share)};
        const auto& x = sphere.problem.position[k];
        sphere.velocity[k] = sphere.turn * Vec3<double>{-x.y, x.x, 0};
        sphere.bend[k] = -sphere.turn * sphere.turn * Vec3<double>{x.x, x.y, 0};
        sphere.problem.mass[k] = 1. / static_cast<double>(few);
    }
    return sphere;
}

/// Duration for which nodes and LETs are kept: a quarter of a step of most particles.
inline constexpr double life = 1. / 256;

}  // namespace kasane::test
