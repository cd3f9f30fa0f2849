// Permutation, gather and scatter, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/step/permute.hpp>

namespace kasane::gravity {
namespace {

template <class Word>
struct Pick {
    View<const std::uint32_t> order;
    const Word* data;
    int stride, offset;
    Word* to;
    KS_FN void operator()(index_t i) const { to[i] = data[static_cast<index_t>(order[i]) * stride + offset]; }
};

template <class Word>
struct Put {
    const Word* from;
    Word* data;
    int stride, offset;
    KS_FN void operator()(index_t i) const { data[i * stride + offset] = from[i]; }
};

struct Natural {
    View<std::uint32_t> order;
    KS_FN void operator()(index_t k) const { order[k] = static_cast<std::uint32_t>(k); }
};

struct Invert {
    View<const std::uint32_t> order;
    View<std::uint32_t> place;
    KS_FN void operator()(index_t k) const { place[order[k]] = static_cast<std::uint32_t>(k); }
};

template <class T>
struct Gather {
    View<const std::uint32_t> index;
    View<const T> from;
    View<T> to;
    KS_FN void operator()(index_t k) const { to[k] = from[index[k]]; }
};

template <class T>
struct Scatter {
    View<const std::uint32_t> index;
    View<const T> from;
    View<T> to;
    KS_FN void operator()(index_t k) const { to[index[k]] = from[k]; }
};

}  // namespace

template <Space S, class Word>
void permute_words(S on, View<const std::uint32_t> order, Word* data, int stride, int offset, std::byte* scratch) {
    auto* words = reinterpret_cast<Word*>(scratch);
    parallel_for(on, order.n, Pick<Word>{order, data, stride, offset, words});
    parallel_for(on, order.n, Put<Word>{words, data, stride, offset});
}

template <Space S>
void set_natural_order(S on, View<std::uint32_t> order) {
    parallel_for(on, order.n, Natural{order});
}

template <Space S>
void invert(S on, View<const std::uint32_t> order, View<std::uint32_t> place) {
    parallel_for(on, order.n, Invert{order, place});
}

template <Space S, class T>
void gather(S on, View<const std::uint32_t> index, View<const T> from, View<T> to) {
    parallel_for(on, index.n, Gather<T>{index, from, to});
}

template <Space S, class T>
void scatter(S on, View<const std::uint32_t> index, View<const T> from, View<T> to) {
    parallel_for(on, index.n, Scatter<T>{index, from, to});
}

using Order = View<const std::uint32_t>;
template void permute_words(KS_SPACE, Order, std::uint64_t*, int, int, std::byte*);
template void permute_words(KS_SPACE, Order, std::uint32_t*, int, int, std::byte*);
template void permute_words(KS_SPACE, Order, std::uint8_t*, int, int, std::byte*);
template void set_natural_order(KS_SPACE, View<std::uint32_t>);
template void invert(KS_SPACE, Order, View<std::uint32_t>);
template void gather(KS_SPACE, Order, View<const Vec3<double>>, View<Vec3<double>>);
template void gather(KS_SPACE, Order, View<const Vec3<float>>, View<Vec3<float>>);
template void gather(KS_SPACE, Order, View<const double>, View<double>);
template void gather(KS_SPACE, Order, View<const float>, View<float>);
template void scatter(KS_SPACE, Order, View<const Vec3<double>>, View<Vec3<double>>);

}  // namespace kasane::gravity
