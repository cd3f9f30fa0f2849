// Walk<Cuda>: choice of the walk and of its launch, units, and memory that is reused between calls.
// Invariant: all work is enqueued on the stream of the space; only counts() waits for the device.
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

/// Clears the first `bytes` of the ledger: per_walk_bytes before each walk, all of it after counts() has read it.
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
    job.targets = static_cast<std::uint32_t>(targets.count(tree.bodies));
    job.acceleration = targets.acceleration.empty() ? nullptr : targets.acceleration.ptr;
    job.eps2 = softened ? static_cast<float>(eps * eps) : coincident2;
    job.over_eps = softened ? static_cast<float>(1 / eps) : 0.f;
    // In this order no product leaves the range of double if the result does not.
    job.acceleration_unit = frame.length / options.G * (frame.length / frame.mass);
    job.per_acceleration = options.G / frame.length * (frame.mass / frame.length);
    job.per_potential = -options.G / frame.length * frame.mass;
    job.out_acceleration = out.acceleration.empty() ? nullptr : out.acceleration.ptr;
    job.out_potential = out.potential.empty() ? nullptr : out.potential.ptr;
    job.ledger = ledger;
    job.form = !combines_softenings(options)                         ? PairSoftening::none
               : options.softening_kernel == SofteningKernel::spline ? PairSoftening::spline
                                                                     : PairSoftening::plummer;
    return job;
}

/// The series neglects at most of the order m s^2 (s^2 + b^2)/R^6 of a far cell's acceleration. This may be 1/40 of the error that the
/// criterion allows a cell, because far cells are many and their errors are alike for the whole group (measured: the 99th percentile of the
/// error grows by a tenth, in a cube and in a Plummer sphere). The geometric criterion does not use masses: the distance alone decides.
FarRule far_rule(const Tree& options, const Frame& frame) {
    FarRule rule;
    constexpr double share = 0.025, reach2 = 2.2;
    if (const auto* mac = std::get_if<GeometricMac>(&options.mac)) {
        rule.reach2 = static_cast<float>(2.3 / (mac->theta * mac->theta));
        rule.b2 = static_cast<float>(0.75 * mac->theta * mac->theta);  // half the diagonal of a cube of side l, squared
    } else if (const auto* relative = std::get_if<AccelerationMac>(&options.mac)) {
        rule.reach2 = reach2;
        rule.share = static_cast<float>(share * relative->delta);
        rule.b2 = 1 / (nearest_cell * nearest_cell);
    } else if (const auto* absolute = std::get_if<MultipoleMac>(&options.mac)) {
        rule.reach2 = reach2;
        const double unit = frame.length / options.G * (frame.length / frame.mass);
        rule.share = static_cast<float>(share * absolute->error * unit);  // the walk's a is 1 with this criterion
    }
    return rule;
}

/// Largest number of list entries of a group that is not divided among warps. A group with several times the usual number has a target with
/// a very small acceleration, or is at a centre where all are small. The usual number grows with the volume in which cells are opened.
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
    double resident_mib = 0;  ///< part of the L2 cache that this object reserves [MiB]

    State(Cuda space, const Tree& tree)
        : on(space), options(tree), multiprocessors(device_info(AnySpace{space}).units), ledger(space, 1), cut(space, detail::most_cut) {
        detail::clear(on, ledger.data(), sizeof(detail::WalkLedger));
        KS_CUDA(cudaMemsetAsync(cut.data(), 0, detail::most_cut * sizeof(detail::TargetGroup), on.stream));
    }
    ~State() {
        if (resident_mib > 0) reserve_l2(0);
    }

    /// Errors are ignored: they affect the speed alone.
    void reserve_l2(double mib) {
        cudaSetDevice(on.device);
        if (mib == 0) cudaCtxResetPersistingL2Cache();
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(mib * 1048576));
        cudaGetLastError();
        resident_mib = mib;
    }

    detail::ListsChoice choose_lists(const detail::WalkJob& job);
    void make_groups(detail::WalkJob& job);
};

/// Chooses for speed, from measurements on an H200 (bench gravity.tree); errors stay within the criterion.
detail::ListsChoice Walk<Cuda>::State::choose_lists(const detail::WalkJob& job) {
    detail::ListsChoice choice;
    choice.list = tuning.list > 0 ? std::clamp((tuning.list + 127) / 128 * 128, 128, 1024) : 128;
    choice.async_copy = tuning.async_copy;
    choice.warp_reduce = tuning.warp_reduce;
    choice.few = job.tree.quadrupole ? 2 : 0;
    choice.most_entries = detail::most_entries(options);
    // With few targets most groups have one or two of them, for which a series does not pay.
    // The series has one softening for all targets of a group.
    if (!own_softening(job.form) && static_cast<index_t>(job.targets) * 32 >= job.tree.bodies)
        choice.far = detail::far_rule(options, job.tree.frame);
    if (tuning.l2_persist_mib != resident_mib) reserve_l2(tuning.l2_persist_mib);
    if (tuning.l2_persist_mib > 0) {
        choice.resident = job.tree.body;
        int largest = 0;
        KS_CUDA(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxAccessPolicyWindowSize, on.device));
        choice.resident_bytes = std::min({static_cast<std::size_t>(tuning.l2_persist_mib * 1048576), static_cast<std::size_t>(largest),
                                          static_cast<std::size_t>(job.tree.bodies) * sizeof(Body)});
    }
    return choice;
}

/// Chooses the size of the groups; where not all bodies are targets, divides these into groups.
void Walk<Cuda>::State::make_groups(detail::WalkJob& job) {
    // Groups of 64 are the cheapest per target once every warp of the device has some of them. Among few targets of many particles most
    // groups have two or three targets, and those that are more than the resident warps, or larger than others, determine the time of the
    // walk: small groups of a larger extent are fewer, alike and more accurate. M31, 2^23 particles, a thousandth of them targets, on an
    // H100: 163 us in groups of 16 and extents of 1.25 (3,830 groups, 1,518 interactions), 138 of 4 and 1.5 (2,980 groups, 1,713; 3,168
    // warps). With a larger fraction, or fewer targets, such groups have fewer interactions and larger errors than those of 16.
    const auto multiprocessor_count = static_cast<std::uint32_t>(multiprocessors);
    const bool sparse = job.index && job.targets >= 48 * multiprocessor_count && static_cast<index_t>(job.targets) * 500 <= job.tree.bodies;
    const std::uint32_t least = sparse ? 4 : 16;
    std::uint32_t most = 64;
    if (tuning.group > 0)
        most = std::bit_floor(static_cast<std::uint32_t>(std::clamp(tuning.group, 1, 64)));
    else
        while (most > least && job.targets / most < 24 * multiprocessor_count) most /= 2;
    // With `lanes` lanes per target a group has at most 64/lanes targets, since a lane takes two.
    if (tuning.lanes > 0) most = std::min(most, std::bit_floor(static_cast<std::uint32_t>(std::max(1, 64 / tuning.lanes))));
    job.group_size = most;
    job.cut = cut.data();
    if (!job.index) return;
    const double extent = tuning.group_extent > 0 ? tuning.group_extent : sparse ? 1.5 : 1.25;
    const auto span = static_cast<std::uint32_t>(std::clamp(extent * extent * extent * 64, 2., 2e9));
    // A group that is halved spans more than `span` bodies, so each of the six halvings has few such groups.
    const auto groups = std::min<index_t>(job.targets, job.targets / most + 12 * (job.tree.bodies / span + 1) + 1);
    if (group.size() < groups) group = {}, group = Buffer<detail::TargetGroup, Cuda>(on, groups + groups / 8);
    detail::divide_targets(on, {job.index, static_cast<index_t>(job.targets)}, most, span, group.data(), ledger.data());
    job.group = group.data();
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
    const index_t n = targets.count(tree.bodies);
    if (n == 0 || (out.acceleration.empty() && out.potential.empty())) return;
    KS_CUDA(cudaSetDevice(s.on.device));
    detail::clear(s.on, s.ledger.data(), detail::per_walk_bytes);
    auto job = detail::make_job(s.options, tree, targets, out, s.ledger.data());
    if (s.options.walk == TreeWalk::links) {
        detail::walk_links(s.on, job, s.tuning.vector > 0 ? std::min(s.tuning.vector, 32) : s.options.vector,
                           s.tuning.group > 0 ? std::min(s.tuning.group, 32) : s.options.group, s.tuning.warp_reduce);
    } else {
        const auto choice = s.choose_lists(job);
        s.make_groups(job);
        detail::walk_lists(s.on, s.multiprocessors, job, choice);
    }
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
            "the walk of the tree needs more than the 608 nodes of its stack, so that forces are incomplete: "
            "Octree builds no such tree; please report this error");
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
