// Stencils: rows whose entries lie in the columns row + d_1, row + d_2, …, in this order, share the distances d_k. The matrix of a grid has
// a few of them. A product on the CPU then reads a byte of each row in place of its offset and its columns, and the length of its loop is a
// constant.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/buffer.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

struct Stencil {
    static constexpr int most_entries = 27;
    int entries = 0;
    std::int32_t distance[most_entries] = {};  ///< column - row
};

/// The stencils of a matrix in the memory of the host, and which of them each row has.
class Stencils {
   public:
    static constexpr std::uint8_t none = 255;

    Stencils() = default;
    /// Empty where a quarter of the rows would have none.
    /// @param begin  [rows + 1]   @param column  [begin[rows]]
    Stencils(Cpu on, index_t rows, const std::uint32_t* begin, const std::int32_t* column);

    bool empty() const { return of_row_.size() == 0; }
    /// Number of the stencil of a row, or `none`.
    std::uint8_t of(index_t row) const { return of_row_.data()[row]; }
    const Stencil& operator[](std::uint8_t number) const { return stencils_[number]; }
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(of_row_.size()) + sizeof(Stencil) * stencils_.size(); }

   private:
    Buffer<std::uint8_t, Cpu> of_row_;
    std::vector<Stencil> stencils_;
};

}  // namespace kasane::sparse
