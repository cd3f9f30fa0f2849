// The launches of the CUDA kernels, shared by DirectSum and DirectForce: every kernel is compiled once, in the file of its name.
// All are asynchronous on the stream of `on`. The shapes of thread blocks and the shares of the work follow from schedule.hpp.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/direct/groups.hpp>
#include <kasane/gravity/direct/peer_memory.hpp>
#include <kasane/gravity/direct/tile_pairs.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>

namespace kasane::gravity::detail {

/// Upper bound of the particles on one device, exclusive, because kernels count in int.
inline constexpr index_t most_particles = index_t{1} << 30;
/// Options that DirectSum and DirectForce refuse on a CUDA device. @throws InputError
void validate_cuda(const Direct& options);

/// Memory of the sums that kernels add to: BinnedSums of all components, or FloatSums (accelerations by pairs, not deterministic).
struct SumsMemory {
    std::byte* bytes = nullptr;
    index_t n = 0;
    bool binned = true;
    std::byte* fixed_points = nullptr;  ///< [fixed_point_bytes()] scales of binned sums; null for sums that are only sent on
    int* counter = nullptr;             ///< chunks taken so far: 0 before the first kernel and after launch_take()
};
index_t fixed_point_bytes();

/// The number of sources, rounded up to whole runs.
KS_FN index_t whole_runs(index_t sources) { return (sources + source_run - 1) / source_run * source_run; }

void launch_pack(Cuda on, const Direct& options, const Sources& sources, const Vec3<double>& origin, View<std::byte> bodies);
/// Packs relative to the middle of the particles. @param found  overwritten with the frame; its largest_mass must be 0 before
void launch_pack(Cuda on, const Direct& options, const Sources& sources, FoundFrame* found, View<std::byte> bodies);

struct TileLaunch {
    View<const Vec3<double>> targets;
    View<const double> softening;   ///< of the targets, where pairs combine softenings; empty: options.softening
    View<const std::byte> sources;  ///< bodies, padded to whole runs
    index_t source_count = 0;
    index_t self_shift = 0;  ///< target i is source i + self_shift
    bool has_self = false;
    bool acceleration = false, potential = false;
    Scale scale;
    SumsMemory sums;
};
void launch_tiles(Cuda on, int multiprocessors, const Direct& options, const TileLaunch& call);

/// A whole evaluation of accelerations in one launch; pairs with one softening.
struct WholeLaunch {
    View<const Vec3<double>> targets;
    View<const Vec3<double>> position;  ///< of the sources
    View<const double> mass;
    View<Vec3<double>> acceleration;  ///< of the targets, overwritten
    Scale scale;
    SumsMemory sums;         ///< cleared before and after the kernel
    int* arrived = nullptr;  ///< [most_target_blocks()], 0 before and after the kernel
};
void launch_whole(Cuda on, int multiprocessors, const Direct& options, const WholeLaunch& call);

/// The part of a device in an evaluation of several devices of a host: the sources of `WholeLaunch` are its own ones.
struct PeerLaunch {
    index_t first = 0, total = 0;  ///< number of the first own particle, a multiple of source_run; number of all particles
    std::uint32_t number = 0;      ///< of the call, the same on all devices; consecutive
    PeerMemory own;
    View<const PeerMemory> peers;
};
/// Loads the code of the kernel.
void load_peer_kernel(const GroupSchedule& schedule, const Direct& options);
/// Waits on the device for the kernels of the peers, which must be launched at the same time.
void launch_with_peers(Cuda on, const GroupSchedule& schedule, const Direct& options, const WholeLaunch& call, const PeerLaunch& peers);

struct PairLaunch {
    PairShape shape;
    View<const std::byte> own, other;  ///< bodies, padded to whole tiles
    index_t own_count = 0, other_count = 0;
    const TilePairRow* rows = nullptr;  ///< on the device
    const Chunk* chunks = nullptr;      ///< on the device: one for each warp, then those that the counter of the own sums assigns
    int warps = 0, chunk_count = 0;
    Scale scale;
    SumsMemory own_sums, other_sums;
};
void launch_pairs(Cuda on, const Direct& options, const PairLaunch& call);

/// Writes out = G sums and clears the sums, the counter and, if `found` is not null, its largest mass.
void launch_take(Cuda on, const Direct& options, const SumsMemory& sums, const Field& out, FoundFrame* found);
/// Clears sums of accelerations. It is a kernel, not a memset, so that it can run beside the kernels of `pair`.
void launch_clear(Cuda on, View<std::byte> sums);
/// Adds the sums of accelerations that another worker computed for the same particles.
void launch_merge(Cuda on, Precision precision, const SumsMemory& to, const std::byte* from);

}  // namespace kasane::gravity::detail
