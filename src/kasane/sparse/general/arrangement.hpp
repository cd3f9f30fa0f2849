// A matrix and its vectors between the user's rows and those of a GeneralSolver: permuted by rows and columns, scaled by powers of two.
// Invariant: no rounding, apart from numbers that leave the range of doubles.
#pragma once

#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/general/scaling.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>
#include <kasane/sparse/matrix/kind.hpp>
#include <kasane/sparse/order/ordering.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

/// The natural order where its levels are long enough to be shared among threads, or the matrix is small; otherwise, and on a device,
/// cm-rcm:8, or mc:8 where that needs more than 64 colours. @param graph  of a symmetric pattern
ColoredOrder automatic_order(const CsrView& graph, bool device);

/// How rows and columns are numbered and scaled.
class Arrangement {
   public:
    /// @param A       canonical; of a complex matrix the magnitudes   @param ordered  false: natural numbers, one colour (nothing is
    /// factorised)
    /// @param lanes   of the slices   @param device  on a CUDA device: automatic orderings have few colours
    Arrangement(const CsrView& A, const MatrixKind& kind, const GeneralOptions& options, bool ordered, index_t lanes, bool device);

    /// Scales anew for other values of A, or other magnitudes.
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
    // In the following User is double or std::complex<double>.

    /// The stored values, scaled. @param of_entries  of A as in the constructor
    template <class User>
    std::vector<Number<User>> values(const User* of_entries) const;

    /// A right-hand side in new numbers, times a power of two, with entries of at most 1 in the scaled rows.
    template <class T>
    struct Scaled {
        std::vector<T> values;
        int exponent = 0;  ///< of that power
    };
    template <class User>
    Scaled<Number<User>> right_side(View<const User> b) const;
    /// A guess x in new numbers for a right-hand side of that exponent; zero where it leaves the range of doubles.
    template <class User>
    std::vector<Number<User>> guess(View<const User> x, int exponent) const;
    /// The solution in the user's numbers.
    template <class User>
    void solution(const std::vector<Number<User>>& y, int exponent, View<User> x) const;
    /// ||r|| / ||b|| in the user's units, of a residual in new numbers.
    template <class User>
    double relative(const std::vector<Number<User>>& residual, int exponent, View<const User> b) const;

   private:
    index_t lanes_;
    std::vector<std::int32_t> row_of_, column_of_;  // [n] of A for each new number
};

}  // namespace kasane::sparse
