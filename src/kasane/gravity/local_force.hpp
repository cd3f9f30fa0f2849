// The gravity of particles on one device, for programs with an integrator of their own. Simulation (simulation.hpp) has integrators.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/evolve/force.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

namespace detail {
class AnyLocalForce;
}

/// Accelerations and potentials of n particles by direct summation or by a tree:
///
///     a_i = -grad phi_i,   phi_i = -G sum over j != i of m_j / sqrt(|x_j - x_i|^2 + eps^2)
///
/// for the Plummer kernel and one softening (docs/softening.md: spline, and a softening for each particle).
///
/// A result is a function of positions and masses alone: the same arguments give the same bits on one device, with any number of threads.
/// Every call chooses the origin and scale of direct summation, or builds the tree. Memory is kept between calls.
///
///     LocalForce force(Cpu{}, Direct{.softening = 0.01}, n);
///     force.accelerate(view(position), view(mass), view(acceleration));
class LocalForce {
   public:
    /// @param on  where the particles are and where the force is computed
    /// @param force  options of direct summation or of a tree
    /// @param n  particles of every call, 1 or more
    /// @throws InputError: options out of range, threads that cannot be started, a variant that the space does not have, or n < 1
    LocalForce(AnySpace on, const Force& force, index_t n);
    /// The same with a softening for each particle, which replaces that of the force.
    /// @param softening  [n] eps of the particles of every call [length], in memory of the space; it is copied
    LocalForce(AnySpace on, const Force& force, View<const double> softening);
    ~LocalForce();
    /// The source of the move may only be destroyed or assigned to.
    LocalForce(LocalForce&&) noexcept;
    /// The source of the move may only be destroyed or assigned to.
    LocalForce& operator=(LocalForce&&) noexcept;

    index_t size() const;        ///< particles of every call
    AnySpace space() const;      ///< space given to the constructor
    const Force& force() const;  ///< options given to the constructor; where the particles have softenings, with the smallest one

    /// Overwrites `acceleration` [length / time^2]. All views are [n], in memory of the space: of the host on Cpu, of the device on Cuda.
    /// Returns when the result is there.
    /// @param position  [length], finite
    /// @param mass  [mass], finite and not negative
    /// @param acceleration  result [length / time^2]
    /// @throws LogicError: a view of another size
    /// @throws ComputationError: positions are not finite; direct summation on a CUDA device does not search for them
    void accelerate(View<const Vec3<double>> position, View<const double> mass, View<Vec3<double>> acceleration);
    /// Overwrites `potential` [length^2 / time^2]; a particle does not contribute to its own potential. Arguments and errors are those of
    /// accelerate().
    void potential(View<const Vec3<double>> position, View<const double> mass, View<double> potential);

   private:
    void make(const AnySpace& on, Force force, index_t n, std::vector<double> softening);

    std::unique_ptr<detail::AnyLocalForce> on_;
};

}  // namespace kasane::gravity
