// The queue of groups of a walk, which all warps share. A warp takes runs of targets from it; a run that needs too much work is divided
// into parts, and its warp appends the parts to the queue. Invariants: the division depends on the run alone, not on the warp or the time;
// no group is lost: a warp stops only when all appended parts are taken, and a warp that appended parts reads the queue again.
#pragma once

#include <kasane/gravity/tree/walks.cuda.hpp>

#include <type_traits>

namespace kasane::gravity::detail {

/// Size of the parts of a group of `count` targets: groups are divided into parts of 16, these of 4, these of 1.
__device__ inline unsigned part_size(unsigned count) { return count > 16 ? 16 : count > 4 ? 4 : 1; }
/// Size of the part that begins `offset` targets after the first one of a divided run: the same for every warp.
__device__ inline unsigned part_size_at(unsigned offset) { return offset % 16 == 0 ? 16 : offset % 4 == 0 ? 4 : 1; }

/// Appends the last `parts` parts of `size` targets of a run to the queue, as far as its capacity allows; returns how many.
__device__ inline unsigned append_parts(const WalkJob& job, TargetGroup run, unsigned size, unsigned parts, unsigned lane) {
    auto& ledger = *job.ledger;
    unsigned place = 0;
    if (lane == 0) place = atomicAdd(&ledger.cut_tail, parts);
    place = __shfl_sync(all_lanes, place, 0);
    const unsigned appended = min(parts, most_cut - min(place, most_cut));
    if (lane < appended) {
        const unsigned offset = ((run.count + size - 1) / size - appended + lane) * size;
        const auto count = static_cast<unsigned long long>(min(size, run.count - offset));
        atomicExch(reinterpret_cast<unsigned long long*>(job.cut + place + lane), count << 32 | (run.first + offset));
    }
    __syncwarp();
    if (lane == 0 && appended > 0) atomicAdd(&ledger.cut_waiting, static_cast<int>(appended));
    return appended;
}

/// Takes the next group: a part of a divided group, or else the next run; count 0 if there is none. A warp that still works may
/// append parts after that; it takes them itself.
__device__ inline TargetGroup next_group(const WalkJob& job, unsigned groups) {
    auto& ledger = *job.ledger;
    const auto seen = [](auto& counter) { return *static_cast<volatile std::remove_reference_t<decltype(counter)>*>(&counter); };
    while (true) {
        if (seen(ledger.cut_waiting) > 0) {
            if (atomicAdd(&ledger.cut_waiting, -1) > 0) {
                auto* const place = reinterpret_cast<unsigned long long*>(job.cut + atomicAdd(&ledger.cut_head, 1));
                unsigned long long packed = 0;
                while (packed == 0) packed = atomicExch(place, 0ull);  // counted, but its warp is still writing it
                return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
            }
            atomicAdd(&ledger.cut_waiting, 1);  // another warp took it
        }
        const unsigned g = seen(ledger.next) < groups ? atomicAdd(&ledger.next, 1) : groups;
        if (g < groups) {
            if (job.group) return job.group[g];
            return {g * job.group_size, min(job.group_size, job.targets - g * job.group_size)};
        }
        // cut_waiting may be too low for a moment, until warps that found no part have restored it; head and tail are exact.
        if (seen(ledger.cut_head) >= min(seen(ledger.cut_tail), most_cut)) return {0, 0};
        __nanosleep(200);
    }
}

}  // namespace kasane::gravity::detail
