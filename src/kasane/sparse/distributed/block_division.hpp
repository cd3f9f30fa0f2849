// Rows of dense blocks among workers: no block is divided, and a worker reads whole blocks of others.
#pragma once

#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/distributed/row_division.hpp>

namespace kasane::sparse {

/// Does the same as owners_of_rows() for block rows: the rows of a block are neighbours in the order, and have one owner.
/// @param rows  at least as many block rows as workers
RowOwners owners_of_blocks(const BlockedRows& rows, int workers);

/// A with the zeros of its blocks as entries, so that rows that are coupled belong to whole blocks. @param rows  blocked_rows() of A
CsrMatrix filled_blocks(const CsrView& A, const BlockedRows& rows);

}  // namespace kasane::sparse
