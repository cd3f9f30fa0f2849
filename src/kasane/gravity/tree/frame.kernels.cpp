// Census of the particles, once per Space: integer counts and sums over fixed shares, so it is the same for any number of threads.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/frame.hpp>

namespace kasane::gravity::detail {
namespace {

struct DrawSample {
    View<const Vec3<double>> position;
    View<Vec3<double>> sample;
    KS_FN void operator()(index_t i) const { sample[i] = position[i * position.n / sample.n]; }
};

KS_FN index_t share_begin(index_t n, int share) { return n * share / Census::shares; }

#if defined(__CUDACC__)
constexpr int census_block = 256;

/// One block per share.
__global__ void take(View<const Vec3<double>> position, View<const double> mass, Vec3<double> center, Census* census) {
    __shared__ std::uint32_t count[Census::bins];
    __shared__ double part[census_block];
    for (int bin = threadIdx.x; bin < Census::bins; bin += census_block) count[bin] = 0;
    __syncthreads();
    const index_t end = share_begin(position.n, static_cast<int>(blockIdx.x) + 1);
    double sum = 0;
    for (index_t i = share_begin(position.n, static_cast<int>(blockIdx.x)) + threadIdx.x; i < end; i += census_block) {
        atomicAdd(&count[census_bin(position[i], center)], 1u);
        sum += mass[i];
    }
    part[threadIdx.x] = sum;
    for (int half = census_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x == 0) census->mass[blockIdx.x] = part[0];
    for (int bin = threadIdx.x; bin < Census::bins; bin += census_block)
        if (count[bin] != 0) atomicAdd(&census->count[bin], count[bin]);
}

void count_particles(Cuda on, View<const Vec3<double>> position, View<const double> mass, const Vec3<double>& center, Census* census) {
    KS_CUDA(cudaMemsetAsync(census, 0, sizeof(Census), on.stream));
    take<<<Census::shares, census_block, 0, on.stream>>>(position, mass, center, census);
    KS_CUDA(cudaGetLastError());
}
#else
void count_particles(Cpu on, View<const Vec3<double>> position, View<const double> mass, const Vec3<double>& center, Census* census) {
    std::memset(census, 0, sizeof(Census));
    std::uint32_t* const count = census->count;
#pragma omp parallel for schedule(static) num_threads(thread_count(on)) if (position.n > 16384) reduction(+ : count[ : Census::bins])
    for (int share = 0; share < Census::shares; ++share) {
        double sum = 0;
        for (index_t i = share_begin(position.n, share); i < share_begin(position.n, share + 1); ++i) {
            ++count[census_bin(position[i], center)];
            sum += mass[i];
        }
        census->mass[share] = sum;
    }
}
#endif

}  // namespace

template <Space S>
std::unique_ptr<Census> take_census(S on, Workspace<S>& work, View<const Vec3<double>> position, View<const double> mass,
                                    const Vec3<double>& center) {
    auto* const census = reinterpret_cast<Census*>(work.bytes(sizeof(Census)));
    count_particles(on, position, mass, center, census);
    auto counted = std::make_unique<Census>();
    copy_to_host(on, View<Census>(counted.get(), 1), View<const Census>(census, 1));
    return counted;
}

template <Space S>
Frame choose_frame(S on, Workspace<S>& work, View<const Vec3<double>> position, View<const double> mass) {
    const index_t samples = position.n < frame_sample_size ? position.n : frame_sample_size;
    std::vector<Vec3<double>> sample(static_cast<std::size_t>(samples));
    const View<Vec3<double>> drawn(reinterpret_cast<Vec3<double>*>(work.bytes(static_cast<std::size_t>(samples) * sizeof(Vec3<double>))),
                                   samples);
    parallel_for(on, samples, DrawSample{position, drawn});
    copy_to_host(on, view(sample), drawn);
    const auto center = middle(std::move(sample));

    return frame_of(center, *take_census(on, work, position, mass, center));
}

template std::unique_ptr<Census> take_census(KS_SPACE, Workspace<KS_SPACE>&, View<const Vec3<double>>, View<const double>,
                                             const Vec3<double>&);
template Frame choose_frame(KS_SPACE, Workspace<KS_SPACE>&, View<const Vec3<double>>, View<const double>);

}  // namespace kasane::gravity::detail
