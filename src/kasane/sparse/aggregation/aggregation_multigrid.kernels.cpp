// Levels and cycle of the multigrid by aggregation, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/aggregation_multigrid.hpp>
#include <kasane/sparse/aggregation/dense_inverse.hpp>
#include <kasane/sparse/aggregation/largest_eigenvalue.hpp>
#include <kasane/sparse/aggregation/row_sums.hpp>
#include <kasane/sparse/aggregation/smoothers.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>

#if defined(__CUDACC__)
#include <kasane/sparse/multigrid/device_sums.cuda.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::sparse {
namespace {

constexpr index_t coarsest_rows = 300;   ///< no further level below
constexpr index_t most_inverse = 2000;   ///< rows of an inverse
constexpr double kept_part = 0.1;        ///< entries that smooth the prolongator, of the largest one of a row
constexpr int coarsest_degree = 16;      ///< where there is no inverse
constexpr double smoothed_range = 0.25;  ///< from this part of the largest eigenvalue on
constexpr int lanczos_steps = 16;        ///< for the largest eigenvalue
constexpr double close_to_bound = 0.95;  ///< of the bound of the largest eigenvalue: half of the steps are enough
constexpr std::size_t first_twice = 2;   ///< levels from this one on, but the coarsest, are visited twice by Cycle::automatic
constexpr double enough_in_one = 0.25;  ///< of the residual is left: a second iteration of a K cycle is not made [Notay & Vassilevski 2008]

KS_FN double diagonal_of(const RowsView<double>& A, index_t row) {
    double diagonal = 0;
    for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e)
        if (A.column[e] == row) diagonal = A.value[e];
    return diagonal;
}

/// A sum whose result is the largest term.
struct LargestDiagonal {
    double value = 0;
    KS_FN LargestDiagonal& operator+=(const LargestDiagonal& other) {
        if (other.value > value) value = other.value;
        return *this;
    }
};

struct DiagonalTerm {
    RowsView<double> A;
    KS_FN LargestDiagonal operator()(index_t row) const { return {diagonal_of(A, row)}; }
};

struct RootOfDiagonal {
    RowsView<double> A;
    double unit;
    double* scale;
    KS_FN void operator()(index_t row) const {
        const double diagonal = diagonal_of(A, row);
        scale[row] = diagonal > 0 ? std::sqrt(unit / diagonal) : 0;
    }
};

struct ScaleFinest {
    RowsView<double> A;
    double unit;
    const double* scale;
    float* value;
    KS_FN void operator()(index_t row, std::uint32_t e) const {
        value[e] = static_cast<float>(A.value[e] * (scale[row] / unit) * scale[A.column[e]]);
    }
};

/// Near-null vectors of the scaled matrix; `from` may be `to`.
template <class V>
struct Unscale {
    const V* scale;
    int vectors;
    const double* from;
    double* to;
    KS_FN void operator()(index_t row) const {
        const double by = scale[row] > 0 ? 1 / static_cast<double>(scale[row]) : 0;
        for (int a = 0; a < vectors; ++a) to[row * vectors + a] = by * from[row * vectors + a];
    }
};

struct RootOfCoarseDiagonal {
    RowsView<float> A;
    float* scale;
    KS_FN void operator()(index_t row) const {
        float diagonal = 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e)
            if (A.column[e] == row) diagonal = A.value[e];
        scale[row] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0;
    }
};

/// Rows and columns of a matrix times numbers; where one is null it is taken as 1.
struct ScaleBoth {
    const std::int32_t* column;
    const float *row_scale, *column_scale;
    float* value;
    KS_FN void operator()(index_t row, std::uint32_t e) const {
        const float here = row_scale ? row_scale[row] : 1;
        value[e] *= column_scale ? here * column_scale[column[e]] : here;
    }
};

template <Space S>
void scale_both(S on, Rows<float, S>& A, const float* row_scale, const float* column_scale) {
    for_each_entry(on, A.rows, A.begin.data(), A.entries(), ScaleBoth{A.column.data(), row_scale, column_scale, A.value.data()});
}

struct ScaledSum {
    float by;
    float* y;
    KS_FN void operator()(index_t row, float sum) const { y[row] = by * sum; }
};

/// The first two steps from x = 0: d = first b, then ChebyshevStep with x = d. Its sum is that of A b.
struct FirstTwoSteps {
    const float* b;
    float first, again, by;
    float* d;  ///< null: no step follows
    float* y;
    KS_FN void operator()(index_t row, float Ab) const {
        const float x = first * b[row], step = again * x + by * (b[row] - first * Ab);
        if (d) d[row] = step;
        y[row] = x + step;
    }
};

/// d = again d + by (b - A x), y = x + d
struct ChebyshevStep {
    const float *b, *x;
    float again, by;
    float *d, *y;
    bool last = false;  ///< d is not needed after it
    KS_FN void operator()(index_t row, float Ax) const {
        const float r = b[row] - Ax;
        const float step = again == 0 ? by * r : again * d[row] + by * r;
        if (!last) d[row] = step;
        y[row] = x[row] + step;
    }
};

/// y = by b
struct FirstStep {
    const float* b;
    float by;
    float* y;
    KS_FN void operator()(index_t row) const { y[row] = by * b[row]; }
};

/// x += b - A x in rows of one colour; the diagonal of A is 1.
struct RelaxRow {
    RowsView<float> A;
    const std::int32_t* rows;
    const float* b;
    float* x;
    KS_FN void operator()(index_t place) const {
        const index_t row = rows[place];
        x[row] += b[row] - A.times(row, x);
    }
};

struct SetZero {
    float* x;
    KS_FN void operator()(index_t row) const { x[row] = 0; }
};

struct CopyTo {
    const float* from;
    float* to;
    KS_FN void operator()(index_t row) const { to[row] = from[row]; }
};

/// {v.Av, v.r, r.r}, or with a first correction {v.Av, v.r, v.Ac}
struct CorrectionTerms {
    const float *v, *Av, *r, *Ac;
    KS_FN Terms<3> operator()(index_t row) const {
        const auto here = static_cast<double>(v[row]), rest = static_cast<double>(r[row]);
        return {{here * static_cast<double>(Av[row]), here * rest, Ac ? here * static_cast<double>(Ac[row]) : rest * rest}};
    }
};

/// r -= by Ac; the term of r.r
struct SubtractCorrection {
    const float* Ac;
    float by;
    float* r;
    KS_FN Terms<1> operator()(index_t row) const {
        r[row] -= by * Ac[row];
        return {{static_cast<double>(r[row]) * static_cast<double>(r[row])}};
    }
};

/// x = of_c c + of_x x
struct JoinCorrections {
    const float* c;
    float of_c, of_x;
    float* x;
    KS_FN void operator()(index_t row) const { x[row] = of_x == 0 ? of_c * c[row] : of_c * c[row] + of_x * x[row]; }
};

struct LevelResidual {
    const float* b;
    float* r;
    KS_FN void operator()(index_t row, float Ax) const { r[row] = b[row] - Ax; }
};

struct AddSum {
    float* to;
    KS_FN void operator()(index_t row, float sum) const { to[row] += sum; }
};

struct DenseTimes {
    const float* inverse;
    index_t n;
    const float* b;
    float* x;
    KS_FN void operator()(index_t row) const {
        float sum = 0;
        for (index_t k = 0; k < n; ++k) sum += inverse[k * n + row] * b[k];  // symmetric: neighbouring threads read neighbouring entries
        x[row] = sum;
    }
};

void dense_times(Cpu on, const DenseTimes& body) { parallel_for(on, body.n, body); }

#if defined(__CUDACC__)
/// A warp computes a row.
__global__ void __launch_bounds__(128) dense_rows(DenseTimes of) {
    const index_t row = (blockIdx.x * index_t{128} + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= of.n) return;
    float sum = 0;
    for (index_t k = lane; k < of.n; k += 32) sum += of.inverse[row * of.n + k] * of.b[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) of.x[row] = sum;
}

void dense_times(Cuda on, const DenseTimes& of) {
    KS_CUDA(cudaSetDevice(on.device));
    dense_rows<<<static_cast<unsigned>((of.n * 32 + 127) / 128), 128, 0, on.stream>>>(of);
    KS_CUDA(cudaGetLastError());
}
#endif

struct NarrowScaled {
    const double *from, *scale;
    double by;
    float* to;
    KS_FN void operator()(index_t i) const { to[i] = static_cast<float>(by * from[i] * scale[i]); }
};

struct WidenScaled {
    const float* from;
    const double* scale;
    double by;
    double* to;
    KS_FN void operator()(index_t i) const { to[i] = by * static_cast<double>(from[i]) * scale[i]; }
};

/// WidenScaled; the term of in.out.
struct WidenAndMultiply {
    WidenScaled widen;
    const double* in;
    KS_FN double operator()(index_t i) const {
        widen(i);
        return in[i] * widen.to[i];
    }
};

#if defined(__CUDACC__)
/// NarrowScaled with the factor on the device.
struct NarrowResidual {
    const CgScalars* s;
    const double *from, *scale;
    float* to;
    __device__ void operator()(index_t i) const { to[i] = static_cast<float>(s->per_unit * from[i] * scale[i]); }
};

/// WidenScaled in the same way, with a sum.
struct WidenAndSum {
    const CgScalars* s;
    const float* from;
    const double* scale;
    const double* r;  ///< null: the sum is that of z
    double per_unit;
    double* to;
    double by = 0;
    __device__ WidenAndSum ready() const {
        WidenAndSum with = *this;
        with.by = s->unit * per_unit;
        return with;
    }
    __device__ double operator()(index_t i) const {
        const double z = by * static_cast<double>(from[i]) * scale[i];
        to[i] = z;
        return r ? r[i] * z : z;
    }
};
#endif

}  // namespace

template <Space S>
AggregationMultigrid<S>::AggregationMultigrid(S on, const RowsView<double>& A, NearNull<S> null, bool singular,
                                              const MultigridOptions& options)
    : on_(on), singular_(singular), options_(options) {
    build(A, std::move(null), false);
}

template <Space S>
void AggregationMultigrid<S>::update(const RowsView<double>& A, NearNull<S> null) {
    build(A, std::move(null), true);
}

template <Space S>
void AggregationMultigrid<S>::build(const RowsView<double>& A, NearNull<S> null, bool keep_aggregates) {
    if (!keep_aggregates) levels_.emplace_back();
    auto& finest = levels_.front();
    finest.entries = A.entries;
    scale_ = Buffer<double, S>(on_, A.rows);
    finest.values = Buffer<float, S>(on_, finest.entries);
    const double largest = reduce<LargestDiagonal>(on_, A.rows, DiagonalTerm{A}).value;
    unit_ = largest > 0 ? std::ldexp(1., std::ilogb(largest)) : 1;
    parallel_for(on_, A.rows, RootOfDiagonal{A, unit_, scale_.data()});
    for_each_entry(on_, A.rows, A.begin, finest.entries, ScaleFinest{A, unit_, scale_.data(), finest.values.data()});
    finest.A = {A.rows, A.columns, A.begin, A.column, finest.values.data(), finest.entries, A.stencils};
    auto& vectors = null.vectors;
    parallel_for(on_, A.rows, Unscale<double>{scale_.data(), null.count, vectors.data(), vectors.data()});
    int rows_per_node = null.rows_per_node;
    for (std::size_t number = 0;; ++number, rows_per_node = null.count) {
        auto& level = levels_[number];
        for (auto* vector : {&level.x, &level.y, &level.b, &level.d})
            if (vector->size() == 0) *vector = Buffer<float, S>(on_, level.A.rows);
        // An estimate, since the bound by row sums is often larger by half, and the smoother then weaker.
        const double bound = row_sum_bound(on_, level.A);
        level.largest = std::min(bound, largest_eigenvalue(on_, level.A, lanczos_steps, close_to_bound * bound, level.x, level.y, level.d));
        if (options_.smoother == Smoother::gauss_seidel && !keep_aggregates) level.colors = row_colors(on_, level.A);
        if (!add_coarse(number, vectors, null.count, rows_per_node, keep_aggregates)) break;
        if (options_.cycle == Cycle::k && number > 0)
            for (auto* vector : {&levels_[number].c, &levels_[number].Ac}) *vector = Buffer<float, S>(on_, levels_[number].A.rows);
    }
    const auto& coarsest = levels_.back();
    if (coarsest.A.rows <= most_inverse && levels_.size() > 1) {
        const auto n = static_cast<std::size_t>(coarsest.A.rows);
        const auto begin = to_host(coarsest.own.begin);
        const auto column = to_host(coarsest.own.column);
        const auto value = to_host(coarsest.own.value);
        std::vector<double> dense(n * n, 0.);
        for (std::size_t row = 0; row < n; ++row)
            for (std::uint32_t e = begin[row]; e < begin[row + 1]; ++e)
                dense[row * n + static_cast<std::size_t>(column[e])] = static_cast<double>(value[e]);
        const auto inverse = dense_inverse(std::move(dense), static_cast<int>(n));
        inverse_ = to_space(on_, std::vector<float>(inverse.begin(), inverse.end()));
    }
    synchronize(on_);
}

template <Space S>
bool AggregationMultigrid<S>::add_coarse(std::size_t number, Buffer<double, S>& null, int vectors, int rows_per_node,
                                         bool keep_aggregates) {
    if (keep_aggregates && number + 1 == levels_.size()) return false;
    if (!keep_aggregates && levels_[number].A.rows <= coarsest_rows) return false;
    if (!keep_aggregates) levels_.emplace_back();
    auto& fine = levels_[number];
    auto& coarse = levels_[number + 1];
    const Strength strength;
    const View<const double> near_null(null.view());
    if (!keep_aggregates) {
        if (rows_per_node == 1) {
            fine.aggregates = aggregated(on_, fine.A, strong_entries(on_, fine.A, strength).view());
        } else {
            const auto norms = block_norms(on_, fine.A, rows_per_node);
            fine.aggregates = aggregated(on_, norms.view(), strong_entries(on_, norms.view(), strength).view());
        }
        if (fine.aggregates.count == 0 || 10 * fine.aggregates.count * vectors > 9 * fine.A.rows) {
            levels_.pop_back();
            return false;
        }
    }
    auto tentative = tentative_prolongator<float>(on_, fine.aggregates, near_null, vectors, rows_per_node);
    fine.P = vectors == 1 ? product(on_, filtered_smoother(on_, fine.A, near_null, kept_part, fine.largest).view, tentative.P.view())
                          : product(on_, UnfilteredSmoother<float>{fine.A, 4 / (3 * std::max(fine.largest, 1e-30))}, tentative.P.view());
    tentative.P = {};
    fine.R = transposed(on_, fine.P.view());
    coarse.own = triple_product(on_, fine.R.view(), fine.A, fine.P.view());
    Buffer<float, S> scale(on_, coarse.own.rows);
    parallel_for(on_, coarse.own.rows, RootOfCoarseDiagonal{coarse.own.view(), scale.data()});
    scale_both(on_, coarse.own, scale.data(), scale.data());
    scale_both<S>(on_, fine.P, nullptr, scale.data());
    scale_both<S>(on_, fine.R, scale.data(), nullptr);
    null = Buffer<double, S>(on_, coarse.own.rows * vectors);
    parallel_for(on_, coarse.own.rows, Unscale<float>{scale.data(), vectors, tentative.coarse_null.data(), null.data()});
    coarse.A = coarse.own.view();
    coarse.entries = coarse.own.entries();
    return true;
}

template <Space S>
bool AggregationMultigrid<S>::twice(std::size_t number) const {
    if (number + 1 >= levels_.size()) return false;
    return (options_.cycle == Cycle::w && number > 0) || (options_.cycle == Cycle::automatic && number >= first_twice);
}

template <Space S>
void AggregationMultigrid<S>::smooth(S on, const Level& level, bool from_zero, Sweep sweep) const {
    if (&level == &levels_.back() && levels_.size() > 1) return chebyshev(on, level, from_zero, coarsest_degree);
    if (options_.smoother == Smoother::gauss_seidel) return gauss_seidel(on, level, from_zero, sweep);
    if (options_.smoother == Smoother::jacobi || options_.steps == 1) return jacobi(on, level, from_zero);
    chebyshev(on, level, from_zero, options_.steps);
}

template <Space S>
void AggregationMultigrid<S>::chebyshev(S on, const Level& level, bool from_zero, int degree) const {
    // [Saad 2003, algorithm 12.1]
    const double high = level.largest, low = smoothed_range * high, middle = (high + low) / 2, half = (high - low) / 2;
    double rho = half / middle;
    for (int step = 0; step < degree; ++step) {
        if (step == 0 && from_zero) continue;
        const double next = 1 / (2 * middle / half - rho);
        const double again = step == 0 ? 0 : next * rho, by = step == 0 ? 1 / middle : 2 * next / half;
        if (step > 0) rho = next;
        const bool last = step + 1 == degree;
        if (step == 1 && from_zero)
            for_each_row_sum(on, level.A, level.b.data(),
                             FirstTwoSteps{level.b.data(), static_cast<float>(1 / middle), static_cast<float>(again),
                                           static_cast<float>(by), last ? nullptr : level.d.data(), level.y.data()});
        else
            for_each_row_sum(on, level.A, level.x.data(),
                             ChebyshevStep{level.b.data(), level.x.data(), static_cast<float>(again), static_cast<float>(by),
                                           level.d.data(), level.y.data(), last});
        std::swap(level.x, level.y);
    }
}

/// A polynomial of degree 1 is a step with 2 over the sum of the ends of its range.
template <Space S>
void AggregationMultigrid<S>::jacobi(S on, const Level& level, bool from_zero) const {
    const double damping = options_.smoother == Smoother::jacobi ? 4. / 3 : 2 / (1 + smoothed_range);
    const auto by = static_cast<float>(damping / std::max(level.largest, 1e-30));
    for (int step = 0; step < options_.steps; ++step) {
        if (step == 0 && from_zero)
            parallel_for(on, level.A.rows, FirstStep{level.b.data(), by, level.y.data()});
        else
            for_each_row_sum(on, level.A, level.x.data(),
                             ChebyshevStep{level.b.data(), level.x.data(), 0, by, nullptr, level.y.data(), true});
        std::swap(level.x, level.y);
    }
}

template <Space S>
void AggregationMultigrid<S>::gauss_seidel(S on, const Level& level, bool from_zero, Sweep sweep) const {
    if (from_zero) parallel_for(on, level.A.rows, SetZero{level.x.data()});
    const auto& colors = level.colors;
    for (int step = 0; step < options_.steps; ++step)
        for (int k = 0; k < colors.count(); ++k) {
            const auto color = static_cast<std::size_t>(sweep == Sweep::before ? k : colors.count() - 1 - k);
            const index_t first = colors.begin[color];
            parallel_for(on, colors.begin[color + 1] - first, RelaxRow{level.A, colors.row.data() + first, level.b.data(), level.x.data()});
        }
}

/// x = M^-1 b on this level, or from x on.
template <Space S>
void AggregationMultigrid<S>::cycle(S on, std::size_t number, bool from_zero) const {
    const auto& level = levels_[number];
    if (number + 1 == levels_.size()) {
        if (inverse_.size() > 0)
            dense_times(on, {inverse_.data(), level.A.rows, level.b.data(), level.x.data()});
        else
            smooth(on, level, from_zero, Sweep::before);
        return;
    }
    const auto& coarse = levels_[number + 1];
    smooth(on, level, from_zero, Sweep::before);
    for_each_row_sum(on, level.A, level.x.data(), LevelResidual{level.b.data(), level.y.data()});
    for_each_row_sum(on, level.R.view(), level.y.data(), ScaledSum{1, coarse.b.data()});
    if (coarse.c.size() > 0) {
        krylov_cycle(on, number + 1);
    } else {
        cycle(on, number + 1, true);
        if (twice(number + 1)) cycle(on, number + 1, false);
    }
    for_each_row_sum(on, level.P.view(), coarse.x.data(), AddSum{level.x.data()});
    smooth(on, level, false, Sweep::after);
}

/// x = A^-1 b on this level by at most two iterations of flexible conjugate gradients with the cycle; b is overwritten.
///                                                                                          [Notay & Vassilevski 2008, algorithm 3.2]
template <Space S>
void AggregationMultigrid<S>::krylov_cycle(S on, std::size_t number) const {
    const auto& level = levels_[number];
    const index_t n = level.A.rows;
    cycle(on, number, true);
    parallel_for(on, n, CopyTo{level.x.data(), level.c.data()});
    for_each_row_sum(on, level.A, level.c.data(), ScaledSum{1, level.Ac.data()});
    const auto first = sum<3>(on, n, CorrectionTerms{level.c.data(), level.Ac.data(), level.b.data(), nullptr});
    const double rho = first[0], alpha = first[1], r2 = first[2];
    if (!(rho > 0) || !std::isfinite(rho)) return;  // b is zero, or rounding has made the level indefinite: x is the cycle's
    const double left = sum<1>(on, n, SubtractCorrection{level.Ac.data(), static_cast<float>(alpha / rho), level.b.data()})[0];
    if (left <= enough_in_one * enough_in_one * r2)
        return parallel_for(on, n, JoinCorrections{level.c.data(), static_cast<float>(alpha / rho), 0, level.x.data()});
    cycle(on, number, true);
    for_each_row_sum(on, level.A, level.x.data(), ScaledSum{1, level.y.data()});
    const auto second = sum<3>(on, n, CorrectionTerms{level.x.data(), level.y.data(), level.b.data(), level.Ac.data()});
    const double gamma = second[2], rest = second[0] - gamma * gamma / rho;
    const double of_second = rest > 0 ? second[1] / rest : 0;
    parallel_for(on, n,
                 JoinCorrections{level.c.data(), static_cast<float>((alpha - gamma * of_second) / rho), static_cast<float>(of_second),
                                 level.x.data()});
}

/// The right-hand side of the cycle, in units in which |in| is 1, whatever the units of the problem, so that floats keep their range.
/// @return the unit
template <Space S>
double AggregationMultigrid<S>::begin_cycle(VectorAlgebra<S>& algebra, const Buffer<double, S>& in) const {
    const double norm = std::sqrt(algebra.dot(in, in));
    const double unit = norm > 0 && std::isfinite(norm) ? std::ldexp(1., std::ilogb(norm)) : 1;
    parallel_for(on_, in.size(), NarrowScaled{in.data(), scale_.data(), 1 / unit, levels_.front().b.data()});
    return unit;
}

template <Space S>
void AggregationMultigrid<S>::apply(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const {
    const double unit = begin_cycle(algebra, in);
    cycle(on_, 0, true);
    parallel_for(on_, in.size(), WidenScaled{levels_.front().x.data(), scale_.data(), unit / unit_, out.data()});
    if (singular_) algebra.remove_mean(out);
}

template <Space S>
double AggregationMultigrid<S>::apply_dot(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const
    requires std::same_as<S, Cpu>
{
    if (singular_) {
        apply(algebra, in, out);
        return algebra.dot(in, out);
    }
    const double unit = begin_cycle(algebra, in);
    cycle(on_, 0, true);
    Buffer<VectorSums, S> partial(on_, sum_runs_count);
    const WidenScaled widen{levels_.front().x.data(), scale_.data(), unit / unit_, out.data()};
    return sum_in_runs(on_, in.size(), WidenAndMultiply{widen, in.data()}, partial).first;
}

#if defined(__CUDACC__)
template <Space S>
void AggregationMultigrid<S>::submit(ResidentCg& cg, S on, const Buffer<double, S>& in, Buffer<double, S>& out) const
    requires std::same_as<S, Cuda>
{
    const auto& finest = levels_.front();
    parallel_for(on, in.size(), NarrowResidual{cg.scalars(), in.data(), scale_.data(), finest.b.data()});
    cycle(on, 0, true);
    const WidenAndSum widen{cg.scalars(), finest.x.data(), scale_.data(), singular_ ? nullptr : in.data(), 1 / unit_, out.data()};
    if (singular_)
        device::remove_mean_then(on, widen, cg, in, out);
    else
        device::sum_then(on, in.size(), widen, device::StoreTotal{&cg.scalars()->rz}, cg.sums());
}
#endif

template <Space S>
std::vector<typename AggregationMultigrid<S>::LevelSize> AggregationMultigrid<S>::levels() const {
    std::vector<LevelSize> all;
    for (const auto& level : levels_) all.push_back({level.A.rows, level.entries});
    return all;
}

template <Space S>
std::uint64_t AggregationMultigrid<S>::bytes() const {
    index_t floats = 2 * scale_.size() + inverse_.size();
    std::uint64_t bytes = 0;
    for (const auto& level : levels_) {
        floats += level.values.size() + level.x.size() + level.y.size() + level.b.size() + level.d.size() + level.aggregates.of.size() +
                  level.colors.row.size() + level.c.size() + level.Ac.size();
        bytes += level.own.bytes() + level.P.bytes() + level.R.bytes();
    }
    return bytes + sizeof(float) * static_cast<std::uint64_t>(floats);
}

template <Space S>
double AggregationMultigrid<S>::bytes_per_cycle() const {
    double bytes = 20. * static_cast<double>(levels_.front().A.rows) * 2;  // narrowing and widening
    double visits = 1;
    for (std::size_t number = 0; number < levels_.size(); ++number) {
        const auto& level = levels_[number];
        const auto rows = static_cast<double>(level.A.rows);
        const bool by_krylov = level.c.size() > 0;
        if (twice(number) || by_krylov) visits *= 2;
        const double steps = options_.steps, product = bytes_of_product(level.A);
        // Each product reads the offsets, entries and x (b: the first); steps also b, d and write d, y, the last ones y alone; the residual
        // b and r; both transfers their matrix; a K cycle multiplies once more, reads and writes c, Ac, b and x.
        double moved = 2 * steps * product + rows * 4 * (2 + (2 * steps - 2) * 5 - 1 + 3 + 2 + 1);
        if (options_.smoother == Smoother::gauss_seidel) moved = (2 * steps + 1) * product + rows * 4 * (2 * steps * 3 + 4);
        if (by_krylov) moved += product + rows * 4 * 9;
        bytes += visits * (moved + static_cast<double>(level.P.bytes() + level.R.bytes()));
    }
    return bytes;
}

template class AggregationMultigrid<KS_SPACE>;

}  // namespace kasane::sparse
