// The little Dirac operator of the whole lattice on every worker, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/whole_little_operator.hpp>

namespace kasane::lattice {
namespace {

constexpr int channel_of_little_system = 13;  // those of the residual's border are before it

/// Where a number of the local lattice's blocks is in an array of all blocks.
struct BlockPlaces {
    Extents local, whole;  ///< grids of blocks
    Site first;            ///< the local grid's first block in the whole one
    index_t words;         ///< of a block
    KS_FN index_t operator()(index_t i) const {
        Site block = local.site(i / words);
        for (int mu = 0; mu < 4; ++mu) block[mu] += first[mu];
        return whole.lexicographic(block) * words + i % words;
    }
};

template <class T>
struct PlaceBlocks {
    BlockPlaces place;
    const T* own;
    T* all;
    KS_FN void operator()(index_t i) const { all[place(i)] = own[i]; }
};

template <class T>
struct TakeBlocks {
    BlockPlaces place;
    const T* all;
    T* own;
    KS_FN void operator()(index_t i) const { own[i] = all[place(i)]; }
};

BlockPlaces places_of(const RankGrid& grid, int worker, const BlockLayout& local, const BlockLayout& whole, index_t words) {
    Site first = grid.origin(worker);
    for (int mu = 0; mu < 4; ++mu) first[mu] /= local.own[mu];
    return {local.grid, whole.grid, first, words};
}

}  // namespace

#if !defined(__CUDACC__)
BlockLayout whole_layout(const RankGrid& grid, const BlockLayout& local) {
    BlockLayout whole = local;
    whole.lattice = grid.lattice();
    for (int mu = 0; mu < 4; ++mu) whole.grid.n[mu] = local.grid[mu] * grid.shape()[static_cast<std::size_t>(mu)];
    return whole;
}
#endif

template <Space S, class T>
WholeLittleOperator<S, T>::WholeLittleOperator(S on, const BlockLayout& local, HaloExchange<S>& exchange, comm::Worker& worker,
                                               const RankGrid& grid)
    : LittleOperator<S, T>(on, whole_layout(grid, local)),
      on_(on),
      local_(local),
      exchange_(exchange),
      worker_(worker),
      grid_(grid),
      channel_(on, worker, channel_of_little_system),
      received_(on, local.coefficients()) {}

template <Space S, class T>
void WholeLittleOperator<S, T>::assemble(const BlockVectors<S, T>& basis, const LittleLinks<S>& links, const CloverTerm<S>* A,
                                         const DiracParameters& parameters) {
    DistributedLittleOperator<S, T> here(on_, local_, exchange_, worker_);
    here.assemble(basis, links, A, parameters);
    const index_t matrix = local_.rows() * local_.block_words();
    Buffer<T, S> received(on_, 8 * local_.blocks() * matrix);
    collect(here.local().own(), matrix, received, this->own());
    collect(here.local().inverse(), matrix, received, this->inverse());
    collect(here.local().hop(), 8 * matrix, received, this->hop());
    synchronize(AnySpace(on_));
}

template <Space S, class T>
void WholeLittleOperator<S, T>::collect(const LittleVector<S, T>& own, LittleVector<S, T>& all) const {
    collect(own.data.data(), local_.block_words(), received_, all.data.data());
}

template <Space S, class T>
void WholeLittleOperator<S, T>::select(const LittleVector<S, T>& all, LittleVector<S, T>& own) const {
    const index_t words = local_.block_words();
    parallel_for(on_, local_.blocks() * words,
                 TakeBlocks<T>{places_of(grid_, worker_.index(), local_, this->layout(), words), all.data.data(), own.data.data()});
}

template <Space S, class T>
void WholeLittleOperator<S, T>::collect(const T* own, index_t words, Buffer<T, S>& received, T* all) const {
    const int workers = worker_.size(), me = worker_.index();
    const index_t count = local_.blocks() * words, bytes = count * index_t{sizeof(T)};
    const auto place = [&](int worker, const T* from) {
        parallel_for(on_, count, PlaceBlocks<T>{places_of(grid_, worker, local_, this->layout(), words), from, all});
    };
    place(me, own);
    for (int step = 1; step < workers; ++step) {
        const int to = (me + step) % workers, from = (me + workers - step) % workers;
        channel_.start(on_, {reinterpret_cast<const std::byte*>(own), bytes}, to, {reinterpret_cast<std::byte*>(received.data()), bytes},
                       from);
        channel_.finish(on_);
        place(from, received.data());
    }
}

template class WholeLittleOperator<KS_SPACE, float>;
template class WholeLittleOperator<KS_SPACE, double>;

}  // namespace kasane::lattice
