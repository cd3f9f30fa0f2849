#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/block/block.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/matrix/samples.hpp>

#include <algorithm>

namespace kasane::sparse {
namespace {

/// The columns of blocks of one row of blocks, ascending, with the diagonal. @param columns  filled
void columns_of_row(const CsrView& A, int block, index_t row, std::vector<std::int32_t>& columns) {
    columns.assign(1, static_cast<std::int32_t>(row));
    for (index_t i = row * block; i < (row + 1) * block; ++i)
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            const auto column = static_cast<std::int32_t>(A.column(e) / block);
            if (columns.back() != column) columns.push_back(column);
        }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Bytes of these rows of A in blocks, or more than `enough` where they exceed it.
template <int block>
double bytes_of_blocks(const CsrView& A, const std::vector<RowRange>& ranges, double enough) {
    std::vector<std::int32_t> seen(static_cast<std::size_t>(A.n / block), -1);  // by column: the last row that has the block
    double bytes = 0;
    for (const auto [first, end] : ranges)
        for (index_t row = first / block; row < end / block && bytes <= enough; ++row) {
            index_t blocks = 1;
            seen[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(row);
            for (index_t e = A.begin(row * block); e < A.begin((row + 1) * block); ++e) {
                auto& last = seen[static_cast<std::size_t>(A.column(e) / block)];
                blocks += last != row;
                last = static_cast<std::int32_t>(row);
            }
            bytes += static_cast<double>(block_bytes(blocks, block));
        }
    return bytes;
}

}  // namespace

BlockedRows blocked_rows(const CsrView& A, int block) {
    BlockedRows rows;
    rows.block = block;
    rows.begin.assign(1, 0);
    std::vector<std::int32_t> columns;
    for (index_t row = 0; row < A.n / block; ++row) {
        columns_of_row(A, block, row, columns);
        rows.column.insert(rows.column.end(), columns.begin(), columns.end());
        rows.begin.push_back(std::ssize(rows.column));
    }
    return rows;
}

std::vector<double> block_values(const CsrView& A, const BlockedRows& rows) {
    const int B = rows.block;
    std::vector<double> values(static_cast<std::size_t>(rows.blocks()) * B * B, 0.);
    parallel_for(Cpu{}, rows.rows(), [&](index_t row) {
        for (int r = 0; r < B; ++r) {
            auto at = static_cast<std::size_t>(rows.begin[static_cast<std::size_t>(row)]);  // columns ascend in A and in the blocks
            const index_t i = row * B + r;
            for (index_t e = A.begin(i); e < A.end(i); ++e) {
                while (rows.column[at] < A.column(e) / B) ++at;
                values[(at * B + r) * B + static_cast<std::size_t>(A.column(e) % B)] = A.value[e];
            }
        }
    });
    return values;
}

std::uint64_t block_bytes(index_t blocks, int block) { return static_cast<std::uint64_t>(blocks) * (8u * block * block + 4); }

int block_that_fits(const CsrView& A) {
    static_assert(least_block == 2 && most_block == 6);
    constexpr double (*bytes_of[])(const CsrView&, const std::vector<RowRange>&, double) = {
        bytes_of_blocks<2>, bytes_of_blocks<3>, bytes_of_blocks<4>, bytes_of_blocks<5>, bytes_of_blocks<6>};
    constexpr double worth = 0.9;
    const auto ranges = sampled_rows(A.n);
    index_t entries = 0;
    for (const auto [first, end] : ranges) entries += A.begin(end) - A.begin(first);
    double least = worth * 12 * static_cast<double>(entries);
    int best = 1;
    for (int block = most_block; block >= least_block; --block) {
        if (A.n % block != 0) continue;
        const double bytes = bytes_of[block - least_block](A, ranges, least);
        if (bytes < least) least = bytes, best = block;
    }
    return best;
}

}  // namespace kasane::sparse
