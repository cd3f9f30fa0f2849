// How warps share the groups of a walk: they draw runs of targets, and a run that asks for too much is cut into pieces, which any
// warp may draw. Invariants: into which pieces a run is cut depends on the run alone, not on who walks them or when; no group is lost:
// a warp leaves only when all that was given has been taken, and who gives comes back to look.
#pragma once

#include <kasane/gravity/tree/walks.cuda.hpp>

#include <type_traits>

namespace kasane::gravity::detail {

/// Groups that ask too much are cut into pieces of 16, these of 4, these of 1.
__device__ inline unsigned piece_of(unsigned count) { return count > 16 ? 16 : count > 4 ? 4 : 1; }
/// The piece that begins so many targets behind the first one of a run that is cut: the same whichever warp comes there.
__device__ inline unsigned piece_at(unsigned offset) { return offset % 16 == 0 ? 16 : offset % 4 == 0 ? 4 : 1; }

/// Offers the last pieces of `size` of a run of `count` targets to any warp, as many as there is room for; tells how many.
__device__ inline unsigned give_pieces(const WalkJob& job, TargetGroup run, unsigned size, unsigned pieces, unsigned lane) {
    auto& ledger = *job.ledger;
    unsigned place = 0;
    if (lane == 0) place = atomicAdd(&ledger.cut_tail, pieces);
    place = __shfl_sync(all_lanes, place, 0);
    const unsigned given = min(pieces, most_cut - min(place, most_cut));
    if (lane < given) {
        const unsigned offset = ((run.count + size - 1) / size - given + lane) * size;
        const auto count = static_cast<unsigned long long>(min(size, run.count - offset));
        atomicExch(reinterpret_cast<unsigned long long*>(job.cut + place + lane), count << 32 | (run.first + offset));
    }
    __syncwarp();
    if (lane == 0 && given > 0) atomicAdd(&ledger.cut_waiting, static_cast<int>(given));
    return given;
}

/// The next group: one that was cut off another, or the next of all; of count 0 when there is none. A warp that is still at work may
/// cut groups after that; it will find them itself.
__device__ inline TargetGroup draw(const WalkJob& job, unsigned groups) {
    auto& ledger = *job.ledger;
    const auto seen = [](auto& counter) { return *static_cast<volatile std::remove_reference_t<decltype(counter)>*>(&counter); };
    while (true) {
        if (seen(ledger.cut_waiting) > 0) {
            if (atomicAdd(&ledger.cut_waiting, -1) > 0) {
                auto* const place = reinterpret_cast<unsigned long long*>(job.cut + atomicAdd(&ledger.cut_head, 1));
                unsigned long long packed = 0;
                while (packed == 0) packed = atomicExch(place, 0ull);  // another one was counted first, this one is being written
                return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
            }
            atomicAdd(&ledger.cut_waiting, 1);  // others were faster
        }
        const unsigned g = seen(ledger.next) < groups ? atomicAdd(&ledger.next, 1) : groups;
        if (g < groups) {
            if (job.group) return job.group[g];
            return {g * job.group_size, min(job.group_size, job.targets - g * job.group_size)};
        }
        // The count may be low for a moment, while warps that were slower put back what they took: the places tell for certain.
        if (seen(ledger.cut_head) >= min(seen(ledger.cut_tail), most_cut)) return {0, 0};
        __nanosleep(200);
    }
}

}  // namespace kasane::gravity::detail
