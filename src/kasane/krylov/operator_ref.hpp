// References to operators and preconditioners of any type (algebra.hpp): a method that takes them is compiled once per algebra. The
// indirect call takes no time beside a pass over vectors. Invariant: the object outlives the reference.
#pragma once

#include <kasane/krylov/algebra.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace kasane::krylov {

class Watch;  ///< see watch.hpp

/// A reference to an operator of any type, or to a preconditioner that is the same at every call.
template <class Algebra>
class OperatorRef {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra

    /// @param A  has apply(algebra, in, out) const
    template <class Operator>
        requires(!std::same_as<Operator, OperatorRef>)
    OperatorRef(const Operator& A) : A_(std::addressof(A)), apply_(&apply_of<Operator>) {}

    /// out = A in.
    void apply(Algebra& algebra, const Vector& in, Vector& out) const { apply_(A_, algebra, in, out); }

   private:
    template <class Operator>
    static void apply_of(const void* A, Algebra& algebra, const Vector& in, Vector& out) {
        static_cast<const Operator*>(A)->apply(algebra, in, out);
    }

    const void* A_;
    void (*apply_)(const void*, Algebra&, const Vector&, Vector&);
};

/// A reference to a preconditioner of any type.
template <class Algebra>
class PreconditionerRef {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra

    /// @param M  has apply(algebra, in, out) or apply(algebra, in, out, watch, enough), const where M is
    template <class Preconditioner>
        requires(!std::same_as<std::remove_cvref_t<Preconditioner>, PreconditionerRef>)
    PreconditionerRef(Preconditioner&& M)
        : M_(const_cast<void*>(static_cast<const void*>(std::addressof(M)))),
          apply_(&apply_of<std::remove_reference_t<Preconditioner>>),
          none_(std::same_as<std::remove_cvref_t<Preconditioner>, NoPreconditioner>) {}

    /// Whether the preconditioner is NoPreconditioner.
    bool none() const { return none_; }
    /// z = M^-1 r. @param watch  of the method   @param enough  a residual of this norm would end its iteration
    void apply(Algebra& algebra, const Vector& r, Vector& z, Watch& watch, double enough) const {
        apply_(M_, algebra, r, z, watch, enough);
    }

   private:
    template <class Preconditioner>
    static void apply_of(void* M, Algebra& algebra, const Vector& r, Vector& z, Watch& watch, double enough) {
        auto& of = *static_cast<Preconditioner*>(M);
        if constexpr (requires { of.apply(algebra, r, z, watch, enough); }) {
            of.apply(algebra, r, z, watch, enough);
        } else {
            of.apply(algebra, r, z);
        }
    }

    void* M_;
    void (*apply_)(void*, Algebra&, const Vector&, Vector&, Watch&, double);
    bool none_;
};

// For the parameters of a function template: an argument of any type converts to them, since Algebra is not deduced from it.

/// An operator of any type.
template <class Algebra>
using AnyOperator = std::type_identity_t<OperatorRef<Algebra>>;
/// A preconditioner of any type.
template <class Algebra>
using AnyPreconditioner = std::type_identity_t<PreconditionerRef<Algebra>>;

}  // namespace kasane::krylov
