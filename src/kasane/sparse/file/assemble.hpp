// From entries in any order to compressed rows.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

struct Entry {
    std::int32_t row = 0, column = 0;
    double value = 0;
};

/// Bytes that assemble() takes at most, the entries themselves among them.
std::uint64_t assemble_memory(index_t rows, index_t entries, bool mirror);

/// Canonical: columns ascend, entries of one place are summed in their order.
/// @param entries     taken, and freed as soon as it may be; indices in range
/// @param mirror      every off-diagonal entry also stands at its mirrored place
/// @param duplicates  entries (of those given) that were summed into others
CsrMatrix assemble(index_t rows, std::vector<Entry>&& entries, bool mirror, index_t& duplicates);

/// The same for rows that are compressed already, but neither ascending nor free of duplicates.
CsrMatrix assemble(CsrMatrix&& rows, index_t& duplicates);

}  // namespace kasane::sparse
