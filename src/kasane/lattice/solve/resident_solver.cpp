#include <kasane/lattice/solve/resident_solver.hpp>

#include <kasane/lattice/solve/one_device.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_parts.hpp>

namespace kasane::lattice {

template <Space S>
struct ResidentSolver<S>::Parts : ResidentParts<OneDevice<S>> {
    using ResidentParts<OneDevice<S>>::ResidentParts;
};

template <Space S>
ResidentSolver<S>::ResidentSolver(S on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
    check_solver(links, parameters, options);
    check_memory(on, links.extents, parameters, options);
    parts_ = std::make_unique<Parts>(OneDevice<S>(on, links.extents), links, parameters, options);
}
template <Space S>
ResidentSolver<S>::~ResidentSolver() = default;
template <Space S>
ResidentSolver<S>::ResidentSolver(ResidentSolver&&) noexcept = default;

template <Space S>
SolveLog ResidentSolver<S>::solve(const ResidentField<S>& b, ResidentField<S>& x, const krylov::StopFunction& stop) {
    return parts_->solve(b, x, stop);
}
template <Space S>
const std::shared_ptr<const Lattice<S>>& ResidentSolver<S>::lattice() const {
    return parts_->lattice;
}
template <Space S>
void ResidentSolver<S>::apply(const ResidentField<S>& in, ResidentField<S>& out, bool adjoint) const {
    parts_->apply(in, out, adjoint);
}
template <Space S>
void ResidentSolver<S>::zero(ResidentField<S>& x) const {
    parts_->zero(x);
}

template class ResidentSolver<Cpu>;
#if defined(KASANE_CUDA)
template class ResidentSolver<Cuda>;
#endif

}  // namespace kasane::lattice
