// Particles move to the workers of their domains, each as one record. Usually few do: the others stay in their places.
// Invariants: arrivals take the places of particles that have left, the lowest first, and then those behind the last; particles from the
// end take places that remain. The order of the particles therefore does not depend on threads.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/growing_buffer.hpp>
#include <kasane/gravity/domain/all_to_all.hpp>
#include <kasane/gravity/step/system.hpp>

#include <algorithm>
#include <vector>

namespace kasane::gravity {

/// All that a system with a tree keeps of a particle, and its key.
struct ParticleRecord {
    Vec3<double> position, velocity;
    double mass, softening;
    Vec3<float> acceleration;
    float size;
    std::uint32_t given, level;
    std::uint64_t key;
};

/// Moves particles; keeps its memory, unless many moved.
template <Space S>
class ParticleMoves {
   public:
    explicit ParticleMoves(S on)
        : on_(on),
          work_(on),
          boundary_(on, 0),
          count_(on, 0),
          listed_(on, 1),
          worker_(on, 0),
          worker_scratch_(on, 0),
          list_(on, 0),
          list_scratch_(on, 0),
          leaving_(on, 0),
          arriving_(on, 0) {}

    /// Sends each particle to the worker of its domain, and receives those of this worker. Overwrites the scratch memory of the system.
    /// Collective.
    /// @param key  [system.count()], of the particles in their order; they move with the particles
    /// @param boundary  of the domains (boundaries.hpp)   @return this worker's particles have changed
    bool operator()(comm::Worker& worker, comm::Channel<S>& channel, System<S, Vec3<float>>& system, GrowingBuffer<std::uint64_t, S>& key,
                    const std::vector<std::uint64_t>& boundary) {
        const auto workers = static_cast<std::size_t>(worker.size()), me = static_cast<std::size_t>(worker.index());
        const auto own = find(system, View<const std::uint64_t>(key.view()), boundary, worker.index());
        const auto all = gather_words(worker, own);
        std::vector<index_t> departure(1, 0), arrival(1, 0);
        for (std::size_t w = 0; w < workers; ++w) {
            departure.push_back(departure.back() + static_cast<index_t>(own[w]));
            arrival.push_back(arrival.back() + static_cast<index_t>(all[w * workers + me]));
        }
        const index_t leave = departure.back(), arrive = arrival.back();
        if (leave == 0 && arrive == 0) return false;  // other workers neither send to this one nor wait for it
        pack(system, key.view(), leave);
        arriving_.resize_discarding(arrive);
        std::vector<View<const std::byte>> send;
        std::vector<View<std::byte>> receive;
        constexpr auto bytes = static_cast<index_t>(sizeof(ParticleRecord));
        for (std::size_t w = 0; w < workers; ++w) {
            send.emplace_back(reinterpret_cast<const std::byte*>(leaving_.data() + departure[w]),
                              bytes * (departure[w + 1] - departure[w]));
            receive.emplace_back(reinterpret_cast<std::byte*>(arriving_.data() + arrival[w]), bytes * (arrival[w + 1] - arrival[w]));
        }
        all_to_all(on_, worker, channel, send, receive);
        const index_t before = system.count(), after = before - leave + arrive;
        if (after > before) system.resize(after), key.resize(after);
        fill(system, key.view(), before, leave);
        if (after < before) system.resize(after), key.resize(after);
        if (8 * std::max(leave, arrive) > after) leaving_.clear(), arriving_.clear();
        return true;
    }

   private:
    /// Lists the particles that leave, ascending, in system.list(). @return how many go to each worker
    std::vector<std::uint64_t> find(System<S, Vec3<float>>& system, View<const std::uint64_t> key,
                                    const std::vector<std::uint64_t>& boundary, int own);
    /// Copies the listed particles to leaving_, in the order of their workers.
    void pack(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t leave);
    /// Puts what arrived into the system of `before` particles, and moves those at its end, if it becomes smaller.
    void fill(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t before, index_t leave);

    S on_;
    Workspace<S> work_;
    std::vector<std::uint64_t> known_boundary_;
    Buffer<std::uint64_t, S> boundary_;
    Buffer<std::uint32_t, S> count_, listed_;
    GrowingBuffer<std::uint64_t, S> worker_, worker_scratch_;  ///< of the particles that leave, where there are more than two workers
    GrowingBuffer<std::uint32_t, S> list_, list_scratch_;
    GrowingBuffer<ParticleRecord, S> leaving_, arriving_;
};

}  // namespace kasane::gravity
