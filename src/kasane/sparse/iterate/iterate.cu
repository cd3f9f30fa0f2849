// iterate<Cuda>: the run for each format.
#include <kasane/sparse/iterate/run.cuda.hpp>

namespace kasane::sparse {
namespace {

template <template <class> class Rows>
IterationLog run_on(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task) {
    if (system.single_factor) return device::Run<Rows, float>(system, v, task)();
    return device::Run<Rows, double>(system, v, task)();
}

}  // namespace

template <>
IterationLog iterate(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task) {
    switch (system.lower.kind) {
        case FormatKind::csr: return run_on<CsrRows>(system, v, task);
        case FormatKind::sell: return run_on<SellRows>(system, v, task);
        default: return run_on<SliceRows>(system, v, task);
    }
}

}  // namespace kasane::sparse
