// The preconditioner of many workers: their subdomains, joined by a coarse system where there is one.
#pragma once

#include <kasane/krylov/scaled_system.hpp>
#include <kasane/sparse/distributed/coarse_system.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/distributed/subdomain.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace kasane::sparse {

template <Space S>
class TwoLevelPreconditioner {
   public:
    using Vector = Buffer<double, S>;

    /// @param A  must outlive this   @param subdomains, coarse  coarse: none where there is one level
    TwoLevelPreconditioner(const PartOperator<S>& A, std::unique_ptr<SubdomainPreconditioner<S>> subdomains,
                           std::optional<CoarseSystem<S>> coarse, const Vector& like)
        : A_(A), subdomains_(std::move(subdomains)), coarse_(std::move(coarse)), residual_(like.space(), coarse_ ? like.size() : 0) {}

    /// The interface of krylov: out = M^-1 in.
    void apply(DistributedAlgebra<S>& algebra, const Vector& in, Vector& out) const {
        subdomains_->apply(algebra, in, out);
        if (!coarse_) return;
        A_.apply(algebra, out, residual_);
        algebra.axpby(1, in, -1, residual_);
        coarse_->add_correction(residual_, out);
    }
    /// Makes the sums of the residual over aggregates zero, as the coarse system requires of a first guess; x that solves A x = b to `rtol`
    /// is left as it is. @param scratch  a vector to use
    void prepare(DistributedAlgebra<S>& algebra, const Vector& b, Vector& x, double rtol, Vector& scratch) const {
        if (!coarse_) return;
        A_.apply(algebra, x, residual_);
        algebra.axpby(1, b, -1, residual_);
        const auto of_b = krylov::unit_of(algebra, b, scratch), of_r = krylov::unit_of(algebra, residual_, scratch);
        if (of_r.norm / of_r.unit > rtol * (of_b.norm / of_b.unit)) coarse_->add_correction(residual_, x);
    }
    const SubdomainPreconditioner<S>& subdomains() const { return *subdomains_; }
    /// Rows of the coarse system; 0: none.
    index_t coarse_rows() const { return coarse_ ? coarse_->rows() : 0; }
    std::uint64_t bytes() const {
        return subdomains_->bytes() + (coarse_ ? coarse_->bytes() : 0) + 8 * static_cast<std::uint64_t>(residual_.size());
    }

   private:
    const PartOperator<S>& A_;
    std::unique_ptr<SubdomainPreconditioner<S>> subdomains_;
    std::optional<CoarseSystem<S>> coarse_;
    mutable Vector residual_;
};

}  // namespace kasane::sparse
