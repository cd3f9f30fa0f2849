#include <kasane/sparse/distributed/slab_rows.hpp>

#include <kasane/sparse/distributed/part_kernels.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/rows_solve.hpp>

namespace kasane::sparse {

template <Space S>
SlabRows<S>::SlabRows(S on, comm::Worker& worker, const BoxPart& part, int first_channel)
    : on_(on),
      inner_(square_rows_on(on, part.inner)),
      outer_row_(to_space(on, part.outer_row)),
      plane_(part.whole_box().plane()),
      exchange_(on, worker, first_channel) {
    const Planes own = part.own(worker.index()), there = part.there(worker.index());
    below_ = there.begin < own.begin ? plane_ : 0;
    above_ = there.end > own.end ? plane_ : 0;
    received_ = Buffer<double, S>(on, below_ + above_);
    outer_ = rows_on(on, part.outer, received_.size());
}

template <Space S>
void SlabRows<S>::apply(DistributedAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
    const View<const double> own = in.view();
    exchange_.start(own.subview(0, below_), own.subview(own.n - plane_, above_), received_.view().subview(0, below_),
                    received_.view().subview(below_, above_));
    multiply(on_, inner_.view(), own, out.view());
    exchange_.finish();
    add_product(on_, outer_.view(), outer_row_.view(), View<const double>(received_.view()), out.view());
}

template <Space S>
std::uint64_t SlabRows<S>::bytes() const {
    return inner_.bytes() + outer_.bytes() + sizeof(std::int32_t) * static_cast<std::uint64_t>(outer_row_.size()) +
           sizeof(double) * static_cast<std::uint64_t>(received_.size());
}

template class SlabRows<Cpu>;
#if defined(KASANE_CUDA)
template class SlabRows<Cuda>;
#endif

}  // namespace kasane::sparse
