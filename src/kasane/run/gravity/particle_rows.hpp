// Particles in their order, of which a part at a time is in memory, for checkpoints.
#pragma once

#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::run {

class ParticleRows {
   public:
    virtual ~ParticleRows() = default;
    virtual index_t size() const = 0;
    /// False where the particles have no softenings, or no accelerations.
    virtual bool has(gravity::Column column) const = 0;
    /// The rows first, first + 1, ..., first + n - 1, valid until the next call.
    virtual const void* rows(gravity::Column column, index_t first, index_t n) = 0;

    template <class T>
    View<const T> rows_of(gravity::Column column, index_t first, index_t n) {
        KS_EXPECT(gravity::bytes_of(column) == sizeof(T));
        return {static_cast<const T*>(rows(column, first, n)), n};
    }
};

/// Particles in memory, which must outlive this.
class RowsInMemory final : public ParticleRows {
   public:
    RowsInMemory(const gravity::Particles& particles, const std::vector<Vec3<float>>& acceleration)
        : particles_(particles), acceleration_(acceleration) {}
    index_t size() const override { return particles_.size(); }
    bool has(gravity::Column column) const override;
    const void* rows(gravity::Column column, index_t first, index_t n) override;

   private:
    const gravity::Particles& particles_;
    const std::vector<Vec3<float>>& acceleration_;
};

/// Particles of all ranks, at the last gravity::take_back(). On the root rank.
class RowsOfSlabs final : public ParticleRows {
   public:
    /// @param accelerated  the simulation has accelerations
    RowsOfSlabs(const gravity::SlabParticles& slabs, bool accelerated) : slabs_(slabs), accelerated_(accelerated) {}
    index_t size() const override { return slabs_.size(); }
    bool has(gravity::Column column) const override;
    const void* rows(gravity::Column column, index_t first, index_t n) override;

   private:
    const gravity::SlabParticles& slabs_;
    bool accelerated_;
    std::vector<std::byte> buffer_;
};

/// Fewer particles are written before steps continue on several ranks, and checkpoints have copies of them: files of some MB cost nothing.
inline constexpr index_t many_particles = 32'768;

/// Bytes of the particles of all ranks, with accelerations, that the root rank collects for its files; 0 where it does not: they are few,
/// or more than a quarter of its free memory.
std::uint64_t collected_bytes(index_t n, std::uint64_t free);

/// The particles of all ranks, at the last gravity::take_back(), in the memory of the root rank, for a thread that writes them while steps
/// continue. Null where collected_bytes() is 0.
std::shared_ptr<const gravity::Particles> collected(const gravity::SlabParticles& slabs);
/// Their accelerations.
std::vector<Vec3<float>> collected_accelerations(const gravity::SlabParticles& slabs);

}  // namespace kasane::run
