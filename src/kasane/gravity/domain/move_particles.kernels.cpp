// Particles that leave and arrive, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/move_particles.hpp>

#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

namespace kasane::gravity {
namespace {

/// The arrays of a system; those that it does not keep are empty.
struct ParticleViews {
    View<Vec3<double>> position, velocity;
    View<Vec3<float>> acceleration;
    View<double> mass, softening;
    View<float> size;
    View<std::uint32_t> given;
    View<std::uint8_t> level;
    View<std::uint64_t> key;

    KS_FN ParticleRecord read(index_t i) const {
        return {position[i],
                velocity[i],
                mass[i],
                softening.empty() ? 0. : softening[i],
                key[i],
                acceleration[i],
                size.empty() ? 0.f : size[i],
                given[i],
                level.empty() ? 0u : level[i]};
    }
    /// Writes a quarter of a particle, or the whole.
    KS_FN void write(index_t i, const ParticleRecord& particle, int quarter = all_quarters) const {
        const auto has = [quarter](int q) { return quarter == q || quarter == all_quarters; };
        if (has(0)) position[i] = particle.position;
        if (has(1)) velocity[i] = particle.velocity;
        if (has(2)) {
            mass[i] = particle.mass;
            if (!softening.empty()) softening[i] = particle.softening;
            key[i] = particle.key;
        }
        if (has(3)) {
            acceleration[i] = particle.acceleration;
            if (!size.empty()) size[i] = particle.size;
            given[i] = particle.given;
            if (!level.empty()) level[i] = static_cast<std::uint8_t>(particle.level);
        }
    }
    static constexpr int all_quarters = 4;
};

template <Space S>
ParticleViews views(System<S, Vec3<float>>& system, View<std::uint64_t> key) {
    return {system.position.view(), system.velocity.view(),  system.acceleration.view(),
            system.mass.view(),     system.softening.view(), system.size.view(),
            system.given.view(),    system.level.view(),     key};
}

KS_FN void add_one(std::uint32_t& counter) {
#if defined(__CUDA_ARCH__)
    atomicAdd(&counter, 1u);
#else
    std::atomic_ref<std::uint32_t>(counter).fetch_add(1, std::memory_order_relaxed);
#endif
}

/// Number of elements below x. @param of  ascending
template <class T>
KS_FN index_t elements_below(View<const T> of, std::uint64_t x) {
    index_t low = 0, high = of.n;
    while (low < high) {
        const index_t half = low + (high - low) / 2;
        if (of[half] < x)
            low = half + 1;
        else
            high = half;
    }
    return low;
}

/// The domain of a key, as domain_of().
KS_FN index_t domain_at(View<const std::uint64_t> boundary, std::uint64_t key) { return elements_below(boundary, key + 1); }

struct ClearCounts {
    std::uint32_t* count;
    KS_FN void operator()(index_t w) const { count[w] = 0; }
};

/// Flags the particles outside of the own domain [low, high), and counts those of each domain.
struct FindLeaving {
    View<const std::uint64_t> key, boundary;
    std::uint64_t low, high;
    std::uint8_t* flag;
    std::uint32_t* count;
    KS_FN void operator()(index_t i) const {
        const auto k = key[i];
        const bool leaves = k < low || k >= high;
        flag[i] = leaves;
        if (leaves) add_one(count[domain_at(boundary, k)]);
    }
};

struct WriteWorkers {
    View<const std::uint64_t> key, boundary;
    const std::uint32_t* listed;
    std::uint64_t* worker;
    std::uint32_t* list;
    KS_FN void operator()(index_t k) const {
        worker[k] = static_cast<std::uint64_t>(domain_at(boundary, key[listed[k]]));
        list[k] = listed[k];
    }
};

struct PackParticles {
    ParticleViews from;
    const std::uint32_t* list;
    int quarter;
    std::byte* to;
    KS_FN void operator()(index_t k) const {
        const auto particle = from.read(list[k]);
        if (quarter == ParticleViews::all_quarters)
            reinterpret_cast<ParticleRecord*>(to)[k] = particle;
        else
            memcpy(to + k * static_cast<index_t>(sizeof(ParticleQuarter)), reinterpret_cast<const ParticleQuarter*>(&particle) + quarter,
                   sizeof(ParticleQuarter));
    }
};

struct UnpackParticles {
    const std::byte* from;
    int quarter;
    ParticleViews to;
    View<const std::uint32_t> hole;
    index_t before;
    KS_FN void operator()(index_t k) const {
        const index_t at = k < hole.n ? static_cast<index_t>(hole[k]) : before + k - hole.n;
        if (quarter == ParticleViews::all_quarters) return to.write(at, reinterpret_cast<const ParticleRecord*>(from)[k]);
        ParticleRecord particle{};
        memcpy(reinterpret_cast<ParticleQuarter*>(&particle) + quarter, from + k * static_cast<index_t>(sizeof(ParticleQuarter)),
               sizeof(ParticleQuarter));
        to.write(at, particle, quarter);
    }
};

/// The particles from `after` on that stay take the holes from number `filled` on; as many of these are below `after`.
struct FillFromEnd {
    ParticleViews of;
    View<const std::uint32_t> hole;
    index_t filled, after;
    KS_FN void operator()(index_t k) const {
        const index_t from = after + k, below = elements_below(hole, static_cast<std::uint64_t>(from));
        if (below < hole.n && static_cast<index_t>(hole[below]) == from) return;
        const index_t holes_before = below - elements_below(hole, static_cast<std::uint64_t>(after));
        of.write(static_cast<index_t>(hole[filled + k - holes_before]), of.read(from));
    }
};

}  // namespace

template <Space S>
std::vector<std::uint64_t> ParticleMoves<S>::find(System<S, Vec3<float>>& system, View<const std::uint64_t> key,
                                                  const std::vector<std::uint64_t>& boundary, int own) {
    if (known_boundary_ != boundary) {
        known_boundary_ = boundary;
        boundary_ = to_space(on_, boundary);
    }
    const auto workers = static_cast<index_t>(boundary.size()) + 1, n = system.count();
    if (count_.size() < workers) count_.reserve_discarding(workers);
    const auto flag = system.flags();
    const auto low = own == 0 ? 0 : boundary[static_cast<std::size_t>(own) - 1];
    const auto high =
        own + 1 == static_cast<int>(workers) ? std::numeric_limits<std::uint64_t>::max() : boundary[static_cast<std::size_t>(own)];
    parallel_for(on_, workers, ClearCounts{count_.data()});
    parallel_for(on_, n, FindLeaving{key, View<const std::uint64_t>(boundary_.view()), low, high, flag.ptr, count_.data()});
    select_flagged(on_, work_, View<const std::uint8_t>(flag), system.list(), listed_.view());
    std::vector<std::uint32_t> found(static_cast<std::size_t>(workers));
    copy_to_host(on_, view(found), View<const std::uint32_t>(count_.view()).subview(0, workers));
    return {found.begin(), found.end()};
}

template <Space S>
void ParticleMoves<S>::list_leaving(System<S, Vec3<float>>& system, View<const std::uint64_t> key, index_t leave) {
    const index_t boundaries = boundary_.size();
    if (boundaries <= 1) return;  // all go to the one other worker: system.list()
    worker_.resize_discarding(leave);
    worker_scratch_.resize_discarding(leave);
    list_.resize_discarding(leave);
    list_scratch_.resize_discarding(leave);
    parallel_for(on_, leave,
                 WriteWorkers{key, View<const std::uint64_t>(boundary_.view()), system.list().ptr, worker_.data(), list_.data()});
    sort_by_key(on_, work_, worker_.view(), list_.view(), worker_scratch_.view(), list_scratch_.view(),
                static_cast<int>(std::bit_width(static_cast<std::uint64_t>(boundaries))));
}

template <Space S>
void ParticleMoves<S>::pack(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t leave, int quarter) {
    const auto* const list = boundary_.size() > 1 ? list_.data() : system.list().ptr;
    parallel_for(on_, leave, PackParticles{views(system, key), list, quarter, leaving_.data()});
}

template <Space S>
void ParticleMoves<S>::unpack(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t before, index_t leave, index_t arrive,
                              int quarter) {
    const View<const std::uint32_t> hole(system.list().ptr, leave);
    parallel_for(on_, arrive, UnpackParticles{arriving_.data(), quarter, views(system, key), hole, before});
}

template <Space S>
void ParticleMoves<S>::fill(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t before, index_t leave, index_t arrive) {
    const View<const std::uint32_t> hole(system.list().ptr, leave);
    const index_t after = before - leave + arrive;
    parallel_for(on_, before - after, FillFromEnd{views(system, key), hole, arrive, after});
}

template class ParticleMoves<KS_SPACE>;

}  // namespace kasane::gravity
