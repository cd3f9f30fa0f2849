// Conjugate gradients whose scalars stay on the device: an iteration is one sequence of launches, from the second one on a graph, after
// which the host reads three sums. Nearly empty in a build without CUDA. Invariants: the iterations are those of
// krylov::conjugate_gradients, to the order of sums; where a sum is not positive, x and r stay.
#pragma once

#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/multigrid/device_sums.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

#include <functional>
#include <memory>
#include <type_traits>

namespace kasane::sparse {

#if defined(KASANE_CUDA)

/// Scalars in the memory of the device.
struct CgScalars {
    krylov::CgSums report() const { return {rz, pAp, r2}; }

    double r2;         ///< |r|^2
    double rz;         ///< r.z
    double rz_before;  ///< of the iteration before; 0: there is no direction yet
    double pAp;        ///< p.A p
    double mean;       ///< of z, where constants are the null space
    double unit;       ///< the power of two near |r|, in which preconditioners of single precision keep their range
    double per_unit;   ///< its inverse
    double unit_then;  ///< the unit before the last step, in which step() writes the residual in single precision
};

/// Scalars, the two operations on vectors alone, and the graph of an iteration.
class ResidentCg {
   public:
    explicit ResidentCg(Cuda on);
    ~ResidentCg();
    ResidentCg(const ResidentCg&) = delete;
    ResidentCg& operator=(const ResidentCg&) = delete;

    CgScalars* scalars();
    DeviceSums sums();

    /// The next iteration has no direction before it. @param r2  |r|^2
    void begin(double r2);
    /// p = z + rz / rz_before p
    void direction(Cuda on, const Buffer<double, Cuda>& z, Buffer<double, Cuda>& p);
    /// x += alpha p, r -= alpha q, r2
    /// @param narrowed  null, or [r] gets r / unit_then
    void step(Cuda on, const Buffer<double, Cuda>& p, const Buffer<double, Cuda>& q, Buffer<double, Cuda>& x, Buffer<double, Cuda>& r,
              float* narrowed = nullptr);
    /// p = by unit_then from + rz / rz_before p, for a result M^-1 r in single precision.
    void direction(Cuda on, const float* from, double by, Buffer<double, Cuda>& p);
    /// A copy of the scalars, after all work that was submitted before.
    CgScalars now();
    /// Executes an iteration. @param submit  submits its work, the same in every iteration, to the stream of the space that it gets
    /// @return its sums
    krylov::CgSums execute(const std::function<void(Cuda)>& submit);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// The algebra of one solve by conjugate gradients, with whole iterations where operator and preconditioner have
/// submit(cg, on, in, out): out = A in and pAp, or out = M^-1 in and rz. A preconditioner may have instead begin(on, r), which copies r in
/// the unit of the scalars to single_residual(), and submit_direction(cg, on, r, z, p): p = M^-1 r + rz / rz_before p, and rz, with
/// single_residual() for r where that is enough; z may be used.
class ResidentAlgebra : public VectorAlgebra<Cuda> {
   public:
    explicit ResidentAlgebra(Cuda on) : VectorAlgebra<Cuda>(on), cg_(on) {}

    template <class Operator, class Preconditioner>
        requires requires(const Operator& A, const Preconditioner& M, ResidentCg& cg, Cuda on, Vector& v) {
            A.submit(cg, on, v, v);
            requires requires { M.submit(cg, on, v, v); } || requires { M.submit_direction(cg, on, v, v, v); };
        }
    krylov::CgSums iteration(const Operator& A, const Preconditioner& M, double r2, bool fresh, Vector& x,
                             krylov::CgWorkspace<Vector>& work) {
        if (fresh) cg_.begin(r2);
        if constexpr (requires(Cuda on) { M.submit_direction(cg_, on, work.r, work.z, work.p); }) {
            if (fresh) M.begin(cg_, work.r);
            return cg_.execute([&](Cuda on) {
                M.submit_direction(cg_, on, work.r, work.z, work.p);
                A.submit(cg_, on, work.p, work.q);
                cg_.step(on, work.p, work.q, x, work.r, M.single_residual());
            });
        } else {
            return cg_.execute([&](Cuda on) {
                M.submit(cg_, on, work.r, work.z);
                cg_.direction(on, work.z, work.p);
                A.submit(cg_, on, work.p, work.q);
                cg_.step(on, work.p, work.q, x, work.r);
            });
        }
    }
    ResidentCg& resident() { return cg_; }

   private:
    ResidentCg cg_;
};

/// The algebra of conjugate gradients on a space.
template <Space S>
using CgAlgebra = std::conditional_t<std::same_as<S, Cuda>, ResidentAlgebra, VectorAlgebra<S>>;

#else

template <Space S>
using CgAlgebra = VectorAlgebra<S>;

#endif

}  // namespace kasane::sparse
