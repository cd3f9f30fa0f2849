// Facts of a matrix that rules need, from some of its rows: the whole of a large matrix would take longer than
// the rules save.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <vector>

namespace kasane::sparse {

/// Rows [first, end).
struct RowRange {
    index_t first, end;
};
/// All rows, or 3,840 in 64 ranges of 60, each at a random place of its 64th part: evenly spaced ones may all lie on one side of a grid. A
/// range begins at a multiple of 60, so that it has whole blocks of 2 to 6 rows.
std::vector<RowRange> sampled_rows(index_t rows);

/// Of sampled_rows().
struct RowSumFacts {
    double median_slack = 0;    ///< of (diagonal - sum of the sizes of the others) / diagonal
    double positive_share = 0;  ///< of the entries beside the diagonal, by size
};
/// @param A  in host memory, canonical, with a positive diagonal
RowSumFacts row_sum_facts(const CsrView& A);

/// Whether more than a quarter of the coupling, by size, is between rows whose diagonal entries differ by more than a factor of two, as
/// where a coefficient varies from cell to cell. Coarse grids represent such a system badly. Of sampled_rows().
bool is_rough(const CsrView& A);

/// The largest share, by size, of the entries beside the diagonal that stand at one distance from it: of a box whose coefficient is large
/// along one direction it is near 1. 0 where there are more than four distances, or one alone. Of sampled_rows().
double share_of_one_distance(const CsrView& A);

/// The rows nearest to the middle one, step by step from row to row.
struct Neighbourhood {
    CsrMatrix scaled;         ///< the entries among them, for a diagonal of 1
    bool two_colours = true;  ///< none of them is coupled to another one of the same number of steps
};
/// @param A  as for row_sum_facts()   @param most  rows
Neighbourhood middle_neighbourhood(const CsrView& A, index_t most);

/// The share of rows whose columns are those of the row before plus one, as on a grid. Of sampled_rows().
double share_of_shifted_rows(const CsrView& A);

}  // namespace kasane::sparse
