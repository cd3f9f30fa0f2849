// The tree code as a force, once per Space.
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <cmath>

namespace kasane::gravity {
namespace {

struct Magnitude {
    const Vec3<float>* a;
    float* size;
    KS_FN void operator()(index_t i) const { size[i] = std::sqrt(dot(a[i], a[i])); }
};

struct Gather {
    const std::uint32_t* order;
    const Vec3<double>* position;
    const double* mass;
    Vec3<double>* position_in_order;
    double* mass_in_order;
    KS_FN void operator()(index_t i) const {
        position_in_order[i] = position[order[i]];
        mass_in_order[i] = mass[order[i]];
    }
};

}  // namespace

template <Space S>
TreeForce<S>::TreeForce(S on, const Tree& options) : on_(on), options_(options), octree_(on, options), walk_(on, options) {}

template <Space S>
void TreeForce<S>::accelerate_first(const WalkField& out) {
    const index_t n = octree_.bodies().n;
    if (!std::holds_alternative<AccelerationMac>(options_.mac)) return accelerate({}, out);
    Buffer<Vec3<float>, S> own(on_, out.acceleration.empty() ? n : 0);
    const auto acceleration = out.acceleration.empty() ? own.view() : out.acceleration;
    Buffer<float, S> size(on_, n);
    octree_.set_mac(GeometricMac{0.5});
    accelerate({}, {acceleration, {}});
    static_cast<void>(walk_.counts());
    octree_.set_mac(options_.mac);
    parallel_for(on_, n, Magnitude{acceleration.ptr, size.data()});
    WalkTargets targets;
    targets.acceleration = size.view();
    accelerate(targets, out);
}

template class TreeForce<KS_SPACE>;

namespace detail {

template <Space S>
TreeField tree_field_on(S on, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options) {
    TreeField field;
    const auto n = static_cast<index_t>(position.size());
    if (n == 0) return field;
    const auto x = to_space(on, position);
    const auto m = to_space(on, mass);
    Buffer<Vec3<double>, S> x_in_order(on, n);
    Buffer<double, S> m_in_order(on, n);
    Buffer<Vec3<float>, S> acceleration(on, n);
    Buffer<float, S> potential(on, n);
    TreeForce<S> force(on, options);

    synchronize(on);
    const Stopwatch watch;
    auto& octree = force.octree();
    octree.sort(x.view(), m.view());
    parallel_for(on, n, Gather{octree.order().ptr, x.data(), m.data(), x_in_order.data(), m_in_order.data()});
    octree.place(x_in_order.view(), m_in_order.view());
    octree.build();
    octree.refresh();
    force.accelerate_first({acceleration.view(), potential.view()});
    synchronize(on);
    field.seconds = watch.seconds();
    field.counts = force.walk().counts();

    std::vector<std::uint32_t> order(position.size());
    copy_to_host(on, view(order), octree.order());
    const auto a = to_host(acceleration);
    const auto phi = to_host(potential);
    field.acceleration.resize(position.size());
    field.potential.resize(position.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        field.acceleration[order[k]] = {a[k].x, a[k].y, a[k].z};
        field.potential[order[k]] = phi[k];
    }
    return field;
}

template TreeField tree_field_on(KS_SPACE, const std::vector<Vec3<double>>&, const std::vector<double>&, const Tree&);

}  // namespace detail
}  // namespace kasane::gravity
