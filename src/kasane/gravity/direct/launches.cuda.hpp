// The launches of the CUDA kernels, for DirectSum and DirectForce alike: every kernel is compiled once, in the file of its name.
// All are asynchronous on the stream of `on`. Shapes of blocks and shares of the work come from schedule.hpp.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/direct/tile_pairs.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>

namespace kasane::gravity::detail {

/// On one device: kernels count in int.
inline constexpr index_t most_particles = index_t{1} << 30;
/// Options that DirectSum and DirectForce refuse on a CUDA device. @throws InputError
void validate_cuda(const Direct& options);

/// The sums that kernels add to: BinnedSums of all wanted components, or FloatSums (accelerations by pairs, not deterministic).
struct SumsMemory {
    std::byte* bytes = nullptr;
    index_t n = 0;
    bool binned = true;
    std::byte* fixed_points = nullptr;  ///< [fixed_point_bytes()], what binned sums stand for; null where they are only passed on
    int* counter = nullptr;             ///< of chunks taken: zero before the first kernel, and after they were read
};
index_t sums_bytes(Precision precision, bool binned, index_t n, int components);
index_t fixed_point_bytes();

/// Rounded up to whole runs of sources.
KS_FN index_t whole_runs(index_t sources) { return (sources + source_run - 1) / source_run * source_run; }
index_t body_bytes(Precision precision);

void launch_pack(Cuda on, Precision precision, View<const Vec3<double>> position, View<const double> mass, const Vec3<double>& origin,
                 View<std::byte> bodies);
/// The origin is the middle of the particles. @param found  is filled; largest_mass 0 before
void launch_pack(Cuda on, Precision precision, View<const Vec3<double>> position, View<const double> mass, FoundFrame* found,
                 View<std::byte> bodies);

struct TileLaunch {
    View<const Vec3<double>> targets;
    View<const std::byte> sources;  ///< bodies, whole runs
    index_t source_count = 0;
    index_t self_shift = 0;  ///< target i is source i + self_shift
    bool has_self = false;
    bool acceleration = false, potential = false;
    Scale scale;
    SumsMemory sums;
};
void launch_tiles(Cuda on, int multiprocessors, const Direct& options, const TileLaunch& call);

struct PairLaunch {
    PairShape shape;
    View<const std::byte> own, other;  ///< bodies, whole blocks
    index_t own_count = 0, other_count = 0;
    const TilePairRow* rows = nullptr;  ///< on the device
    const Chunk* chunks = nullptr;      ///< on the device: one for each warp, and more, which are taken by the counter of the own sums
    int warps = 0, chunk_count = 0;
    Scale scale;
    SumsMemory own_sums, other_sums;
};
void launch_pairs(Cuda on, const Direct& options, const PairLaunch& call);

/// out = G sums, which are zero then; `found`, if not null, is ready for the next pack.
void launch_take(Cuda on, const Direct& options, const SumsMemory& sums, const Field& out, FoundFrame* found);
/// Sums of accelerations that are passed on: all zero. By a kernel that runs beside those of `pair`, which a memset does not.
void launch_clear(Cuda on, View<std::byte> sums);
/// Adds the sums of accelerations that another made for the same particles.
void launch_merge(Cuda on, Precision precision, const SumsMemory& to, const std::byte* from);

}  // namespace kasane::gravity::detail
