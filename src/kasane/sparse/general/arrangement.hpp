// A matrix and its vectors between the user's rows and those of a GeneralSolver: permuted by rows and columns, scaled by powers of two.
// Invariant: no rounding, apart from numbers that leave the range of doubles.
#pragma once

#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/general/scaling.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>
#include <kasane/sparse/matrix/kind.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

/// How rows and columns are numbered and scaled.
class Arrangement {
   public:
    /// @param A       canonical   @param ordered  false: natural numbers, one colour (nothing is factorised)
    /// @param lanes   of the slices   @param device  on a CUDA device: automatic orderings have few colours
    Arrangement(const CsrView& A, const MatrixKind& kind, const GeneralOptions& options, bool ordered, index_t lanes, bool device);

    /// Scales anew for other values of A.
    void rescale(const CsrView& A, bool symmetric, bool wanted);

    /// All but the values.
    SlicedPattern pattern;
    Scaling scaling;
    std::vector<index_t> color_begin;  ///< and n
    std::string ordering;              ///< its name
    std::string note;                  ///< of the ordering; may be empty
    bool permuted = false;             ///< rows were permuted, so that no diagonal entry is zero

    /// [n] row of A for each new row.
    const std::vector<std::int32_t>& rows() const { return row_of_; }
    /// The stored values, scaled. @param A  as in the constructor
    std::vector<double> values(const double* of_entries) const;

    /// A right-hand side in new numbers, times a power of two, with entries of at most 1 in the scaled rows.
    struct Scaled {
        std::vector<double> values;
        int exponent = 0;  ///< of that power
    };
    Scaled right_side(View<const double> b) const;
    /// A guess x in new numbers for a right-hand side of that exponent; zero where it leaves the range of doubles.
    std::vector<double> guess(View<const double> x, int exponent) const;
    /// The solution in the user's numbers.
    void solution(const std::vector<double>& y, int exponent, View<double> x) const;
    /// ||r|| / ||b|| in the user's units, of a residual in new numbers.
    double relative(const std::vector<double>& residual, int exponent, View<const double> b) const;

   private:
    index_t lanes_;
    std::vector<std::int32_t> row_of_, column_of_;  // [n] of A for each new number
};

}  // namespace kasane::sparse
