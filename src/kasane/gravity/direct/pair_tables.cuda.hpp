// What the kernel `pair` must know of a call beside the particles, made once on the host and kept on the device.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>

#include <vector>

namespace kasane::gravity::detail {

class PairTable {
   public:
    /// Part [from, to) of 4 of the quanta of particles [begin, end) with [other_begin, other_end).
    PairTable(Cuda on, int multiprocessors, const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
              index_t other_end, int from = 0, int to = 4) {
        const auto rows = meeting_rows(shape, total, begin, end, other_begin, other_end);
        const auto quanta = count_quanta(shape, rows);
        const auto first = quanta * from / 4, last = quanta * to / 4;
        warps_ = pair_schedule(shape, last - first, multiprocessors).warps;
        if (warps_ == 0) return;
        rows_ = to_space(on, rows);
        starts_ = to_space(on, warp_starts(shape, rows, first, last, warps_));
    }
    void give(PairLaunch& call) const { call.rows = rows_.data(), call.starts = starts_.data(), call.warps = warps_; }

   private:
    int warps_ = 0;
    Buffer<MeetingRow, Cuda> rows_;
    Buffer<WarpStart, Cuda> starts_;
};

}  // namespace kasane::gravity::detail
