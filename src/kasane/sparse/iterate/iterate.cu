// iterate<Cuda>: one solve for each format, precision of the factor and form of the iteration.
#include <kasane/sparse/iterate/device_solve.cuda.hpp>

#include <type_traits>

namespace kasane::sparse {

template <>
IterationLog iterate(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task) {
    using namespace device;
    const auto solve = [&]<template <class> class Rows>(std::type_identity<Rows<double>>) {
        // A factor in single precision has values of its own, so that the plain iteration alone applies.
        if (system.single_factor) return DeviceSolve<Rows, float>(system, v, task).template solve<PlainIteration>();
        DeviceSolve<Rows, double> device(system, v, task);
        if (task.iteration == Iteration::eisenstat) return device.template solve<EisenstatIteration>();
        if (task.iteration == Iteration::reduced) return device.template solve<ReducedIteration>();
        return device.template solve<PlainIteration>();
    };
    switch (system.lower.kind) {
        case FormatKind::csr: return solve(std::type_identity<CsrRows<double>>{});
        case FormatKind::sell: return solve(std::type_identity<SellRows<double>>{});
        default: return solve(std::type_identity<SliceRows<double>>{});
    }
}

}  // namespace kasane::sparse
