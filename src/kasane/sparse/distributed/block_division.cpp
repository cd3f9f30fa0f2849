#include <kasane/sparse/distributed/block_division.hpp>

#include <utility>

namespace kasane::sparse {

RowOwners owners_of_blocks(const BlockedRows& rows, int workers) {
    auto owners = owners_of_rows(rows.pattern(), workers, true);
    std::vector<std::int32_t> order;
    order.reserve(owners.order.size() * at(rows.block));
    for (const auto row : owners.order)
        for (int c = 0; c < rows.block; ++c) order.push_back(row * rows.block + c);
    owners.order = std::move(order);
    for (auto& first : owners.begin) first *= rows.block;
    return owners;
}

CsrMatrix filled_blocks(const CsrView& A, const BlockedRows& rows) {
    const auto values = block_values(A, rows);
    const auto B = at(rows.block);
    CsrMatrix filled;
    filled.begin.assign(1, 0);
    for (index_t i = 0; i < A.n; ++i) {
        const auto row = at(i) / B, r = at(i) % B;
        for (auto block = at(rows.begin[row]); block < at(rows.begin[row + 1]); ++block)
            for (std::size_t c = 0; c < B; ++c) {
                filled.column.push_back(rows.column[block] * rows.block + static_cast<std::int32_t>(c));
                filled.value.push_back(values[(block * B + r) * B + c]);
            }
        filled.begin.push_back(std::ssize(filled.column));
    }
    return filled;
}

}  // namespace kasane::sparse
