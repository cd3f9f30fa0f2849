// Particles move to the workers of their domains, each as one record.
// Invariant: a worker has first the particles that it keeps, then those of the other workers in the order of the workers; the particles of
// one sender keep their order.
#pragma once

#include <kasane/gravity/domain/all_to_all.hpp>
#include <kasane/gravity/step/system.hpp>

#include <vector>

namespace kasane::gravity {

/// All that a system with a tree keeps of a particle.
struct ParticleRecord {
    Vec3<double> position, velocity;
    double mass, softening;
    Vec3<float> acceleration;
    float size;
    std::uint32_t given, level;
};

/// Copies all particles of a system to records.
template <Space S>
void pack(S on, System<S, Vec3<float>>& system, View<ParticleRecord> to);
/// Copies records to the particles of a system from number `first` on.
template <Space S>
void unpack(S on, View<const ParticleRecord> from, System<S, Vec3<float>>& system, index_t first);

/// Sends the particles [begin[w], begin[w + 1]) of the system to worker w, for every worker, and receives those of this worker. Collective.
/// @return this worker's particles have changed
template <Space S>
bool move_particles(S on, comm::Worker& worker, comm::Channel<S>& channel, System<S, Vec3<float>>& system,
                    const std::vector<index_t>& begin) {
    const auto workers = static_cast<std::size_t>(worker.size()), me = static_cast<std::size_t>(worker.index());
    std::vector<std::uint64_t> own;
    for (std::size_t w = 0; w < workers; ++w) own.push_back(static_cast<std::uint64_t>(begin[w + 1] - begin[w]));
    const auto all = gather_words(worker, own);
    std::vector<index_t> arrival(1, 0);
    for (std::size_t w = 0; w < workers; ++w)
        arrival.push_back(arrival.back() + (w == me ? 0 : static_cast<index_t>(all[w * workers + me])));

    const index_t kept = begin[me + 1] - begin[me];
    const bool changes = kept < system.count() || arrival.back() > 0;
    if (!changes) return false;  // other workers neither send to this one nor wait for it
    Buffer<ParticleRecord, S> leaving(on, system.count()), arriving(on, arrival.back());
    pack(on, system, leaving.view());
    std::vector<View<const std::byte>> send;
    std::vector<View<std::byte>> receive;
    constexpr auto bytes = static_cast<index_t>(sizeof(ParticleRecord));
    for (std::size_t w = 0; w < workers; ++w) {
        send.emplace_back(reinterpret_cast<const std::byte*>(leaving.data() + begin[w]), bytes * (begin[w + 1] - begin[w]));
        receive.emplace_back(reinterpret_cast<std::byte*>(arriving.data() + arrival[w]), bytes * (arrival[w + 1] - arrival[w]));
    }
    all_to_all(on, worker, channel, send, receive);
    system.resize(kept + arrival.back());
    unpack(on, View<const ParticleRecord>(leaving.view().subview(begin[me], kept)), system, 0);
    unpack(on, View<const ParticleRecord>(arriving.view()), system, kept);
    return true;
}

}  // namespace kasane::gravity
