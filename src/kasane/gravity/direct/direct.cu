// DirectSum on a CUDA device: which kernel runs, in which shape, with which scratch memory.
// Kernels: tile.cuda.hpp, pair.cuda.hpp. Everything is enqueued on the space's stream; nothing waits for the host.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>
#include <kasane/gravity/direct/pair.cuda.hpp>
#include <kasane/gravity/direct/tile.cuda.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::gravity {
namespace detail {
namespace {

constexpr int pair_block = 128;  // four warps that share nothing: the block only bounds the registers
constexpr int finish_block = 128;

// Where one shape gives way to the next, in particles per multiprocessor; measured on an H200 (132 of them), see docs/numbers.md.
constexpr index_t many_targets = 93;   // 12,288: blocks of 256 threads with 4 targets each; 16 targets per lane
constexpr index_t pair_pays = 53;      // 7,000: from here on `pair` beats `tile`

int blocks_for(index_t n, int block) { return static_cast<int>((n + block - 1) / block); }
index_t padded(index_t n, index_t to) { return (n + to - 1) / to * to; }

/// acceleration = G sum of the shares, potential likewise with its sign.
template <class Sum>
__global__ void finish_tiles(const Partial<Sum>* partial, int targets, int shares, double G, Field out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= targets) return;
    Vec3<double> a;
    double phi = 0;
    for (int s = 0; s < shares; ++s) {
        const auto& part = partial[static_cast<index_t>(s) * targets + i];
        a += Vec3<double>{static_cast<double>(part.x), static_cast<double>(part.y), static_cast<double>(part.z)};
        phi += static_cast<double>(part.phi);
    }
    if (!out.acceleration.empty()) out.acceleration[i] = G * a;
    if (!out.potential.empty()) out.potential[i] = -G * phi;
}

/// Partial sums that are held at a time, at most, where one share of the sources is enough for the targets.
constexpr index_t most_partials = index_t{1} << 24;
constexpr int most_shares = 256;

/// Shares of the sources that keep every multiprocessor busy to the end: the least of waves times the work of one block.
int best_shares(int targets, int target_blocks, int tiles, int resident_blocks) {
    int best = 1;
    double least = std::numeric_limits<double>::max();
    const int most = static_cast<int>(std::clamp<index_t>(most_partials / targets, 1, std::min(tiles, most_shares)));
    for (int shares = 1; shares <= most; ++shares) {
        const int waves = (target_blocks * shares + resident_blocks - 1) / resident_blocks;
        const double per_block = static_cast<double>((tiles + shares - 1) / shares) + 0.25;  // 0.25 tile: loads, partial sums
        if (waves * per_block < 0.995 * least) least = waves * per_block, best = shares;
    }
    return best;
}

}  // namespace

std::uint64_t cuda_scratch_bytes(index_t targets, index_t sources, const Direct& options) {
    const bool in_double = options.precision == Precision::double_;
    const auto bodies = static_cast<std::uint64_t>(targets + sources + 1024) * (in_double ? sizeof(Body<double>) : sizeof(Body<float>));
    const auto partials = static_cast<std::uint64_t>(std::max(targets, std::min(most_partials, most_shares * targets))) * sizeof(Partial<double>);
    const auto sums = static_cast<std::uint64_t>(sources) * 6 * sizeof(unsigned long long);
    return bodies + partials + sums;
}

struct CudaScratch {
    Cuda on;
    int multiprocessors = 0;
    Buffer<unsigned char, Cuda> targets, sources, partial, sums;
    Buffer<unsigned, Cuda> largest_mass;
    bool sums_are_clear = false;

    explicit CudaScratch(Cuda space) : on(space), multiprocessors(device_info(AnySpace{space}).units), largest_mass(space, 1) {}

    template <class T>
    T* room(Buffer<unsigned char, Cuda>& buffer, index_t n) {
        buffer.reserve_discarding(n * static_cast<index_t>(sizeof(T)));
        return reinterpret_cast<T*>(buffer.data());
    }

    template <class Real>
    Body<Real>* pack_bodies(Buffer<unsigned char, Cuda>& to, View<const Vec3<double>> position, const double* mass,
                            View<const Vec3<double>> middle_of, index_t size, unsigned* mass_bits = nullptr) {
        auto* bodies = room<Body<Real>>(to, size);
        constexpr int block = 128;
        pack<<<blocks_for(size, block), block, 0, on.stream>>>(position, mass, middle_of, static_cast<int>(size), bodies, mass_bits);
        KS_CUDA(cudaGetLastError());
        return bodies;
    }

    template <class Real, class Sum, int Block, int K, Wanted wanted, bool Softened>
    void tiles(const Direct& options, View<const Vec3<double>> target_position, const Sources& from, Self self, const Field& out) {
        const auto kernel = sum_tiles<Real, Sum, Block, K, wanted, Softened>;
        TileProblem problem;
        problem.targets = static_cast<int>(target_position.n);
        problem.sources = static_cast<int>(padded(from.position.n, Block));
        problem.self_shift = static_cast<int>(self.shift);
        const auto* j = pack_bodies<Real>(sources, from.position, from.mass.ptr, from.position, problem.sources);
        const auto* i = j;
        if (target_position.ptr != from.position.ptr || target_position.n != from.position.n)
            i = pack_bodies<Real>(targets, target_position, nullptr, from.position, target_position.n);
        int per_multiprocessor = 0;
        KS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, Block, 0));
        const int target_blocks = blocks_for(target_position.n, Block * K);
        problem.shares = best_shares(problem.targets, target_blocks, problem.sources / Block, multiprocessors * std::max(1, per_multiprocessor));
        auto* parts = room<Partial<Sum>>(partial, static_cast<index_t>(problem.shares) * problem.targets);
        kernel<<<dim3(static_cast<unsigned>(target_blocks), static_cast<unsigned>(problem.shares)), Block, 0, on.stream>>>(
            problem, static_cast<Real>(options.softening * options.softening), i, j, parts);
        KS_CUDA(cudaGetLastError());
        finish_tiles<<<blocks_for(problem.targets, finish_block), finish_block, 0, on.stream>>>(parts, problem.targets, problem.shares,
                                                                                             options.G, out);
        KS_CUDA(cudaGetLastError());
    }

    template <class Real, class Sum, bool Softened>
    void tiles_wanted(const Direct& options, View<const Vec3<double>> target_position, const Sources& from, Self self, const Field& out) {
        constexpr int many = sizeof(Real) == 4 ? 4 : 2;
        if (!out.potential.empty() && !out.acceleration.empty())
            tiles<Real, Sum, 128, 2, Wanted::both, Softened>(options, target_position, from, self, out);
        else if (!out.potential.empty())
            tiles<Real, Sum, 128, 2, Wanted::potential, Softened>(options, target_position, from, self, out);
        else if (target_position.n >= many_targets * multiprocessors)
            tiles<Real, Sum, 256, many, Wanted::acceleration, Softened>(options, target_position, from, self, out);
        else
            tiles<Real, Sum, 128, 2, Wanted::acceleration, Softened>(options, target_position, from, self, out);
    }

    template <class Real, class Sum>
    void tiles_softened(const Direct& options, View<const Vec3<double>> target_position, const Sources& from, Self self, const Field& out) {
        if (options.softening > 0)
            tiles_wanted<Real, Sum, true>(options, target_position, from, self, out);
        else
            tiles_wanted<Real, Sum, false>(options, target_position, from, self, out);
    }

    void tile(const Direct& options, View<const Vec3<double>> target_position, const Sources& from, Self self, const Field& out) {
        if (options.precision == Precision::double_)
            tiles_softened<double, double>(options, target_position, from, self, out);
        else if (options.accumulation == Accumulation::double_)
            tiles_softened<float, double>(options, target_position, from, self, out);
        else
            tiles_softened<float, float>(options, target_position, from, self, out);
    }

    template <class Real, int K, int BlocksPerSm, bool Softened, class Sums>
    void pairs(const Direct& options, const Sources& from, Sums to, unsigned* mass_bits, View<Vec3<double>> acceleration) {
        const auto schedule = PairSchedule::of(from.position.n, K);
        const auto* bodies = pack_bodies<Real>(sources, from.position, from.mass.ptr, from.position,
                                               static_cast<index_t>(schedule.blocks) * 32 * K, mass_bits);
        const auto kernel = sum_pairs<Real, K, Softened, pair_block, BlocksPerSm, Sums>;
        constexpr int warps_per_block = pair_block / 32;
        const long long wanted_blocks = (schedule.units() + warps_per_block - 1) / warps_per_block;
        const int grid = static_cast<int>(std::min<long long>(wanted_blocks, static_cast<long long>(multiprocessors) * BlocksPerSm));
        constexpr int flush_tiles = 64;
        kernel<<<grid, pair_block, 0, on.stream>>>(schedule, static_cast<Real>(options.softening * options.softening), bodies, to,
                                                   options.accumulation == Accumulation::double_ ? flush_tiles : 1 << 30);
        KS_CUDA(cudaGetLastError());
        finish_pairs<<<blocks_for(from.position.n, finish_block), finish_block, 0, on.stream>>>(to, options.G, acceleration);
        KS_CUDA(cudaGetLastError());
    }

    template <class Real, int K, int BlocksPerSm>
    void pairs(const Direct& options, const Sources& from, View<Vec3<double>> acceleration) {
        const index_t n = from.position.n;
        const auto bytes = options.deterministic ? 6 * sizeof(unsigned long long) : sizeof(Body<Real>);
        const bool grown = n * static_cast<index_t>(bytes) > sums.size();
        auto* memory = room<unsigned char>(sums, n * static_cast<index_t>(bytes));
        if (grown) KS_CUDA(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(sums.size()), on.stream));
        if (options.deterministic) {
            KS_CUDA(cudaMemsetAsync(largest_mass.data(), 0, sizeof(unsigned), on.stream));
            FixedPointSums to;
            to.n = n;
            to.words = reinterpret_cast<unsigned long long*>(memory);
            to.largest_mass = largest_mass.data();
            to.largest_per_mass = static_cast<double>(n) * 2 / (3 * std::sqrt(3.0)) / (options.softening * options.softening);
            pairs<Real, K, BlocksPerSm, true>(options, from, to, largest_mass.data(), acceleration);
        } else {
            const FloatSums<Real> to{reinterpret_cast<Body<Real>*>(memory)};
            if (options.softening > 0)
                pairs<Real, K, BlocksPerSm, true>(options, from, to, nullptr, acceleration);
            else
                pairs<Real, K, BlocksPerSm, false>(options, from, to, nullptr, acceleration);
        }
    }

    void pair(const Direct& options, const Sources& from, View<Vec3<double>> acceleration) {
        if (options.precision == Precision::double_)
            pairs<double, 4, 3>(options, from, acceleration);
        else if (from.position.n < many_targets * multiprocessors)
            pairs<float, 8, 4>(options, from, acceleration);
        else
            pairs<float, 16, 2>(options, from, acceleration);
    }
};

}  // namespace detail

template <>
struct DirectSum<Cuda>::State : detail::CudaScratch {
    Direct options;
    State(Cuda on, const Direct& chosen) : CudaScratch(on), options(chosen) {}
};

template <>
DirectSum<Cuda>::DirectSum(Cuda on, const Direct& options) {
    detail::validate(options);
    KS_VALIDATE(options.variant != DirectVariant::simd, "the variant 'simd' is for the CPU; a CUDA device has plain, tile and pair");
    KS_VALIDATE(options.variant != DirectVariant::pair || options.softening > 0 || !options.deterministic,
                "the variant 'pair' cannot be deterministic at softening = 0 (its sums are scaled by 1/softening^2): "
                "set deterministic = false, or take the variant 'tile'");
    KS_CUDA(cudaSetDevice(on.device));
    state_ = std::make_unique<State>(on, options);
}

template <>
DirectSum<Cuda>::~DirectSum() = default;
template <>
DirectSum<Cuda>::DirectSum(DirectSum&&) noexcept = default;
template <>
DirectSum<Cuda>& DirectSum<Cuda>::operator=(DirectSum&&) noexcept = default;

template <>
DirectVariant DirectSum<Cuda>::chosen(index_t targets, index_t sources, Self self, bool potential) const {
    const auto& options = state_->options;
    if (options.variant != DirectVariant::automatic) return options.variant;
    const bool pair_possible = self.shift == 0 && targets == sources && !potential && (options.softening > 0 || !options.deterministic);
    return pair_possible && sources >= detail::pair_pays * state_->multiprocessors ? DirectVariant::pair : DirectVariant::tile;
}

template <>
void DirectSum<Cuda>::operator()(View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(state.on.device));
    constexpr index_t most = std::numeric_limits<int>::max() / 2;
    KS_VALIDATE(targets.n < most && sources.position.n < most, "direct summation takes fewer than 2^30 particles on one device");
    if (targets.n == 0 || (out.acceleration.empty() && out.potential.empty())) return;
    if (sources.position.n == 0) {
        const auto clear = [&](auto view) {
            if (!view.empty()) KS_CUDA(cudaMemsetAsync(view.ptr, 0, static_cast<std::size_t>(view.n) * sizeof(view[0]), state.on.stream));
        };
        clear(out.acceleration);
        clear(out.potential);
        return;
    }
    switch (chosen(targets.n, sources.position.n, self, !out.potential.empty())) {
        case DirectVariant::plain: return detail::direct_plain(state.on, state.options, targets, sources, self, out);
        case DirectVariant::pair:
            KS_VALIDATE(self.shift == 0 && targets.n == sources.position.n,
                        "the variant 'pair' needs targets and sources to be the same particles; take 'tile' or 'auto'");
            if (!out.acceleration.empty()) state.pair(state.options, sources, out.acceleration);
            if (!out.potential.empty()) state.tile(state.options, targets, sources, self, {{}, out.potential});
            return;
        default: return state.tile(state.options, targets, sources, self, out);
    }
}

template class DirectSum<Cuda>;

}  // namespace kasane::gravity
