// Systems for the tests of the device's iteration: made on the host, and copied bit by bit.
#pragma once

#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/precondition/factor.hpp>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#if defined(KASANE_CUDA)
namespace kasane::sparse::test {

struct SystemCase {
    std::string ordering = "cm-rcm:2", format = "sell:32";
    Numbering numbering = Numbering::coalesced;
    Precondition precondition = Precondition::ic0;
    bool single_factor = false;
};

inline System<Cpu> make(const CsrMatrix& A, const SystemCase& of) {
    const Cpu on{1};
    ColoredOrder order = order_rows(A.view(), Ordering::parse(of.ordering));
    SpaceOrder<Cpu> placed;
    placed.row = to_space(on, order.row);
    placed.color_begin = order.color_begin;
    placed.steps = order.steps;
    const Format format = Format::parse(of.format);
    LayoutShape shape;
    shape.numbering = of.numbering;
    shape.parts = of.numbering == Numbering::sequential ? 5 : 1;
    shape.chunk = format.kind == FormatKind::sell ? format.chunk : format.kind == FormatKind::csr ? 1 : 32;
    shape.sigma = format.sigma;
    auto layout = make_layout(on, std::move(placed), A.view(), shape);
    auto matrix = split(on, A.view(), layout, format, of.precondition == Precondition::ic0 && has_triangles(on, A.view()));
    auto factor = factorise(on, matrix, layout, {of.precondition, 1.});
    return make_system(on, std::move(matrix), std::move(layout), std::move(factor), of.single_factor);
}

template <class T>
Buffer<T, Cuda> there(const Buffer<T, Cpu>& here) {
    return to_space(Cuda{}, to_host(here));
}
template <class T>
Triangle<Cuda, T> there(const Triangle<Cpu, T>& here) {
    Triangle<Cuda, T> copy;
    copy.kind = here.kind;
    copy.chunk = here.chunk;
    copy.slice = here.slice;
    copy.offset = there(here.offset);
    copy.column = there(here.column);
    copy.value = there(here.value);
    return copy;
}
inline System<Cuda> there(const System<Cpu>& here) {
    System<Cuda> copy;
    auto& layout = copy.layout;
    layout.shape = here.layout.shape;
    layout.colors = here.layout.colors;
    layout.steps = here.layout.steps;
    layout.rows = here.layout.rows;
    layout.padded = here.layout.padded;
    layout.segment = here.layout.segment;
    copy.lower = there(here.lower);
    copy.upper = there(here.upper);
    copy.factor = here.factor;
    copy.single_factor = here.single_factor;
    copy.factor_lower = there(here.factor_lower);
    copy.factor_upper = there(here.factor_upper);
    copy.factor_lower_f = there(here.factor_lower_f);
    copy.factor_upper_f = there(here.factor_upper_f);
    copy.diagonal = there(here.diagonal);
    copy.scale = there(here.scale);
    return copy;
}

/// Right-hand side and first guess in new numbers, zero in padding.
struct Problem {
    std::vector<double> b, x;
    double b_norm = 0;
    explicit Problem(const System<Cpu>& system) {
        const auto padded = static_cast<std::size_t>(system.layout.padded);
        b.assign(padded, 0.);
        x.assign(padded, 0.);
        double sum = 0;
        for (std::size_t i = 0; i < padded; ++i) {
            const auto old = system.layout.old_row.data()[i];
            if (old < 0) continue;
            b[i] = 1 + old % 7;
            x[i] = 0.1 * (old % 3);
            const double unscaled = b[i] / system.scale.data()[i];
            sum += unscaled * unscaled;
        }
        b_norm = std::sqrt(sum);
    }
};

struct Outcome {
    IterationLog log;
    std::vector<double> x;
};

/// Vectors start as NaN except b and x: every other value must be written before it is read.
template <Space S>
Outcome solve(const System<S>& system, const Problem& problem, const IterationTask& task) {
    const S on = system.on;
    IterationVectors<S> v(on, system.layout.padded);
    const std::vector<double> nothing(problem.b.size(), std::nan(""));
    for (auto* vector : {&v.r, &v.p, &v.u, &v.w}) copy_from_host(on, vector->view(), view(nothing));
    copy_from_host(on, v.b.view(), view(problem.b));
    copy_from_host(on, v.x.view(), view(problem.x));
    Outcome outcome{iterate(system, v, task), {}};
    outcome.x = to_host(v.x);
    return outcome;
}

/// A connected random graph with many triangles, diagonally dominant by a little.
inline CsrMatrix graph_with_triangles(int n) {
    std::vector<std::map<int, double>> row(static_cast<std::size_t>(n));  // couplings, by column
    std::mt19937 random(1);
    const auto couple = [&](int i, int j) {
        const double value = -static_cast<double>(random() % 100 + 1) / 100;
        row[static_cast<std::size_t>(i)][j] = row[static_cast<std::size_t>(j)][i] = value;
    };
    for (int i = 0; i < n; ++i) {
        couple(i, (i + 1) % n);
        for (int k = 0; k < 3; ++k) couple(i, (i + 2 + static_cast<int>(random() % 12)) % n);
    }
    CsrMatrix A;
    A.begin.push_back(0);
    for (int i = 0; i < n; ++i) {
        auto& entries = row[static_cast<std::size_t>(i)];
        entries.erase(i);
        double sum = 0.05;
        for (const auto& [column, value] : entries) sum += std::abs(value);
        entries[i] = sum;
        for (const auto& [column, value] : entries) A.column.push_back(column), A.value.push_back(value);
        A.begin.push_back(static_cast<index_t>(A.value.size()));
    }
    return A;
}

}  // namespace kasane::sparse::test
#endif
