// The octree's particles: frame, keys, order and bodies. topology.kernels.cpp makes the cells, moments.kernels.cpp their
// moments.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/frame.hpp>
#include <kasane/gravity/tree/octree.hpp>

#include <string>

namespace kasane::gravity {
namespace {

/// A coordinate in tree units, clamped to 1e18 (escapers), so that squares and cubes of distances stay finite.
KS_FN float to_tree(double x, double center, double per_length) {
    const double scaled = (x - center) * per_length;
    return static_cast<float>(scaled < -1e18 ? -1e18 : scaled > 1e18 ? 1e18 : scaled);
}

struct MakeKeys {
    const Body* body;
    Curve curve;
    std::uint64_t* key;
    KS_FN void operator()(index_t i) const {
        const auto at = body[i];
        const auto x = grid_index(at.x), y = grid_index(at.y), z = grid_index(at.z);
        key[i] = curve == Curve::hilbert ? hilbert_key(x, y, z) : morton_key(x, y, z);
    }
};

struct WriteOrder {
    std::uint32_t* order;
    KS_FN void operator()(index_t i) const { order[i] = static_cast<std::uint32_t>(i); }
};

struct Place {
    View<const Vec3<double>> position;
    View<const double> mass;
    Vec3<double> center;
    double per_length, per_mass;
    Body* body;
    KS_FN void operator()(index_t i) const {
        const auto at = position[i];
        body[i] = {to_tree(at.x, center.x, per_length), to_tree(at.y, center.y, per_length), to_tree(at.z, center.z, per_length),
                   static_cast<float>(mass[i] * per_mass)};
    }
};

}  // namespace

template <Space S>
Octree<S>::Octree(S on, const Tree& options)
    : on_(on),
      options_(options),
      work_(on),
      body_(on, 0),
      key_(on, 0),
      key_scratch_(on, 0),
      order_(on, 0),
      order_scratch_(on, 0),
      combines_(combines_softenings(options)) {
    validate(options);
}

template <Space S>
void Octree<S>::choose_frame(View<const Vec3<double>> position, View<const double> mass) {
    const index_t n = position.n;
    if (n >= index_t{1} << 31)
        throw ComputationError(std::to_string(n) + " particles are too many for one tree, which numbers them with 31 bits: use fewer");
    body_.resize_discarding(n);
    if (n > 0) frame_ = detail::choose_frame(on_, work_, position, mass);
}

template <Space S>
void Octree<S>::use_frame(const Frame& frame, index_t n) {
    body_.resize_discarding(n);
    frame_ = frame;
}

template <Space S>
void Octree<S>::make_keys() {
    key_.resize_discarding(body_.size());
    parallel_for(on_, body_.size(), MakeKeys{body_.data(), options_.curve, key_.data()});
}

template <Space S>
void Octree<S>::sort_keys() {
    const index_t n = key_.size();
    levels_.assign(1, 0);
    order_.resize_discarding(n);
    order_scratch_.resize_discarding(n + 1);
    if (key_scratch_.size() < n) key_scratch_.reserve_discarding(key_scratch_.size() > 0 ? n + n / 16 : n);
    parallel_for(on_, n, WriteOrder{order_.data()});
    sort_by_key(on_, work_, key_.view(), order_.view(), key_scratch_.view().subview(0, n), order_scratch_.view().subview(0, n),
                3 * key_levels);
}

template <Space S>
void Octree<S>::sort() {
    make_keys();
    sort_keys();
}

template <Space S>
void Octree<S>::sort(View<const Vec3<double>> position, View<const double> mass) {
    choose_frame(position, mass);
    place(position, mass);
    sort();
}

template <Space S>
void Octree<S>::place(View<const Vec3<double>> position, View<const double> mass) {
    drift_ = {};
    parallel_for(on_, position.n, Place{position, mass, frame_.center, 1 / frame_.length, 1 / frame_.mass, body_.data()});
}

template <Space S>
OctreeView Octree<S>::view() const {
    OctreeView view;
    view.body = body_.data();
    view.drift = drift_;
    view.bodies = body_.size();
    view.center = center_.data();
    view.test = test_.data();
    view.link = link_.data();
    view.next = next_.data();
    view.quadrupole = options_.multipole == Multipole::quadrupole ? quadrupole_.data() : nullptr;
    view.nodes = levels_.back();
    view.frame = frame_;
    if (combines_) view.body_term = body_term_.data(), view.node_term = node_term_.data();
    return view;
}

template Octree<KS_SPACE>::Octree(KS_SPACE, const Tree&);
template void Octree<KS_SPACE>::choose_frame(View<const Vec3<double>>, View<const double>);
template void Octree<KS_SPACE>::use_frame(const Frame&, index_t);
template void Octree<KS_SPACE>::make_keys();
template void Octree<KS_SPACE>::sort_keys();
template void Octree<KS_SPACE>::sort();
template void Octree<KS_SPACE>::sort(View<const Vec3<double>>, View<const double>);
template void Octree<KS_SPACE>::place(View<const Vec3<double>>, View<const double>);
template OctreeView Octree<KS_SPACE>::view() const;

}  // namespace kasane::gravity
