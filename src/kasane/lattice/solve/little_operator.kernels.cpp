// The little Dirac operator, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/solve/little_couplings.body.hpp>
#include <kasane/lattice/solve/little_operator.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>

#if defined(__CUDACC__)
#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/lattice/dirac/cuda/site_operations.cuda.hpp>
#include <kasane/lattice/solve/coherent.cuda.hpp>
#include <kasane/lattice/solve/couplings.cuda.hpp>
#include <kasane/lattice/solve/little_gcr.cuda.hpp>
#endif

namespace kasane::lattice {
namespace {

/// What the couplings forward imply: X + g5 X^+ g5 on the diagonal, g5 F^+ g5 backward. Index block rows + row.
template <class T>
struct Complete {
    BlockLayout layout;
    const T* X;
    T* own;
    T* hop;
    KS_FN void operator()(index_t index) const {
        for (index_t column = 0; column < layout.rows(); ++column) (*this)(index / layout.rows(), index % layout.rows(), column);
    }
    KS_FN void operator()(index_t block, index_t row, index_t column) const {
        const Site here = layout.grid.site(block);
        const index_t half = layout.rows() / 2;
        for (int d = 0; d < 5; ++d) {  // the block itself, then its neighbours behind
            const index_t behind = d == 0 ? block : layout.grid.lexicographic(layout.grid.shifted(here, d - 1, -1));
            auto z = d == 0 ? element(layout, X, behind, column, row) : element<T>(layout, hop, 8 * behind + 2 * (d - 1), column, row);
            const T sign = (row < half) == (column < half) ? T(1) : T(-1);
            z = {sign * z.re, -sign * z.im};
            if (d == 0) {
                const auto x = element(layout, X, block, row, column);
                z = {z.re + x.re, z.im + x.im};
            }
            T* at = (d == 0 ? own : hop) +
                    matrix_pack(layout, d == 0 ? block : 8 * block + 2 * (d - 1) + 1, row, static_cast<int>(column / 8)) + column % 8;
            at[0] = z.re;
            at[8] = z.im;
        }
    }
};

#if defined(__CUDACC__)
/// Complete, with a thread for an element.
template <class T>
struct CompleteElement {
    Complete<T> complete;
    KS_FN void operator()(index_t index) const {
        const index_t rows = complete.layout.rows();
        complete(index / rows / rows, index / rows % rows, index % rows);
    }
};
#endif

#if !defined(__CUDACC__)
/// inverse = own^-1 in double, by Gauss and Jordan's elimination with the largest pivot of a column. Index: the block.
template <class T>
struct Invert {
    BlockLayout layout;
    const T* own;
    T* inverse;
    double* scratch;  ///< [block][row][column][re, im] of the matrix
    int* pivots;      ///< [block][column]
    int* singular;    ///< [block]

    KS_FN index_t row_of(int i) const { return i < layout.count ? i : layout.rows() / 2 + i - layout.count; }
    KS_FN void operator()(index_t block) const {
        const int n = 2 * layout.count;
        auto* const m = reinterpret_cast<Cx<double>*>(scratch) + block * n * n;
        int* const pivot = pivots + block * n;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const auto z = element(layout, own, block, row_of(i), row_of(j));
                m[i * n + j] = {static_cast<double>(z.re), static_cast<double>(z.im)};
            }
        singular[block] = 0;
        for (int c = 0; c < n; ++c) {
            int best = c;
            double largest = 0;
            for (int i = c; i < n; ++i) {
                const double size = m[i * n + c].re * m[i * n + c].re + m[i * n + c].im * m[i * n + c].im;
                if (size > largest) largest = size, best = i;
            }
            if (!(largest > 1e-24)) {
                singular[block] = 1;
                return;
            }
            pivot[c] = best;
            for (int j = 0; j < n && best != c; ++j) {
                const auto z = m[c * n + j];
                m[c * n + j] = m[best * n + j];
                m[best * n + j] = z;
            }
            const auto p = m[c * n + c];
            const double size = 1 / (p.re * p.re + p.im * p.im);
            const Cx<double> reciprocal{p.re * size, -p.im * size};
            m[c * n + c] = {1, 0};
            for (int j = 0; j < n; ++j) m[c * n + j] = product(reciprocal, m[c * n + j]);
            for (int i = 0; i < n; ++i) {
                if (i == c) continue;
                const auto factor = m[i * n + c];
                m[i * n + c] = {0, 0};
                for (int j = 0; j < n; ++j) {
                    const auto z = product(factor, m[c * n + j]);
                    m[i * n + j] = {m[i * n + j].re - z.re, m[i * n + j].im - z.im};
                }
            }
        }
        for (int c = n - 1; c >= 0; --c)  // the rows' exchanges are the columns' exchanges of the inverse, in reverse
            for (int i = 0; i < n && pivot[c] != c; ++i) {
                const auto z = m[i * n + c];
                m[i * n + c] = m[i * n + pivot[c]];
                m[i * n + pivot[c]] = z;
            }
        for (index_t row = 0; row < layout.rows(); ++row)
            for (int cp = 0; cp < 2 * layout.packs; ++cp)
                store_pack(inverse + matrix_pack(layout, block, row, cp), {broadcast(T(0)), broadcast(T(0))});
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                T* at = inverse + matrix_pack(layout, block, row_of(i), static_cast<int>(row_of(j) / 8)) + row_of(j) % 8;
                at[0] = static_cast<T>(m[i * n + j].re);
                at[8] = static_cast<T>(m[i * n + j].im);
            }
    }

   private:
    KS_FN static Cx<double> product(const Cx<double>& a, const Cx<double>& b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};

/// One row of a block: out = [in] + [own in] + [neighbours in]. Index block rows + row.
template <class T>
struct Multiply {
    BlockLayout layout;
    const T* own;    ///< null: not added
    const T* hop;    ///< null: not added
    const T* added;  ///< null: not added
    const T* in;
    T* out;
    KS_FN void operator()(index_t index) const {
        const index_t block = index / layout.rows(), row = index % layout.rows();
        Cx<Lanes<T>> sum{broadcast(T(0)), broadcast(T(0))};
        if (own) add(sum, own + matrix_pack(layout, block, row, 0), block);
        if (hop) {
            const Site here = layout.grid.site(block);
            for (int d = 0; d < 8; ++d) {
                const index_t there = layout.grid.lexicographic(layout.grid.shifted(here, d / 2, d % 2 == 0 ? 1 : -1));
                add(sum, hop + matrix_pack(layout, 8 * block + d, row, 0), there);
            }
        }
        const index_t at = block * layout.block_words() + row / 8 * pack_words + row % 8;
        out[at] = (added ? added[at] : T(0)) + sum.re.sum();
        out[at + 8] = (added ? added[at + 8] : T(0)) + sum.im.sum();
    }

   private:
    KS_FN void add(Cx<Lanes<T>>& sum, const T* matrix, index_t block) const {
        const T* from = in + block * layout.block_words();
        for (int cp = 0; cp < 2 * layout.packs; ++cp)
            add_product(sum, load_pack(matrix + cp * pack_words), load_pack(from + cp * pack_words));
    }
};

#endif

#if defined(__CUDACC__)
/// Of all rows. @param own, hop, added  may be null
/// @tparam H  T, or Half where T is float
template <class T, class H>
void multiply_rows(Cuda on, const BlockLayout& layout, const T* own, const H* hop, const T* added, const T* in, T* out) {
    constexpr int threads = 128;
    const index_t rows = layout.blocks() * layout.rows();
    KS_CUDA(cudaSetDevice(on.device));
    coherent::multiply<T, H>
        <<<static_cast<unsigned>((4 * rows + threads - 1) / threads), threads, 0, on.stream>>>(layout, own, hop, added, in, out);
    KS_CUDA(cudaGetLastError());
}
#else
template <class T>
void multiply_rows(Cpu on, const BlockLayout& layout, const T* own, const T* hop, const T* added, const T* in, T* out) {
    parallel_for_sites(on, layout.blocks() * layout.rows(), Multiply<T>{layout, own, hop, added, in, out});
}
#endif

/// {re x.y, im x.y, x.x} of a pack.
template <class T>
struct Products {
    const T *x, *y;
    KS_FN Terms<3> operator()(index_t pack) const {
        Terms<3> sum{};
        for (index_t i = pack * pack_words; i < pack * pack_words + 8; ++i) {
            const double a = x[i], b = x[i + 8], c = y[i], d = y[i + 8];
            sum[0] += a * c + b * d;
            sum[1] += a * d - b * c;
            sum[2] += a * a + b * b;
        }
        return sum;
    }
};

/// y = a x + b y of a pack; |y|^2.
template <class T>
struct Combine {
    const T* x;
    T* y;
    Cx<T> a, b;
    KS_FN Terms<1> operator()(index_t pack) const {
        Terms<1> sum{};
        const bool reads = b.re != 0 || b.im != 0;
        for (index_t i = pack * pack_words; i < pack * pack_words + 8; ++i) {
            T re = a.re * x[i] - a.im * x[i + 8], im = a.re * x[i + 8] + a.im * x[i];
            if (reads) {
                const T c = y[i], d = y[i + 8];
                re += b.re * c - b.im * d;
                im += b.re * d + b.im * c;
            }
            y[i] = re;
            y[i + 8] = im;
            sum[0] += static_cast<double>(re) * re + static_cast<double>(im) * im;
        }
        return sum;
    }
};

}  // namespace

template <Space S, class T>
void LittleAlgebra<S, T>::zero(Vector& y) {
    parallel_for(on_, y.data.size(), SetZero<T>{y.data.data()});
}
template <Space S, class T>
double LittleAlgebra<S, T>::norm2(const Vector& x) {
    return sum<3>(on_, x.data.size() / pack_words, Products<T>{x.data.data(), x.data.data()})[2];
}
template <Space S, class T>
std::complex<double> LittleAlgebra<S, T>::dot(const Vector& x, const Vector& y) {
    const auto terms = sum<3>(on_, x.data.size() / pack_words, Products<T>{x.data.data(), y.data.data()});
    return {terms[0], terms[1]};
}
template <Space S, class T>
void LittleAlgebra<S, T>::axpby(Scalar a, const Vector& x, Scalar b, Vector& y) {
    const auto number = [](Scalar z) { return Cx<T>{static_cast<T>(z.real()), static_cast<T>(z.imag())}; };
    const Combine<T> body{x.data.data(), y.data.data(), number(a), number(b)};
    parallel_for(on_, x.data.size() / pack_words, body);
}
template <Space S, class T>
double LittleAlgebra<S, T>::axpy_norm2(Scalar a, const Vector& x, Vector& y) {
    const Combine<T> body{x.data.data(), y.data.data(), {static_cast<T>(a.real()), static_cast<T>(a.imag())}, {1, 0}};
    return sum<1>(on_, x.data.size() / pack_words, body)[0];
}

#if defined(__CUDACC__)
/// Memory of minimise().
template <Space S, class T>
struct LittleAlgebra<S, T>::Gcr {
    Buffer<double, S> norms2, products, parts;  ///< |c_l|^2, products with c_l and y, their parts
    Buffer<coherent::GcrNumbers, S> numbers;    ///< [1]
    Buffer<std::uint32_t, S> arrived;           ///< [1] 0 between calls
    cuda::PinnedMemory mail;
    std::uint64_t ticket = 0;

    Gcr(S on, index_t blocks)
        : norms2(on, coherent::gcr_vectors),
          products(on, 2 * (coherent::gcr_vectors + 1)),
          parts(on, products.size() * blocks),
          numbers(on, 1),
          arrived(on, 1) {
        parallel_for(on, 1, SetZero<std::uint32_t>{arrived.data()});
        mail.reserve_discarding(sizeof(coherent::GcrMail));
        mailbox() = {};
    }
    coherent::GcrMail& mailbox() { return *reinterpret_cast<coherent::GcrMail*>(mail.data()); }
};

template <Space S, class T>
LittleGcrStep LittleAlgebra<S, T>::minimise(std::vector<Vector>& c, std::size_t k, Scalar* beta, Vector& r)
    requires(!std::same_as<S, Cpu>)
{
    using namespace coherent;
    KS_EXPECT(k < gcr_vectors);
    auto& y = c[k].data;
    const index_t numbers = y.size() / 2, blocks = (numbers + gcr_threads - 1) / gcr_threads;
    if (!gcr_) gcr_ = std::make_shared<Gcr>(on_, blocks);
    auto& g = *gcr_;
    VectorList<T> list;
    for (std::size_t l = 0; l < k; ++l) list.of[l] = c[l].data.data();
    const auto grid = static_cast<unsigned>(blocks);
    const int count = static_cast<int>(k);
    KS_CUDA(cudaSetDevice(on_.device));
    partial_products_with<T><<<grid, gcr_threads, 0, on_.stream>>>(list, count, y.data(), numbers, g.parts.data());
    add_parts<<<static_cast<unsigned>(2 * count + 1), gcr_threads, 0, on_.stream>>>(g.parts.data(), blocks, count, g.norms2.data(),
                                                                                    g.products.data());
    subtract_all<T><<<grid, gcr_threads, 0, on_.stream>>>(list, count, g.products.data(), r.data.data(), y.data(), numbers, g.parts.data(),
                                                          g.arrived.data(), g.norms2.data() + k, g.numbers.data(), &g.mailbox(),
                                                          ++g.ticket);
    KS_CUDA(cudaGetLastError());
    parallel_for(on_, numbers, TakeOut<T>{y.data(), g.numbers.data(), r.data.data()});
    auto& mail = g.mailbox();
    device::wait_for(mail.ticket, [&](std::uint64_t now) { return now == g.ticket; }, on_);
    for (std::size_t l = 0; l < k; ++l) beta[l] = {mail.beta[2 * l], mail.beta[2 * l + 1]};
    return {mail.numbers.before, mail.numbers.now, {mail.numbers.alpha[0], mail.numbers.alpha[1]}};
}
template <Space S, class T>
void LittleAlgebra<S, T>::add(const std::vector<Scalar>& factors, const std::vector<Vector>& z, std::size_t count, Vector& x)
    requires(!std::same_as<S, Cpu>)
{
    using namespace coherent;
    KS_EXPECT(count <= gcr_vectors);
    VectorList<T> list;
    FactorList<T> with;
    for (std::size_t l = 0; l < count; ++l) {
        list.of[l] = z[l].data.data();
        with.of[l][0] = static_cast<T>(factors[l].real());
        with.of[l][1] = static_cast<T>(factors[l].imag());
    }
    const index_t numbers = x.data.size() / 2;
    KS_CUDA(cudaSetDevice(on_.device));
    add_all<T><<<static_cast<unsigned>((numbers + gcr_threads - 1) / gcr_threads), gcr_threads, 0, on_.stream>>>(
        list, with, static_cast<int>(count), x.data.data(), numbers);
    KS_CUDA(cudaGetLastError());
}
#endif

template <Space S, class T>
LittleOperator<S, T>::LittleOperator(S on, const BlockLayout& layout)
    : layout_(layout),
      own_(on, layout.blocks() * layout.rows() * layout.block_words()),
      inverse_(on, own_.size()),
      hop_(on, 8 * own_.size()) {}

template <Space S, class T>
double LittleOperator<S, T>::bytes() const {
    return 10. * static_cast<double>(own_.size()) * sizeof(T);
}

template <Space S, class T>
void LittleOperator<S, T>::assemble(const BlockVectors<S, T>& basis, const Links<S>& links, const CloverTerm<S>* A,
                                    const DiracParameters& parameters) {
    const S on = basis.space();
    const index_t blocks = layout_.blocks(), n = index_t{2} * layout_.count;
    narrow_ = false;
    // inverse_ holds X until it is added to its adjoint.
#if defined(__CUDACC__)
    using Columns = T;
#else
    using Columns = Lanes<T>;
#endif
    const Couplings<T, Columns> couplings{
        {basis.data(Parity::even), basis.data(Parity::odd)}, layout_,         links.view(), A ? A->view() : CloverView{}, parameters.kappa,
        parameters.boundary == Boundary::antiperiodic,       inverse_.data(), hop_.data()};
#if defined(__CUDACC__)
    KS_CUDA(cudaSetDevice(on.device));
    coherent::couplings<T><<<static_cast<unsigned>(blocks * 5 * layout_.packs), coherent::couplings_threads, 0, on.stream>>>(couplings);
    KS_CUDA(cudaGetLastError());
#else
    parallel_for_sites(on, blocks * 5 * layout_.packs, couplings);
#endif
    const Complete<T> complete{layout_, inverse_.data(), own_.data(), hop_.data()};
#if defined(__CUDACC__)
    parallel_for(on, blocks * layout_.rows() * layout_.rows(), CompleteElement<T>{complete});
#else
    parallel_for_sites(on, blocks * layout_.rows(), complete);
#endif
    Buffer<double, S> scratch(on, 2 * blocks * n * n);
    Buffer<int, S> pivots(on, blocks * n), singular(on, blocks);
#if defined(__CUDACC__)
    coherent::invert<<<static_cast<unsigned>(blocks), coherent::invert_threads, 0, on.stream>>>(
        layout_, own_.data(), inverse_.data(), reinterpret_cast<Cx<double>*>(scratch.data()), pivots.data(), singular.data());
    KS_CUDA(cudaGetLastError());
#else
    parallel_for_sites(on, blocks, Invert<T>{layout_, own_.data(), inverse_.data(), scratch.data(), pivots.data(), singular.data()});
#endif
    for (const int found : to_host(singular))
        if (found != 0)
            throw ComputationError("the near-null vectors are linearly dependent in a block: take fewer vectors, or larger blocks");
}

template <Space S, class T>
void LittleOperator<S, T>::narrow() {
#if defined(__CUDACC__)
    if constexpr (std::same_as<T, float>) {
        if (narrow_) return;
        // In place: a number is written where those of earlier launches were read. The first launch alone writes where it reads.
        const S on = own_.space();
        const index_t first = std::min<index_t>(hop_.size(), 1 << 16);
        auto* const to = reinterpret_cast<Half*>(hop_.data());
        Buffer<std::uint16_t, S> beginning(on, first);
        auto* const apart = reinterpret_cast<Half*>(beginning.data());
        parallel_for(on, first, coherent::Narrow{hop_.data(), apart, 0});
        parallel_for(on, first, coherent::CopyHalf{apart, to});
        for (index_t done = first; done < hop_.size(); done *= 2)
            parallel_for(on, std::min(done, hop_.size() - done), coherent::Narrow{hop_.data(), to, done});
        synchronize(AnySpace(on));
        narrow_ = true;
    }
#endif
}

template <Space S, class T>
void LittleOperator<S, T>::multiply(const T* own, bool couples, const T* added, const LittleVector<S, T>& in,
                                    LittleVector<S, T>& out) const {
#if defined(__CUDACC__)
    if constexpr (std::same_as<T, float>)
        if (narrow_ && couples)
            return multiply_rows(own_.space(), layout_, own, reinterpret_cast<const Half*>(hop_.data()), added, in.data.data(),
                                 out.data.data());
#endif
    multiply_rows(own_.space(), layout_, own, couples ? hop_.data() : nullptr, added, in.data.data(), out.data.data());
}

template <Space S, class T>
void LittleOperator<S, T>::apply(const LittleVector<S, T>& in, LittleVector<S, T>& out) const {
    multiply(own_.data(), true, nullptr, in, out);
}
template <Space S, class T>
void LittleOperator<S, T>::divide(const LittleVector<S, T>& in, LittleVector<S, T>& out) const {
    multiply(inverse_.data(), false, nullptr, in, out);
}
template <Space S, class T>
void LittleOperator<S, T>::apply_divided(const LittleVector<S, T>& in, LittleVector<S, T>& between, LittleVector<S, T>& out) const {
    divide(in, between);
    multiply(nullptr, true, in.data.data(), between, out);
}

template class LittleAlgebra<KS_SPACE, float>;
template class LittleAlgebra<KS_SPACE, double>;
template class LittleOperator<KS_SPACE, float>;
template class LittleOperator<KS_SPACE, double>;

}  // namespace kasane::lattice
