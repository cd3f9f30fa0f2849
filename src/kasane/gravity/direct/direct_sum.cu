// DirectSum on a CUDA device: chooses the kernel and keeps its scratch memory.
// Kernels: tile.cuda.hpp, pair.cuda.hpp, with three launches each: pack, pairs, results. All work is enqueued on the space's stream; only
// the first call of `pair` for a number of particles waits for the host.
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/direct/pair_tables.cuda.hpp>
#include <kasane/gravity/direct/sums.cuda.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <limits>
#include <optional>

namespace kasane::gravity {
namespace detail {

void validate_cuda(const Direct& options) {
    validate(options);
    KS_VALIDATE(options.variant != DirectVariant::simd,
                "variant = \"simd\" of direct summation needs the CPU; a CUDA device has auto, plain, tile and pair");
}

struct CudaScratch {
    Cuda on;
    Direct options;
    int multiprocessors = 0;
    Buffer<std::byte, Cuda> bodies;
    Buffer<FoundFrame, Cuda> found;
    ClearedSums sums;
    std::optional<PairTable> table;  ///< of `pair` for `table_of` particles
    index_t table_of = 0;

    CudaScratch(Cuda space, const Direct& chosen)
        : on(space), options(chosen), multiprocessors(device_info(AnySpace{space}).units), bodies(space, 0), found(space, 1), sums(space) {
        KS_CUDA(cudaMemsetAsync(found.data(), 0, sizeof(FoundFrame), on.stream));
    }

    /// Packs the sources, padded to `size` bodies.
    View<const std::byte> pack(const Sources& sources, index_t size) {
        const auto bytes = size * layout_of(options).body_bytes();
        bodies.reserve_discarding(bytes);
        const auto space = bodies.view().subview(0, bytes);
        launch_pack(on, options, sources, found.data(), space);
        return space;
    }
    Scale scale(index_t total) const {
        Scale scale;
        scale.found = found.data();
        scale.total = static_cast<double>(total);
        scale.softening = options.softening;
        return scale;
    }
    void take(const SumsMemory& memory, const Field& out) {
        launch_take(on, options, memory, out, found.data());
        sums.taken();
    }

    void tile(View<const Vec3<double>> targets, View<const double> softening, const Sources& sources, Self self, const Field& out) {
        TileLaunch call;
        call.targets = targets;
        call.softening = softening;
        call.sources = pack(sources, whole_runs(sources.position.n));
        call.source_count = sources.position.n;
        call.self_shift = self.shift;
        call.has_self = self.shift != Self::none;
        call.acceleration = !out.acceleration.empty();
        call.potential = !out.potential.empty();
        call.scale = scale(sources.position.n);
        call.sums = sums.begin(on, options.precision, true, targets.n, call.potential ? 4 : 3);
        launch_tiles(on, multiprocessors, options, call);
        take(call.sums, out);
    }

    void pair(const Sources& sources, View<Vec3<double>> acceleration) {
        const index_t n = sources.position.n;
        PairLaunch call;
        call.shape = pair_shape(options.precision, n);
        if (table_of != n) {
            table.emplace(on, multiprocessors, call.shape, n, 0, n, 0, n, Share::all);
            table_of = n;
        }
        table->set(call);
        call.own = call.other = pack(sources, call.shape.tiles(n) * call.shape.tile());
        call.own_count = call.other_count = n;
        call.scale = scale(n);
        call.own_sums = call.other_sums = sums.begin(on, options.precision, options.deterministic, n, 3);
        launch_pairs(on, options, call);
        take(call.own_sums, {acceleration, {}});
    }
};

}  // namespace detail

template <>
struct DirectSum<Cuda>::State : detail::CudaScratch {
    using detail::CudaScratch::CudaScratch;
};

template <>
DirectSum<Cuda>::DirectSum(Cuda on, const Direct& options) {
    detail::validate_cuda(options);
    KS_CUDA(cudaSetDevice(on.device));
    state_ = std::make_unique<State>(on, options);
}

template <>
DirectSum<Cuda>::~DirectSum() = default;
template <>
DirectSum<Cuda>::DirectSum(DirectSum&&) noexcept = default;
template <>
DirectSum<Cuda>& DirectSum<Cuda>::operator=(DirectSum&&) noexcept = default;

template <>
DirectVariant DirectSum<Cuda>::chosen(index_t targets, index_t sources, Self self, bool potential) const {
    const auto& options = state_->options;
    if (options.variant != DirectVariant::automatic) return options.variant;
    const bool pair_possible =
        !detail::own_softening(detail::pair_softening(options)) && self.shift == 0 && targets == sources && !potential;
    return pair_possible && sources >= pair_pays * state_->multiprocessors ? DirectVariant::pair : DirectVariant::tile;
}

template <>
void DirectSum<Cuda>::operator()(View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out,
                                 View<const double> softening) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(state.on.device));
    KS_VALIDATE(targets.n < detail::most_particles && sources.position.n < detail::most_particles,
                "direct summation on one CUDA device takes fewer than 2^30 particles: use fewer particles or more devices");
    if (targets.n == 0 || (out.acceleration.empty() && out.potential.empty())) return;
    if (sources.position.n == 0) {
        const auto clear = [&](auto view) {
            if (!view.empty()) KS_CUDA(cudaMemsetAsync(view.ptr, 0, static_cast<std::size_t>(view.n) * sizeof(view[0]), state.on.stream));
        };
        clear(out.acceleration);
        clear(out.potential);
        return;
    }
    switch (chosen(targets.n, sources.position.n, self, !out.potential.empty())) {
        case DirectVariant::plain: return detail::direct_plain(state.on, state.options, targets, sources, self, out, softening);
        case DirectVariant::pair:
            KS_VALIDATE(
                self.shift == 0 && targets.n == sources.position.n,
                "variant = \"pair\" of direct summation needs targets and sources to be the same particles: take \"tile\" or \"auto\"");
            if (!out.acceleration.empty()) state.pair(sources, out.acceleration);
            if (!out.potential.empty()) state.tile(targets, softening, sources, self, {{}, out.potential});
            return;
        default: return state.tile(targets, softening, sources, self, out);
    }
}

template class DirectSum<Cuda>;

}  // namespace kasane::gravity
