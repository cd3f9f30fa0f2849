// Parts of a lattice, and rows of fields of the host.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/solution_rows.hpp>

#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

namespace kasane::lattice {
namespace {

TEST(SolutionRows, PartsAreSlicesOrPlanesOfASlice) {
    struct Case {
        Extents extents;
        int columns;
        std::vector<index_t> ends;
    };
    for (const auto& [extents, columns, ends] :
         {Case{{{4, 4, 4, 8}}, 12, {512}},
          // 7281 rows of 2304 bytes in 16 MiB, 87381 of 192 bytes
          Case{{{16, 16, 16, 4}}, 12, {4096, 8192, 12288, 16384}}, Case{{{16, 16, 16, 4}}, 1, {16384}},
          Case{{{24, 24, 24, 2}}, 12, {6912, 13824, 20736, 27648}}, Case{{{96, 96, 2, 2}}, 12, {9216, 18432, 27648, 36864}}}) {
        std::vector<index_t> found;
        for (index_t first = 0; first < extents.volume(); first = found.back()) found.push_back(end_of_part(extents, columns, first));
        EXPECT_EQ(found, ends) << text(extents) << ", columns " << columns;
    }
}

TEST(SolutionRows, HoldTheColumnsTimesAFactor) {
    const Extents n{{16, 16, 16, 4}};
    for (const std::size_t count : {1U, 12U}) {
        std::vector<SpinorField> columns;
        for (std::size_t c = 0; c < count; ++c) columns.push_back(test::random_spinor(n, 5 + c));
        index_t next = 0;
        rows_of(columns, 0.25)([&](index_t first, View<std::complex<double>> rows) {
            EXPECT_EQ(first, next);
            next = end_of_part(n, static_cast<int>(count), first);
            ASSERT_EQ(rows.n, static_cast<index_t>(12 * count) * (next - first));
            for (std::size_t i = 0; i < static_cast<std::size_t>(rows.n); ++i)
                if (rows.ptr[i] != columns[i % count].values[static_cast<std::size_t>(12 * first) + i / count] * 0.25) {
                    ADD_FAILURE() << "number " << i << " of the part from " << first << " on";
                    return;
                }
        });
        EXPECT_EQ(next, n.volume());
    }
    EXPECT_THROW(rows_of({}, 1), LogicError);
    EXPECT_THROW(rows_of({SpinorField(Extents{{2, 2, 2, 2}}), SpinorField(Extents{{2, 2, 2, 4}})}, 1), LogicError);
}

}  // namespace
}  // namespace kasane::lattice
