// Particles move to the workers of their domains, each as one record. Usually few do: the others stay in their places. Where many move, as
// in the first division, a quarter of each record is sent after the other, so that records take little memory. Invariants: arrivals take
// the places of particles that have left, the lowest first, and then those after the last; particles from the end take places that remain.
// The order of the particles therefore does not depend on threads.
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
    std::uint64_t key;
    Vec3<float> acceleration;
    float size;
    std::uint32_t given, level;
};
/// A quarter of a record: position, velocity, the numbers of 8 bytes after them, or those of 4 bytes.
struct ParticleQuarter {
    std::uint64_t word[3];
};
static_assert(sizeof(ParticleRecord) == 4 * sizeof(ParticleQuarter));

/// Moves particles; keeps its memory, unless many moved.
template <Space S>
class ParticleMoves {
   public:
    /// @param most_records  where a worker sends or receives more particles, records are sent in quarters
    explicit ParticleMoves(S on, index_t most_records = index_t{1} << 20)
        : on_(on),
          most_records_(most_records),
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
    bool operator()(comm::Worker& worker, Channels<S>& channels, System<S, Vec3<float>>& system, GrowingBuffer<std::uint64_t, S>& key,
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
        const bool quarters = most_moves(all, workers) > static_cast<std::uint64_t>(most_records_);
        list_leaving(system, View<const std::uint64_t>(key.view()), leave);
        if (quarters) worker_.clear(), worker_scratch_.clear(), list_scratch_.clear();
        const index_t before = system.count(), after = before - leave + arrive;
        if (after > before) system.resize(after), key.resize(after);
        const auto bytes = static_cast<index_t>(quarters ? sizeof(ParticleQuarter) : sizeof(ParticleRecord));
        leaving_.resize_discarding(bytes * leave);
        arriving_.resize_discarding(bytes * arrive);
        std::vector<View<const std::byte>> send;
        std::vector<View<std::byte>> receive;
        for (std::size_t w = 0; w < workers; ++w) {
            send.emplace_back(leaving_.data() + bytes * departure[w], bytes * (departure[w + 1] - departure[w]));
            receive.emplace_back(arriving_.data() + bytes * arrival[w], bytes * (arrival[w + 1] - arrival[w]));
        }
        for (int quarter = quarters ? 0 : whole; quarter < (quarters ? 4 : whole + 1); ++quarter) {
            pack(system, key.view(), leave, quarter);
            all_to_all(on_, worker, channels, send, receive);
            unpack(system, key.view(), before, leave, arrive, quarter);
        }
        if (after < before) {
            fill(system, key.view(), before, leave, arrive);
            system.resize(after), key.resize(after);
        }
        if (quarters) leaving_.clear(), arriving_.clear(), list_.clear();
        return true;
    }

   private:
    /// Lists the particles that leave, ascending, in system.list(). @return how many go to each worker
    std::vector<std::uint64_t> find(System<S, Vec3<float>>& system, View<const std::uint64_t> key,
                                    const std::vector<std::uint64_t>& boundary, int own);
    /// The largest number of particles that a worker sends or receives. @param moves  [workers * workers], from each one to each one
    static std::uint64_t most_moves(const std::vector<std::uint64_t>& moves, std::size_t workers) {
        std::uint64_t most = 0;
        for (std::size_t w = 0; w < workers; ++w) {
            std::uint64_t sent = 0, received = 0;
            for (std::size_t of = 0; of < workers; ++of) sent += moves[w * workers + of], received += moves[of * workers + w];
            most = std::max({most, sent, received});
        }
        return most;
    }

    static constexpr int whole = 4;  ///< in the place of a quarter: the whole record
    /// Lists the particles that leave in the order of their workers.
    void list_leaving(System<S, Vec3<float>>& system, View<const std::uint64_t> key, index_t leave);
    /// Copies a quarter of the particles that leave to leaving_.
    void pack(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t leave, int quarter);
    /// Puts a quarter of the particles that arrived into the system, which had `before` particles.
    void unpack(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t before, index_t leave, index_t arrive, int quarter);
    /// Moves particles from the end of a system that becomes smaller.
    void fill(System<S, Vec3<float>>& system, View<std::uint64_t> key, index_t before, index_t leave, index_t arrive);

    S on_;
    index_t most_records_;
    Workspace<S> work_;
    std::vector<std::uint64_t> known_boundary_;
    Buffer<std::uint64_t, S> boundary_;
    Buffer<std::uint32_t, S> count_, listed_;
    GrowingBuffer<std::uint64_t, S> worker_, worker_scratch_;  ///< of the particles that leave, where there are more than two workers
    GrowingBuffer<std::uint32_t, S> list_, list_scratch_;
    GrowingBuffer<std::byte, S> leaving_, arriving_;  ///< records, or a quarter of each
};

}  // namespace kasane::gravity
