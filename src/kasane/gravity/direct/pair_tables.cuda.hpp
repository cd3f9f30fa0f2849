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
    /// A share of the work between particles [begin, end) and [other_begin, other_end). Own pairs, the last work of a device, are drawn, so
    /// that its warps end together; but for those before the others' pairs.
    PairTable(Cuda on, int multiprocessors, const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
              index_t other_end, Share share) {
        const auto rows = meeting_rows(shape, total, begin, end, other_begin, other_end);
        const auto tiles = count_tiles(shape, rows);
        if (tiles == 0) return;
        const int warps = shape.warps(multiprocessors);
        const bool drawn = begin == other_begin && end == other_end && share != Share::before;
        const auto before = tiles / parts_of_own_pairs;
        const auto portions = drawn ? falling_portions(shape, rows, share == Share::after ? before : 0, tiles, warps)
                                    : even_portions(shape, rows, 0, share == Share::before ? before : tiles, warps);
        portion_count_ = static_cast<int>(portions.size());
        warps_ = std::min(portion_count_, warps);
        rows_ = to_space(on, rows);
        portions_ = to_space(on, portions);
    }
    void give(PairLaunch& call) const {
        call.rows = rows_.data(), call.portions = portions_.data();
        call.warps = warps_, call.portion_count = portion_count_;
    }

   private:
    int warps_ = 0, portion_count_ = 0;
    Buffer<MeetingRow, Cuda> rows_;
    Buffer<Portion, Cuda> portions_;
};

}  // namespace kasane::gravity::detail
