// A matrix in rows of dense blocks on the host: its pattern of blocks, their values, and which size of block fits a matrix.
// Invariant: block row I has the rows I B to I B + B - 1; blocks ascend in a row, and every block row has its diagonal block.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

struct BlockedRows {
    int block = 1;
    std::vector<index_t> begin;        ///< [block rows + 1]
    std::vector<std::int32_t> column;  ///< [blocks]
    index_t rows() const { return static_cast<index_t>(begin.size()) - 1; }
    index_t blocks() const { return begin.back(); }
    /// The pattern of blocks; it has no values.
    CsrView pattern() const { return {rows(), begin.data(), column.data(), static_cast<const double*>(nullptr)}; }
};

/// @param A  canonical; its rows are a multiple of the block
BlockedRows blocked_rows(const CsrView& A, int block);
/// [blocks][B][B] values of all blocks; places that A does not have are 0.
std::vector<double> block_values(const CsrView& A, const BlockedRows& rows);

/// The size of blocks, 2 to 6, for which a pass over the matrix moves the fewest bytes; 1 where that saves less than a tenth of the bytes
/// of scalar rows, 12 for each entry. The bytes are those of sampled_rows(). @param A  canonical
int block_that_fits(const CsrView& A);
/// Bytes of values and columns of all blocks.
std::uint64_t block_bytes(index_t blocks, int block);

}  // namespace kasane::sparse
