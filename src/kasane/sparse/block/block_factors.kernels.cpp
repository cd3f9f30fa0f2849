#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/block/block.hpp>
#include <kasane/sparse/block/block_factors.hpp>
#include <kasane/sparse/general/each_row.hpp>

#include <algorithm>
#include <utility>

namespace kasane::sparse {
namespace {

constexpr index_t block_lanes = lanes_of<KS_SPACE>;

/// The arrangement of blocks. The numbers of a place of the blocks of a slice are neighbours, so that threads of neighbouring rows read
/// neighbouring numbers.
struct BlockPattern {
    const std::int64_t* begin;
    const std::int32_t *count, *diagonal, *column;
    KS_FN index_t at(index_t row, index_t k) const { return begin[row / block_lanes] + k * block_lanes + row % block_lanes; }
};

template <int B>
KS_FN Block<B> load(const double* value, index_t at) {
    const index_t lane = at % block_lanes, first = (at - lane) * B * B + lane;
    Block<B> block;
    for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c) block.of[r][c] = value[first + (r * B + c) * block_lanes];
    return block;
}

template <int B>
KS_FN void store(double* value, index_t at, const Block<B>& block) {
    const index_t lane = at % block_lanes, first = (at - lane) * B * B + lane;
    for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c) value[first + (r * B + c) * block_lanes] = block.of[r][c];
}

template <int B>
KS_FN BlockVector<B> load_vector(const double* x, index_t row) {
    BlockVector<B> v;
    for (int c = 0; c < B; ++c) v.of[c] = x[row * B + c];
    return v;
}

template <int B>
KS_FN void store_vector(double* x, index_t row, const BlockVector<B>& v) {
    for (int c = 0; c < B; ++c) x[row * B + c] = v.of[c];
}

template <int B>
struct MultiplyBlockRow {
    BlockPattern A;
    const double *value, *in;
    double* out;
    KS_FN void operator()(index_t row) const {
        BlockVector<B> sum{};
        for (index_t k = 0; k < A.count[row]; ++k) {
            const index_t e = A.at(row, k);
            add_product(load<B>(value, e), load_vector<B>(in, A.column[e]), sum);
        }
        store_vector(out, row, sum);
    }
};

/// The diagonal block with its diagonal raised. @return its inverse; flags a pivot that is not positive
template <int B>
KS_FN Block<B> inverse_of(Block<B> d, double largest, double& bad) {
    bad = invert(d, 1e-10 * largest) ? 0 : 1;
    return d;
}

template <int B>
KS_FN double largest_on_diagonal(const Block<B>& d) {
    double most = 0;
    for (int r = 0; r < B; ++r) most = fmax(most, d.of[r][r]);
    return most;
}

template <int B>
KS_FN void raise(Block<B>& d, double shift) {
    for (int r = 0; r < B; ++r) d.of[r][r] *= 1 + shift;
}

template <int B>
struct InvertDiagonalBlock {
    BlockPattern A;
    const double* value;
    double shift;
    double *inverse, *bad;
    KS_FN void operator()(index_t row) const {
        Block<B> d = load<B>(value, A.at(row, A.diagonal[row]));
        const double largest = largest_on_diagonal(d);
        raise(d, shift);
        store(inverse, row, inverse_of(d, largest, bad[row]));
    }
};

/// Row of L U, where L has unit blocks on its diagonal: of a symmetric matrix U is D L^T.
template <int B>
struct FactoriseBlockRow {
    BlockPattern A;
    const double* entries;
    index_t first_row;
    double shift;
    double *value, *inverse, *bad;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        const index_t count = A.count[row], diagonal = A.diagonal[row];
        for (index_t k = 0; k < count; ++k) store(value, A.at(row, k), load<B>(entries, A.at(row, k)));
        Block<B> d = load<B>(entries, A.at(row, diagonal));
        const double largest = largest_on_diagonal(d);
        raise(d, shift);
        store(value, A.at(row, diagonal), d);
        for (index_t k = 0; k < diagonal; ++k) {
            const index_t e = A.at(row, k);
            const index_t above = A.column[e];
            const Block<B> factor = product(load<B>(value, e), load<B>(inverse, above));
            store(value, e, factor);
            index_t mine = k + 1;
            for (index_t m = A.diagonal[above] + 1; m < A.count[above]; ++m) {
                const index_t u = A.at(above, m);
                while (mine < count && A.column[A.at(row, mine)] < A.column[u]) ++mine;
                if (mine == count) break;
                const index_t to = A.at(row, mine);
                if (A.column[to] != A.column[u]) continue;
                Block<B> changed = load<B>(value, to);
                subtract_product(factor, load<B>(value, u), changed);
                store(value, to, changed);
            }
        }
        store(inverse, row, inverse_of(load<B>(value, A.at(row, diagonal)), largest, bad[row]));
    }
};

template <int B>
struct SolveLowerBlockRow {
    BlockPattern A;
    const double* value;
    index_t first_row;
    const double* in;
    double* out;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        BlockVector<B> sum = load_vector<B>(in, row);
        for (index_t k = 0; k < A.diagonal[row]; ++k) {
            const index_t e = A.at(row, k);
            subtract_product(load<B>(value, e), load_vector<B>(out, A.column[e]), sum);
        }
        store_vector(out, row, sum);
    }
};

template <int B>
struct SolveUpperBlockRow {
    BlockPattern A;
    const double *value, *inverse;
    index_t first_row;
    double* out;
    KS_FN void operator()(index_t index) const {
        const index_t row = first_row + index;
        BlockVector<B> sum = load_vector<B>(out, row), solved{};
        for (index_t k = A.diagonal[row] + 1; k < A.count[row]; ++k) {
            const index_t e = A.at(row, k);
            subtract_product(load<B>(value, e), load_vector<B>(out, A.column[e]), sum);
        }
        add_product(load<B>(inverse, row), sum, solved);
        store_vector(out, row, solved);
    }
};

template <int B>
struct ApplyDiagonalBlock {
    const double *inverse, *in;
    double* out;
    KS_FN void operator()(index_t row) const {
        BlockVector<B> solved{};
        add_product(load<B>(inverse, row), load_vector<B>(in, row), solved);
        store_vector(out, row, solved);
    }
};

struct CopyEntry {
    const double* in;
    double* out;
    KS_FN void operator()(index_t i) const { out[i] = in[i]; }
};

struct PermuteBlock {
    const std::int32_t* row;
    int block;
    bool back;
    const double* from;
    double* to;
    KS_FN void operator()(index_t i) const {
        const index_t here = i * block, there = index_t{row[i]} * block;
        for (int c = 0; c < block; ++c) to[(back ? there : here) + c] = from[(back ? here : there) + c];
    }
};

/// @tparam Base  BlockFactors<S>
template <Space S, int B>
class BlockFactorsOf final : public BlockFactors<S> {
   public:
    BlockFactorsOf(S on, const SlicedPattern& pattern, std::vector<index_t> color_begin, BlockPreconditioner kind)
        : on_(on),
          kind_(kind),
          color_begin_(std::move(color_begin)),
          source_(pattern.source),
          begin_(to_space(on, pattern.begin)),
          count_(to_space(on, pattern.count)),
          diagonal_(to_space(on, pattern.diagonal)),
          column_(to_space(on, pattern.column)),
          value_(on, stored_blocks() * B * B),
          factor_(on, kind == BlockPreconditioner::ic0 ? stored_blocks() * B * B : 0),
          inverse_(on, kind == BlockPreconditioner::none ? 0 : padded_rows() * B * B) {}

    void multiply(const Buffer<double, S>& in, Buffer<double, S>& out) const override {
        each_row(on_, rows(), MultiplyBlockRow<B>{pattern(), value_.data(), in.data(), out.data()});
    }

    void precondition(const Buffer<double, S>& in, Buffer<double, S>& out) const override {
        if (kind_ == BlockPreconditioner::none) return parallel_for(on_, in.size(), CopyEntry{in.data(), out.data()});
        if (kind_ == BlockPreconditioner::jacobi)
            return each_row(on_, rows(), ApplyDiagonalBlock<B>{inverse_.data(), in.data(), out.data()});
        const std::size_t colors = color_begin_.size() - 1;
        for (std::size_t c = 0; c < colors; ++c)
            each_row(on_, color_begin_[c + 1] - color_begin_[c],
                     SolveLowerBlockRow<B>{pattern(), factor_.data(), color_begin_[c], in.data(), out.data()});
        for (std::size_t c = colors; c-- > 0;)
            each_row(on_, color_begin_[c + 1] - color_begin_[c],
                     SolveUpperBlockRow<B>{pattern(), factor_.data(), inverse_.data(), color_begin_[c], out.data()});
    }

    bool set_values(const std::vector<double>& values, double shift) override {
        std::vector<double> arranged(static_cast<std::size_t>(value_.size()), 0.);
        for (std::size_t at = 0; at < source_.size(); ++at) {
            if (source_[at] < 0) continue;
            const auto lane = at % block_lanes, first = (at - lane) * B * B + lane;
            for (std::size_t c = 0; c < B * B; ++c)
                arranged[first + c * block_lanes] = values[static_cast<std::size_t>(source_[at]) * B * B + c];
        }
        copy_from_host(on_, value_.view(), View<const double>(view(arranged)));
        if (kind_ == BlockPreconditioner::none) return true;
        Buffer<double, S> bad(on_, rows());
        if (kind_ == BlockPreconditioner::jacobi) {
            each_row(on_, rows(), InvertDiagonalBlock<B>{pattern(), value_.data(), shift, inverse_.data(), bad.data()});
        } else {
            for (std::size_t c = 0; c + 1 < color_begin_.size(); ++c)
                each_row(
                    on_, color_begin_[c + 1] - color_begin_[c],
                    FactoriseBlockRow<B>{pattern(), value_.data(), color_begin_[c], shift, factor_.data(), inverse_.data(), bad.data()});
        }
        return std::ranges::all_of(to_host(bad), [](double one) { return one == 0; });
    }

    index_t stored_blocks() const override { return column_.size(); }
    std::uint64_t bytes() const override {
        return static_cast<std::uint64_t>(value_.size() + factor_.size() + inverse_.size()) * 8 +
               static_cast<std::uint64_t>(column_.size()) * 4 + static_cast<std::uint64_t>(rows()) * 8;
    }
    double bytes_per_iteration() const override {
        const double matrix = static_cast<double>(block_bytes(stored_blocks(), B)) + 8. * static_cast<double>(rows());
        const double inverse = 8. * B * B * static_cast<double>(rows());
        return matrix + (kind_ == BlockPreconditioner::ic0 ? matrix + inverse : kind_ == BlockPreconditioner::jacobi ? inverse : 0);
    }

   private:
    index_t rows() const { return count_.size(); }
    /// Inverses of rows are arranged as entries, slice by slice.
    index_t padded_rows() const { return (rows() + block_lanes - 1) / block_lanes * block_lanes; }
    BlockPattern pattern() const { return {begin_.data(), count_.data(), diagonal_.data(), column_.data()}; }

    S on_;
    BlockPreconditioner kind_;
    std::vector<index_t> color_begin_;
    std::vector<std::int64_t> source_;
    Buffer<std::int64_t, S> begin_;
    Buffer<std::int32_t, S> count_, diagonal_, column_;
    Buffer<double, S> value_, factor_, inverse_;
};

}  // namespace

template <Space S>
std::unique_ptr<BlockFactors<S>> make_block_factors(S on, const SlicedPattern& pattern, std::vector<index_t> color_begin, int block,
                                                    BlockPreconditioner kind) {
    switch (block) {
        case 2: return std::make_unique<BlockFactorsOf<S, 2>>(on, pattern, std::move(color_begin), kind);
        case 3: return std::make_unique<BlockFactorsOf<S, 3>>(on, pattern, std::move(color_begin), kind);
        case 4: return std::make_unique<BlockFactorsOf<S, 4>>(on, pattern, std::move(color_begin), kind);
        case 5: return std::make_unique<BlockFactorsOf<S, 5>>(on, pattern, std::move(color_begin), kind);
        case 6: return std::make_unique<BlockFactorsOf<S, 6>>(on, pattern, std::move(color_begin), kind);
        default: throw LogicError("blocks have 2 to 6 rows");
    }
}

template <Space S>
void permute_blocks(S on, View<const std::int32_t> row, int block, bool back, View<const double> from, View<double> to) {
    parallel_for(on, row.n, PermuteBlock{row.ptr, block, back, from.ptr, to.ptr});
}

template std::unique_ptr<BlockFactors<KS_SPACE>> make_block_factors(KS_SPACE, const SlicedPattern&, std::vector<index_t>, int,
                                                                    BlockPreconditioner);
template void permute_blocks(KS_SPACE, View<const std::int32_t>, int, bool, View<const double>, View<double>);

}  // namespace kasane::sparse
