#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/file/check_written.hpp>
#include <kasane/sparse/matrix/findings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::sparse {
namespace {

const char* const the_matrix = "the matrix";

double mirrored(double value) { return value; }
std::complex<double> mirrored(std::complex<double> value) { return std::conj(value); }
std::string shown(double value) { return fmt::format("{}", value); }
std::string shown(std::complex<double> value) { return fmt::format("({}, {})", value.real(), value.imag()); }

template <class Value>
void check_entries(const CsrView& A, const Value* value) {
    if (A.n <= 0) throw InputError("is empty: it has no rows, and a file of it cannot be read", {the_matrix, 0, 0, ""});
    detail::Problems problems(the_matrix);
    CsrView sized = A;  // check_size() compares the pointer of real values with null
    if (!sized.value && value) sized.value = reinterpret_cast<const double*>(value);
    detail::check_size(sized, problems);
    detail::Offence out_of_range, not_finite;
    for (index_t row = 0; row < A.n; ++row)
        for (auto k = A.begin(row); k < A.end(row); ++k) {
            const auto column = A.column(k);
            if (column < 0 || column >= A.n)
                out_of_range.see(row, column);
            else if (!detail::finite(value[k]))
                not_finite.see(row, column, std::abs(value[k]));
        }
    problems.add(out_of_range, fmt::format("row {} has a column index {}{}: in memory they go from 0 to {}", out_of_range.row + 1,
                                           out_of_range.column, out_of_range.others(), A.n - 1));
    problems.add(not_finite, fmt::format("entry {} is not finite ({}){}: every value must be a finite number", not_finite.place(),
                                         not_finite.value, not_finite.others()));
    problems.throw_if_any();
}

/// The value of a place in a canonical matrix; 0 where there is none.
template <class Matrix>
auto value_at(const Matrix& A, index_t row, index_t column) {
    const auto first = A.column.begin() + A.begin[static_cast<std::size_t>(row)];
    const auto last = A.column.begin() + A.begin[static_cast<std::size_t>(row) + 1];
    const auto found = std::lower_bound(first, last, column);
    const auto place = static_cast<std::size_t>(found - A.column.begin());
    return found != last && *found == column ? A.value[place] : std::remove_cvref_t<decltype(A.value[0])>();
}

/// Compares each entry of a canonical matrix with its partner.
template <class Matrix>
void check_partners(const Matrix& A, const char* kind, const char* remedy) {
    for (index_t row = 0; row < A.rows(); ++row)
        for (auto k = A.begin[static_cast<std::size_t>(row)]; k < A.begin[static_cast<std::size_t>(row) + 1]; ++k) {
            const index_t column = A.column[static_cast<std::size_t>(k)];
            const auto value = A.value[static_cast<std::size_t>(k)], partner = value_at(A, column, row);
            const double difference = std::abs(value - mirrored(partner));
            if (difference == 0) continue;
            KS_VALIDATE(row != column,
                        fmt::format("is not {}: entry ({}, {}) = {} of the diagonal has an imaginary part. {}", kind, row + 1, row + 1,
                                    shown(value), remedy),
                        {the_matrix, 0, 0, ""});
            const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::sqrt(std::abs(value_at(A, row, row))) *
                                    std::sqrt(std::abs(value_at(A, column, column)));
            KS_VALIDATE(difference <= std::max(1e-12 * std::max(std::abs(value), std::abs(partner)), rounding),
                        fmt::format("is not {}: entry ({}, {}) = {}, and ({}, {}) = {}. {}", kind, row + 1, column + 1, shown(value),
                                    column + 1, row + 1, shown(partner), remedy),
                        {the_matrix, 0, 0, ""});
        }
}

}  // namespace

void check_written(const CsrView& A, bool symmetric) {
    check_entries(A, A.value);
    if (symmetric) check_partners(canonical(A), "symmetric", "Write it as a general matrix");
}
void check_written(const ComplexCsrView& A, bool hermitian) {
    check_entries(A.pattern, A.value);
    if (hermitian) check_partners(canonical(A), "Hermitian", "Write it as a general matrix");
}

}  // namespace kasane::sparse
