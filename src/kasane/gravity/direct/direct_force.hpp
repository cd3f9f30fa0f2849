// Direct summation of all particles on each other, on one device: [MTM13] sections 1 and 2. accelerate(), potential() and accelerate_at()
// are whole evaluations. DistributedForce (gravity/distributed) divides the same evaluations into source blocks that arrive as messages:
// [MTM13] section 4.
//
// Invariant: contributions are summed over runs of sources that are fixed in the order of all particles, and the sums of the runs are
// accumulated in fixed point (binned_sum.hpp). Results therefore have the same bits for any order of the source blocks, distribution of the
// particles over workers and number of threads, on devices of one kind, with `deterministic` (the one-sided form: always).
//
// Two forms. One-sided: begin(), add() for each source block, end(). Both sides at once (CUDA, Newton's third law): every tile pair
// is evaluated once, by the worker that holds the first of the two tiles in the circulant order (circulant.hpp). The reaction on the
// sources of a source block returns to their worker as a message: begin_pairs(), add_pairs() for each source block, merge() for each
// reaction, end_pairs().
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/direct/peer_memory.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::gravity {

/// Packed sources with consecutive numbers among all particles: position relative to the frame's origin, mass, and the
/// softening term where pairs combine softenings.
struct SourceBlock {
    /// [padded(count) body_bytes()]; the bodies after `count` are massless. Begins at the first byte of a Buffer or whole grains after
    /// it, so that vector loads are aligned.
    View<const std::byte> bodies;
    index_t count = 0, first = 0;  ///< number of particles; number of the first one, a multiple of grain()
};

/// Part of a worker's own pairs. They need no message: `before` is evaluated while source blocks arrive, `after` while reactions return.
enum class Share { all, before, after };
/// `before` is 1 / parts_of_own_pairs of the own pairs.
inline constexpr int parts_of_own_pairs = 4;

/// Direct summation on one device.
template <Space S>
class DirectForce {
   public:
    /// @param total  particles of all workers   @throws InputError: options as of DirectSum; on Cuda 2^30 particles or more
    DirectForce(S on, const Direct& options, index_t total);
    ~DirectForce();
    DirectForce(DirectForce&&) noexcept;
    DirectForce& operator=(DirectForce&&) noexcept;

    /// Sets origin and scale of the following evaluations; must be called before the first one. Costs nothing.
    void set(const DirectFrame& frame);

    /// Computes the accelerations of all particles. Asynchronous on Cuda. @param all  [total]   @param acceleration  [total], overwritten
    void accelerate(const Sources& all, View<Vec3<double>> acceleration);
    /// Computes the potentials of all particles, each without its own source. @param potential  [total], overwritten
    void potential(const Sources& all, View<double> potential);
    /// Computes the accelerations at any positions. @param all  [total]   @param acceleration  [targets.n], overwritten
    /// @param softening [targets.n]  of the targets, where pairs combine softenings; empty: options.softening
    void accelerate_at(View<const Vec3<double>> targets, const Sources& all, View<Vec3<double>> acceleration,
                       View<const double> softening = {});

    /// Source blocks and the slabs of workers begin at multiples of this. A function of the space's kind, the options and `total` alone.
    index_t grain() const;
    /// Bytes of a packed particle.
    std::size_t body_bytes() const;
    /// `count` rounded up to whole grains.
    index_t padded(index_t count) const;
    /// Packs particles into a source block. @param bodies  [padded(position.n) body_bytes()], overwritten
    /// @param softening [position.n]  where pairs combine softenings; empty: options.softening
    void pack(S on, View<const Vec3<double>> position, View<const double> mass, View<std::byte> bodies, View<const double> softening = {});

    /// Begins the sums of the acceleration, the potential or both at these targets.
    /// @param first  number of targets[0] among all particles if the targets have consecutive numbers (the potential then leaves out a
    ///               target's own source); Self::none: any positions, and no potential
    /// @param softening [targets.n]  where pairs combine softenings; empty: options.softening
    void begin(S on, View<const Vec3<double>> targets, index_t first, bool acceleration, bool potential, View<const double> softening = {});
    /// Adds the field of a source block. `on` may be another stream of the same device that waits for the stream of begin(); several
    /// streams may add at the same time.
    void add(S on, const SourceBlock& sources);
    /// Overwrites `out` with G times the sums; a view that begin() did not ask for must be empty.
    void end(S on, const Field& out);

    /// True if accelerate() evaluates each pair once; the functions below may then be called. On the CPU it is false and they do not exist
    /// (use `if constexpr`). A function of the arguments of grain(), of the device's size and,
    /// if not deterministic, of `workers`.
    bool both_sides(int workers = 1) const;
    /// True if a worker with the particles [begin, end) evaluates pairs with [other_begin, other_end) (multiples of grain, or the total).
    bool has_pairs(index_t begin, index_t end, index_t other_begin, index_t other_end) const
        requires(!std::same_as<S, Cpu>);
    /// Bytes of the reaction on one particle.
    std::size_t reaction_bytes() const
        requires(!std::same_as<S, Cpu>);

    /// Begins the sums of the accelerations of the own particles.
    void begin_pairs(S on, const SourceBlock& own)
        requires(!std::same_as<S, Cpu>);
    /// Adds the pairs of own particles with those of `other`. `other` may be the own source block, with a share of its pairs.
    /// @param reaction [other.count reaction_bytes()]  the reactions are added to it; call clear() first. Empty if `other` is the own one
    void add_pairs(S on, const SourceBlock& other, View<std::byte> reaction, Share share = Share::all)
        requires(!std::same_as<S, Cpu>);
    /// Sets a reaction to zero.
    void clear(S on, View<std::byte> reaction)
        requires(!std::same_as<S, Cpu>);
    /// Adds a reaction on the own particles that another worker computed.
    void merge(S on, View<const std::byte> reaction)
        requires(!std::same_as<S, Cpu>);
    /// Overwrites `acceleration` with G times the sums.
    void end_pairs(S on, View<Vec3<double>> acceleration)
        requires(!std::same_as<S, Cpu>);

    /// Memory for accelerate_with_peers(); its `device` is -1 where that is not possible: more than few particles, double precision, or
    /// pairs that combine softenings. Waits for the device.
    /// @param first, count  own particles; `first` is a multiple of grain()
    PeerMemory peer_memory(index_t first, index_t count)
        requires(!std::same_as<S, Cpu>);
    /// @param all  that of every worker of this process, in the order of the slabs   @return false if this device cannot write to one of
    /// them
    bool connect_peers(const std::vector<PeerMemory>& all)
        requires(!std::same_as<S, Cpu>);
    /// accelerate() of the own particles by those of all workers in one launch for each device. The kernels write own sources to the memory
    /// of the other devices and wait for each other, so all workers must call this at the same time.
    void accelerate_with_peers(S on, const Sources& own, View<Vec3<double>> acceleration)
        requires(!std::same_as<S, Cpu>);

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Largest scratch memory of a DirectForce on its space, without packed particles [byte].
/// @param own  own particles, or targets   @param largest_block  particles of the largest source block
std::uint64_t direct_force_memory(const AnySpace& on, index_t own, index_t largest_block, const Direct& options);

}  // namespace kasane::gravity
