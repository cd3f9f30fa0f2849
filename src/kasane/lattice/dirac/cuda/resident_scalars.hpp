// Iterations of BiCGStab and of conjugate gradients on a CUDA device whose scalars stay there: what krylov/resident_bicgstab.hpp and
// krylov/resident_cg.hpp require. Invariants: no operation but wait() waits; sums are those of FieldAlgebra. No CUDA headers.
#pragma once

#include <kasane/krylov/complex.hpp>
#include <kasane/krylov/resident_bicgstab.hpp>
#include <kasane/krylov/resident_cg.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>

#include <memory>

#if defined(KASANE_CUDA)
namespace kasane::lattice {

namespace device {
template <class State>
class ResidentState;  ///< the scalars on the device and their copies for the host: resident_scalars.cu
}

template <Precision P>
class ResidentBicgstab {
   public:
    using Vector = Field<Cuda, P>;
    using State = krylov::BicgstabState<krylov::Complex>;

    explicit ResidentBicgstab(std::shared_ptr<const Lattice<Cuda>> lattice);
    ~ResidentBicgstab();

    void begin(const State& state);
    void direction(const Vector& r, const Vector& v, Vector& p);
    void first_half(const Vector& shadow, const Vector& v, Vector& r);
    void second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r);
    State wait(int iteration);

   private:
    std::unique_ptr<device::ResidentState<State>> state_;
};

template <Precision P>
class ResidentCg {
   public:
    using Vector = Field<Cuda, P>;
    using State = krylov::CgState;

    explicit ResidentCg(std::shared_ptr<const Lattice<Cuda>> lattice);
    ~ResidentCg();

    void begin(const State& state);
    void direction(const Vector& s, Vector& p);
    void curvature(const Vector& image, double shift, const Vector& p);
    void step(const Vector& p, const Vector& t, Vector& y, Vector& s);
    void along(const Vector& s, const Vector& t);
    State wait(int iteration);

   private:
    std::unique_ptr<device::ResidentState<State>> state_;
};

}  // namespace kasane::lattice
#endif
