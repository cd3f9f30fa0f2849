// Gauge and quark fields as arrays, and the links of a gauge field on a space: shared by the files that bind the lattice.
#pragma once

#include <src/binding.hpp>

#include <kasane/lattice.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <variant>

namespace kasane::python {

using namespace lattice;
using Number = std::complex<double>;

static_assert(sizeof(Su3<double>) == 9 * sizeof(Number) && std::is_standard_layout_v<Su3<double>>);

/// @param key  the argument that has them
inline Extents extents_of(const std::array<int, 4>& n, const char* key) {
    const Extents extents{{n[0], n[1], n[2], n[3]}};
    check_extents(extents, {"", 0, 0, key});
    return extents;
}
inline std::array<int, 4> numbers(const Extents& n) { return {n[0], n[1], n[2], n[3]}; }
/// Extents of an array (T, Z, Y, X, ...), whose number of dimensions the package has checked. @param key  the argument
template <class A>
Extents extents_from_shape(const A& array, const char* key) {
    const auto n = [&](std::size_t axis) { return static_cast<int>(std::min<std::size_t>(array.shape(axis), INT_MAX)); };
    return extents_of({n(3), n(2), n(1), n(0)}, key);
}
inline std::array<std::size_t, 4> sites(const Extents& n) {
    return {static_cast<std::size_t>(n[3]), static_cast<std::size_t>(n[2]), static_cast<std::size_t>(n[1]), static_cast<std::size_t>(n[0])};
}

using LinkArray = In<Number, nb::ndim<7>>;
using SpinorArray = In<Number, nb::ndim<6>>;

/// Extents of links on a device.
inline Extents extents_of_device(const DeviceArray& array) {
    const auto n = [&](std::size_t axis) { return static_cast<int>(std::min<index_t>(array.shape().at(axis), INT_MAX)); };
    return extents_of({n(3), n(2), n(1), n(0)}, "links");
}
/// The links of an array of numbers.
inline View<const Su3<double>> links_of(View<const Number> numbers) {
    return {reinterpret_cast<const Su3<double>*>(numbers.ptr), numbers.n / 9};
}
inline View<Su3<double>> links_of(View<Number> numbers) { return {reinterpret_cast<Su3<double>*>(numbers.ptr), numbers.n / 9}; }

inline GaugeField gauge_from(const LinkArray& array) {
    GaugeField u(extents_from_shape(array, "links"));
    std::copy_n(array.data(), array.size(), reinterpret_cast<Number*>(u.links.data()));
    return u;
}
inline Array<Number> array_of(GaugeField&& u) {
    const auto [t, z, y, x] = sites(u.extents);
    return owned<Number>(std::move(u.links), {t, z, y, x, 4, 3, 3});
}
/// @param key  the argument
inline SpinorField spinor_from(const SpinorArray& array, const char* key) {
    SpinorField psi(extents_from_shape(array, key));
    std::copy_n(array.data(), array.size(), psi.values.data());
    return psi;
}
inline Array<Number> array_of(SpinorField&& psi) {
    const auto [t, z, y, x] = sites(psi.extents);
    return owned<Number>(std::move(psi.values), {t, z, y, x, 4, 3});
}

#if defined(KASANE_CUDA)
using AnyLinks = std::variant<Links<Cpu>, Links<Cuda>>;
#else
using AnyLinks = std::variant<Links<Cpu>>;
#endif

/// The links of a gauge field on the space where updates and observables are computed; one thread uses them at a time.
class PythonLinks {
   public:
    PythonLinks(const LinkArray& array, const std::string& device, int threads)
        : links_([&] {
              const auto extents = extents_from_shape(array, "links");
              const auto on = space_named(device, threads);
              const nb::gil_scoped_release released;
              if (const auto* cpu = std::get_if<Cpu>(&on)) return AnyLinks(links_on(*cpu, extents, links_of(view_of(array))));
              const auto field = gauge_from(array);
              return std::visit([&]<Space S>(S space) -> AnyLinks { return links_on(space, field); }, on);
          }()) {}
    /// From an array in the memory of that device; nothing passes through the host.
    PythonLinks(const DeviceArray& array, const std::string& device)
        : links_([&] {
              const auto on = space_named(device);
              array.require_on(on, "links");
              const auto extents = extents_of_device(array);
              const auto links = links_of(array.view<Number>());
              const nb::gil_scoped_release released;
              return std::visit(
                  [&]<Space S>(S space) -> AnyLinks {
                      auto u = links_on(space, extents, links);
                      KS_VALIDATE(are_finite(u), "has numbers that are not finite", {"", 0, 0, "links"});
                      return u;
                  },
                  on);
          }()) {}
    /// An initial field: "cold", "hot", or "weak" with epsilon.
    PythonLinks(const std::array<int, 4>& extents, const std::string& start, double epsilon, std::uint64_t seed, const std::string& device,
                int threads)
        : links_([&] {
              const auto n = extents_of(extents, "extents");
              KS_VALIDATE(start == "cold" || start == "hot" || start == "weak", "is '" + start + "': take cold, hot or weak",
                          {"", 0, 0, "start"});
              KS_VALIDATE(start != "weak" || (epsilon > 0 && epsilon <= largest_weak_epsilon), "must be above 0 and at most 10",
                          {"", 0, 0, "epsilon"});
              const nb::gil_scoped_release released;
              return std::visit(
                  [&]<Space S>(S on) -> AnyLinks {
                      Links<S> u(on, n);
                      if (start == "cold") cold_start(u);
                      if (start == "hot") hot_start(u, seed);
                      if (start == "weak") weak_start(u, epsilon, seed);
                      return u;
                  },
                  space_named(device, threads));
          }()) {}

    /// Calls f(links) without the GIL, as the only user.
    template <class F>
    auto use(F f) {
        return alone(busy_, "the gauge field", [&] { return std::visit(f, links_); });
    }

    /// @throws InputError for the argument `key` where a link is not in SU(3)
    void require_su3(const char* key) {
        require_none("has links that are more than 1e-5 away from SU(3)", LinksAs::stored, "project them by GaugeField.reunitarise()", key);
    }
    void reunitarise() {
        require_none("has links whose first two rows are zero, parallel or not finite, of which no matrix of SU(3) can be made",
                     LinksAs::reunitarised, "replace them", "links");
        use([](auto& u) { lattice::reunitarise(u); });
    }
    /// (table of points, t0) of the Wilson flow, to which the links are moved. Ctrl-C ends it between two steps.
    nb::tuple flow(double t_max, double step, int every) {
        Interrupts interrupts;
        const auto points = use([&](auto& u) { return wilson_flow(u, t_max, step, every, [&] { return interrupts.arrived(); }); });
        interrupts.raise();
        std::vector<double> table;
        for (const auto& p : points) table.insert(table.end(), {p.t, p.t2E, p.t2E_plaquette, p.charge});
        return nb::make_tuple(owned<double>(std::move(table), {points.size(), 4}), flow_scale_t0(points));
    }
    /// The sweeps first, first + 1, ..., first + n - 1 of a quenched run: heatbath, `overrelaxation` times overrelaxation, reunitarisation.
    /// Ctrl-C ends them between two sweeps.
    void update(double beta, std::uint64_t seed, std::uint64_t first, std::uint64_t n, int overrelaxation) {
        KS_VALIDATE(std::isfinite(beta) && beta > 0, "must be finite and above 0", {"", 0, 0, "beta"});
        Interrupts interrupts;
        use([&](auto& u) {
            for (std::uint64_t sweep = first; sweep < first + n && !interrupts.arrived(); ++sweep) {
                heatbath_sweep(u, beta, seed, sweep);
                for (int k = 0; k < overrelaxation; ++k) overrelaxation_sweep(u);
                lattice::reunitarise(u);
            }
            synchronize(u.space());
        });
        interrupts.raise();
    }
    Array<Number> array() {
        return array_of(use([](auto& u) { return to_gauge_field(u); }));
    }
    /// Copies the links to an array in the memory of the field's device.
    void copy_to(const DeviceArray& out) {
        const auto space = std::visit([](const auto& u) -> AnySpace { return u.space(); }, links_);
        out.require_on(space, "out");
        const auto to = links_of(out.writable<Number>());
        use([&](auto& u) { copy_links(u, to); });
    }
    std::string device() const {
        return name(std::visit([](const auto& u) -> AnySpace { return u.space(); }, links_));
    }
    std::array<int, 4> extents() {
        return numbers(std::visit([](const auto& u) { return u.extents; }, links_));
    }

   private:
    /// @throws InputError for the argument `key` where links_outside_su3() counts some
    void require_none(const std::string& problem, LinksAs as, const std::string& remedy, const char* key) {
        const auto [outside, all] = use([&](auto& u) { return std::pair{links_outside_su3(u, 1e-5, as), 4 * u.extents.volume()}; });
        KS_VALIDATE(outside == 0, problem + " (" + std::to_string(outside) + " of " + std::to_string(all) + "): " + remedy,
                    {"", 0, 0, key});
    }

    AnyLinks links_;
    std::atomic<bool> busy_ = false;
};

void bind_hmc(nb::module_& m);

}  // namespace kasane::python
