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

/// The natural order keeps the convergence of ilu0; others are taken where its levels are too short to be shared among threads, and on
/// devices, where each level is a launch.
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

int largest_exponent(View<const double> v, const std::vector<int>* more) {
    int most = std::numeric_limits<int>::min();
    for (index_t i = 0; i < v.n; ++i)
        if (v[i] != 0) most = std::max(most, std::ilogb(v[i]) + (more ? (*more)[slot(i)] : 0));
    return most;
}

}  // namespace

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

std::vector<double> Arrangement::values(const double* of_entries) const {
    std::vector<double> values(pattern.source.size(), 0.);
    parallel_for(Cpu{}, static_cast<index_t>(row_of_.size()), [&](index_t i) {
        const index_t first = pattern.begin[slot(i / lanes_)] + i % lanes_;
        for (index_t k = 0; k < pattern.count[slot(i)]; ++k) {
            const auto at = slot(first + k * lanes_);
            const index_t entry = pattern.source[at];
            if (entry < 0) continue;
            const auto column = slot(column_of_[slot(pattern.column[at])]);
            values[at] = std::ldexp(of_entries[entry], scaling.row[slot(row_of_[slot(i)])] + scaling.column[column]);
        }
    });
    return values;
}

Arrangement::Scaled Arrangement::right_side(View<const double> b) const {
    Scaled out{std::vector<double>(slot(b.n)), -largest_exponent(b, &scaling.row)};
    parallel_for(Cpu{}, b.n, [&](index_t i) {
        const auto row = slot(row_of_[slot(i)]);
        out.values[slot(i)] = std::ldexp(b[row_of_[slot(i)]], scaling.row[row] + out.exponent);
    });
    return out;
}

std::vector<double> Arrangement::guess(View<const double> x, int exponent) const {
    std::vector<double> y(slot(x.n));
    for (index_t i = 0; i < x.n; ++i) {
        const auto column = column_of_[slot(i)];
        y[slot(i)] = std::ldexp(x[column], exponent - scaling.column[slot(column)]);
        if (!std::isfinite(y[slot(i)])) return std::vector<double>(y.size(), 0.);
    }
    return y;
}

void Arrangement::solution(const std::vector<double>& y, int exponent, View<double> x) const {
    parallel_for(Cpu{}, x.n, [&](index_t i) {
        const auto column = column_of_[slot(i)];
        x[column] = std::ldexp(y[slot(i)], scaling.column[slot(column)] - exponent);
    });
}

double Arrangement::relative(const std::vector<double>& residual, int exponent, View<const double> b) const {
    const int unit = -largest_exponent(b, nullptr);
    double r2 = 0, b2 = 0;
    for (index_t i = 0; i < b.n; ++i) {
        const auto row = row_of_[slot(i)];
        const double r = std::ldexp(residual[slot(i)], unit - exponent - scaling.row[slot(row)]), one = std::ldexp(b[row], unit);
        r2 += r * r;
        b2 += one * one;
    }
    return std::sqrt(r2 / b2);
}

}  // namespace kasane::sparse
