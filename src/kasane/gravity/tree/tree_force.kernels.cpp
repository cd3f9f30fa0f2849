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
    View<const double> softening;
    Vec3<double>* position_in_order;
    double* mass_in_order;
    double* softening_in_order;
    KS_FN void operator()(index_t i) const {
        position_in_order[i] = position[order[i]];
        mass_in_order[i] = mass[order[i]];
        if (!softening.empty()) softening_in_order[i] = softening[order[i]];
    }
};

/// Writes results in double, in the order given.
struct Scatter {
    const std::uint32_t* order;
    View<const Vec3<float>> a;
    View<const float> phi;
    View<Vec3<double>> acceleration;
    View<double> potential;
    KS_FN void operator()(index_t k) const {
        if (!a.empty()) acceleration[order[k]] = {static_cast<double>(a[k].x), static_cast<double>(a[k].y), static_cast<double>(a[k].z)};
        if (!phi.empty()) potential[order[k]] = static_cast<double>(phi[k]);
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

template <Space S>
void evaluate_tree(S on, TreeForce<S>& force, View<const Vec3<double>> position, View<const double> mass, View<Vec3<double>> acceleration,
                   View<double> potential, View<const double> softening) {
    const index_t n = position.n;
    if (n == 0) return;
    Buffer<Vec3<double>, S> x(on, n);
    Buffer<double, S> m(on, n), eps(on, softening.n);
    Buffer<Vec3<float>, S> a(on, acceleration.n);
    Buffer<float, S> phi(on, potential.n);
    auto& octree = force.octree();
    octree.sort(position, mass);
    parallel_for(on, n, Gather{octree.order().ptr, position.ptr, mass.ptr, softening, x.data(), m.data(), eps.data()});
    octree.place(x.view(), m.view());
    octree.build(eps.view());
    octree.refresh();
    force.accelerate_first({a.view(), phi.view()});
    parallel_for(on, n, Scatter{octree.order().ptr, a.view(), phi.view(), acceleration, potential});
    synchronize(on);
}

template void evaluate_tree(KS_SPACE, TreeForce<KS_SPACE>&, View<const Vec3<double>>, View<const double>, View<Vec3<double>>, View<double>,
                            View<const double>);

namespace detail {

template <Space S>
TreeField tree_field_on(S on, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options,
                        const std::vector<double>& softening) {
    TreeField field;
    const auto n = static_cast<index_t>(position.size());
    if (n == 0) return field;
    const auto x = to_space(on, position);
    const auto m = to_space(on, mass);
    const auto eps = to_space(on, softening);
    Buffer<Vec3<double>, S> acceleration(on, n);
    Buffer<double, S> potential(on, n);
    TreeForce<S> force(on, options);

    synchronize(on);
    const Stopwatch watch;
    evaluate_tree(on, force, x.view(), m.view(), acceleration.view(), potential.view(), eps.view());
    field.seconds = watch.seconds();
    field.counts = force.walk().counts();
    field.acceleration = to_host(acceleration);
    field.potential = to_host(potential);
    return field;
}

template TreeField tree_field_on(KS_SPACE, const std::vector<Vec3<double>>&, const std::vector<double>&, const Tree&,
                                 const std::vector<double>&);

}  // namespace detail
}  // namespace kasane::gravity
