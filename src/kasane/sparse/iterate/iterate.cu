// iterate<Cuda>: one solve for each format and precision of the factor.
#include <kasane/sparse/iterate/device_solve.cuda.hpp>

namespace kasane::sparse {
namespace {

template <template <class> class Rows>
IterationLog solve_with(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task) {
    // A factor in single precision has values of its own, so that the plain iteration alone applies.
    if (system.single_factor) return device::DeviceSolve<Rows, float>(system, v, task).template solve<PlainIteration>();
    device::DeviceSolve<Rows, double> solve(system, v, task);
    if (task.iteration == Iteration::eisenstat) return solve.template solve<EisenstatIteration>();
    if (task.iteration == Iteration::reduced) return solve.template solve<ReducedIteration>();
    return solve.template solve<PlainIteration>();
}

}  // namespace

template <>
IterationLog iterate(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task) {
    switch (system.lower.kind) {
        case FormatKind::csr: return solve_with<CsrRows>(system, v, task);
        case FormatKind::sell: return solve_with<SellRows>(system, v, task);
        default: return solve_with<SliceRows>(system, v, task);
    }
}

}  // namespace kasane::sparse
