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
template <class T>
using MatrixView = SlicedView<lanes_here, T>;

template <class T>
struct Multiply {
    MatrixView<T> A;
    const T* in;
    T* out;
    KS_FN void operator()(index_t row) const {
        T sum = real_number<T>(0);
        for (index_t k = 0; k < A.count[row]; ++k) {
            const index_t e = A.at(row, k);
            sum += A.value[e] * in[A.column[e]];
        }
        out[row] = sum;
    }
};

template <class T>
KS_FN double largest_of_row(const MatrixView<T>& A, index_t row) {
    double most = 0;
    for (index_t k = 0; k < A.count[row]; ++k) most = fmax(most, magnitude(A.value[A.at(row, k)]));
    return most;
}

template <class T>
struct InvertDiagonal {
    MatrixView<T> A;
    bool absolute;
    T* inverse;
    KS_FN void operator()(index_t row) const {
        const double most = largest_of_row(A, row);
        const T diagonal = A.value[A.at(row, A.diagonal[row])];
        const T used = magnitude(diagonal) >= 1e-3 * most ? diagonal : real_number<T>(most);
        inverse[row] = reciprocal(absolute ? real_number<T>(magnitude(used)) : used);
    }
};

template <class T>
struct MultiplyDiagonal {
    const T *d, *in;
    T* out;
    KS_FN void operator()(index_t row) const { out[row] = d[row] * in[row]; }
};

/// Row i of the factors, from the rows of earlier colours.
template <class T>
struct FactoriseRow {
    MatrixView<T> A;
    index_t first_row;
    double shift;
    T *value, *inverse_pivot;
    double* replaced;  // replaced[row]: 1 where the pivot of the row was
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        const index_t count = A.count[row], diagonal = A.diagonal[row];
        const double most = largest_of_row(A, row);
        for (index_t k = 0; k < count; ++k) value[A.at(row, k)] = A.value[A.at(row, k)];
        T& d = value[A.at(row, diagonal)];
        d += along(d, shift * most);
        for (index_t k = 0; k < diagonal; ++k) {
            const index_t e = A.at(row, k);
            const index_t above = A.column[e];
            const T factor = value[e] * inverse_pivot[above];
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
        const bool small = !(magnitude(d) >= least);
        if (small) d = along(d, least);
        replaced[row] = small ? 1 : 0;
        inverse_pivot[row] = reciprocal(d);
    }
};

template <class T>
struct SolveLowerRow {
    MatrixView<T> A;
    const T* value;
    index_t first_row;
    const T* in;
    T* out;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        T sum = in[row];
        for (index_t k = 0; k < A.diagonal[row]; ++k) {
            const index_t e = A.at(row, k);
            sum -= value[e] * out[A.column[e]];
        }
        out[row] = sum;
    }
};

template <class T>
struct SolveUpperRow {
    MatrixView<T> A;
    const T *value, *inverse_pivot;
    index_t first_row;
    T* out;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        T sum = out[row];
        for (index_t k = A.diagonal[row] + 1; k < A.count[row]; ++k) {
            const index_t e = A.at(row, k);
            sum -= value[e] * out[A.column[e]];
        }
        out[row] = sum * inverse_pivot[row];
    }
};

inline bool is_positive(double pivot) { return pivot > 0; }
/// Pivots of a Hermitian matrix are real up to rounding.
inline bool is_positive(ComplexNumber pivot) { return pivot.re > 0 && std::fabs(pivot.im) <= 1e-8 * pivot.re; }

}  // namespace

template <Space S, class T>
SlicedMatrix<S, T>::SlicedMatrix(S on, const SlicedPattern& pattern)
    : on_(on),
      begin_(to_space(on, pattern.begin)),
      count_(to_space(on, pattern.count)),
      diagonal_(to_space(on, pattern.diagonal)),
      column_(to_space(on, pattern.column)),
      value_(on, column_.size()) {}

template <Space S, class T>
void SlicedMatrix<S, T>::set_values(View<const T> values) {
    copy_from_host(on_, value_.view(), values);
}

template <Space S, class T>
SlicedView<lanes_of<S>, T> SlicedMatrix<S, T>::view() const {
    return {rows(), begin_.data(), count_.data(), diagonal_.data(), column_.data(), value_.data()};
}

template <Space S, class T>
void SlicedMatrix<S, T>::multiply(const Vector& in, Vector& out) const {
    parallel_for(on_, rows(), Multiply<T>{view(), in.data(), out.data()});
}

template <Space S, class T>
std::uint64_t SlicedMatrix<S, T>::bytes() const {
    return static_cast<std::uint64_t>(stored()) * (4 + sizeof(T)) + static_cast<std::uint64_t>(rows()) * 8 +
           static_cast<std::uint64_t>(begin_.size()) * 8;
}

template <Space S, class T>
DiagonalPreconditioner<S, T>::DiagonalPreconditioner(const SlicedMatrix<S, T>& A, bool absolute) : inverse_(A.space(), A.rows()) {
    parallel_for(A.space(), A.rows(), InvertDiagonal<T>{A.view(), absolute, inverse_.data()});
}

template <Space S, class T>
void DiagonalPreconditioner<S, T>::multiply(const Buffer<T, S>& in, Buffer<T, S>& out) const {
    parallel_for(inverse_.space(), inverse_.size(), MultiplyDiagonal<T>{inverse_.data(), in.data(), out.data()});
}

template <Space S, class T>
IncompleteLu<S, T>::IncompleteLu(const SlicedMatrix<S, T>& A, std::vector<index_t> color_begin, double shift)
    : pattern_(A.view()), on_(A.space()), color_begin_(std::move(color_begin)), value_(on_, A.stored()), inverse_pivot_(on_, A.rows()) {
    Buffer<double, S> replaced(on_, A.rows());
    for (std::size_t c = 0; c + 1 < color_begin_.size(); ++c)
        each_row(on_, color_begin_[c + 1] - color_begin_[c],
                 FactoriseRow<T>{pattern_, color_begin_[c], shift, value_.data(), inverse_pivot_.data(), replaced.data()});
    for (const double one : to_host(replaced)) replaced_ += one != 0;
}

template <Space S, class T>
void IncompleteLu<S, T>::solve(const Buffer<T, S>& in, Buffer<T, S>& out) const {
    const std::size_t colors = color_begin_.size() - 1;
    for (std::size_t c = 0; c < colors; ++c)
        each_row(on_, color_begin_[c + 1] - color_begin_[c],
                 SolveLowerRow<T>{pattern_, value_.data(), color_begin_[c], in.data(), out.data()});
    for (std::size_t c = colors; c-- > 0;)
        each_row(on_, color_begin_[c + 1] - color_begin_[c],
                 SolveUpperRow<T>{pattern_, value_.data(), inverse_pivot_.data(), color_begin_[c], out.data()});
}

template <Space S, class T>
bool IncompleteLu<S, T>::positive() const {
    const auto inverse = to_host(inverse_pivot_);
    return replaced_ == 0 && std::ranges::all_of(inverse, [](const T& one) { return is_positive(one); });
}

template <Space S, class T>
std::uint64_t IncompleteLu<S, T>::bytes() const {
    return static_cast<std::uint64_t>(value_.size() + inverse_pivot_.size()) * sizeof(T);
}

template class SlicedMatrix<KS_SPACE, double>;
template class DiagonalPreconditioner<KS_SPACE, double>;
template class IncompleteLu<KS_SPACE, double>;
template class SlicedMatrix<KS_SPACE, ComplexNumber>;
template class DiagonalPreconditioner<KS_SPACE, ComplexNumber>;
template class IncompleteLu<KS_SPACE, ComplexNumber>;

}  // namespace kasane::sparse
