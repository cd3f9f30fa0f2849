#include <kasane/sparse/distributed/subdomain.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>
#include <kasane/sparse/distributed/part_kernels.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/general/arrangement.hpp>

#include <numeric>

namespace kasane::sparse {
namespace {

std::vector<std::int32_t> numbers_from_zero(index_t n) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace

template <Space S, class User>
SubdomainPreconditioner<S, User>::SubdomainPreconditioner(S on, comm::Worker& worker, const RowPartOf<User>& part, Precondition kind,
                                                          bool positive)
    : on_(on), overlap_(on, worker, part.overlap, VectorExchange<S, T>::channels) {
    const MatrixOf<User>& A = part.extended.rows() > 0 ? part.extended : part.inner;
    residual_ = Buffer<T, S>(on, A.rows());
    solution_ = Buffer<T, S>(on, A.rows());
    auto numbers = numbers_from_zero(A.rows());  // of the subdomain's rows in own and received rows
    if (kind == Precondition::multigrid) {
        if constexpr (std::same_as<User, double>) {
            rows_ = rows_on(on, A, A.rows());
            null_.vectors = constant_vectors(on, A.rows(), 1);
            multigrid_.emplace(on, rows_.view(), null_, false);
        }
    } else if (kind == Precondition::jacobi) {
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
        for (const double shift : {0., 1e-3, 1e-2, 1e-1, 1.}) {
            shift_ = shift;
            factors_.emplace(*matrix_, arrangement.color_begin, shift);
            if (!positive || factors_->positive()) break;
            factors_.reset();
        }
        if (!factors_)
            throw PreconditionError(
                "the factors of a worker's rows are not positive definite even with the diagonal doubled: the matrix is far from "
                "positive definite, or not at all");
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
    gather(on_, in.view(), received, to_subdomain_.view(), residual_.view());
    if constexpr (std::same_as<User, double>) {
        if (multigrid_) multigrid_->apply(algebra.local(), residual_, solution_);
    }
    if (factors_)
        factors_->solve(residual_, solution_);
    else if (diagonal_)
        diagonal_->multiply(residual_, solution_);
    gather(on_, View<const T>(solution_.view()), View<const T>{}, from_subdomain_.view(), out.view());
}

template <Space S, class User>
std::uint64_t SubdomainPreconditioner<S, User>::bytes() const {
    const auto vectors =
        static_cast<std::uint64_t>(residual_.size()) * (2 * sizeof(T) + 4) + static_cast<std::uint64_t>(from_subdomain_.size()) * 4;
    return vectors + overlap_.bytes() + (matrix_ ? matrix_->bytes() : 0) + (factors_ ? factors_->bytes() : 0) +
           (diagonal_ ? sizeof(T) * static_cast<std::uint64_t>(residual_.size()) : 0) +
           (multigrid_ ? rows_.bytes() + multigrid_->bytes() : 0);
}

template class SubdomainPreconditioner<Cpu, double>;
template class SubdomainPreconditioner<Cpu, std::complex<double>>;
#if defined(KASANE_CUDA)
template class SubdomainPreconditioner<Cuda, double>;
template class SubdomainPreconditioner<Cuda, std::complex<double>>;
#endif

}  // namespace kasane::sparse
