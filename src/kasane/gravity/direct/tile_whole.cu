// Launches that evaluate accelerations at once, for few pairs: one launch in place of pack, tile and sums, by `sum_groups` or `sum_tiles`.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/launch_early.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/tile_groups.cuda.hpp>
#include <kasane/gravity/direct/variants.hpp>

namespace kasane::gravity::detail {
namespace {

template <class Real, int K, int BlocksPerSm, PairSoftening form>
void launch_whole_shape(Cuda on, const TileSchedule& schedule, const WholeTileCall<Real>& call) {
    const dim3 grid(static_cast<unsigned>(schedule.target_blocks), static_cast<unsigned>(schedule.shares));
    sum_tiles<Real, 128, K, BlocksPerSm, Wanted::acceleration, form><<<grid, 128, 0, on.stream>>>(call);
    KS_CUDA(cudaGetLastError());
}

template <class Real, PairSoftening form>
void launch_whole_form(Cuda on, const TileSchedule& schedule, const WholeTileCall<Real>& call) {
    constexpr bool single = sizeof(Real) == 4;
    KS_EXPECT(schedule.shape.threads == 128);  // whole_in_one_launch()
    if (schedule.shape.targets_per_thread == 2)
        launch_whole_shape<Real, 2, single ? 6 : 4, form>(on, schedule, call);
    else
        launch_whole_shape<Real, 1, single ? 8 : 4, form>(on, schedule, call);
}

template <class Real>
void launch_whole_in(Cuda on, int multiprocessors, const Direct& options, const WholeLaunch& given) {
    const auto schedule = tile_schedule(given.targets.n, given.position.n, options.precision, false, multiprocessors);
    WholeTileCall<Real> call;
    call.targets = given.targets;
    call.runs = static_cast<int>(whole_runs(given.position.n) / source_run);
    call.shares = schedule.shares;
    call.eps2 = static_cast<Real>(options.softening * options.softening);
    call.scale = given.scale;
    call.sums.place(given.sums.bytes, given.sums.fixed_points);
    call.sums.n = given.sums.n;
    call.position = given.position;
    call.mass = given.mass;
    call.acceleration = given.acceleration;
    call.G = options.G;
    call.arrived = given.arrived;
    if (pair_softening(options) == PairSoftening::none)
        launch_whole_form<Real, PairSoftening::none>(on, schedule, call);
    else
        launch_whole_form<Real, PairSoftening::common>(on, schedule, call);
}

template <GroupShape shape, PairSoftening form, class Call>
constexpr auto* group_kernel = sum_groups<shape.threads, shape.targets_per_thread, shape.blocks_per_multiprocessor, form, Call>;

template <class Call>
auto* group_kernel_of(const GroupSchedule& schedule, const Direct& options) {
    using enum PairSoftening;
    const bool large = schedule.shape.threads == large_groups.threads;
    if (pair_softening(options) == none) return large ? group_kernel<large_groups, none, Call> : group_kernel<small_groups, none, Call>;
    return large ? group_kernel<large_groups, common, Call> : group_kernel<small_groups, common, Call>;
}

template <class Call>
void launch_groups(Cuda on, const GroupSchedule& schedule, const Direct& options, const WholeLaunch& given, Call call) {
    call.targets = given.targets;
    call.position = given.position;
    call.mass = given.mass;
    call.acceleration = given.acceleration;
    call.origin = given.scale.origin;
    call.fixed_point = FixedPoint<float>(given.scale.acceleration_bound);
    call.sums.place(given.sums.bytes, given.sums.fixed_points);
    call.sums.n = given.sums.n;
    call.eps2 = static_cast<float>(options.softening * options.softening);
    call.G = options.G;
    call.arrived = given.arrived;
    launch_early(on, group_kernel_of<Call>(schedule, options),
                 dim3(static_cast<unsigned>(schedule.target_blocks), static_cast<unsigned>(schedule.shares)),
                 static_cast<unsigned>(schedule.shape.threads), call);
}

/// @return false if another kernel is faster or the frame is on the device
bool launched_in_groups(Cuda on, int multiprocessors, const Direct& options, const WholeLaunch& given) {
    if (options.precision != Precision::single_ || given.scale.found) return false;
    const auto schedule = group_schedule(given.targets.n, given.position.n, multiprocessors);
    if (!schedule) return false;
    launch_groups(on, schedule, options, given, GroupCall{});
    return true;
}

}  // namespace

void launch_whole(Cuda on, int multiprocessors, const Direct& options, const WholeLaunch& call) {
    KS_EXPECT(!own_softening(pair_softening(options)));
    if (call.targets.n == 0 || call.position.n == 0) return;
    if (launched_in_groups(on, multiprocessors, options, call)) return;
    if (options.precision == Precision::double_)
        launch_whole_in<double>(on, multiprocessors, options, call);
    else
        launch_whole_in<float>(on, multiprocessors, options, call);
}

void load_peer_kernel(const GroupSchedule& schedule, const Direct& options) {
    cudaFuncAttributes attributes{};
    KS_CUDA(cudaFuncGetAttributes(&attributes, group_kernel_of<PeerGroupCall>(schedule, options)));
}

void launch_with_peers(Cuda on, const GroupSchedule& schedule, const Direct& options, const WholeLaunch& call, const PeerLaunch& peers) {
    KS_EXPECT(schedule && options.precision == Precision::single_ && !own_softening(pair_softening(options)) && !call.scale.found);
    KS_EXPECT(peers.peers.n <= most_peers && peers.first % source_run == 0);
    const index_t sources = whole_runs(peers.total);
    const auto packets = [&](const PeerMemory& memory) {
        return reinterpret_cast<Packet*>(memory.packets) + (peers.number % 2 == 0 ? 0 : 2 * sources);
    };
    static_assert(peer_bytes == 4 * sizeof(Packet));
    PeerGroupCall with_peers;
    with_peers.own_runs = static_cast<int>(whole_runs(call.position.n) / source_run);
    with_peers.first_run = static_cast<int>(peers.first / source_run);
    with_peers.runs = static_cast<int>(sources / source_run);
    with_peers.number = peers.number;
    with_peers.packets = packets(peers.own);
    with_peers.peers = static_cast<int>(peers.peers.n);
    for (int k = 0; k < with_peers.peers; ++k) with_peers.peer_packets[k] = packets(peers.peers[k]);
    launch_groups(on, schedule, options, call, with_peers);
}

}  // namespace kasane::gravity::detail
