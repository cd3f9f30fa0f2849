// The Wilson-clover operator on a space: fields of one parity, their vector algebra, and the parts of the operator,
// in each precision. Declarations only: dirac/cpu/ and dirac/cuda/ define them, each in a layout that suits its space.
// Invariants: only the space defines the layout of a Field, which holds the sites of one parity; sums are in double, in an order that does
// not depend on the number of threads; on a device, only operations that return a number wait for it.
#pragma once

#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace kasane::lattice {

/// Numbering of the sites of a parity on a space, and their neighbours; shared by all fields and operators of a solver.
/// Constructed as Lattice<S>(on, extents); has extents() and space().
template <Space S>
class Lattice;

/// One parity of a quark field. Constructed as Field<S, P>(shared_ptr<const Lattice<S>>), uninitialised; movable, not copyable.
/// Has lattice() and bytes().
template <Space S, Precision P>
class Field;

/// Copies the sites of one parity from a host field, and back; the other parity of `to` does not change. Waits.
template <Space S, Precision P>
void load(const SpinorField& from, Parity parity, Field<S, P>& to);
template <Space S, Precision P>
void store(const Field<S, P>& from, Parity parity, SpinorField& to);

/// Converts a field to another precision. Half keeps, per site, the largest real number as the scale.
template <Space S, Precision From, Precision To>
void convert(const Field<S, From>& from, Field<S, To>& to);

/// Iterations of krylov's methods whose scalars stay on a CUDA device: cuda/resident_scalars.hpp defines them.
template <Precision P>
class ResidentBicgstab;
template <Precision P>
class ResidentCg;

/// The operations of krylov's complex methods on fields of one space and precision; scalars are double.
/// Each is one pass over memory. Vectors may be the same only where stated.
template <Space S, Precision P>
class FieldAlgebra {
   public:
    using Vector = Field<S, P>;
    using Scalar = std::complex<double>;

    explicit FieldAlgebra(std::shared_ptr<const Lattice<S>> lattice);
    ~FieldAlgebra();
    FieldAlgebra(FieldAlgebra&&) noexcept;

    Vector like(const Vector& x) const;
    void copy(const Vector& x, Vector& y);                       ///< y = x
    void zero(Vector& y);                                        ///< y = 0
    double norm2(const Vector& x);                               ///< sum |x_i|^2
    Scalar dot(const Vector& x, const Vector& y);                ///< sum conj(x_i) y_i
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y);  ///< y = a x + b y; where b = 0, y is not read

    double axpy_norm2(Scalar a, const Vector& x, Vector& y);                        ///< y += a x; |y|^2
    std::pair<Scalar, double> dot_norm2(const Vector& x, const Vector& y);          ///< {x.y, |x|^2}
    void axpbypz(Scalar a, const Vector& x, Scalar b, const Vector& y, Vector& z);  ///< z = a x + b y + z
    /// BiCGStab's direction: p = r + beta (p - omega v)
    void direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p);
    /// BiCGStab's end of an iteration: x += alpha p + omega r; r -= omega t; {shadow.r, |r|^2} of the new r
    std::pair<Scalar, double> finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r);
    /// CG: x += a p, r -= a q; |r|^2
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r);

    ResidentBicgstab<P>& resident_bicgstab()
        requires(!std::same_as<S, Cpu>);
    ResidentCg<P>& resident_cg()
        requires(!std::same_as<S, Cpu>);

   private:
    struct Work;  ///< memory of partial sums
    std::unique_ptr<Work> work_;
};

/// Forms of a hop: out = own (A in the asymmetric form) + c * [A^-1] H in.
enum class HopForm {
    plain,    ///< out = x + c H in
    inverse,  ///< out = x + c A^-1 H in, A of out's parity, inverted in registers by Cholesky's factors
    clover,   ///< out = A x + c H in, A of out's parity
};

namespace device {
/// Sites of other devices around a lattice: cuda/hop_halo.body.hpp defines it.
template <Precision P>
struct HopHalo;
}  // namespace device

/// The operator's parts in one precision and one storage of the links.
template <Space S, Precision P>
class Dirac {
   public:
    /// @param A  null when csw is 0: A = 1; its data is packed, not kept
    Dirac(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& links, const CloverTerm<S>* A, Boundary boundary, LinkStorage storage);
    ~Dirac();
    Dirac(Dirac&&) noexcept;

    /// For a CUDA device, from links that have a halo around the lattice. @param first  the lattice's first site in that of the links
    Dirac(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& links, const Site& first, const CloverTerm<S>* A, Boundary boundary,
          LinkStorage storage)
        requires(!std::same_as<S, Cpu>);

    /// Replaces links and clover term by those of another field, in the memory of the present ones; does not wait.
    /// @param A  null exactly where it was null before; links and A may be changed or destroyed once the space has executed its work
    void pack(const Links<S>& links, const CloverTerm<S>* A);
    /// Does the same with links that have a halo.
    void pack(const Links<S>& links, const Site& first, const CloverTerm<S>* A)
        requires(!std::same_as<S, Cpu>);

    /// Computes out, of parity `to`, from in of the other parity; with H^+ (g5 H g5) if `adjoint`. x of parity `to` may be null for plain
    /// and inverse (then there is no such term), and may be out itself.
    void hop(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x, Field<S, P>& out) const;
    /// Does the same if other devices hold neighbours of the lattice's sites. Links must not be stored in 8 numbers.
    void hop(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x, Field<S, P>& out,
             const device::HopHalo<P>& halo) const
        requires(!std::same_as<S, Cpu>);
    /// Executes the hop for several right-hand sides: out[i] from in[i] and x[i], with the same bits as one by one. Links and clover terms
    /// are read once for several of them. x is empty if there is no such term; x[i] may be out[i], otherwise all fields differ.
    void hop(HopForm form, Parity to, bool adjoint, double c, std::span<const Field<S, P>* const> in, std::span<const Field<S, P>* const> x,
             std::span<Field<S, P>* const> out) const;
    /// Applies the whole operator, out = A in + c H in on both parities, with the bits of two hops. On a CPU one sweep over both parities
    /// reads each link and each spinor from memory once. No field of out may be a field of in.
    void whole(bool adjoint, double c, const Field<S, P>& even, const Field<S, P>& odd, Field<S, P>& out_even, Field<S, P>& out_odd) const;
    /// out = A in or A^-1 in, of that parity; in and out may be the same.
    void clover(Parity parity, bool inverse, const Field<S, P>& in, Field<S, P>& out) const;

    std::uint64_t bytes() const;  ///< of links and clover term
    /// Memory traffic of one hop of several right-hand sides, per site of out of each, if every neighbour's spinor, every link and every
    /// clover term is read once from memory.
    double bytes_per_site(HopForm form, bool with_x, int columns = 1) const;

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kasane::lattice
