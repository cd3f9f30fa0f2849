#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/general/each_row.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kasane::sparse {
namespace {

constexpr index_t lanes_here = lanes_of<KS_SPACE>;
using MatrixView = SlicedView<lanes_here>;

struct Multiply {
    MatrixView A;
    const double* in;
    double* out;
    KS_FN void operator()(index_t row) const {
        double sum = 0;
        for (index_t k = 0; k < A.count[row]; ++k) {
            const index_t e = A.at(row, k);
            sum += A.value[e] * in[A.column[e]];
        }
        out[row] = sum;
    }
};

KS_FN double largest_of_row(const MatrixView& A, index_t row) {
    double most = 0;
    for (index_t k = 0; k < A.count[row]; ++k) most = fmax(most, fabs(A.value[A.at(row, k)]));
    return most;
}

struct InvertDiagonal {
    MatrixView A;
    bool absolute;
    double* inverse;
    KS_FN void operator()(index_t row) const {
        const double most = largest_of_row(A, row), diagonal = A.value[A.at(row, A.diagonal[row])];
        const double used = fabs(diagonal) >= 1e-3 * most ? diagonal : most;
        inverse[row] = 1 / (absolute ? fabs(used) : used);
    }
};

struct MultiplyDiagonal {
    const double *d, *in;
    double* out;
    KS_FN void operator()(index_t row) const { out[row] = d[row] * in[row]; }
};

/// Row i of the factors, from the rows of earlier colours.
struct FactoriseRow {
    MatrixView A;
    index_t first_row;
    double shift;
    double *value, *inverse_pivot, *replaced;  // replaced[row]: 1 where the pivot of the row was
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        const index_t count = A.count[row], diagonal = A.diagonal[row];
        const double most = largest_of_row(A, row);
        for (index_t k = 0; k < count; ++k) value[A.at(row, k)] = A.value[A.at(row, k)];
        double& d = value[A.at(row, diagonal)];
        d += (d < 0 ? -shift : shift) * most;
        for (index_t k = 0; k < diagonal; ++k) {
            const index_t e = A.at(row, k);
            const index_t above = A.column[e];
            const double factor = value[e] * inverse_pivot[above];
            value[e] = factor;
            index_t mine = k + 1;
            for (index_t m = A.diagonal[above] + 1; m < A.count[above]; ++m) {
                const index_t u = A.at(above, m);
                while (mine < count && A.column[A.at(row, mine)] < A.column[u]) ++mine;
                if (mine == count) break;
                if (A.column[A.at(row, mine)] == A.column[u]) value[A.at(row, mine)] -= factor * value[u];
            }
        }
        const double least = 1e-8 * most;
        const bool small = !(fabs(d) >= least);
        if (small) d = d < 0 ? -least : least;
        replaced[row] = small ? 1 : 0;
        inverse_pivot[row] = 1 / d;
    }
};

struct SolveLowerRow {
    MatrixView A;
    const double* value;
    index_t first_row;
    const double* in;
    double* out;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        double sum = in[row];
        for (index_t k = 0; k < A.diagonal[row]; ++k) {
            const index_t e = A.at(row, k);
            sum -= value[e] * out[A.column[e]];
        }
        out[row] = sum;
    }
};

struct SolveUpperRow {
    MatrixView A;
    const double *value, *inverse_pivot;
    index_t first_row;
    double* out;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        double sum = out[row];
        for (index_t k = A.diagonal[row] + 1; k < A.count[row]; ++k) {
            const index_t e = A.at(row, k);
            sum -= value[e] * out[A.column[e]];
        }
        out[row] = sum * inverse_pivot[row];
    }
};

}  // namespace

template <Space S>
SlicedMatrix<S>::SlicedMatrix(S on, const SlicedPattern& pattern)
    : on_(on),
      begin_(to_space(on, pattern.begin)),
      count_(to_space(on, pattern.count)),
      diagonal_(to_space(on, pattern.diagonal)),
      column_(to_space(on, pattern.column)),
      value_(on, column_.size()) {}

template <Space S>
void SlicedMatrix<S>::set_values(View<const double> values) {
    copy_from_host(on_, value_.view(), values);
}

template <Space S>
SlicedView<lanes_of<S>> SlicedMatrix<S>::view() const {
    return {rows(), begin_.data(), count_.data(), diagonal_.data(), column_.data(), value_.data()};
}

template <Space S>
void SlicedMatrix<S>::multiply(const Vector& in, Vector& out) const {
    parallel_for(on_, rows(), Multiply{view(), in.data(), out.data()});
}

template <Space S>
std::uint64_t SlicedMatrix<S>::bytes() const {
    return static_cast<std::uint64_t>(stored()) * 12 + static_cast<std::uint64_t>(rows()) * 8 +
           static_cast<std::uint64_t>(begin_.size()) * 8;
}

template <Space S>
DiagonalPreconditioner<S>::DiagonalPreconditioner(const SlicedMatrix<S>& A, bool absolute) : inverse_(A.space(), A.rows()) {
    parallel_for(A.space(), A.rows(), InvertDiagonal{A.view(), absolute, inverse_.data()});
}

template <Space S>
void DiagonalPreconditioner<S>::multiply(const Buffer<double, S>& in, Buffer<double, S>& out) const {
    parallel_for(inverse_.space(), inverse_.size(), MultiplyDiagonal{inverse_.data(), in.data(), out.data()});
}

template <Space S>
IncompleteLu<S>::IncompleteLu(const SlicedMatrix<S>& A, std::vector<index_t> color_begin, double shift)
    : pattern_(A.view()), on_(A.space()), color_begin_(std::move(color_begin)), value_(on_, A.stored()), inverse_pivot_(on_, A.rows()) {
    Buffer<double, S> replaced(on_, A.rows());
    for (std::size_t c = 0; c + 1 < color_begin_.size(); ++c)
        each_row(on_, color_begin_[c + 1] - color_begin_[c],
                 FactoriseRow{pattern_, color_begin_[c], shift, value_.data(), inverse_pivot_.data(), replaced.data()});
    for (const double one : to_host(replaced)) replaced_ += one != 0;
}

template <Space S>
void IncompleteLu<S>::solve(const Buffer<double, S>& in, Buffer<double, S>& out) const {
    const std::size_t colors = color_begin_.size() - 1;
    for (std::size_t c = 0; c < colors; ++c)
        each_row(on_, color_begin_[c + 1] - color_begin_[c],
                 SolveLowerRow{pattern_, value_.data(), color_begin_[c], in.data(), out.data()});
    for (std::size_t c = colors; c-- > 0;)
        each_row(on_, color_begin_[c + 1] - color_begin_[c],
                 SolveUpperRow{pattern_, value_.data(), inverse_pivot_.data(), color_begin_[c], out.data()});
}

template <Space S>
bool IncompleteLu<S>::positive() const {
    const auto inverse = to_host(inverse_pivot_);
    return replaced_ == 0 && std::all_of(inverse.begin(), inverse.end(), [](double one) { return one > 0; });
}

template <Space S>
std::uint64_t IncompleteLu<S>::bytes() const {
    return static_cast<std::uint64_t>(value_.size() + inverse_pivot_.size()) * 8;
}

template class SlicedMatrix<KS_SPACE>;
template class DiagonalPreconditioner<KS_SPACE>;
template class IncompleteLu<KS_SPACE>;

}  // namespace kasane::sparse
