// check_on_device(): one read of each entry, and one of its partner. The device finds out whether all is well; a problem is found again
// by the host's check(), which describes it.
// Invariants: offsets are checked before use as positions, columns before use as rows.
#include <kasane/sparse/grid/launch.cuda.hpp>
#include <kasane/sparse/order/components.cuda.hpp>
#include <kasane/sparse/order/entries.cuda.hpp>
#include <kasane/sparse/order/on_device.hpp>
#include <kasane/sparse/order/to_value.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace kasane::sparse {
namespace {

using namespace device;

constexpr unsigned check_block = 256;

struct Findings {
    unsigned long long lower = 0, upper = 0;  ///< entries
    unsigned long long longest = 0;
    int offsets_wrong = 0;
    int wrong = 0;  ///< a check failed, or columns do not ascend
    int zero_sums = 1;
};

__global__ void check_offsets(const CsrView A, Findings* findings) {
    const index_t row = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (row < A.n && (A.end(row) < A.begin(row) || (row == 0 && A.begin(0) != 0))) findings->offsets_wrong = 1;
}

/// Value of an entry in a row of ascending columns; false where there is none.
__device__ bool find_entry(const CsrView& A, index_t row, index_t column, double& value) {
    index_t low = A.begin(row), high = A.end(row);
    const index_t end = high;
    while (low < high) {
        const index_t middle = low + (high - low) / 2;
        if (A.column(middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || A.column(low) != column) return false;
    value = A.value[low];
    return true;
}

/// As in check(): beyond 1e-12 of the larger, and beyond the rounding of sums that cancelled.
__device__ bool differ(const CsrView& A, index_t row, index_t column, double a, double b) {
    const double difference = fabs(a - b);
    if (difference <= 1e-12 * fmax(fabs(a), fabs(b))) return false;
    double own = 0, other = 0;
    find_entry(A, row, row, own);
    find_entry(A, column, column, other);
    return !(difference <= 4 * std::numeric_limits<double>::epsilon() * sqrt(fabs(own)) * sqrt(fabs(other)));
}

/// Findings of one lane about a row.
struct RowLook {
    double diagonal = 0, sum = 0, sum_of_sizes = 0;
    unsigned lower = 0, upper = 0;
    bool wrong = false, positive = false;

    __device__ void see(const CsrView& A, index_t row, index_t entry) {
        const index_t column = A.column(entry);
        const double value = A.value[entry];
        if (column < 0 || column >= A.n || !(value - value == 0) || (entry > A.begin(row) && A.column(entry - 1) >= column)) {
            wrong = true;
            return;
        }
        sum += value;
        sum_of_sizes += fabs(value);
        if (column == row) {
            diagonal = value;
            return;
        }
        positive = positive || value > 0;
        if (column < row) {
            ++lower;
            return;
        }
        ++upper;
        double partner = 0;
        if (!find_entry(A, column, row, partner) || !(partner - partner == 0) || differ(A, row, column, value, partner)) wrong = true;
    }
    /// Sums over the lanes of a warp.
    __device__ void join_lanes() {
        for (int step = 16; step > 0; step /= 2) {
            diagonal += __shfl_xor_sync(~0u, diagonal, step);
            sum += __shfl_xor_sync(~0u, sum, step);
            sum_of_sizes += __shfl_xor_sync(~0u, sum_of_sizes, step);
        }
    }
};

__global__ void check_rows(const CsrView A, Findings* findings) {
    if (findings->offsets_wrong) return;
    const index_t base = (blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x) / 32 * 32;
    unsigned long long lower = 0, upper = 0, longest = 0;
    bool wrong = false, zero_sums = true;
    rows_of_warp(A, base, [&](index_t row, index_t first, index_t last, index_t step, bool shared) {
        RowLook look;
        for (index_t e = first; e < last; e += step) look.see(A, row, e);
        if (shared) look.join_lanes();
        lower += look.lower;
        upper += look.upper;
        wrong = wrong || look.wrong || !(look.diagonal > 0);
        const auto entries = A.end(row) - A.begin(row);
        const double rounding = static_cast<double>(entries) * std::numeric_limits<double>::epsilon() * look.sum_of_sizes;
        zero_sums = zero_sums && !look.positive && fabs(look.sum) <= rounding;
        longest = static_cast<unsigned long long>(entries) > longest ? static_cast<unsigned long long>(entries) : longest;
    });
    for (int step = 16; step > 0; step /= 2) {
        lower += __shfl_xor_sync(~0u, lower, step);
        upper += __shfl_xor_sync(~0u, upper, step);
        const unsigned long long other = __shfl_xor_sync(~0u, longest, step);
        longest = other > longest ? other : longest;
    }
    if (wrong) findings->wrong = 1;
    if (!zero_sums) findings->zero_sums = 0;
    if (threadIdx.x % 32 != 0) return;
    atomicAdd(&findings->lower, lower);
    atomicAdd(&findings->upper, upper);
    if (longest > findings->longest) atomicMax(&findings->longest, longest);
}

/// Copies the arrays of a matrix to the host without narrowing, so that check() sees the original numbers.
class HostCopy {
   public:
    HostCopy(Cuda on, const CsrView& A, bool offsets_alone) : on_(on), view_(A) {
        fetch(begin32_, view_.begin32, A.n + 1);
        fetch(begin64_, view_.begin64, A.n + 1);
        if (offsets_alone) return;
        const index_t nonzeros = view_.begin(A.n);
        fetch(column32_, view_.column32, nonzeros);
        fetch(column64_, view_.column64, nonzeros);
        fetch(value_, view_.value, nonzeros);
    }
    const CsrView& view() const { return view_; }

   private:
    template <class T>
    void fetch(std::vector<T>& here, const T*& at, index_t n) {
        if (!at || n == 0) return;
        here.resize(static_cast<std::size_t>(n));
        copy_to_host(on_, kasane::view(here), View<const T>(at, n));
        at = here.data();
    }

    Cuda on_;
    CsrView view_;
    std::vector<std::int32_t> begin32_, column32_;
    std::vector<std::int64_t> begin64_, column64_;
    std::vector<double> value_;
};

/// Numbers the components in the order of their first rows.
void number_components(std::vector<std::int32_t>& first_row) {
    std::int32_t components = 0;
    for (std::size_t row = 0; row < first_row.size(); ++row) {
        const auto first = static_cast<std::size_t>(first_row[row]);
        first_row[row] = first == row ? components++ : first_row[first];  // smaller rows have their number already
    }
}

__global__ void count_firsts(index_t rows, const std::int32_t* first_row, unsigned* components) {
    const index_t row = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    const unsigned firsts = __ballot_sync(~0u, row < rows && first_row[row] == row);
    if (threadIdx.x % 32 == 0 && firsts != 0) atomicAdd(components, static_cast<unsigned>(__popc(firsts)));
}

}  // namespace

MatrixFacts check_on_device(Cuda on, const CsrView& A, ComponentsOf components_of) {
    // These checks throw before they read an entry.
    if (A.n <= 0 || A.n > most_rows || (!A.begin32 && !A.begin64)) return check(A);
    KS_CUDA(cudaSetDevice(on.device));
    const auto grid = static_cast<unsigned>((A.n + check_block - 1) / check_block);
    auto findings = to_space(on, std::vector<Findings>(1));
    Findings* const there = findings.data();
    launch(Beside::nothing, grid, check_block, on.stream, check_offsets, A, there);
    const index_t nonzeros = [&] {
        if (A.begin64) return to_value(on, A.begin64 + A.n);
        return static_cast<index_t>(to_value(on, A.begin32 + A.n));
    }();
    const bool missing = nonzeros > 0 && ((!A.column32 && !A.column64) || !A.value);
    if (!missing) launch(Beside::nothing, grid, check_block, on.stream, check_rows, A, there);
    const Findings found = to_value<Findings>(on, there);
    if (found.offsets_wrong || missing) return check(HostCopy(on, A, true).view());
    if (found.wrong || found.lower != found.upper) return check(HostCopy(on, A, false).view());

    MatrixFacts facts;
    facts.rows = A.n;
    facts.nonzeros = nonzeros;
    facts.longest_row = static_cast<index_t>(found.longest);
    facts.singular = found.zero_sums != 0;
    if (!facts.singular && components_of == ComponentsOf::singular) return facts;
    const auto first_row = first_of_component(on, A);
    auto components = to_space(on, std::vector<unsigned>(1));
    launch(Beside::nothing, grid, check_block, on.stream, count_firsts, A.n, first_row.data(), components.data());
    facts.components = to_value<unsigned>(on, components.data());
    if (facts.singular && facts.components > 1) {
        facts.component = to_host(first_row);
        number_components(facts.component);
    }
    return facts;
}

}  // namespace kasane::sparse
