// The walk `lists` for one group: nodes are tested by vectors of children, accepted cells and bodies of leaves enter interaction lists,
// and full lists are evaluated for all targets of the group, with sources in vector registers and a few targets beside them.
// Invariants: a list is evaluated when it is full, so no capacity can be exceeded; the group alone determines the order of every sum.
#include <kasane/gravity/tree/walks.cpu.hpp>
#include <kasane/perf/simd_targets.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/gravity/tree/lists.simd.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include <kasane/core/math/rsqrt.simd.hpp>
#include <kasane/gravity/softening/pair.simd.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#if !defined(KASANE_LISTS_SIMD_ONCE)
#define KASANE_LISTS_SIMD_ONCE

namespace kasane::gravity::detail {
namespace {

/// For every set of 8 lanes: its lanes in order, then zeros.
constexpr auto packing = [] {
    std::array<std::array<std::uint8_t, 8>, 256> table{};
    for (unsigned set = 0; set < 256; ++set)
        for (unsigned lane = 0, to = 0; lane < 8; ++lane)
            if (set >> lane & 1) table[set][to++] = static_cast<std::uint8_t>(lane);
    return table;
}();

}  // namespace
}  // namespace kasane::gravity::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace kasane::gravity::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Targets in registers beside a vector of sources: as many as fit with their positions and sums.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int body_block = 4, cell_block = 2;
#else
constexpr int body_block = 2, cell_block = 2;
#endif
constexpr std::uint32_t target_padding = 4;

template <class D>
struct Target {
    hn::Vec<D> x, y, z;
    hn::Vec<D> ax, ay, az, phi, same;
    hn::Vec<D> term, own;   // where pairs combine softenings
    HWY_INLINE Target() {}  // written out: an implicit constructor is compiled for the baseline and cannot inline those of NEON
};

/// Point masses on one target, as in direct summation: y0 ~ 1/r is the estimate, r^-3 = y0^3 (1 + 3t/2) with t = 1 - r^2 y0^2. The sums
/// lack constant factors until the end: they are 2/3 of the acceleration or, with the potential, 8 times it, and twice the potential.
/// Bodies at the target (r^2 = eps^2), itself included, do not enter the potential: `same` sums their masses.
template <bool Potential, bool Softened, class D, class V = hn::Vec<D>>
HWY_INLINE void pull_of_bodies(D d, Target<D>& to, V x, V y, V z, V m, V eps2) {
    const V dx = hn::Sub(x, to.x), dy = hn::Sub(y, to.y), dz = hn::Sub(z, to.z);
    const V r2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, eps2)));
    V y0 = kasane::HWY_NAMESPACE::rsqrt_estimate<false>(d, r2);
    if constexpr (!Softened) y0 = hn::IfThenElseZero(hn::Gt(r2, hn::Set(d, coincident2)), y0);
    const V s = hn::Mul(y0, y0);
    V force;
    if constexpr (Potential) {
        const V twice = hn::Mul(y0, hn::NegMulAdd(r2, s, hn::Set(d, 3.f)));
        const V m_over_r = hn::Mul(m, twice);
        if constexpr (Softened) {
            const auto here = hn::Le(r2, eps2);
            to.phi = hn::Add(to.phi, hn::IfThenZeroElse(here, m_over_r));
            to.same = hn::Add(to.same, hn::IfThenElseZero(here, m));
        } else {
            to.phi = hn::Add(to.phi, m_over_r);
        }
        force = hn::Mul(m_over_r, hn::Mul(twice, twice));
    } else {
        force = hn::Mul(hn::Mul(hn::Mul(m, y0), s), hn::NegMulAdd(r2, s, hn::Set(d, 5.f / 3)));
    }
    to.ax = hn::MulAdd(force, dx, to.ax);
    to.ay = hn::MulAdd(force, dy, to.ay);
    to.az = hn::MulAdd(force, dz, to.az);
}

/// Point masses with softening terms on one target. @param index  bits of the indices of bodies; the target's own adds no potential
template <bool Potential, PairSoftening form, class D, class V = hn::Vec<D>>
HWY_INLINE void pull_of_softened_bodies(D d, Target<D>& to, V x, V y, V z, V m, V term, V index) {
    const V dx = hn::Sub(x, to.x), dy = hn::Sub(y, to.y), dz = hn::Sub(z, to.z);
    const V d2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
    const auto factors = combined_pair<Potential, form>(d, d2, hn::Add(term, to.term), hn::Set(d, coincident2));
    const V force = hn::Mul(m, factors.force);
    to.ax = hn::MulAdd(force, dx, to.ax);
    to.ay = hn::MulAdd(force, dy, to.ay);
    to.az = hn::MulAdd(force, dz, to.az);
    if constexpr (Potential) {
        const hn::RebindToSigned<D> di;
        const auto is_own = hn::RebindMask(d, hn::Eq(hn::BitCast(di, index), hn::BitCast(di, to.own)));
        to.phi = hn::MulAdd(hn::IfThenZeroElse(is_own, m), factors.potential, to.phi);
    }
}

/// Cells with second moments about their centres of mass: the softened potential to second order,
///     phi = -[ M/rho + 1/2 (3 d.Qd/rho^5 - tr Q/rho^3) ],  d from the target to the centre of mass,  rho^2 = d^2 + eps^2.
/// With P = 3 Q, T = 3/2 tr Q and u = d/rho its gradient gives
///     a = ( u [ M + (5/2 u.Pu - T)/rho^2 ] - Pu/rho^2 )/rho^2;
/// with u, no product leaves the range of float, however near or far the cell.
template <bool Potential, class D, class V = hn::Vec<D>>
HWY_INLINE void pull_of_cells(D d, Target<D>& to, const float* const (&row)[11], std::size_t at, V eps2) {
    const auto load = [d, at](const float* from) HWY_ATTR { return hn::Load(d, from + at); };
    const V dx = hn::Sub(load(row[0]), to.x), dy = hn::Sub(load(row[1]), to.y), dz = hn::Sub(load(row[2]), to.z);
    const V r2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, eps2)));
    const V y0 = kasane::HWY_NAMESPACE::rsqrt_estimate<false>(d, r2);
    const V y = hn::Mul(hn::Mul(y0, hn::Set(d, 0.5f)), hn::NegMulAdd(r2, hn::Mul(y0, y0), hn::Set(d, 3.f)));
    const V y2 = hn::Mul(y, y);
    const V ux = hn::Mul(dx, y), uy = hn::Mul(dy, y), uz = hn::Mul(dz, y);
    const V xy = load(row[5]), xz = load(row[6]), yz = load(row[8]);
    const V px = hn::MulAdd(load(row[4]), ux, hn::MulAdd(xy, uy, hn::Mul(xz, uz)));
    const V py = hn::MulAdd(xy, ux, hn::MulAdd(load(row[7]), uy, hn::Mul(yz, uz)));
    const V pz = hn::MulAdd(xz, ux, hn::MulAdd(yz, uy, hn::Mul(load(row[9]), uz)));
    const V upu = hn::MulAdd(px, ux, hn::MulAdd(py, uy, hn::Mul(pz, uz)));
    const V trace = load(row[10]), m = load(row[3]);
    if constexpr (Potential) {
        const V second = hn::MulSub(hn::Set(d, 0.5f), upu, hn::Mul(hn::Set(d, 1.f / 3), trace));
        to.phi = hn::MulAdd(y, hn::MulAdd(y2, second, m), to.phi);
    }
    const V along = hn::MulAdd(y2, hn::MulSub(hn::Set(d, 2.5f), upu, trace), m);
    to.ax = hn::MulAdd(y2, hn::MulSub(along, ux, hn::Mul(y2, px)), to.ax);
    to.ay = hn::MulAdd(y2, hn::MulSub(along, uy, hn::Mul(y2, py)), to.ay);
    to.az = hn::MulAdd(y2, hn::MulSub(along, uz, hn::Mul(y2, pz)), to.az);
}

template <class D>
HWY_INLINE void load_targets(D d, Target<D>* target, int n, const ListsScratch& s, std::size_t first) {
    for (int k = 0; k < n; ++k) {
        const std::size_t i = first + static_cast<std::size_t>(k);
        target[k].x = hn::Set(d, s.x[i]), target[k].y = hn::Set(d, s.y[i]), target[k].z = hn::Set(d, s.z[i]);
        target[k].ax = target[k].ay = target[k].az = target[k].phi = target[k].same = hn::Zero(d);
    }
}
template <class D>
HWY_INLINE void load_softenings(D d, Target<D>* target, int n, const ListsScratch& s, std::size_t first) {
    for (int k = 0; k < n; ++k) {
        const std::size_t i = first + static_cast<std::size_t>(k);
        target[k].term = hn::Set(d, s.term[i]), target[k].own = hn::Set(d, s.own[i]);
    }
}

/// Adds the sums of one list, in float, to those of the group, in double.
template <bool Potential, class D>
HWY_INLINE void add_sums(D d, const Target<D>& target, double* sum, double acceleration, double potential) {
    const auto all = [d](auto v) HWY_ATTR { return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, v))); };
    sum[0] += acceleration * all(target.ax);
    sum[1] += acceleration * all(target.ay);
    sum[2] += acceleration * all(target.az);
    if constexpr (Potential) {
        sum[3] += potential * all(target.phi);
        sum[4] += all(target.same);
    }
}

/// Pads a list with massless entries to a full vector; returns the new size.
template <class D>
HWY_INLINE std::size_t pad(D d, InteractionList& list, int rows) {
    const auto size = static_cast<std::size_t>(list.size), width = hn::Lanes(d);
    for (int r = 0; r < rows; ++r) hn::StoreU(hn::Zero(d), d, list.row(r) + size);
    return (size + width - 1) / width * width;
}

template <bool Potential, bool Softened>
HWY_NOINLINE void evaluate_bodies(const WalkJob& job, std::uint32_t targets, ListsScratch& s) {
    using D = hn::ScalableTag<float>;
    const D d;
    const std::size_t end = pad(d, s.bodies, 4);
    const float *const px = s.bodies.row(0), *const py = s.bodies.row(1), *const pz = s.bodies.row(2), *const pm = s.bodies.row(3);
    const auto eps2 = hn::Set(d, job.eps2);
    for (std::size_t i = 0; i < targets; i += body_block) {
        Target<D> target[body_block];
        load_targets(d, target, body_block, s, i);
        for (std::size_t at = 0; at < end; at += hn::Lanes(d)) {
            const auto x = hn::Load(d, px + at), y = hn::Load(d, py + at), z = hn::Load(d, pz + at), m = hn::Load(d, pm + at);
#pragma GCC unroll 8
            for (int k = 0; k < body_block; ++k) pull_of_bodies<Potential, Softened>(d, target[k], x, y, z, m, eps2);
        }
        for (int k = 0; k < body_block; ++k)
            add_sums<Potential>(d, target[k], &s.sum[5 * (i + static_cast<std::size_t>(k))], Potential ? 1. / 8 : 1.5, 0.5);
    }
    s.bodies.size = 0;
}

template <bool Potential, PairSoftening form>
HWY_NOINLINE void evaluate_softened_bodies(std::uint32_t targets, ListsScratch& s) {
    using D = hn::ScalableTag<float>;
    const D d;
    const std::size_t end = pad(d, s.bodies, 6);
    const float* row[6];
    for (int r = 0; r < 6; ++r) row[r] = s.bodies.row(r);
    for (std::size_t i = 0; i < targets; i += cell_block) {
        Target<D> target[cell_block];
        load_targets(d, target, cell_block, s, i);
        load_softenings(d, target, cell_block, s, i);
        for (std::size_t at = 0; at < end; at += hn::Lanes(d)) {
            const auto load = [d, at](const float* from) HWY_ATTR { return hn::Load(d, from + at); };
            const auto x = load(row[0]), y = load(row[1]), z = load(row[2]), m = load(row[3]), term = load(row[4]), index = load(row[5]);
#pragma GCC unroll 8
            for (int k = 0; k < cell_block; ++k) pull_of_softened_bodies<Potential, form>(d, target[k], x, y, z, m, term, index);
        }
        for (int k = 0; k < cell_block; ++k) add_sums<Potential>(d, target[k], &s.sum[5 * (i + static_cast<std::size_t>(k))], 1, 1);
    }
    s.bodies.size = 0;
}

template <bool Potential, PairSoftening form>
HWY_NOINLINE void evaluate_cells(const WalkJob& job, std::uint32_t targets, ListsScratch& s) {
    using D = hn::ScalableTag<float>;
    const D d;
    const float* row[11];
    for (int r = 0; r < 11; ++r) row[r] = s.cells.row(r);
    float* const q = s.cells.row(4);
    const auto stride = static_cast<std::size_t>(s.cells.row(1) - s.cells.row(0));
    for (std::size_t j = 0; j < static_cast<std::size_t>(s.cells.size); ++j) {
        const Quadrupole& of = job.tree.quadrupole[s.cell_index[j]];
        q[j] = 3 * of.xx, q[j + stride] = 3 * of.xy, q[j + 2 * stride] = 3 * of.xz;
        q[j + 3 * stride] = 3 * of.yy, q[j + 4 * stride] = 3 * of.yz, q[j + 5 * stride] = 3 * of.zz;
        q[j + 6 * stride] = 1.5f * (of.xx + of.yy + of.zz);
    }
    const std::size_t end = pad(d, s.cells, own_softening(form) ? 12 : 11);
    // Padding must not coincide with a target: its 1/r must be finite.
    for (auto j = static_cast<std::size_t>(s.cells.size); j < end; ++j) s.cells.row(0)[j] = 4;
    const auto eps2 = hn::Set(d, job.eps2);
    for (std::size_t i = 0; i < targets; i += cell_block) {
        Target<D> target[cell_block];
        load_targets(d, target, cell_block, s, i);
        if constexpr (own_softening(form)) load_softenings(d, target, cell_block, s, i);
        for (std::size_t at = 0; at < end; at += hn::Lanes(d)) {
#pragma GCC unroll 8
            for (int k = 0; k < cell_block; ++k) {
                if constexpr (form == PairSoftening::plummer)
                    pull_of_cells<Potential>(d, target[k], row, at, hn::Add(hn::Load(d, s.cells.row(11) + at), target[k].term));
                else if constexpr (form == PairSoftening::spline)
                    pull_of_cells<Potential>(d, target[k], row, at, hn::Zero(d));
                else
                    pull_of_cells<Potential>(d, target[k], row, at, eps2);
            }
        }
        for (int k = 0; k < cell_block; ++k) add_sums<Potential>(d, target[k], &s.sum[5 * (i + static_cast<std::size_t>(k))], 1, 1);
    }
    s.cells.size = 0;
}

/// The walk of one group.
template <PairSoftening form>
class GroupWalk {
    static constexpr bool combined = own_softening(form);

   public:
    GroupWalk(const WalkJob& job, const ListsChoice& choice, TargetGroup group, ListsScratch& s)
        : job_(job), choice_(choice), group_(group), s_(s), potential_(!job.out.potential.empty()) {}

    /// Returns false, and writes nothing, if the group should be divided.
    bool run() {
        gather_targets();
        const OctreeView& t = job_.tree;
        top_ = 0;
        s_.bodies.size = s_.cells.size = 0;
        test_children(0, 1);  // the root is tested like any child
        if (t.second_root > 0) test_children(t.second_root, 1);
        while (top_ > 0) {
            if (inside_ > inside_limit_) return false;
            const NodeLink link = s_.stack[--top_];
            if (top_ > 0) {  // in large trees these are the first loads of the children
                const std::uint32_t next = first_child(s_.stack[top_ - 1]);
                hwy::Prefetch(t.center + next), hwy::Prefetch(t.center + next + 4);
                hwy::Prefetch(t.test + next), hwy::Prefetch(t.test + next + 4);
            }
            test_children(first_child(link), child_count(link));
        }
        flush_bodies();
        if (t.quadrupole) flush_cells();
        write();
        s_.counts.groups += 1;
        s_.counts.bodies += bodies_ * group_.count, s_.counts.cells += cells_ * group_.count;
        return true;
    }

    double tests() const { return tests_; }

   private:
    void gather_targets() {
        const std::uint32_t n = group_.count, padded = (n + target_padding - 1) / target_padding * target_padding;
        for (auto* row : {&s_.x, &s_.y, &s_.z})
            if (row->size() < padded) row->resize(padded);
        if constexpr (combined)
            for (auto* row : {&s_.term, &s_.own})
                if (row->size() < padded) row->resize(padded);
        largest_term_ = 0;
        s_.sum.assign(5 * padded, 0.0);
        Vec3<float> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
        acceleration_ = INFINITY;
        for (std::uint32_t i = 0; i < padded; ++i) {
            const std::uint32_t at = job_.body(group_.first + std::min(i, n - 1));
            const Body b = job_.tree.body_at(at);
            s_.x[i] = b.x, s_.y[i] = b.y, s_.z[i] = b.z;
            low = {std::min(low.x, b.x), std::min(low.y, b.y), std::min(low.z, b.z)};
            high = {std::max(high.x, b.x), std::max(high.y, b.y), std::max(high.z, b.z)};
            acceleration_ = std::min(acceleration_, job_.last_acceleration(at));
            if constexpr (combined) {
                s_.term[i] = job_.tree.body_term[at], s_.own[i] = std::bit_cast<float>(at);
                largest_term_ = std::max(largest_term_, s_.term[i]);
            }
        }
        first_body_ = static_cast<std::int32_t>(job_.body(group_.first));
        last_body_ = static_cast<std::int32_t>(job_.body(group_.first + n - 1));
        low_ = low, high_ = high;
        const bool divisible = n > 1 && (low.x < high.x || low.y < high.y || low.z < high.z);
        // Few targets in a dense box cost more than two separate walks; with many targets, the number of pairs decides.
        inside_limit_ = divisible ? std::min(choice_.inside / n, 600 * n) : ~0u;
    }

    void test_children(std::uint32_t first, std::uint32_t count) {
        const hn::CappedTag<float, 8> d;
        const hn::RebindToSigned<decltype(d)> di;
        const auto width = static_cast<std::uint32_t>(hn::Lanes(d));
        const OctreeView& t = job_.tree;
        tests_ += count;
        for (std::uint32_t k = 0; k < count; k += width) {
            const std::uint32_t base = first + k, valid = std::min(width, count - k);
            const Body* center = t.center + base;
            const NodeTest* test = t.test + base;
            Body last_center[8];
            const NodeLink* link = t.link + base;
            NodeTest last_test[8];
            NodeLink last_link[8] = {};
            const float* node_term = combined ? t.node_term + base : nullptr;
            float last_term[8] = {};
            if (base + width > t.nodes) {  // never read beyond the end
                std::copy_n(center, valid, last_center);
                std::copy_n(test, valid, last_test);
                std::fill(last_center + valid, last_center + 8, Body{});
                std::fill(last_test + valid, last_test + 8, NodeTest{});
                std::copy_n(link, valid, last_link);
                center = last_center, test = last_test, link = last_link;
                if constexpr (combined) {
                    std::copy_n(node_term, valid, last_term);
                    node_term = last_term;
                }
            }
            auto x = hn::Undefined(d), y = x, z = x, m = x, radius2 = x, weight = x, begin = x, number = x;
            hn::LoadInterleaved4(d, &center->x, x, y, z, m);
            hn::LoadInterleaved4(d, &test->radius2, radius2, weight, begin, number);
            const auto zero = hn::Zero(d);
            // Distance to the box along an axis: below it, above it, or 0.
            const auto outside = [&](auto c, float low, float high)
                                     HWY_ATTR { return hn::Max(hn::Max(hn::Sub(hn::Set(d, low), c), hn::Sub(c, hn::Set(d, high))), zero); };
            const auto dx = outside(x, low_.x, high_.x), dy = outside(y, low_.y, high_.y), dz = outside(z, low_.z, high_.z);
            const auto d2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
            auto power = hn::Mul(hn::Mul(d2, d2), hn::Set(d, acceleration_));
            if (t.quadrupole) power = hn::Mul(power, hn::Sqrt(d2));
            const auto from = hn::BitCast(di, begin), bodies = hn::BitCast(di, number);
            const auto behind = hn::Gt(from, hn::Set(di, last_body_));
            const auto before = hn::Not(hn::Gt(hn::Add(from, bodies), hn::Set(di, first_body_)));
            const auto apart = hn::RebindMask(d, hn::Or(behind, before));
            auto far = hn::And(hn::Gt(d2, radius2), hn::Gt(power, weight));
            auto term = zero;
            if constexpr (combined) term = hn::LoadU(d, node_term);
            if constexpr (form == PairSoftening::spline) {
                // Newtonian for every pair: no body of the node, which are all within the radius, is in reach of the spline of a target.
                const auto h2 =
                    hn::Mul(hn::Set(d, static_cast<float>(spline_radius * spline_radius)), hn::Add(term, hn::Set(d, largest_term_)));
                const auto reach = hn::Add(hn::Sqrt(radius2), hn::Sqrt(h2));
                far = hn::And(far, hn::Or(hn::Lt(radius2, zero), hn::Gt(d2, hn::Mul(reach, reach))));
                term = zero;
            }
            const std::uint32_t within = bits(d, hn::Eq(d2, zero));
            const auto many = hn::RebindMask(
                d, hn::Or(hn::Gt(bodies, hn::Set(di, static_cast<std::int32_t>(choice_.few))), hn::Eq(bodies, hn::Zero(di))));
            const std::uint32_t lanes = (1u << valid) - 1;
            std::uint32_t accepted = bits(d, hn::And(far, apart)) & lanes;
            // Few targets among many bodies: the range of a node may overlap the range of the targets and contain none of them.
            for (std::uint32_t left = bits(d, far) & lanes & ~accepted; left; left &= left - 1) {
                const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
                if (!holds_target(test[lane].begin, test[lane].count)) accepted |= 1u << lane;
            }
            const auto links = hn::LoadU(di, reinterpret_cast<const std::int32_t*>(link));
            const auto ends = hn::Eq(links, hn::Set(di, static_cast<std::int32_t>(leaf)));
            const auto few = hn::Not(hn::Gt(bodies, hn::Set(di, static_cast<std::int32_t>(choice_.open_leaf))));
            const std::uint32_t taken = accepted & bits(d, many), opened = lanes & ~accepted;
            const std::uint32_t given = (opened & bits(d, hn::RebindMask(d, hn::Or(ends, few)))) | (accepted & ~taken);
            // The only branch on the decisions is the loop over bodies: no decision can be predicted.
            accept(d, base, taken, x, y, z, m, term);
            push(d, hn::BitCast(d, links), opened & ~given);
            for (std::uint32_t left = given; left; left &= left - 1) {
                const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
                take_bodies(test[lane].begin, test[lane].count);
                inside_ += (within >> lane & 1) * test[lane].count;
            }
        }
    }

    /// The lanes whose bits are set, side by side.
    template <class D, class V = hn::Vec<D>>
    static HWY_INLINE auto packed(D d, std::uint32_t set) {
        const hn::RebindToSigned<D> di;
        const hn::Rebind<std::uint8_t, D> bytes;
        return hn::IndicesFromVec(d, hn::PromoteTo(di, hn::LoadU(bytes, packing[set].data())));
    }

    template <class D, class V = hn::Vec<D>>
    HWY_INLINE void push(D d, V links, std::uint32_t set) {
        const hn::RebindToSigned<D> di;
        if (top_ + 8 > s_.stack.size()) s_.stack.resize(2 * s_.stack.size() + 64);
        hn::StoreU(hn::BitCast(di, hn::TableLookupLanes(links, packed(d, set))), di, reinterpret_cast<std::int32_t*>(&s_.stack[top_]));
        top_ += static_cast<std::size_t>(std::popcount(set));
    }

    bool holds_target(std::uint32_t begin, std::uint32_t count) const {
        if (!job_.index) return true;  // all bodies are targets
        const std::uint32_t* const first = job_.index + group_.first;
        const std::uint32_t* const at = std::lower_bound(first, first + group_.count, begin);
        return at != first + group_.count && *at < begin + count;
    }

    template <class D, class M>
    static std::uint32_t bits(D d, M mask) {
        std::uint8_t byte[8] = {};
        hn::StoreMaskBits(d, mask, byte);
        return byte[0];
    }

    /// Appends the lanes whose bits are set.
    template <class D, class V = hn::Vec<D>>
    HWY_INLINE void accept(D d, std::uint32_t base, std::uint32_t taken, V x, V y, V z, V m, [[maybe_unused]] V term) {
        InteractionList& list = job_.tree.quadrupole ? s_.cells : s_.bodies;
        const auto at = list.size;
        // A table and full stores (lists have slack after their end): with Highway's Compress on AVX2, GCC 12 copies the whole
        // table at every call, which takes a fifth of the walk.
        const hn::RebindToSigned<D> di;
        const auto lanes = packed(d, taken);
        hn::StoreU(hn::TableLookupLanes(x, lanes), d, list.row(0) + at);
        hn::StoreU(hn::TableLookupLanes(y, lanes), d, list.row(1) + at);
        hn::StoreU(hn::TableLookupLanes(z, lanes), d, list.row(2) + at);
        hn::StoreU(hn::TableLookupLanes(m, lanes), d, list.row(3) + at);
        if constexpr (combined) {
            hn::StoreU(hn::TableLookupLanes(term, lanes), d, list.row(job_.tree.quadrupole ? 11 : 4) + at);
            if (!job_.tree.quadrupole) hn::StoreU(hn::BitCast(d, hn::Set(di, -1)), d, list.row(5) + at);  // of no body
        }
        const auto number = static_cast<std::uint32_t>(std::popcount(taken));
        list.size += static_cast<index_t>(number);
        cells_ += number;
        if (job_.tree.quadrupole) {
            const auto index = hn::BitCast(d, hn::Iota(di, static_cast<std::int32_t>(base)));
            hn::StoreU(hn::BitCast(di, hn::TableLookupLanes(index, lanes)), di, s_.cell_index.data() + at);
            if (list.full()) flush_cells();
        } else if (list.full()) {
            flush_bodies();
        }
    }

    void take_bodies(std::uint32_t begin, std::uint32_t count) {
        const hn::CappedTag<float, 8> d;
        const auto width = static_cast<std::uint32_t>(hn::Lanes(d));
        bodies_ += count;
        while (count > 0) {
            const std::uint32_t now = std::min<std::uint32_t>(count, InteractionList::largest_batch);
            const Body* const from = job_.tree.body + begin;
            const bool inside = begin + now + width <= job_.tree.bodies;
            InteractionList& list = s_.bodies;
            float *const x = list.row(0) + list.size, *const y = list.row(1) + list.size;
            float *const z = list.row(2) + list.size, *const m = list.row(3) + list.size;
            for (std::uint32_t k = 0; inside && k < now; k += width) {
                auto vx = hn::Undefined(d), vy = vx, vz = vx, vm = vx;
                hn::LoadInterleaved4(d, &from[k].x, vx, vy, vz, vm);
                hn::StoreU(vx, d, x + k), hn::StoreU(vy, d, y + k), hn::StoreU(vz, d, z + k), hn::StoreU(vm, d, m + k);
            }
            for (std::uint32_t k = 0; !inside && k < now; ++k)  // never read beyond the end
                x[k] = from[k].x, y[k] = from[k].y, z[k] = from[k].z, m[k] = from[k].m;
            if (const auto& drift = job_.tree.drift; drift.xy)
                for (std::uint32_t k = 0; k < now; ++k) {
                    const auto at = drift.at(job_.tree.body, begin + k);
                    x[k] = at.x, y[k] = at.y, z[k] = at.z;
                }
            if constexpr (combined) {
                float *const term = list.row(4) + list.size, *const index = list.row(5) + list.size;
                for (std::uint32_t k = 0; k < now; ++k)
                    term[k] = job_.tree.body_term[begin + k], index[k] = std::bit_cast<float>(begin + k);
            }
            list.size += now;
            begin += now, count -= now;
            if (list.full()) flush_bodies();
        }
    }

    void flush_bodies() {
        if (s_.bodies.size == 0) return;
        if constexpr (combined)
            potential_ ? evaluate_softened_bodies<true, form>(group_.count, s_) : evaluate_softened_bodies<false, form>(group_.count, s_);
        else if (potential_)
            job_.softened ? evaluate_bodies<true, true>(job_, group_.count, s_) : evaluate_bodies<true, false>(job_, group_.count, s_);
        else
            job_.softened ? evaluate_bodies<false, true>(job_, group_.count, s_) : evaluate_bodies<false, false>(job_, group_.count, s_);
    }

    void flush_cells() {
        if (s_.cells.size == 0) return;
        potential_ ? evaluate_cells<true, form>(job_, group_.count, s_) : evaluate_cells<false, form>(job_, group_.count, s_);
    }

    void write() {
        for (std::uint32_t i = 0; i < group_.count; ++i) {
            const std::uint32_t at = job_.body(group_.first + i);
            const double* const sum = &s_.sum[5 * i];
            const auto f = [](double value) { return static_cast<float>(value); };
            if (!job_.out.acceleration.empty())
                job_.out.acceleration[at] = {f(job_.per_acceleration * sum[0]), f(job_.per_acceleration * sum[1]),
                                             f(job_.per_acceleration * sum[2])};
            if (!potential_) continue;
            if constexpr (combined) {
                job_.out.potential[at] = f(job_.per_potential * sum[3]);
                continue;
            }
            // One of the bodies at this position is the target itself.
            const double others = sum[4] - static_cast<double>(job_.tree.body[at].m);
            job_.out.potential[at] = f(job_.per_potential * (sum[3] + job_.self_potential * others));
        }
    }

    const WalkJob& job_;
    const ListsChoice& choice_;
    const TargetGroup group_;
    ListsScratch& s_;
    const bool potential_;
    Vec3<float> low_, high_;  ///< box of the targets
    float acceleration_ = 0;  ///< the smallest |a| of the targets
    float largest_term_ = 0;  ///< of the targets
    std::int32_t first_body_ = 0, last_body_ = 0;
    std::uint32_t inside_ = 0, inside_limit_ = 0;  ///< bodies taken from leaves whose centre of mass lies in the box
    std::size_t top_ = 0;                          ///< nodes on the stack
    double bodies_ = 0, cells_ = 0, tests_ = 0;
};

template <PairSoftening form>
void walk_parts(const WalkJob& job, const ListsChoice& choice, TargetGroup group, ListsScratch& s) {
    GroupWalk<form> walk(job, choice, group, s);
    const bool done = walk.run();
    s.counts.tests += walk.tests();
    if (done) return;
    const std::uint32_t half = group.count / 2;
    walk_parts<form>(job, choice, {group.first, half}, s);
    walk_parts<form>(job, choice, {group.first + half, group.count - half}, s);
}

void walk_group(const WalkJob& job, const ListsChoice& choice, TargetGroup group, ListsScratch& s) {
    using enum PairSoftening;
    if (job.form == plummer) return walk_parts<plummer>(job, choice, group, s);
    if (job.form == spline) return walk_parts<spline>(job, choice, group, s);
    walk_parts<none>(job, choice, group, s);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kasane::gravity::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::gravity::detail {

HWY_EXPORT(walk_group);

WalkGroup walk_group_kernel() {
    if (!hwy::GetChosenTarget().IsInitialized()) hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return HWY_DYNAMIC_DISPATCH(walk_group);
}

}  // namespace kasane::gravity::detail
#endif
