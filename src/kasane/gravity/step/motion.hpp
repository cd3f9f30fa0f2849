// One block step of every particle, in predict-evaluate-correct form: v' = v + a dt/2, x' = x + v' dt, (new a), v = v' + a_new dt/2,
// where dt is the time since the particle's own time. The scheme is of second order; with one constant step it is the kick-drift-kick
// leapfrog, symplectic and time-reversible to rounding.
// Invariants: only particles whose step ends change; nothing is copied to the host; counts are integers, so that no result depends
// on the number of threads.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/step/level.hpp>
#include <kasane/gravity/tree/octree.hpp>

#include <array>
#include <cstdint>

namespace kasane::gravity {

/// A step of the system from one time to the next, in ticks of the grid.
struct BlockStep {
    /// @param first_level  steps of this level and of deeper ones end at `to`   @param macro_step  number of the macro step, for reports
    BlockStep(const TimeGrid& on, std::uint32_t from, std::uint32_t to, int first_level, std::uint32_t macro_step)
        : grid(on), now(from), next(to), first(first_level), macro(macro_step) {
        for (int level = 0; level <= grid.deepest; ++level) elapsed[level] = grid.time(next - grid.begin(level, now));
    }
    TimeGrid grid;
    std::uint32_t now, next;
    int first;
    std::uint32_t macro;
    double elapsed[most_levels] = {};  ///< time from that of the particles of a level to `next`
};

/// The particles during a step. A, the type of an acceleration, is Vec3<double> or Vec3<float>.
template <class A>
struct Motion {
    View<Vec3<double>> position, velocity;  ///< [n], at each particle's own time
    View<const A> acceleration;             ///< [n], at the same times; after the force, the new one where a step ends
    View<std::uint8_t> level;               ///< [n]; empty: all particles are on the level `first` of the step
    View<const double> softening = {};      ///< [n], for the step criterion; empty: StepRule::length for all
};

/// Report of the steps to the host, one word each: particles per level; how often the criterion required less than the shortest step since
/// the last reset; the first particle that was not finite, or `none`. The order is: the earliest macro step, then particles whose position
/// is not finite before those with a non-finite velocity alone, then the smallest index in the order given.
struct StepReport {
    using Word = unsigned long long;
    static constexpr index_t clamped = most_levels, bad = most_levels + 1, words = most_levels + 2;
    static constexpr Word none = ~Word{0};

    KS_FN static Word bad_word(std::uint32_t macro, bool position, std::uint32_t given) {
        return Word{macro} << 32 | (position ? 0u : 1u << 31) | given;
    }
    KS_FN static std::uint32_t bad_macro(Word word) { return static_cast<std::uint32_t>(word >> 32); }
    KS_FN static std::uint32_t bad_given(Word word) { return static_cast<std::uint32_t>(word) & ~(1u << 31); }
};

/// Destination of the predicted positions: none, an array of positions, or the bodies of a tree.
struct PredictNothing {
    KS_FN void operator()(index_t, const Vec3<double>&) const {}
};
struct PredictPositions {
    View<Vec3<double>> position;  ///< [n]
    KS_FN void operator()(index_t i, const Vec3<double>& x) const { position[i] = x; }
};
struct PredictBodies {
    View<Body> body;          ///< [n]
    View<const double> mass;  ///< [n]
    Vec3<double> center;
    double per_length = 1, per_mass = 1;  ///< powers of two, so that the products are exact
    KS_FN void operator()(index_t i, const Vec3<double>& x) const {
        body[i] = {to_tree(x.x - center.x), to_tree(x.y - center.y), to_tree(x.z - center.z), static_cast<float>(per_mass * mass[i])};
    }
    /// As in Octree::place(): escapers are clamped to 1e18, where squares and cubes of distances stay finite.
    KS_FN float to_tree(double x) const {
        const double scaled = per_length * x;
        return static_cast<float>(scaled < -1e18 ? -1e18 : scaled > 1e18 ? 1e18 : scaled);
    }
};

/// The same for the listed bodies alone: those that KeptNodes does not move.
struct PredictKicked {
    PredictBodies to;
    View<const std::uint32_t> list;  ///< ascending; no other particle's step ends
    KS_FN void operator()(index_t i, const Vec3<double>& x) const { to(i, x); }
};

/// Predicts all particles, or the listed ones, to the end of the step. Particles whose own step ends there are moved there and get the
/// first half of the kick.
/// @param ends  [n], or [listed]: becomes 1 for particles whose step ends and 0 for the others; may be empty
template <Space S, class A, class Predict>
void advance(S on, const Motion<A>& motion, const BlockStep& step, View<std::uint8_t> ends, const Predict& predict);

/// Predicts the positions of all particles at one time and changes no particle. @param ahead  time from that of the particles of each
/// level to the wanted one; ahead[0] for all particles where motion.level is empty
template <Space S, class A, class Predict>
void predict(S on, const Motion<A>& motion, const std::array<double, most_levels>& ahead, const Predict& to);

/// Second half of the kick, for the particles whose step ends.
/// @param active  their indices; empty: all n   @param given  [n], index of each particle in the order given; empty: they are in that order
/// @param size    [n], |a| of the active particles; may be empty
/// @param rule    null: levels do not change; else each active particle gets its next level, and the counts of the report follow
template <Space S, class A>
void finish(S on, const Motion<A>& motion, const BlockStep& step, View<const std::uint32_t> active, View<const std::uint32_t> given,
            View<float> size, const StepRule* rule, View<StepReport::Word> report);

/// Writes the level that the criterion gives each particle, at most `deepest`, and the number of particles on each level (report).
template <Space S, class A>
void want_levels(S on, const Motion<A>& motion, const TimeGrid& grid, const StepRule& rule, View<StepReport::Word> report);

/// Writes |a| to size [n].
template <Space S, class A>
void measure(S on, View<const A> acceleration, View<float> size);

/// flag[i] = level[i] >= least, for n particles.
template <Space S>
void flag_levels(S on, View<const std::uint8_t> level, int least, View<std::uint8_t> flag);

/// Sets all counts to 0 and the first non-finite particle to `none`.
template <Space S>
void reset_report(S on, View<StepReport::Word> report);

/// count[l] = number of i with level[i] == l, for l < most_levels.
void count_levels(Cpu on, View<const std::uint8_t> level, View<StepReport::Word> count);
#if defined(KASANE_CUDA)
void count_levels(Cuda on, View<const std::uint8_t> level, View<StepReport::Word> count);
#endif

}  // namespace kasane::gravity
