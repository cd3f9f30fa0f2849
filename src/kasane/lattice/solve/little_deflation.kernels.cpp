// Deflation of the little system, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/solve/lanes.hpp>
#include <kasane/lattice/solve/little_deflation.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#if defined(__CUDACC__)
#include <kasane/lattice/solve/coherent.cuda.hpp>
#endif

namespace kasane::lattice {
namespace {

/// Where the real part of a row is in a vector of coefficients; the imaginary part is 8 behind.
KS_FN index_t place_of_row(index_t row) { return row / 8 * pack_words + row % 8; }

#if !defined(__CUDACC__)
/// conj(C) v of the eight rows of a pack of v, for eight vectors.
template <class T>
struct RowProducts {
    const T* vectors;  ///< of one pack of vectors
    const T* v;
    KS_FN Terms<16> operator()(index_t pack) const {
        Cx<Lanes<T>> sum{broadcast(T(0)), broadcast(T(0))};
        for (index_t row = 8 * pack; row < 8 * pack + 8; ++row) {
            const T* at = v + place_of_row(row);
            add_conjugate_product(sum, load_pack(vectors + row * pack_words), broadcast(Cx<T>{at[0], at[8]}));
        }
        Terms<16> terms{};
        for (int l = 0; l < 8; ++l) {
            terms[l] = sum.re.v[l];
            terms[l + 8] = sum.im.v[l];
        }
        return terms;
    }
};

template <class T>
struct AddVectors {
    const T* vectors;
    const T* factors;
    index_t rows;
    int packs;
    T* v;
    KS_FN void operator()(index_t row) const {
        Cx<Lanes<T>> sum{broadcast(T(0)), broadcast(T(0))};
        for (int p = 0; p < packs; ++p)
            add_product(sum, load_pack(vectors + (p * rows + row) * pack_words), load_pack(factors + p * pack_words));
        T* at = v + place_of_row(row);
        at[0] += sum.re.sum();
        at[8] += sum.im.sum();
    }
};
#endif

template <class T>
struct SetColumn {
    const T* from;
    int lane;
    T* to;  ///< of one pack of vectors
    KS_FN void operator()(index_t row) const {
        const T* at = from + place_of_row(row);
        to[row * pack_words + lane] = at[0];
        to[row * pack_words + lane + 8] = at[8];
    }
};

/// to = the part of one chirality.
template <class T>
struct OneChirality {
    BlockLayout layout;
    const T* from;
    int chirality;
    T* to;
    KS_FN void operator()(index_t i) const {
        const index_t half = layout.block_words() / 2;
        to[i] = i / half % 2 == chirality ? from[i] : T(0);
    }
};

}  // namespace

template <Space S, class T>
LittleDeflation<S, T>::LittleDeflation(S on, const BlockLayout& layout, int most)
    : layout_(layout),
      most_(most),
      packs_((most + 7) / 8),
      vectors_(on, packs_ * layout.blocks() * layout.rows() * pack_words),
      images_(on, vectors_.size()),
      factors_(on, packs_ * index_t{pack_words}),
      parts_(on, 0) {
    clear();
}

template <Space S, class T>
void LittleDeflation<S, T>::clear() {
    count_ = 0;
    for (auto* data : {&vectors_, &images_}) parallel_for(data->space(), data->size(), SetZero<T>{data->data()});
}

template <Space S, class T>
void LittleDeflation<S, T>::set(Buffer<T, S>& of, int j, const LittleVector<S, T>& from) {
    const index_t rows = layout_.blocks() * layout_.rows();
    parallel_for(of.space(), rows, SetColumn<T>{from.data.data(), j % 8, of.data() + j / 8 * rows * pack_words});
}

template <Space S, class T>
void LittleDeflation<S, T>::take_chirality(const LittleVector<S, T>& w, int chirality, LittleVector<S, T>& u) const {
    parallel_for(images_.space(), u.data.size(), OneChirality<T>{layout_, w.data.data(), chirality, u.data.data()});
}

template <Space S, class T>
void LittleDeflation<S, T>::append(const LittleVector<S, T>& u, const LittleVector<S, T>& c) {
    KS_EXPECT(!full());
    set(vectors_, count_, u);
    set(images_, count_, c);
    ++count_;
}

#if defined(__CUDACC__)
template <Space S, class T>
void LittleDeflation<S, T>::set_factors(const LittleVector<S, T>& v, int sign) const
    requires(!std::same_as<S, Cpu>)
{
    const S on = images_.space();
    const index_t rows = layout_.blocks() * layout_.rows(), parts = (rows + coherent::product_rows - 1) / coherent::product_rows;
    const auto packs = static_cast<unsigned>((count_ + 7) / 8);
    if (packs == 0) return;
    parts_.reserve_discarding(16 * packs_ * parts);
    KS_CUDA(cudaSetDevice(on.device));
    coherent::partial_products<<<dim3(static_cast<unsigned>(parts), packs), coherent::product_threads, 0, on.stream>>>(
        images_.data(), v.data.data(), rows, parts_.data());
    coherent::add_products<<<packs, coherent::add_products_threads, 0, on.stream>>>(parts_.data(), parts, sign, factors_.data());
    KS_CUDA(cudaGetLastError());
}

template <Space S, class T>
std::vector<std::complex<T>> LittleDeflation<S, T>::products(const LittleVector<S, T>& v) const {
    std::vector<std::complex<T>> h(static_cast<std::size_t>(8 * packs_));
    if (count_ == 0) return h;
    set_factors(v, 1);
    const auto factors = to_host(factors_);
    for (std::size_t j = 0; j < static_cast<std::size_t>(count_ + 7) / 8 * 8; ++j)
        h[j] = {factors[j / 8 * pack_words + j % 8], factors[j / 8 * pack_words + j % 8 + 8]};
    return h;
}

template <Space S, class T>
void LittleDeflation<S, T>::project(LittleVector<S, T>& v) {
    if (count_ == 0) return;
    set_factors(v, -1);
    add_times_factors(images_, v);
}

template <Space S, class T>
void LittleDeflation<S, T>::take_out(LittleVector<S, T>& c, LittleVector<S, T>& u) {
    if (count_ == 0) return;
    set_factors(c, -1);
    add_times_factors(images_, c);
    add_times_factors(vectors_, u);
}

template <Space S, class T>
void LittleDeflation<S, T>::add_times_factors(const Buffer<T, S>& of, LittleVector<S, T>& v) {
    const S on = of.space();
    const index_t rows = layout_.blocks() * layout_.rows();
    constexpr int threads = 128;
    KS_CUDA(cudaSetDevice(on.device));
    coherent::add_vectors<<<static_cast<unsigned>((2 * rows + threads - 1) / threads), threads, 0, on.stream>>>(
        of.data(), factors_.data(), rows, (count_ + 7) / 8, v.data.data());
    KS_CUDA(cudaGetLastError());
}
#else
template <Space S, class T>
std::vector<std::complex<T>> LittleDeflation<S, T>::products(const LittleVector<S, T>& v) const {
    const index_t rows = layout_.blocks() * layout_.rows();
    std::vector<std::complex<T>> h(static_cast<std::size_t>(8 * packs_));
    for (int p = 0; 8 * p < count_; ++p) {
        const auto terms = sum<16>(images_.space(), rows / 8, RowProducts<T>{images_.data() + p * rows * pack_words, v.data.data()});
        for (int l = 0; l < 8; ++l) h[static_cast<std::size_t>(8 * p + l)] = {static_cast<T>(terms[l]), static_cast<T>(terms[l + 8])};
    }
    return h;
}

template <Space S, class T>
void LittleDeflation<S, T>::project(LittleVector<S, T>& v) {
    subtract_images(products(v), v);
}

template <Space S, class T>
void LittleDeflation<S, T>::take_out(LittleVector<S, T>& c, LittleVector<S, T>& u) {
    auto h = products(c);
    subtract_images(h, c);
    for (auto& z : h) z = -z;
    add_vectors(h, u);
}

template <Space S, class T>
void LittleDeflation<S, T>::add_times_factors(const Buffer<T, S>& of, LittleVector<S, T>& v) {
    const index_t rows = layout_.blocks() * layout_.rows();
    parallel_for(of.space(), rows, AddVectors<T>{of.data(), factors_.data(), rows, (count_ + 7) / 8, v.data.data()});
}
#endif

template <Space S, class T>
void LittleDeflation<S, T>::add_vectors(const Buffer<T, S>& of, const std::vector<std::complex<T>>& h, int sign, LittleVector<S, T>& v) {
    if (count_ == 0) return;
    const S on = of.space();
    std::vector<T> factors(2 * h.size());
    for (std::size_t j = 0; j < h.size(); ++j) {
        factors[j / 8 * pack_words + j % 8] = static_cast<T>(sign) * h[j].real();
        factors[j / 8 * pack_words + j % 8 + 8] = static_cast<T>(sign) * h[j].imag();
    }
    copy_from_host(on, factors_.view(), view(factors));
    add_times_factors(of, v);
}

template class LittleDeflation<KS_SPACE, float>;
template class LittleDeflation<KS_SPACE, double>;

}  // namespace kasane::lattice
