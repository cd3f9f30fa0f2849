// The tables of a call of the kernel `pair`: rows of tile pairs and chunks of work units, made once on the host and kept on the device.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/direct_force.hpp>

#include <algorithm>
#include <vector>

namespace kasane::gravity::detail {

class PairTable {
   public:
    /// A share of the tile pairs of the particles [begin, end) with [other_begin, other_end). The last work of a device, its own pairs, has
    /// guided scheduling, so that its warps end together; all other work is divided evenly.
    PairTable(Cuda on, int multiprocessors, const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
              index_t other_end, Share share) {
        const auto rows = tile_pair_rows(shape, total, begin, end, other_begin, other_end);
        const auto strips = count_strips(shape, rows);
        if (strips == 0) return;
        const int warps = shape.warps(multiprocessors);
        const bool guided = begin == other_begin && end == other_end && share != Share::before;
        const auto before = strips / parts_of_own_pairs;
        const auto chunks = guided ? guided_chunks(shape, rows, share == Share::after ? before : 0, strips, warps)
                                   : even_chunks(shape, rows, 0, share == Share::before ? before : strips, warps);
        chunk_count_ = static_cast<int>(chunks.size());
        warps_ = std::min(chunk_count_, warps);
        rows_ = to_space(on, rows);
        chunks_ = to_space(on, chunks);
    }
    /// Sets the tables of a call.
    void set(PairLaunch& call) const {
        call.rows = rows_.data(), call.chunks = chunks_.data();
        call.warps = warps_, call.chunk_count = chunk_count_;
    }

   private:
    int warps_ = 0, chunk_count_ = 0;
    Buffer<TilePairRow, Cuda> rows_;
    Buffer<Chunk, Cuda> chunks_;
};

}  // namespace kasane::gravity::detail
