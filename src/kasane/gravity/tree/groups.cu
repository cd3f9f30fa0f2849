// Groups where few particles are targets: each aligned run of 64 targets is halved until a group spans few bodies, because targets far
// apart along the curve make each other's lists long. Nothing is copied to the host: the walk reads the number of groups on the device.
#include <kasane/gravity/tree/walks.cuda.hpp>

namespace kasane::gravity::detail {
namespace {

/// Size of the largest aligned group, a power of two and at most `most`, with this lane's target that spans at most `span` bodies.
__device__ std::uint32_t largest_aligned_group(std::uint32_t body, unsigned lane, unsigned count, std::uint32_t most, std::uint32_t span) {
    std::uint32_t size = 1;
#pragma unroll
    for (unsigned wanted = 2; wanted <= warp_size; wanted *= 2) {
        const unsigned first = lane & ~(wanted - 1), last = min(first + wanted, max(count, 1u)) - 1;
        const std::uint32_t begin = __shfl_sync(all_lanes, body, first), end = __shfl_sync(all_lanes, body, last);
        if (wanted <= most && lane < count && end - begin < span) size = wanted;
    }
    return size;
}

/// One warp for each run of 64 targets.
__global__ void divide(View<const std::uint32_t> index, std::uint32_t most, std::uint32_t span, TargetGroup* group, WalkLedger* ledger) {
    constexpr unsigned run_size = 2 * warp_size;
    const unsigned lane = lane_index();
    const index_t run = (blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x) / warp_size;
    const index_t first = run * run_size;
    if (first >= index.n) return;  // uniform in the warp
    const auto count = static_cast<unsigned>(min(static_cast<index_t>(run_size), index.n - first));
    const unsigned count0 = min(count, static_cast<unsigned>(warp_size)), count1 = count - count0;
    const std::uint32_t body0 = lane < count0 ? index[first + lane] : 0;
    const std::uint32_t body1 = lane < count1 ? index[first + warp_size + lane] : 0;
    std::uint32_t size0 = largest_aligned_group(body0, lane, count0, most, span),
                  size1 = largest_aligned_group(body1, lane, count1, most, span);
    const std::uint32_t end = __shfl_sync(all_lanes, body1, max(count1, 1u) - 1), begin = __shfl_sync(all_lanes, body0, 0);
    if (most >= run_size && count1 > 0 && end - begin < span) size0 = size1 = run_size;

    const bool starts0 = lane < count0 && lane % size0 == 0;
    const bool starts1 = lane < count1 && (warp_size + lane) % size1 == 0;
    const unsigned votes0 = __ballot_sync(all_lanes, starts0), votes1 = __ballot_sync(all_lanes, starts1);
    unsigned place = 0;
    if (lane == 0) place = atomicAdd(&ledger->groups, static_cast<unsigned>(__popc(votes0) + __popc(votes1)));
    place = __shfl_sync(all_lanes, place, 0);
    const auto write = [&](unsigned at, unsigned size, unsigned to) {
        group[to] = {static_cast<std::uint32_t>(first) + at, min(size, count - at)};
    };
    if (starts0) write(lane, size0, place + __popc(votes0 & lanes_below(lane)));
    if (starts1) write(warp_size + lane, size1, place + __popc(votes0) + __popc(votes1 & lanes_below(lane)));
}

}  // namespace

void divide_targets(Cuda on, View<const std::uint32_t> index, std::uint32_t most, std::uint32_t span, TargetGroup* group,
                    WalkLedger* ledger) {
    constexpr int block = 128;
    const index_t threads = (index.n + 2 * warp_size - 1) / (2 * warp_size) * warp_size;
    divide<<<static_cast<unsigned>((threads + block - 1) / block), block, 0, on.stream>>>(index, most, span, group, ledger);
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::gravity::detail
