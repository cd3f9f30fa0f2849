// Launches of the kernel `pair` for every shape, precision and kind of sums.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/pair.cuda.hpp>

namespace kasane::gravity::detail {
namespace {

constexpr int pair_block = 128;  // threads; the four warps are independent, and the size only bounds the registers

template <class Sums, int K, int BlocksPerSm, bool Softened>
void launch(Cuda on, const Direct& options, const PairLaunch& given) {
    using Real = typename Sums::Real;
    PairCall<Real> call;
    call.own = reinterpret_cast<const Body<Real>*>(given.own.ptr);
    call.other = reinterpret_cast<const Body<Real>*>(given.other.ptr);
    call.own_count = static_cast<int>(given.own_count);
    call.other_count = static_cast<int>(given.other_count);
    call.rows = given.rows, call.chunks = given.chunks;
    call.warps = given.warps, call.chunk_count = given.chunk_count;
    call.counter = given.own_sums.counter;
    call.eps2 = static_cast<Real>(options.softening * options.softening);
    call.scale = given.scale;
    Sums own, other;
    own.place(given.own_sums.bytes, given.own_sums.fixed_points), own.n = given.own_sums.n;
    other.place(given.other_sums.bytes, nullptr), other.n = given.other_sums.n;
    constexpr int warps_per_block = pair_block / 32;
    const auto grid = static_cast<unsigned>((given.warps + warps_per_block - 1) / warps_per_block);
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

/// Chooses the kernel that is compiled for the shape; pair_shape() returns no other shapes.
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
