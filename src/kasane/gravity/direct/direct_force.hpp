// Direct summation of all particles on each other, on one device: [MTM13] sections 1 and 2. accelerate(), potential() and accelerate_at()
// are whole evaluations. DistributedForce (gravity/distributed) takes the same evaluations apart, into blocks of sources that arrive as
// messages: [MTM13] section 4.
//
// Invariant: contributions are summed over runs of sources that are fixed in the order of all particles, and the sums of the runs are
// accumulated in fixed point (binned_sum.hpp). So no result depends on the order of the source blocks, on the distribution of the particles
// over workers, or on threads: a bit by bit promise on devices of one kind, with `deterministic` (and without it for the one-sided form).
//
// Two forms. One-sided: begin(), add() for each source block, end(). Both sides at once (CUDA, Newton's third law): every pair of tiles of
// particles is evaluated once, by the worker that holds the first of the two in the circulant order: tile b acts on b, b + 1, …, b + B/2
// (mod B). The reaction on the sources of a block returns as a message: begin_pairs(), add_pairs() for each source block, merge() for each
// reaction, end_pairs().
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/frame.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kasane::gravity {

/// Packed sources that follow each other in the order of all particles: position relative to the frame's origin, and mass. The memory has
/// padded(count) bodies; those behind `count` are massless. It begins where a Buffer begins, or whole grains behind: vectors are loaded
/// from it.
struct SourceBlock {
    View<const std::byte> bodies;
    index_t count = 0, first = 0;  ///< particles, and the number of the first one; a multiple of grain()
};

/// Which part of a worker's own pairs: they need no message, so some are evaluated while source blocks arrive, the rest while reactions
/// return.
enum class Share { all, before, after };
/// `before` is one part of so many.
inline constexpr int parts_of_own_pairs = 4;

template <Space S>
class DirectForce {
   public:
    /// @param total  particles of all workers   @throws InputError: options as of DirectSum; on Cuda 2^30 particles or more
    DirectForce(S on, const Direct& options, index_t total);
    ~DirectForce();
    DirectForce(DirectForce&&) noexcept;
    DirectForce& operator=(DirectForce&&) noexcept;

    /// Origin and scale of the evaluations that follow; without cost. Must be called before the first one.
    void set(const DirectFrame& frame);

    /// Accelerations of all particles. Asynchronous on Cuda. @param all  [total]   @param acceleration  [total], overwritten
    void accelerate(const Sources& all, View<Vec3<double>> acceleration);
    /// Potentials of all particles, their own sources left out. @param potential  [total], overwritten
    void potential(const Sources& all, View<double> potential);
    /// Accelerations at any places. @param all  [total]   @param acceleration  [targets.n], overwritten
    void accelerate_at(View<const Vec3<double>> targets, const Sources& all, View<Vec3<double>> acceleration);

    /// Source blocks and the slabs of workers begin at multiples of this. A function of the space's kind, the options and `total` alone.
    index_t grain() const;
    std::size_t body_bytes() const;
    /// `count` rounded up to whole grains.
    index_t padded(index_t count) const;
    /// bodies [padded(position.n) body_bytes()]
    void pack(S on, View<const Vec3<double>> position, View<const double> mass, View<std::byte> bodies);

    /// Begins the sums at these targets. Acceleration and potential may both be wanted.
    /// @param first  number of targets[0] in the order of all when the targets follow each other there (the potential then leaves out a
    ///               target's own source); Self::none: any particles, and no potential
    void begin(S on, View<const Vec3<double>> targets, index_t first, bool acceleration, bool potential);
    /// Adds the field of a block. `on` may be another stream of the same device, at the same time as others, after the one of begin().
    void add(S on, const SourceBlock& sources);
    /// Overwrites `out` with G times the sums; views that were not wanted are empty.
    void end(S on, const Field& out);

    /// Does accelerate() evaluate each pair once? Then the functions below may be called; on the CPU this is false, and they do not exist
    /// (ask with if constexpr). A function of the same things as grain() and of the device's size.
    bool both_sides() const;
    /// Does a worker with particles [begin, end) evaluate pairs with [other_begin, other_end) (all multiples of grain, or the total)?
    bool meets(index_t begin, index_t end, index_t other_begin, index_t other_end) const
        requires(!std::same_as<S, Cpu>);
    /// Bytes of the reaction on one particle.
    std::size_t reaction_bytes() const
        requires(!std::same_as<S, Cpu>);

    void begin_pairs(S on, const SourceBlock& own)
        requires(!std::same_as<S, Cpu>);
    /// The pairs of own particles with those of `other`; `other` may be the own source block, with a share of its pairs.
    /// @param reaction [other.count reaction_bytes()]  is added to, clear() comes first; empty where other is the own source block
    void add_pairs(S on, const SourceBlock& other, View<std::byte> reaction, Share share = Share::all)
        requires(!std::same_as<S, Cpu>);
    /// Sets a reaction to zero.
    void clear(S on, View<std::byte> reaction)
        requires(!std::same_as<S, Cpu>);
    /// Adds a reaction on the own particles that another worker summed up.
    void merge(S on, View<const std::byte> reaction)
        requires(!std::same_as<S, Cpu>);
    void end_pairs(S on, View<Vec3<double>> acceleration)
        requires(!std::same_as<S, Cpu>);

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Scratch bytes that DirectForce takes at most on its space, for so many own particles and so many in the largest source block.
std::uint64_t direct_force_memory(const AnySpace& on, index_t own, index_t largest_block, const Direct& options);

}  // namespace kasane::gravity
