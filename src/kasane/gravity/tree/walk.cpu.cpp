// Walk<Cpu>: choice of the walk, units, and memory that is reused between calls.
// Invariant: the forces on a group do not depend on the thread that computes them, nor on the number of threads.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/walks.cpu.hpp>

#include <algorithm>
#include <utility>

namespace kasane::gravity {

template <>
struct Walk<Cpu>::State {
    Cpu on;
    Tree options;
    WalkTuning tuning;
    WalkCounts counts;
    std::vector<detail::ListsScratch> scratch;
};

template <>
Walk<Cpu>::Walk(Cpu on, const Tree& options) {
    validate(options);
    state_ = std::make_unique<State>(State{on, options, {}, {}, {}});
}

template <>
Walk<Cpu>::~Walk() = default;
template <>
Walk<Cpu>::Walk(Walk&&) noexcept = default;
template <>
Walk<Cpu>& Walk<Cpu>::operator=(Walk&&) noexcept = default;

template <>
void Walk<Cpu>::operator()(const OctreeView& tree, const WalkTargets& targets, const WalkField& out) {
    auto& [on, options, tuning, counts, scratch] = *state_;
    const index_t n = targets.count(tree.bodies);
    if (n == 0 || (out.acceleration.empty() && out.potential.empty())) return;
    const auto& frame = tree.frame;
    const double eps = options.softening / frame.length;
    detail::WalkJob job;
    job.tree = tree;
    job.index = targets.all ? nullptr : targets.index.ptr;
    job.targets = n;
    job.acceleration = targets.acceleration.empty() ? nullptr : targets.acceleration.ptr;
    // In this order no product leaves the range of double if the result does not.
    job.acceleration_unit = frame.length / options.G * (frame.length / frame.mass);
    job.eps2 = static_cast<float>(eps * eps);
    job.softened = job.eps2 >= detail::coincident2;
    job.form = !combines_softenings(options)                         ? detail::PairSoftening::none
               : options.softening_kernel == SofteningKernel::spline ? detail::PairSoftening::spline
                                                                     : detail::PairSoftening::plummer;
    job.self_potential = job.softened ? 1 / eps : 0;
    job.per_acceleration = options.G / frame.length * (frame.mass / frame.length);
    job.per_potential = -options.G / frame.length * frame.mass;
    job.out = out;
    if (options.walk == TreeWalk::links)
        detail::walk_links(on, job, tuning.vector > 0 ? std::min(tuning.vector, 32) : options.vector,
                           tuning.group > 0 ? std::min(tuning.group, 32) : options.group, counts);
    else
        detail::walk_lists(on, job, tuning, scratch, counts);
}

template <>
WalkTuning& Walk<Cpu>::tuning() {
    return state_->tuning;
}

template <>
WalkCounts Walk<Cpu>::counts() {
    return std::exchange(state_->counts, {});
}

template class Walk<Cpu>;

}  // namespace kasane::gravity
