// Walk<Cuda>: which walk runs, in which shape, units, and what is kept between calls.
// Invariant: everything is enqueued on the space's stream; only counts() waits for the device.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/links_divergence.hpp>
#include <kasane/gravity/tree/walks.cuda.hpp>

#include <bit>
#include <cmath>
#include <string>
#include <variant>

namespace kasane::gravity {
namespace detail {

LinksDivergence count_links_divergence(Cuda on, const WalkJob& job, int vector, int group);

namespace {

/// What must be cleared before each walk, and all of it where counts() has read it.
void clear(Cuda on, WalkLedger* ledger, std::size_t bytes) { KS_CUDA(cudaMemsetAsync(ledger, 0, bytes, on.stream)); }
constexpr std::size_t per_walk_bytes = offsetof(WalkLedger, exceeded);

WalkJob make_job(const Tree& options, const OctreeView& tree, const WalkTargets& targets, const WalkField& out, WalkLedger* ledger) {
    const auto& frame = tree.frame;
    const double eps = options.softening / frame.length;
    const bool softened = eps * eps >= static_cast<double>(coincident2);
    WalkJob job{};
    job.tree = tree;
    const bool all = targets.all || targets.index.n == tree.bodies;
    job.index = all ? nullptr : targets.index.ptr;
    job.targets = static_cast<std::uint32_t>(all ? tree.bodies : targets.index.n);
    job.acceleration = targets.acceleration.empty() ? nullptr : targets.acceleration.ptr;
    job.eps2 = softened ? static_cast<float>(eps * eps) : coincident2;
    job.over_eps = softened ? static_cast<float>(1 / eps) : 0.f;
    // In this order no product leaves the range of double where the result does not.
    job.acceleration_unit = frame.length / options.G * (frame.length / frame.mass);
    job.per_acceleration = options.G / frame.length * (frame.mass / frame.length);
    job.per_potential = -options.G / frame.length * frame.mass;
    job.out_acceleration = out.acceleration.empty() ? nullptr : out.acceleration.ptr;
    job.out_potential = out.potential.empty() ? nullptr : out.potential.ptr;
    job.ledger = ledger;
    return job;
}

/// What the series leaves out of a far cell's pull is at most of the order m s^2 (s^2 + b^2)/R^6. It may be 1/40 of what the criterion
/// allows a cell: far cells are many and their errors alike for the whole group (measured so that the 99th percentile of the error
/// grows by a tenth, in a cube and in a Plummer sphere). The geometric criterion weighs no masses; distance alone decides.
FarRule far_rule(const Tree& options, const Frame& frame) {
    FarRule rule;
    constexpr double share = 0.025, reach2 = 2.2;
    if (const auto* mac = std::get_if<GeometricMac>(&options.mac)) {
        rule.reach2 = static_cast<float>(2.3 / (mac->theta * mac->theta));
        rule.b2 = static_cast<float>(0.75 * mac->theta * mac->theta);  // half the diagonal of a cube of side l, squared
    } else if (const auto* relative = std::get_if<AccelerationMac>(&options.mac)) {
        rule.reach2 = reach2;
        rule.share = static_cast<float>(share * relative->delta);
    } else if (const auto* absolute = std::get_if<MultipoleMac>(&options.mac)) {
        rule.reach2 = reach2;
        const double unit = frame.length / options.G * (frame.length / frame.mass);
        rule.share = static_cast<float>(share * absolute->error * unit);  // the walk's a is 1 with this criterion
    }
    return rule;
}

/// A group whose lists are several times as long as usual holds a target with a very small acceleration, or lies about a centre where
/// all are small; it is shared out among warps. How long is usual goes with the volume that the criterion has a group open.
unsigned most_entries(const Tree& options) {
    constexpr double usual = 6144;  // at delta = 2^-9, which makes lists of about 1500 entries; theta = 0.6 makes up to 4000
    double more = 4;
    if (const auto* mac = std::get_if<GeometricMac>(&options.mac)) more = 4 * std::pow(0.6 / mac->theta, 3);
    if (const auto* mac = std::get_if<AccelerationMac>(&options.mac))
        more = std::pow(1. / 512 / mac->delta, options.multipole == Multipole::quadrupole ? 0.6 : 0.75);
    return static_cast<unsigned>(std::min(usual * std::max(more, 1.), 1e9));
}

}  // namespace
}  // namespace detail

template <>
struct Walk<Cuda>::State {
    Cuda on;
    Tree options;
    int multiprocessors;
    WalkTuning tuning{};
    Buffer<detail::WalkLedger, Cuda> ledger;
    Buffer<detail::TargetGroup, Cuda> group, cut;
    double resident_mib = 0;  ///< of the L2 cache, set aside by us

    State(Cuda space, const Tree& tree)
        : on(space), options(tree), multiprocessors(device_info(AnySpace{space}).units), ledger(space, 1), cut(space, detail::most_cut) {
        detail::clear(on, ledger.data(), sizeof(detail::WalkLedger));
        KS_CUDA(cudaMemsetAsync(cut.data(), 0, detail::most_cut * sizeof(detail::TargetGroup), on.stream));
    }
    ~State() {
        if (resident_mib > 0) set_aside(0);
    }

    /// A failure here costs speed alone.
    void set_aside(double mib) {
        cudaSetDevice(on.device);
        if (mib == 0) cudaCtxResetPersistingL2Cache();
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(mib * 1048576));
        cudaGetLastError();
        resident_mib = mib;
    }

    void lists(detail::WalkJob& job, const WalkTargets& targets);
};

/// Speed alone is decided here, from H200 measurements (bench gravity.tree).
void Walk<Cuda>::State::lists(detail::WalkJob& job, const WalkTargets& targets) {
    detail::ListsChoice choice;
    choice.list = tuning.list > 0 ? std::clamp((tuning.list + 127) / 128 * 128, 128, 1024) : 128;
    choice.async_copy = tuning.async_copy;
    choice.warp_reduce = tuning.warp_reduce;
    choice.few = job.tree.quadrupole ? 2 : 0;
    choice.most_entries = detail::most_entries(options);
    // Where few are active most groups have a target or two, which no series pays for.
    if (static_cast<index_t>(job.targets) * 32 >= job.tree.bodies) choice.far = detail::far_rule(options, job.tree.frame);
    if (tuning.l2_persist_mib != resident_mib) set_aside(tuning.l2_persist_mib);
    if (tuning.l2_persist_mib > 0) {
        choice.resident = job.tree.body;
        int largest = 0;
        KS_CUDA(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxAccessPolicyWindowSize, on.device));
        choice.resident_bytes = std::min({static_cast<std::size_t>(tuning.l2_persist_mib * 1048576), static_cast<std::size_t>(largest),
                                          static_cast<std::size_t>(job.tree.bodies) * sizeof(Body)});
    }
    // Groups of 64 are the cheapest per target once every warp of the device has some of them.
    std::uint32_t most = 64;
    if (tuning.group > 0)
        most = std::bit_floor(static_cast<std::uint32_t>(std::clamp(tuning.group, 1, 64)));
    else
        while (most > 16 && job.targets / most < static_cast<std::uint32_t>(24 * multiprocessors)) most /= 2;
    // So many lanes a target: at most 64/lanes targets in a group, since a lane takes two.
    if (tuning.lanes > 0) most = std::min(most, std::bit_floor(static_cast<std::uint32_t>(std::max(1, 64 / tuning.lanes))));
    job.group_size = most;
    job.cut = cut.data();
    if (job.index) {
        const double extent = tuning.group_extent > 0 ? tuning.group_extent : 1.25;
        const auto span = static_cast<std::uint32_t>(std::clamp(extent * extent * extent * 64, 2., 2e9));
        // What is halved spans more than `span` bodies, so each of the six halvings leaves few such pieces.
        const auto groups = std::min<index_t>(job.targets, job.targets / most + 12 * (job.tree.bodies / span + 1) + 1);
        if (group.size() < groups) group = {}, group = Buffer<detail::TargetGroup, Cuda>(on, groups + groups / 8);
        detail::divide_targets(on, targets.index, most, span, group.data(), ledger.data());
        job.group = group.data();
    }
    detail::walk_lists(on, multiprocessors, job, choice);
}

template <>
Walk<Cuda>::Walk(Cuda on, const Tree& options) {
    validate(options);
    state_ = std::make_unique<State>(on, options);
}

template <>
Walk<Cuda>::~Walk() = default;
template <>
Walk<Cuda>::Walk(Walk&&) noexcept = default;
template <>
Walk<Cuda>& Walk<Cuda>::operator=(Walk&&) noexcept = default;

template <>
void Walk<Cuda>::operator()(const OctreeView& tree, const WalkTargets& targets, const WalkField& out) {
    auto& s = *state_;
    const index_t n = targets.all ? tree.bodies : targets.index.n;
    if (n == 0 || (out.acceleration.empty() && out.potential.empty())) return;
    KS_CUDA(cudaSetDevice(s.on.device));
    detail::clear(s.on, s.ledger.data(), detail::per_walk_bytes);
    auto job = detail::make_job(s.options, tree, targets, out, s.ledger.data());
    if (s.options.walk == TreeWalk::links)
        detail::walk_links(s.on, job, s.options.vector, s.options.group, s.tuning.warp_reduce);
    else
        s.lists(job, targets);
}

template <>
WalkTuning& Walk<Cuda>::tuning() {
    return state_->tuning;
}

template <>
WalkCounts Walk<Cuda>::counts() {
    auto& s = *state_;
    const auto ledger = to_host(s.ledger)[0];
    detail::clear(s.on, s.ledger.data(), sizeof(detail::WalkLedger));
    if (ledger.exceeded)
        throw ComputationError(
            "the walk met a tree that asks for more than the 608 nodes of its stack, so some forces lack cells: "
            "the tree is not one that Octree builds; please report it");
    return {static_cast<double>(ledger.bodies), static_cast<double>(ledger.cells), static_cast<double>(ledger.tests),
            static_cast<double>(ledger.all_groups)};
}

template class Walk<Cuda>;

LinksDivergence links_divergence(Cuda on, const Tree& options, const OctreeView& tree, View<const float> acceleration) {
    Buffer<detail::WalkLedger, Cuda> ledger(on, 1);
    detail::clear(on, ledger.data(), sizeof(detail::WalkLedger));
    WalkTargets targets;
    targets.acceleration = acceleration;
    Buffer<Vec3<float>, Cuda> field(on, tree.bodies);
    const auto job = detail::make_job(options, tree, targets, {field.view(), {}}, ledger.data());
    return detail::count_links_divergence(on, job, options.vector, options.group);
}

}  // namespace kasane::gravity
