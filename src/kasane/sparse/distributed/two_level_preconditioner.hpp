// The preconditioner of many workers: their subdomains, joined by a coarse system where there is one.
#pragma once

#include <kasane/krylov/scaled_system.hpp>
#include <kasane/sparse/distributed/coarse_system.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/distributed/subdomain.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace kasane::sparse {

/// @tparam User  double or std::complex<double>
template <Space S, class User = double>
class TwoLevelPreconditioner {
   public:
    using Vector = Buffer<Number<User>, S>;
    using Algebra = DistributedAlgebra<S, User>;

    /// @param A  must outlive this   @param subdomains, coarse  coarse: none where there is one level
    TwoLevelPreconditioner(const PartOperator<S, User>& A, std::unique_ptr<SubdomainPreconditioner<S, User>> subdomains,
                           std::optional<CoarseSystem<S, User>> coarse, const Vector& like)
        : A_(A), subdomains_(std::move(subdomains)), coarse_(std::move(coarse)), residual_(like.space(), coarse_ ? like.size() : 0) {}

    /// The interface of krylov: out = M^-1 in.
    void apply(Algebra& algebra, const Vector& in, Vector& out) const {
        subdomains_->apply(algebra, in, out);
        if (!coarse_) return;
        A_.apply(algebra, out, residual_);
        algebra.axpby(1, in, -1, residual_);
        coarse_->add_correction(residual_, out);
    }
    /// Makes the sums of the residual over aggregates zero, as the coarse system requires of a first guess; x that solves A x = b to `rtol`
    /// is left as it is. @param scratch  a vector to use
    void prepare(Algebra& algebra, const Vector& b, Vector& x, double rtol, Vector& scratch) const {
        if (!coarse_) return;
        A_.apply(algebra, x, residual_);
        algebra.axpby(1, b, -1, residual_);
        const auto of_b = krylov::unit_of(algebra, b, scratch), of_r = krylov::unit_of(algebra, residual_, scratch);
        if (of_r.norm / of_r.unit > rtol * (of_b.norm / of_b.unit)) coarse_->add_correction(residual_, x);
    }
    /// The symmetric form: with M of the subdomains, out = (Q + (1 - Q A) M (1 - A Q)) in, which is positive definite without overlap where
    /// A is; two products with A.                                                                    [Mandel 1993; Tang et al. 2009, "BNN"]
    class Symmetric {
       public:
        explicit Symmetric(const TwoLevelPreconditioner& parts)
            : parts_(parts), of_subdomains_(parts.residual_.space(), parts.residual_.size()) {}
        /// The interface of krylov.
        void apply(Algebra& algebra, const Vector& in, Vector& out) const {
            auto& [A, subdomains, coarse, residual] = parts_;
            if (!coarse) return subdomains->apply(algebra, in, out);
            algebra.zero(out);
            coarse->add_correction(in, out);
            A.apply(algebra, out, residual);
            algebra.axpby(1, in, -1, residual);
            subdomains->apply(algebra, residual, of_subdomains_);
            algebra.axpby(1, of_subdomains_, 1, out);
            A.apply(algebra, out, residual);
            algebra.axpby(1, in, -1, residual);
            coarse->add_correction(residual, out);
        }

       private:
        const TwoLevelPreconditioner& parts_;
        mutable Vector of_subdomains_;
    };
    const SubdomainPreconditioner<S, User>& subdomains() const { return *subdomains_; }
    /// Rows of the coarse system; 0: none.
    index_t coarse_rows() const { return coarse_ ? coarse_->rows() : 0; }
    std::uint64_t bytes() const {
        return subdomains_->bytes() + (coarse_ ? coarse_->bytes() : 0) + sizeof(User) * static_cast<std::uint64_t>(residual_.size());
    }

   private:
    const PartOperator<S, User>& A_;
    std::unique_ptr<SubdomainPreconditioner<S, User>> subdomains_;
    std::optional<CoarseSystem<S, User>> coarse_;
    mutable Vector residual_;
};

}  // namespace kasane::sparse
