// The model problem of the module, written down directly: unit cells, phi = 0 on z_max, zero flux elsewhere.              [HOHNI17, eq. 3]
// Invariants: shares no code with poisson/; cell (i, j, k), 0-based, is row i + nx (j + ny k); columns ascend.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <array>
#include <vector>

namespace kasane::sparse {

using BoxSize = std::array<index_t, 3>;

inline CsrMatrix box_matrix(BoxSize n) {
    CsrMatrix A;
    A.begin.push_back(0);
    for (index_t k = 0; k < n[2]; ++k)
        for (index_t j = 0; j < n[1]; ++j)
            for (index_t i = 0; i < n[0]; ++i) {
                const index_t row = i + n[0] * (j + n[1] * k);
                double diagonal = k == n[2] - 1 ? 2 : 0;  // half a cell from the centre to z_max
                const auto couple = [&](bool there, index_t column) {
                    if (!there) return;
                    A.column.push_back(static_cast<std::int32_t>(column));
                    A.value.push_back(-1);
                    diagonal += 1;
                };
                couple(k > 0, row - n[0] * n[1]);
                couple(j > 0, row - n[0]);
                couple(i > 0, row - 1);
                const auto middle = A.value.size();
                A.column.push_back(static_cast<std::int32_t>(row));
                A.value.push_back(0);
                couple(i < n[0] - 1, row + 1);
                couple(j < n[1] - 1, row + n[0]);
                couple(k < n[2] - 1, row + n[0] * n[1]);
                A.value[middle] = diagonal;
                A.begin.push_back(static_cast<index_t>(A.value.size()));
            }
    return A;
}

/// b for the source i + j + k of 1-based cell indices.
inline std::vector<double> box_source(BoxSize n) {
    std::vector<double> b;
    for (index_t k = 1; k <= n[2]; ++k)
        for (index_t j = 1; j <= n[1]; ++j)
            for (index_t i = 1; i <= n[0]; ++i) b.push_back(static_cast<double>(i + j + k));
    return b;
}

}  // namespace kasane::sparse
