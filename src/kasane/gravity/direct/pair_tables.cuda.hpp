// What the kernel `pair` must know of a call beside the particles, made once on the host and kept on the device.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/pieces.hpp>

#include <algorithm>
#include <vector>

namespace kasane::gravity::detail {

class PairTable {
   public:
    /// A share of the quanta of particles [begin, end) with [other_begin, other_end). Own pairs end in fine quanta that are drawn, so that a
    /// device's warps end together; those after the others' pairs are all drawn, since its warps begin one by one.
    PairTable(Cuda on, int multiprocessors, const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
              index_t other_end, Share share) {
        const auto rows = meeting_rows(shape, total, begin, end, other_begin, other_end);
        const auto quanta = count_quanta(shape, rows);
        const bool own = begin == other_begin && end == other_end;
        const auto cut = std::min(quanta.all / 4, quanta.coarse);
        const auto first = share == Share::after ? cut : 0, last = share == Share::before ? cut : quanta.all;
        const auto given = !own || share == Share::before ? last : share == Share::after ? first : quanta.coarse;
        warps_ = static_cast<int>(std::min<std::int64_t>(last - first, shape.warps(multiprocessors)));
        if (warps_ == 0) return;
        row_count_ = static_cast<int>(rows.size());
        rows_ = to_space(on, rows);
        shares_ = to_space(on, warp_shares(shape, rows, first, given, warps_));
        drawn_ = given, end_ = last;
    }
    void give(PairLaunch& call) const {
        call.rows = rows_.data(), call.row_count = row_count_, call.shares = shares_.data(), call.warps = warps_;
        call.drawn = drawn_, call.end = end_;
    }

   private:
    int warps_ = 0, row_count_ = 0;
    std::int64_t drawn_ = 0, end_ = 0;  ///< quanta [drawn_, end_) are drawn
    Buffer<MeetingRow, Cuda> rows_;
    Buffer<WarpShare, Cuda> shares_;
};

}  // namespace kasane::gravity::detail
