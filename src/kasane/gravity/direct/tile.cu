// Launches of the kernel `tile` for every shape, precision and set of results; whole evaluations are in tile_whole.cu.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/tile.cuda.hpp>
#include <kasane/gravity/direct/variants.hpp>

namespace kasane::gravity::detail {
namespace {

template <class Real, int Block, int K, int BlocksPerSm, Wanted wanted, PairSoftening form>
void launch(Cuda on, const TileSchedule& schedule, const TileCallOf<Real, form>& call) {
    const dim3 grid(static_cast<unsigned>(schedule.target_blocks), static_cast<unsigned>(schedule.shares));
    sum_tiles<Real, Block, K, BlocksPerSm, wanted, form><<<grid, Block, 0, on.stream>>>(call);
    KS_CUDA(cudaGetLastError());
}

template <class Real, int K, int BlocksPerSm, PairSoftening form>
void launch_wanted(Cuda on, const TileSchedule& schedule, const TileLaunch& given, const TileCallOf<Real, form>& call) {
    constexpr int with_potential = sizeof(Real) == 8 && K == 2 ? 3 : BlocksPerSm;
    if (given.potential && given.acceleration) return launch<Real, 128, K, with_potential, Wanted::both, form>(on, schedule, call);
    if (given.potential) return launch<Real, 128, K, with_potential, Wanted::potential, form>(on, schedule, call);
    launch<Real, 128, K, BlocksPerSm, Wanted::acceleration, form>(on, schedule, call);
}

/// Chooses the kernel that is compiled for the shape; tile_shape() returns no other shapes.
template <class Real, PairSoftening form>
void launch_shape(Cuda on, const TileSchedule& schedule, const TileLaunch& given, const TileCallOf<Real, form>& call) {
    constexpr bool single = sizeof(Real) == 4;
    if constexpr (own_softening(form)) {
        if (schedule.shape.targets_per_thread == 2)
            return launch<Real, 128, 2, single ? 6 : 4, Wanted::acceleration, form>(on, schedule, call);
    } else {
        if (schedule.shape.threads == 256) return launch<Real, 256, single ? 4 : 2, 2, Wanted::acceleration, form>(on, schedule, call);
        if (schedule.shape.targets_per_thread == 2) return launch_wanted<Real, 2, single ? 6 : 4, form>(on, schedule, given, call);
    }
    launch_wanted<Real, 1, single ? 8 : 4, form>(on, schedule, given, call);
}

template <class Real>
void launch_in(Cuda on, int multiprocessors, const Direct& options, const TileLaunch& given) {
    const auto schedule = tile_schedule(given.targets.n, given.source_count, options.precision, given.potential, multiprocessors,
                                        own_softening(pair_softening(options)));
    const auto filled = [&](auto call) {
        call.targets = given.targets;
        call.sources = reinterpret_cast<const Body<Real>*>(given.sources.ptr);
        call.runs = static_cast<int>(whole_runs(given.source_count) / source_run);
        if (given.has_self) call.self_shift = static_cast<int>(given.self_shift);
        call.shares = schedule.shares;
        call.eps2 = static_cast<Real>(options.softening * options.softening);
        call.scale = given.scale;
        call.sums.place(given.sums.bytes, given.sums.fixed_points);
        call.sums.n = given.sums.n;
        return call;
    };
    const auto common_call = filled(TileCall<Real>{});
    auto softened_call = filled(SoftenedTileCall<Real>{});
    softened_call.softening = given.softening;
    softened_call.eps = options.softening;
    using enum PairSoftening;
    switch (pair_softening(options)) {
        case none: return launch_shape<Real, none>(on, schedule, given, common_call);
        case common: return launch_shape<Real, common>(on, schedule, given, common_call);
        case plummer: return launch_shape<Real, plummer>(on, schedule, given, softened_call);
        case spline: return launch_shape<Real, spline>(on, schedule, given, softened_call);
    }
}

}  // namespace

void launch_tiles(Cuda on, int multiprocessors, const Direct& options, const TileLaunch& call) {
    if (call.targets.n == 0 || call.source_count == 0) return;
    if (options.precision == Precision::double_)
        launch_in<double>(on, multiprocessors, options, call);
    else
        launch_in<float>(on, multiprocessors, options, call);
}

}  // namespace kasane::gravity::detail
