// A sparse triangle whose rows are solved level by level: a row's level is one more than the highest of the rows that it reads.
// A CPU whose threads would find few rows in a level solves the rows in the order of elimination, which reads neighbouring entries of the
// vector. Invariant: results do not depend on threads.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/precondition/threshold.hpp>

#include <vector>

namespace kasane::sparse {

template <Space S>
class LevelTriangle {
   public:
    /// @param lower  rows read rows before them; false: rows after them
    LevelTriangle(S on, const HostTriangle& triangle, bool lower);
    /// out = T^-1 in. out may be in.
    void solve(const Buffer<double, S>& in, Buffer<double, S>& out) const;
    index_t levels() const { return levels_; }
    index_t entries() const { return column_.size(); }
    std::uint64_t bytes() const;

   private:
    S on_;
    index_t levels_ = 0;
    bool in_order_ = false;             ///< rows are solved one after the other in the order of elimination
    std::vector<index_t> level_begin_;  ///< [levels + 1] first place of each level in row_
    Buffer<std::int32_t, S> row_;       ///< [rows] the rows, level by level, or in the order of elimination
    Buffer<std::int64_t, S> begin_;     ///< [rows + 1] offsets of rows in the order of row_
    Buffer<std::int32_t, S> column_;
    Buffer<double, S> value_, inverse_diagonal_;
};

/// The product of a lower and an upper triangle, in the form of krylov: out = U^-1 L^-1 in.
template <Space S>
struct LevelFactors {
    LevelTriangle<S> lower, upper;
    void solve(const Buffer<double, S>& in, Buffer<double, S>& out) const {
        lower.solve(in, out);
        upper.solve(out, out);
    }
    template <class Algebra>
    void apply(Algebra&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
        solve(in, out);
    }
    index_t entries() const { return lower.entries() + upper.entries(); }
    std::uint64_t bytes() const { return lower.bytes() + upper.bytes(); }
};

}  // namespace kasane::sparse
