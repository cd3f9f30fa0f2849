// Direct summation over sources that come in source blocks, in any order: what the messages of [MTM13] section 4 bring. A source block is a
// run of packed particles (position relative to the frame's origin, and mass) that begins at a multiple of grain() in the order of all
// particles. Invariant: contributions are summed over runs of sources that are fixed in the order of all particles, and the runs' sums are
// binned (binned_sum.hpp). So no result depends on the order of the source blocks, on how the particles are dealt out to workers, or on
// threads: a bit by bit promise on devices of one kind, with `deterministic` (and without it for the one-sided form).
//
// Two forms. One-sided: begin(), add() for each source block, end(). Both sides at once (CUDA, Newton's third law): every pair of blocks of
// grain() particles is met once, by the worker that holds the first of the two in the circulant order: block b meets b, b + 1, …, b + B/2
// (mod B). The reaction on the sources of a source block goes home as a message: begin_pairs(), add_pairs() for each source block, merge()
// for each reaction, end_pairs().
#pragma once

#include <kasane/core/comm/partition.hpp>
#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/frame.hpp>

#include <concepts>
#include <cstddef>
#include <memory>

namespace kasane::gravity {

/// A packed source block: `count` particles, the first of which is number `first` of all; room for padded(count) bodies, the last ones
/// massless. It begins where a Buffer begins, or whole grains behind: vectors are loaded from it.
struct SourceBlock {
    View<const std::byte> bodies;
    index_t count = 0, first = 0;
};

/// Which part of a worker's own pairs: own pairs need no message, so that some are met while source blocks come, the rest while reactions
/// go home.
enum class Share { all, before, after };
/// `before` is one part of so many.
inline constexpr int parts_of_own_pairs = 4;

template <Space S>
class DirectForce {
   public:
    /// @param total  particles of all workers   @throws InputError as DirectSum
    DirectForce(S on, const Direct& options, index_t total);
    ~DirectForce();
    DirectForce(DirectForce&&) noexcept;
    DirectForce& operator=(DirectForce&&) noexcept;

    /// A function of the space's kind, the options and `total` alone.
    index_t grain() const;
    std::size_t body_bytes() const;
    /// `count` rounded up to whole grains.
    index_t padded(index_t count) const;

    /// Of the evaluations that follow; costs nothing.
    void set(const DirectFrame& frame);
    /// bodies [padded(position.n) body_bytes()]
    void pack(S on, View<const Vec3<double>> position, View<const double> mass, View<std::byte> bodies);

    /// What add() sums up: the field at these targets, their positions packed here. Both may be wanted.
    /// @param first  number of targets[0] in the order of all when the targets follow each other there (the potential then leaves out a
    ///               target's own source); Self::none: any particles, and no potential
    void begin(S on, View<const Vec3<double>> targets, index_t first, bool acceleration, bool potential);
    /// `on` may be another stream of the same device, at the same time as others, after what begin() was given to.
    void add(S on, const SourceBlock& sources);
    /// Overwrites `out` with G times the sums; views that were not wanted are empty.
    void end(S on, const Field& out);

    /// Is the form of both sides to be used for the accelerations of all particles? Then the functions below may be called; on the CPU
    /// it never is, and they do not exist (ask with if constexpr). A function of the same things as grain() and of the device's size.
    bool both_sides() const;
    /// Does a worker with particles [begin, end) meet any of [other_begin, other_end) (all multiples of grain, or the total)?
    bool meets(index_t begin, index_t end, index_t other_begin, index_t other_end) const requires(!std::same_as<S, Cpu>);
    /// Bytes of the reaction on one particle.
    std::size_t reaction_bytes() const requires(!std::same_as<S, Cpu>);

    void begin_pairs(S on, const SourceBlock& own) requires(!std::same_as<S, Cpu>);
    /// The pairs of own particles with those of `other`; `other` may be the own source block, with a share of its pairs.
    /// @param reaction [other.count reaction_bytes()]  is added to, clear() comes first; empty where other is the own source block
    void add_pairs(S on, const SourceBlock& other, View<std::byte> reaction, Share share = Share::all) requires(!std::same_as<S, Cpu>);
    /// A reaction before anything is added to it.
    void clear(S on, View<std::byte> reaction) requires(!std::same_as<S, Cpu>);
    /// A reaction on the own particles that another worker summed up.
    void merge(S on, View<const std::byte> reaction) requires(!std::same_as<S, Cpu>);
    void end_pairs(S on, View<Vec3<double>> acceleration) requires(!std::same_as<S, Cpu>);

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Scratch bytes that DirectForce takes at most on its space, for so many own particles and so many in the largest source block.
std::uint64_t direct_force_memory(const AnySpace& on, index_t own, index_t largest_block, const Direct& options);

}  // namespace kasane::gravity
