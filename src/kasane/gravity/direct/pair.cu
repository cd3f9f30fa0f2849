// Launches of the kernel `pair`: which shape, for which precision and sums.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/pair.cuda.hpp>

namespace kasane::gravity::detail {
namespace {

constexpr int pair_block = 128;  // four warps that share nothing: the block only bounds the registers

template <class Sums, int K, int BlocksPerSm, bool Softened>
void launch(Cuda on, const Direct& options, const PairLaunch& wish) {
    using Real = typename Sums::Real;
    PairCall<Real> call;
    call.own = reinterpret_cast<const Body<Real>*>(wish.own.ptr);
    call.other = reinterpret_cast<const Body<Real>*>(wish.other.ptr);
    call.own_count = static_cast<int>(wish.own_count);
    call.other_count = static_cast<int>(wish.other_count);
    call.rows = wish.rows, call.chunks = wish.chunks;
    call.warps = wish.warps, call.chunk_count = wish.chunk_count;
    call.counter = wish.own_sums.counter;
    call.eps2 = static_cast<Real>(options.softening * options.softening);
    call.scale = wish.scale;
    Sums own, other;
    own.place(wish.own_sums.bytes, wish.own_sums.fixed_points), own.n = wish.own_sums.n;
    other.place(wish.other_sums.bytes, nullptr), other.n = wish.other_sums.n;
    constexpr int warps_per_block = pair_block / 32;
    const auto grid = static_cast<unsigned>((wish.warps + warps_per_block - 1) / warps_per_block);
    sum_pairs<Real, K, Softened, pair_block, BlocksPerSm, Sums><<<grid, pair_block, 0, on.stream>>>(call, own, other);
    KS_CUDA(cudaGetLastError());
}

template <class Sums, int K, int BlocksPerSm>
void launch_softened(Cuda on, const Direct& options, const PairLaunch& call) {
    if (options.softening > 0)
        launch<Sums, K, BlocksPerSm, true>(on, options, call);
    else
        launch<Sums, K, BlocksPerSm, false>(on, options, call);
}

/// The shapes that pair_shape() knows.
template <template <class> class Sums>
void launch_shape(Cuda on, const Direct& options, const PairLaunch& call) {
    if (options.precision == Precision::double_)
        launch_softened<Sums<double>, 4, 3>(on, options, call);
    else if (call.shape.targets_per_lane == 8)
        launch_softened<Sums<float>, 8, 4>(on, options, call);
    else
        launch_softened<Sums<float>, 16, 2>(on, options, call);
}

}  // namespace

void launch_pairs(Cuda on, const Direct& options, const PairLaunch& call) {
    if (call.warps == 0) return;
    if (call.own_sums.binned)
        launch_shape<BinnedSums>(on, options, call);
    else
        launch_shape<FloatSums>(on, options, call);
}

}  // namespace kasane::gravity::detail
