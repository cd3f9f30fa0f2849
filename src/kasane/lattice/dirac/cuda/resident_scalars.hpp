// Iterations of BiCGStab and of conjugate gradients on a CUDA device whose scalars stay there. They satisfy the requirements of
// krylov/resident_bicgstab.hpp and krylov/resident_cg.hpp. Invariants: no operation but wait() and state() waits; sums are those of
// FieldAlgebra. No CUDA headers.
#pragma once

#include <kasane/krylov/complex.hpp>
#include <kasane/krylov/resident_bicgstab.hpp>
#include <kasane/krylov/resident_cg.hpp>
#include <kasane/krylov/resident_run.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>

#include <functional>
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
    void iterate(const std::function<void()>& submit);
    void direction(const Vector& r, const Vector& v, Vector& p);
    void first_half(const Vector& shadow, const Vector& v, Vector& r);
    void second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r);
    krylov::RunReport wait(int iteration);
    State state();

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
    void iterate(const std::function<void()>& submit);
    void direction(const Vector& s, Vector& p);
    void curvature(const Vector& image, double shift, const Vector& p);
    void step(const Vector& p, const Vector& t, Vector& y, Vector& s);
    void along(const Vector& s, const Vector& t);
    krylov::RunReport wait(int iteration);
    State state();

   private:
    std::unique_ptr<device::ResidentState<State>> state_;
    bool low_ = false;  ///< of the run
    double shift_ = 0;  ///< of its operator
};

}  // namespace kasane::lattice
#endif
