// Prediction, correction and the choice of steps, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/step/motion.hpp>

#include <cmath>

namespace kasane::gravity {
namespace {

KS_FN Vec3<double> wide(const Vec3<double>& a) { return a; }
KS_FN Vec3<double> wide(const Vec3<float>& a) { return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)}; }

using Word = StepReport::Word;

KS_FN void add(Word& to, Word what) {
#if defined(__CUDA_ARCH__)
    atomicAdd(&to, what);
#else
    __atomic_fetch_add(&to, what, __ATOMIC_RELAXED);
#endif
}

KS_FN void lower(Word& to, Word what) {
#if defined(__CUDA_ARCH__)
    atomicMin(&to, what);
#else
    auto seen = __atomic_load_n(&to, __ATOMIC_RELAXED);
    while (what < seen && !__atomic_compare_exchange_n(&to, &seen, what, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
}

KS_FN bool not_finite(const Vec3<double>& v) {
    const double sum = v.x + v.y + v.z;
    return !(sum - sum == 0);
}

template <class A, class Predict>
struct Advance {
    Motion<A> motion;
    BlockStep step;
    View<std::uint8_t> ends;
    Predict predict;

    KS_FN void operator()(index_t k) const {
        index_t i = k;
        if constexpr (requires { predict.list; }) i = predict.list[k];
        const int level = motion.level.empty() ? step.first : motion.level[i];
        const bool ending = level >= step.first;
        if (!ends.empty()) ends[k] = ending;
        const double dt = step.elapsed[level];
        const auto v = motion.velocity[i] + 0.5 * dt * wide(motion.acceleration[i]);
        const auto x = motion.position[i] + dt * v;
        if (ending) {
            motion.velocity[i] = v;
            motion.position[i] = x;
        }
        predict(i, x);
    }
};

template <class A, class Predict>
struct PredictAll {
    Motion<A> motion;
    std::array<double, most_levels> ahead;
    Predict to;
    KS_FN void operator()(index_t i) const {
        const double dt = ahead.data()[motion.level.empty() ? 0 : motion.level[i]];
        to(i, motion.position[i] + dt * (motion.velocity[i] + 0.5 * dt * wide(motion.acceleration[i])));
    }
};

template <class A>
struct Finish {
    Motion<A> motion;
    BlockStep step;
    View<const std::uint32_t> active, given;
    View<float> size;
    StepRule rule;
    bool choose;
    View<Word> report;

    KS_FN void operator()(index_t k) const {
        const index_t i = active.empty() ? k : active[k];
        const int level = motion.level.empty() ? step.first : motion.level[i];
        const double dt = step.elapsed[level];
        const auto a = wide(motion.acceleration[i]);
        const auto v = motion.velocity[i] + 0.5 * dt * a;
        motion.velocity[i] = v;
        const double a2 = dot(a, a);
        if (!size.empty()) size[i] = static_cast<float>(std::sqrt(a2));
        const auto x = motion.position[i];
        const bool position = not_finite(x);
        if (position || not_finite(v))
            lower(report[StepReport::bad],
                  StepReport::bad_word(step.macro, position, given.empty() ? static_cast<std::uint32_t>(i) : given[i]));
        if (!choose) return;
        const double speed2 = dot(v, v);
        const int required = step.grid.wanted(motion.softening.empty() ? rule.dt(speed2, a2) : rule.dt(speed2, a2, motion.softening[i]));
        if (required > step.grid.deepest) add(report[StepReport::clamped], 1);
        const int to = step.grid.after(level, required, step.next);
        if (to == level) return;
        motion.level[i] = static_cast<std::uint8_t>(to);
        add(report[level], ~Word{0});  // minus one
        add(report[to], 1);
    }
};

template <class A>
struct WantLevel {
    Motion<A> motion;
    TimeGrid grid;
    StepRule rule;
    View<Word> report;

    KS_FN void operator()(index_t i) const {
        const auto a = wide(motion.acceleration[i]);
        const auto v = motion.velocity[i];
        const double speed2 = dot(v, v), a2 = dot(a, a);
        const int required = grid.wanted(motion.softening.empty() ? rule.dt(speed2, a2) : rule.dt(speed2, a2, motion.softening[i]));
        if (required > grid.deepest) add(report[StepReport::clamped], 1);
        motion.level[i] = static_cast<std::uint8_t>(required < grid.deepest ? required : grid.deepest);
    }
};

template <class A>
struct Measure {
    View<const A> acceleration;
    View<float> size;
    KS_FN void operator()(index_t i) const {
        const auto a = wide(acceleration[i]);
        size[i] = static_cast<float>(std::sqrt(dot(a, a)));
    }
};

struct FlagLevels {
    const std::uint8_t* level;
    int least;
    std::uint8_t* flag;
    KS_FN void operator()(index_t i) const { flag[i] = level[i] >= least; }
};

struct ResetReport {
    View<Word> report;
    KS_FN void operator()(index_t i) const { report[i] = i == StepReport::bad ? StepReport::none : 0; }
};

}  // namespace

template <Space S, class A, class Predict>
void advance(S on, const Motion<A>& motion, const BlockStep& step, View<std::uint8_t> ends, const Predict& predict) {
    index_t n = motion.position.n;
    if constexpr (requires { predict.list; }) n = predict.list.n;
    parallel_for(on, n, Advance<A, Predict>{motion, step, ends, predict});
}

template <Space S, class A, class Predict>
void predict(S on, const Motion<A>& motion, const std::array<double, most_levels>& ahead, const Predict& to) {
    parallel_for(on, motion.position.n, PredictAll<A, Predict>{motion, ahead, to});
}

template <Space S, class A>
void finish(S on, const Motion<A>& motion, const BlockStep& step, View<const std::uint32_t> active, View<const std::uint32_t> given,
            View<float> size, const StepRule* rule, View<Word> report) {
    const Finish<A> body{motion, step, active, given, size, rule ? *rule : StepRule{}, rule != nullptr, report};
    parallel_for(on, active.empty() ? motion.position.n : active.n, body);
}

template <Space S, class A>
void want_levels(S on, const Motion<A>& motion, const TimeGrid& grid, const StepRule& rule, View<Word> report) {
    parallel_for(on, motion.position.n, WantLevel<A>{motion, grid, rule, report});
    count_levels(on, View<const std::uint8_t>(motion.level), report.subview(0, most_levels));
}

template <Space S, class A>
void measure(S on, View<const A> acceleration, View<float> size) {
    parallel_for(on, size.n, Measure<A>{acceleration, size});
}

template <Space S>
void flag_levels(S on, View<const std::uint8_t> level, int least, View<std::uint8_t> flag) {
    parallel_for(on, flag.n, FlagLevels{level.ptr, least, flag.ptr});
}

template <Space S>
void reset_report(S on, View<Word> report) {
    parallel_for(on, report.n, ResetReport{report});
}

using Wide = Vec3<double>;
using Narrow = Vec3<float>;
template void advance(KS_SPACE, const Motion<Wide>&, const BlockStep&, View<std::uint8_t>, const PredictNothing&);
template void advance(KS_SPACE, const Motion<Wide>&, const BlockStep&, View<std::uint8_t>, const PredictPositions&);
template void advance(KS_SPACE, const Motion<Narrow>&, const BlockStep&, View<std::uint8_t>, const PredictBodies&);
template void advance(KS_SPACE, const Motion<Narrow>&, const BlockStep&, View<std::uint8_t>, const PredictKicked&);
template void predict(KS_SPACE, const Motion<Narrow>&, const std::array<double, most_levels>&, const PredictBodies&);
template void finish(KS_SPACE, const Motion<Wide>&, const BlockStep&, View<const std::uint32_t>, View<const std::uint32_t>, View<float>,
                     const StepRule*, View<Word>);
template void finish(KS_SPACE, const Motion<Narrow>&, const BlockStep&, View<const std::uint32_t>, View<const std::uint32_t>, View<float>,
                     const StepRule*, View<Word>);
template void want_levels(KS_SPACE, const Motion<Wide>&, const TimeGrid&, const StepRule&, View<Word>);
template void want_levels(KS_SPACE, const Motion<Narrow>&, const TimeGrid&, const StepRule&, View<Word>);
template void measure(KS_SPACE, View<const Narrow>, View<float>);
template void flag_levels(KS_SPACE, View<const std::uint8_t>, int, View<std::uint8_t>);
template void reset_report(KS_SPACE, View<Word>);

}  // namespace kasane::gravity
