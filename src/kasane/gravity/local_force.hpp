// The gravity of particles on one device, for programs with an integrator of their own. Simulation (simulation.hpp) has integrators.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/force.hpp>

#include <memory>

namespace kasane::gravity {

namespace detail {
class AnyLocalForce;
}

/// Accelerations and potentials of n particles by direct summation or by a tree:
///
///     a_i = -grad phi_i,   phi_i = -G sum over j != i of m_j / sqrt(|x_j - x_i|^2 + eps^2)
///
/// A result is a function of positions and masses alone: the same arguments give the same bits on one device, with any number of threads.
/// Direct summation chooses its origin and scale, and the tree is built, in every call. Keeps its memory between calls.
///
///     LocalForce force(Cpu{}, Direct{.softening = 0.01}, n);
///     force.accelerate(view(position), view(mass), view(acceleration));
class LocalForce {
   public:
    /// @param n  particles of every call, 1 or more
    /// @throws InputError: options out of range, a variant that the space does not have, or n < 1
    LocalForce(AnySpace on, const Force& force, index_t n);
    ~LocalForce();
    LocalForce(LocalForce&&) noexcept;
    LocalForce& operator=(LocalForce&&) noexcept;

    index_t size() const;
    AnySpace space() const;
    const Force& force() const;

    /// Overwrites `acceleration` [length / time^2]. All views are [n], in memory of the space: of the host on Cpu, of the device on Cuda.
    /// Returns when the result is there.
    /// @param position  [length], finite   @param mass  [mass], finite and not negative
    /// @throws LogicError: a view of another size   @throws ComputationError: the tree finds positions that are not finite
    void accelerate(View<const Vec3<double>> position, View<const double> mass, View<Vec3<double>> acceleration);
    /// Overwrites `potential` [length^2 / time^2], without a particle's own. Otherwise as accelerate().
    void potential(View<const Vec3<double>> position, View<const double> mass, View<double> potential);

   private:
    std::unique_ptr<detail::AnyLocalForce> on_;
};

}  // namespace kasane::gravity
