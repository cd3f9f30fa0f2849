// Converts entries in any order to compressed rows.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

struct Entry {
    std::int32_t row = 0, column = 0;
    double value = 0;
};

/// Largest memory of assemble() in bytes, with the entries themselves.
std::uint64_t assemble_memory(index_t rows, index_t entries, bool mirror);

/// Canonical: columns ascend, entries of one place are summed in their order.
/// @param entries     moved from, and freed as early as possible; indices in range
/// @param mirror      every off-diagonal entry is also added at its mirrored place
/// @param duplicates  number of entries (of those given) that were added to others
CsrMatrix assemble(index_t rows, std::vector<Entry>&& entries, bool mirror, index_t& duplicates);

/// Does the same for compressed rows that do not ascend or have duplicates.
CsrMatrix assemble(CsrMatrix&& rows, index_t& duplicates);

}  // namespace kasane::sparse
