#include <kasane/sparse/distributed/subdomain.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>
#include <kasane/sparse/distributed/near_null_of_rows.hpp>
#include <kasane/sparse/distributed/part_kernels.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/general/arrangement.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::sparse {

namespace {

/// A diagonal matrix whose jacobi is that of whole rows: the largest entry of a row where its diagonal entry is below 1e-3 of that.
template <class User>
MatrixOf<User> diagonal_of_whole_rows(const RowPartOf<User>& part) {
    std::vector<User> diagonal(at(part.own()));
    std::vector<double> most(at(part.own()));
    const auto include = [&](const MatrixOf<User>& A, index_t r, index_t row, bool own) {
        for (auto e = at(A.begin[at(r)]); e < at(A.begin[at(r) + 1]); ++e) {
            most[at(row)] = std::max(most[at(row)], std::abs(A.value[e]));
            if (own && A.column[e] == row) diagonal[at(row)] = A.value[e];
        }
    };
    for (index_t row = 0; row < part.inner.rows(); ++row) include(part.inner, row, row, true);
    for (index_t r = 0; r < part.outer.rows(); ++r) include(part.outer, r, part.outer_row[at(r)], false);
    MatrixOf<User> D{{0}, numbers_from_zero(part.own()), {}};
    for (index_t row = 0; row < part.own(); ++row) {
        D.value.push_back(std::abs(diagonal[at(row)]) >= 1e-3 * most[at(row)] ? diagonal[at(row)] : most[at(row)]);
        D.begin.push_back(row + 1);
    }
    return D;
}

/// [[Re a, -Im a], [Im a, Re a]] for every entry a: positive definite where A is Hermitian and positive definite.
CsrMatrix real_form(const ComplexCsrMatrix& A) {
    CsrMatrix real{{0}, {}, {}};
    for (std::size_t row = 0; row + 1 < A.begin.size(); ++row)
        for (const bool imaginary : {false, true}) {
            for (auto e = at(A.begin[row]); e < at(A.begin[row + 1]); ++e) {
                const auto a = A.value[e];
                for (const auto& [column, value] : {std::pair{0, imaginary ? a.imag() : a.real()}, {1, imaginary ? a.real() : -a.imag()}}) {
                    real.column.push_back(2 * A.column[e] + column);
                    real.value.push_back(value);
                }
            }
            real.begin.push_back(std::ssize(real.value));
        }
    return real;
}

/// Numbers of a space over an array of their real and imaginary parts.
template <class T, Space S>
View<T> complex_view(Buffer<double, S>& parts) {
    return {reinterpret_cast<T*>(parts.data()), parts.size() / 2};
}

}  // namespace

template <Space S, class User>
void SubdomainPreconditioner<S, User>::set_real_form(const MatrixOf<User>& A, const std::vector<std::int32_t>& own_scale)
    requires(!std::same_as<User, double>)
{
    auto scale = own_scale;
    if (!scale.empty()) {  // those of received rows travel as the numbers of a vector
        std::vector<T> numbers;
        for (const auto exponent : scale) numbers.push_back(real_number<T>(exponent));
        const auto own = to_space(on_, numbers);
        overlap_.start(own);
        const auto received = overlap_.finish();
        std::vector<T> of_others(at(received.n));
        copy_to_host(on_, view(of_others), received);
        for (const auto& one : of_others) scale.push_back(static_cast<std::int32_t>(one.re));
    }
    const auto v = near_null_of_rows(A, scale, std::vector<std::int32_t>(at(A.rows()), 0), 1);
    std::vector<double> vectors;  // v and i v
    for (const auto& one : v) vectors.insert(vectors.end(), {one.real(), -one.imag(), one.imag(), one.real()});
    rows_ = rows_on(on_, real_form(A), 2 * A.rows());
    multigrid_.emplace(on_, rows_.view(), NearNull<S>{to_space(on_, vectors), 2, 2}, false);
    real_residual_ = Buffer<double, S>(on_, 2 * A.rows());
    real_solution_ = Buffer<double, S>(on_, 2 * A.rows());
    real_algebra_.emplace(on_);
}

template <Space S, class User>
void SubdomainPreconditioner<S, User>::shift_until_positive(const auto& make) {
    for (const double shift : {0., 1e-3, 1e-2, 1e-1, 1.}) {
        shift_ = shift;
        if (make(shift)) return;
    }
    throw PreconditionError(
        "the factors of a worker's rows are not positive definite even with the diagonal doubled: the matrix is far from "
        "positive definite, or not at all");
}

template <Space S, class User>
std::vector<std::int32_t> SubdomainPreconditioner<S, User>::set_blocks(const CsrMatrix& A, int block, bool jacobi)
    requires std::same_as<User, double>
{
    const auto rows = blocked_rows(A.view(), block);
    auto order = numbers_from_zero(rows.rows());
    std::vector<index_t> color_begin{0, rows.rows()};
    if (!jacobi) {
        auto colored = automatic_order(rows.pattern(), !std::same_as<S, Cpu>);
        order = std::move(colored.row);
        color_begin = std::move(colored.color_begin);
    }
    std::vector<std::int32_t> place(order.size()), numbers;
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
        for (int c = 0; c < block; ++c) numbers.push_back(order[i] * block + c);
    }
    blocks_ = make_block_factors(on_, slice_rows(rows.pattern(), order, place, lanes_of<S>), color_begin, block,
                                 jacobi ? BlockPreconditioner::jacobi : BlockPreconditioner::ic0);
    const auto values = block_values(A.view(), rows);
    shift_until_positive([&](double shift) { return blocks_->set_values(values, shift); });
    return numbers;
}

template <Space S, class User>
SubdomainPreconditioner<S, User>::SubdomainPreconditioner(S on, comm::Worker& worker, const RowPartOf<User>& part, Precondition kind,
                                                          bool positive, int block, bool whole_rows)
    : on_(on), overlap_(on, worker, part.overlap, VectorExchange<S, T>::channels) {
    const MatrixOf<User>& A = part.extended.rows() > 0 ? part.extended : part.inner;
    if (std::same_as<User, double> || kind != Precondition::multigrid) {
        residual_ = Buffer<T, S>(on, A.rows());
        solution_ = Buffer<T, S>(on, A.rows());
    }
    auto numbers = numbers_from_zero(A.rows());  // of the subdomain's rows in own and received rows
    if (block > 1) {
        if constexpr (std::same_as<User, double>) numbers = set_blocks(A, block, kind == Precondition::jacobi);
    } else if (kind == Precondition::multigrid) {
        if constexpr (std::same_as<User, double>) {
            rows_ = rows_on(on, A, A.rows());
            multigrid_.emplace(on, rows_.view(), NearNull<S>{constant_vectors(on, A.rows(), 1)}, false);
        } else {
            set_real_form(A, part.row_scale);
        }
    } else if (kind == Precondition::jacobi) {
        if (whole_rows)
            matrix_.emplace(sliced_on(on, diagonal_of_whole_rows<User>(part)));
        else
            matrix_.emplace(sliced_on(on, A));
        diagonal_.emplace(*matrix_, positive);
    } else {
        GeneralOptions options;
        options.precondition = GeneralPrecondition::ilu0;
        options.scale = false;
        MatrixKind kind_of_part;
        kind_of_part.symmetric = positive;
        CsrView sizes = pattern_of(A);
        std::vector<double> size;
        if constexpr (!std::same_as<User, double>) size = magnitudes(A.view()), sizes.value = size.data();
        const Arrangement arrangement(sizes, kind_of_part, options, true, lanes_of<S>, !std::same_as<S, Cpu>);
        numbers = arrangement.rows();
        matrix_.emplace(on, arrangement.pattern);
        const auto values = arrangement.values(A.value.data());
        matrix_->set_values(view(values));
        shift_until_positive([&](double shift) {
            factors_.emplace(*matrix_, arrangement.color_begin, shift);
            return !positive || factors_->positive();
        });
    }
    std::vector<std::int32_t> row_of(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) row_of[static_cast<std::size_t>(numbers[k])] = static_cast<std::int32_t>(k);
    row_of.resize(static_cast<std::size_t>(part.own()));
    to_subdomain_ = to_space(on, numbers);
    from_subdomain_ = to_space(on, row_of);
}

template <Space S, class User>
void SubdomainPreconditioner<S, User>::apply(DistributedAlgebra<S, User>& algebra, const Buffer<T, S>& in, Buffer<T, S>& out) const {
    overlap_.start(in);
    const auto received = overlap_.finish();
    if constexpr (!std::same_as<User, double>) {
        if (multigrid_) {
            gather(on_, in.view(), received, to_subdomain_.view(), complex_view<T>(real_residual_));
            multigrid_->apply(*real_algebra_, real_residual_, real_solution_);
            return gather(on_, View<const T>(complex_view<T>(real_solution_)), View<const T>{}, from_subdomain_.view(), out.view());
        }
    }
    gather(on_, in.view(), received, to_subdomain_.view(), residual_.view());
    if constexpr (std::same_as<User, double>) {
        if (multigrid_) multigrid_->apply(algebra.local(), residual_, solution_);
        if (blocks_) blocks_->precondition(residual_, solution_);
    }
    if (factors_)
        factors_->solve(residual_, solution_);
    else if (diagonal_)
        diagonal_->multiply(residual_, solution_);
    gather(on_, View<const T>(solution_.view()), View<const T>{}, from_subdomain_.view(), out.view());
}

template <Space S, class User>
std::uint64_t SubdomainPreconditioner<S, User>::bytes() const {
    const auto vectors = 2 * sizeof(T) * static_cast<std::uint64_t>(residual_.size()) +
                         2 * 8 * static_cast<std::uint64_t>(real_residual_.size()) +
                         4 * static_cast<std::uint64_t>(to_subdomain_.size() + from_subdomain_.size());
    return vectors + overlap_.bytes() + (matrix_ ? matrix_->bytes() : 0) + (factors_ ? factors_->bytes() : 0) +
           (blocks_ ? blocks_->bytes() : 0) + (diagonal_ ? sizeof(T) * static_cast<std::uint64_t>(residual_.size()) : 0) +
           (multigrid_ ? rows_.bytes() + multigrid_->bytes() : 0);
}

template class SubdomainPreconditioner<Cpu, double>;
template class SubdomainPreconditioner<Cpu, std::complex<double>>;
#if defined(KASANE_CUDA)
template class SubdomainPreconditioner<Cuda, double>;
template class SubdomainPreconditioner<Cuda, std::complex<double>>;
#endif

}  // namespace kasane::sparse
