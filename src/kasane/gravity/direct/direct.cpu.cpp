// DirectSum<Cpu>: which variant runs, and the scratch memory that it keeps between calls.
// Targets are shared out among the threads and every target's sum has its own fixed order: results do not depend on the threads.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/direct/variants.hpp>

namespace kasane::gravity {

template <>
struct DirectSum<Cpu>::State {
    Cpu on;
    Direct options;
    detail::DirectSimd simd;
};

template <>
DirectSum<Cpu>::DirectSum(Cpu on, const Direct& options) {
    detail::validate(options);
    KS_VALIDATE(options.variant == DirectVariant::automatic || options.variant == DirectVariant::plain ||
                    options.variant == DirectVariant::simd,
                "variant = \"" + name(options.variant) + "\" of direct summation needs a CUDA device; the CPU has auto, plain and simd");
    state_ = std::make_unique<State>(State{on, options, {}});
}

template <>
DirectSum<Cpu>::~DirectSum() = default;
template <>
DirectSum<Cpu>::DirectSum(DirectSum&&) noexcept = default;
template <>
DirectSum<Cpu>& DirectSum<Cpu>::operator=(DirectSum&&) noexcept = default;

template <>
DirectVariant DirectSum<Cpu>::chosen(index_t targets, index_t, Self, bool) const {
    if (state_->options.variant != DirectVariant::automatic) return state_->options.variant;
    // Packing the sources costs as much as 2 to 3 targets of the plain loop (1024 and 1e5 sources, one AVX-512 core, 2026-11).
    return targets <= 2 ? DirectVariant::plain : DirectVariant::simd;
}

template <>
void DirectSum<Cpu>::operator()(View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out) {
    auto& [on, options, simd] = *state_;
    if (chosen(targets.n, sources.position.n, self, !out.potential.empty()) == DirectVariant::simd)
        simd(on, options, targets, sources, self, out);
    else
        detail::direct_plain(on, options, targets, sources, self, out);
}

std::uint64_t direct_memory([[maybe_unused]] const AnySpace& on, index_t targets, index_t sources, const Direct& options) {
#if defined(KASANE_CUDA)
    if (std::holds_alternative<Cuda>(on)) return detail::cuda_scratch_bytes(targets, sources, options);
#endif
    return detail::DirectSimd::memory(targets, sources, options.precision);
}

template class DirectSum<Cpu>;

}  // namespace kasane::gravity
