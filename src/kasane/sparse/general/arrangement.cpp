#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/general/arrangement.hpp>
#include <kasane/sparse/order/ordering.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kasane::sparse {
namespace {

std::size_t slot(index_t i) { return static_cast<std::size_t>(i); }

/// The pattern of P A + (P A)^T, where row i of P A is row[i] of A; places may repeat.
CsrMatrix symmetric_pattern(const CsrView& A, const std::vector<std::int32_t>& row) {
    CsrMatrix both;
    both.begin.assign(slot(A.n) + 1, 0);
    const auto each_place = [&](const auto& visit) {
        for (index_t i = 0; i < A.n; ++i)
            for (index_t e = A.begin(row[slot(i)]); e < A.end(row[slot(i)]); ++e)
                if (A.column(e) != i) visit(i, A.column(e)), visit(A.column(e), i);
    };
    each_place([&](index_t i, index_t) { ++both.begin[slot(i) + 1]; });
    std::partial_sum(both.begin.begin(), both.begin.end(), both.begin.begin());
    both.column.resize(slot(both.begin.back()));
    auto next = both.begin;
    each_place([&](index_t i, index_t j) { both.column[slot(next[slot(i)]++)] = static_cast<std::int32_t>(j); });
    return both;
}

template <class User>
int largest_exponent(View<const User> v, const std::vector<int>* more) {
    int most = lowest_exponent;
    for (index_t i = 0; i < v.n; ++i)
        if (v[i] != User(0)) most = std::max(most, exponent_of(v[i]) + (more ? (*more)[slot(i)] : 0));
    return most;
}

double squared(double x) { return x * x; }
double squared(ComplexNumber z) { return square(z); }
double squared(std::complex<double> z) { return std::norm(z); }

}  // namespace

// The natural order keeps the convergence of ilu0; on a device each level is a launch.
ColoredOrder automatic_order(const CsrView& graph, bool device) {
    constexpr index_t short_level = 32, small = 20'000;
    constexpr int most_colors = 64;
    if (!device) {
        auto natural = order_rows(graph, {OrderingKind::natural, 0, 0});
        if (graph.n < small || graph.n / natural.colors() >= short_level) return natural;
    }
    auto order = order_rows(graph, {OrderingKind::cm_rcm, 8, 0});
    if (order.colors() > most_colors) order = order_rows(graph, {OrderingKind::multicolor, 8, 0});
    return order;
}

Arrangement::Arrangement(const CsrView& A, const MatrixKind& kind, const GeneralOptions& options, bool ordered, index_t lanes, bool device)
    : scaling(scaling_of(A, kind.symmetric, options.scale)), lanes_(lanes) {
    // A symmetric matrix keeps its diagonal, zeros too, so that it stays symmetric.
    std::vector<std::int32_t> row(slot(A.n));
    std::iota(row.begin(), row.end(), 0);
    permuted = !kind.symmetric && !kind.row.empty();
    if (permuted) row = kind.row;
    if (ordered) {
        const CsrMatrix graph = symmetric_pattern(A, row);
        const CsrView view(A.n, graph.begin.data(), graph.column.data(), static_cast<const double*>(nullptr));
        const bool automatic = options.ordering.kind == OrderingKind::automatic;
        // The factors of ilut have a pattern of their own, so that colours of A save no levels.
        auto order = !automatic                                          ? order_rows(view, options.ordering)
                     : options.precondition == GeneralPrecondition::ilut ? order_rows(view, {OrderingKind::natural, 0, 0})
                                                                         : automatic_order(view, device);
        ordering = order.asked.text();
        note = order.note;
        column_of_ = std::move(order.row);
        color_begin = std::move(order.color_begin);
        row_of_.resize(slot(A.n));
        for (std::size_t i = 0; i < row_of_.size(); ++i) row_of_[i] = row[slot(column_of_[i])];
    } else {
        ordering = "natural";
        row_of_ = row;
        column_of_.resize(slot(A.n));
        std::iota(column_of_.begin(), column_of_.end(), 0);
        color_begin = {0, A.n};
    }
    std::vector<std::int32_t> new_column(slot(A.n));
    for (std::size_t i = 0; i < column_of_.size(); ++i) new_column[slot(column_of_[i])] = static_cast<std::int32_t>(i);
    pattern = slice_rows(A, row_of_, new_column, lanes);
}

void Arrangement::rescale(const CsrView& A, bool symmetric, bool wanted) { scaling = scaling_of(A, symmetric, wanted); }

template <class User>
std::vector<Number<User>> Arrangement::values(const User* of_entries) const {
    std::vector<Number<User>> values(pattern.source.size(), real_number<Number<User>>(0));
    parallel_for(Cpu{}, static_cast<index_t>(row_of_.size()), [&](index_t i) {
        const index_t first = pattern.begin[slot(i / lanes_)] + i % lanes_;
        for (index_t k = 0; k < pattern.count[slot(i)]; ++k) {
            const auto at = slot(first + k * lanes_);
            const index_t entry = pattern.source[at];
            if (entry < 0) continue;
            const auto column = slot(column_of_[slot(pattern.column[at])]);
            values[at] = scaled(of_entries[entry], scaling.row[slot(row_of_[slot(i)])] + scaling.column[column]);
        }
    });
    return values;
}

template <class User>
Arrangement::Scaled<Number<User>> Arrangement::right_side(View<const User> b) const {
    Scaled<Number<User>> out{std::vector<Number<User>>(slot(b.n)), -largest_exponent(b, &scaling.row)};
    parallel_for(Cpu{}, b.n, [&](index_t i) {
        const auto row = slot(row_of_[slot(i)]);
        out.values[slot(i)] = scaled(b[row_of_[slot(i)]], scaling.row[row] + out.exponent);
    });
    return out;
}

template <class User>
std::vector<Number<User>> Arrangement::guess(View<const User> x, int exponent) const {
    std::vector<Number<User>> y(slot(x.n));
    for (index_t i = 0; i < x.n; ++i) {
        const auto column = column_of_[slot(i)];
        y[slot(i)] = scaled(x[column], exponent - scaling.column[slot(column)]);
        if (!is_finite(y[slot(i)])) return std::vector<Number<User>>(y.size(), real_number<Number<User>>(0));
    }
    return y;
}

template <class User>
void Arrangement::solution(const std::vector<Number<User>>& y, int exponent, View<User> x) const {
    parallel_for(Cpu{}, x.n, [&](index_t i) {
        const auto column = column_of_[slot(i)];
        x[column] = scaled_back(y[slot(i)], scaling.column[slot(column)] - exponent);
    });
}

template <class User>
double Arrangement::relative(const std::vector<Number<User>>& residual, int exponent, View<const User> b) const {
    const int unit = -largest_exponent(b, nullptr);
    double r2 = 0, b2 = 0;
    for (index_t i = 0; i < b.n; ++i) {
        const auto row = row_of_[slot(i)];
        r2 += squared(scaled_back(residual[slot(i)], unit - exponent - scaling.row[slot(row)]));
        b2 += squared(scaled(b[row], unit));
    }
    return std::sqrt(r2 / b2);
}

#define KS_OF_NUMBERS(User)                                                                       \
    template std::vector<Number<User>> Arrangement::values(const User*) const;                    \
    template Arrangement::Scaled<Number<User>> Arrangement::right_side(View<const User>) const;   \
    template std::vector<Number<User>> Arrangement::guess(View<const User>, int) const;           \
    template void Arrangement::solution(const std::vector<Number<User>>&, int, View<User>) const; \
    template double Arrangement::relative(const std::vector<Number<User>>&, int, View<const User>) const;
KS_OF_NUMBERS(double)
KS_OF_NUMBERS(std::complex<double>)
#undef KS_OF_NUMBERS

}  // namespace kasane::sparse
