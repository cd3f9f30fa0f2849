// Forces, steps, simulations, galaxies and snapshots.
#include <src/binding.hpp>

#include <kasane/gravity.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

namespace kasane::python {
namespace {

using namespace gravity;
using Vectors = In<double, nb::shape<-1, 3>>;
using Numbers = In<double, nb::ndim<1>>;

static_assert(sizeof(Vec3<double>) == 3 * sizeof(double) && std::is_standard_layout_v<Vec3<double>>);

View<const Vec3<double>> vectors(const Vectors& array) {
    return {reinterpret_cast<const Vec3<double>*>(array.data()), static_cast<index_t>(array.shape(0))};
}
Array<double> owned_vectors(std::vector<Vec3<double>>&& values) {
    const auto n = values.size();
    return owned<double>(std::move(values), {n, 3});
}
std::array<double, 3> numbers(const Vec3<double>& v) { return {v.x, v.y, v.z}; }
Vec3<double> vector(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }

/// Copies the arrays of a kasane.gravity.Particles, which has checked them.
Particles particles_from(const nb::object& from) {
    Particles to;
    const auto x = nb::cast<Vectors>(from.attr("position"), false), v = nb::cast<Vectors>(from.attr("velocity"), false);
    const auto m = nb::cast<Numbers>(from.attr("mass"), false);
    const auto id = nb::cast<In<std::uint64_t, nb::ndim<1>>>(from.attr("id"), false);
    const auto type = nb::cast<In<std::uint8_t, nb::ndim<1>>>(from.attr("type"), false);
    const nb::object softening = from.attr("softening");
    const auto copy = [](auto view, auto& vector) { vector.assign(view.begin(), view.end()); };
    copy(vectors(x), to.position), copy(vectors(v), to.velocity), copy(view_of(m), to.mass);
    copy(view_of(id), to.id), copy(view_of(type), to.type);
    if (!softening.is_none()) {
        const auto eps = nb::cast<Numbers>(softening, false);
        copy(view_of(eps), to.softening);
    }
    return to;
}

/// (position, velocity, mass, id, type, softening or None), which own the particles' memory.
nb::tuple arrays_of(Particles&& p) {
    nb::object softening = nb::none();
    if (!p.softening.empty()) softening = nb::cast(owned(std::move(p.softening)));
    return nb::make_tuple(owned_vectors(std::move(p.position)), owned_vectors(std::move(p.velocity)), owned(std::move(p.mass)),
                          owned(std::move(p.id)), owned(std::move(p.type)), softening);
}

/// A simulation that one thread uses at a time.
class PythonSimulation {
   public:
    PythonSimulation(const nb::object& particles, const Force& force, const Steps& step, const std::string& device, int threads,
                     double time)
        : simulation_([&] {
              auto copied = particles_from(particles);
              const nb::gil_scoped_release released;
              return Simulation(space_named(device, threads), std::move(copied), {.force = force, .step = step, .start_time = time});
          }()) {}

    /// Calls f(simulation) without the GIL.
    template <class F>
    auto use(F f) {
        return alone(busy_, "the simulation", [&] { return f(simulation_); });
    }

    /// Takes macro steps as Simulation::run_until() does, `most` of them at most and for `seconds`. @returns whether the end is reached
    bool advance(double until, std::int64_t most, double seconds) {
        KS_VALIDATE(std::isfinite(until), "is not finite: give the time at which the run ends", {"", 0, 0, "until"});
        return use([&](Simulation& s) {
            const double dt = macro_step(s.options().step), sign = dt > 0 ? 1 : -1;
            const Stopwatch watch;
            const auto ahead = [&] { return (until - s.time()) * sign > 0.5 * std::abs(dt); };
            for (std::int64_t k = 0; ahead() && k < most && (k == 0 || watch.seconds() < seconds); ++k) s.step();
            return !ahead();
        });
    }

    /// Views of the state on the host, which stay valid as long as `self`.
    static nb::tuple particles(nb::handle_t<PythonSimulation> self) {
        auto& own = nb::cast<PythonSimulation&>(self);
        const Particles& p = *own.use([](Simulation& s) { return &s.particles(); });
        const auto n = p.mass.size();
        const auto view = [&]<class T>(const std::vector<T>& values) { return Array<const T>(values.data(), {n}, self); };
        const auto three = [&](const std::vector<Vec3<double>>& values) {
            return Array<const double>(reinterpret_cast<const double*>(values.data()), {n, 3}, self);
        };
        nb::object softening = nb::none();
        if (!p.softening.empty()) softening = nb::cast(view(p.softening));
        return nb::make_tuple(three(p.position), three(p.velocity), view(p.mass), view(p.id), view(p.type), softening);
    }

    /// Copies the state to arrays of the caller on the host; an argument may be None.
    void copy_state(const std::optional<InOut<double, nb::shape<-1, 3>>>& position,
                    const std::optional<InOut<double, nb::shape<-1, 3>>>& velocity) {
        const auto to = [](const auto& array) -> View<Vec3<double>> {
            if (!array) return {};
            return {reinterpret_cast<Vec3<double>*>(array->data()), static_cast<index_t>(array->shape(0))};
        };
        const auto x = to(position), v = to(velocity);
        use([&](Simulation& s) {
            if (std::holds_alternative<Cpu>(s.space())) return s.copy_state(x, v);
            const Particles& p = s.particles();
            KS_REQUIRE((x.empty() || x.n == p.size()) && (v.empty() || v.n == p.size()),
                       "the arrays are not of the simulation's particles");
            if (!x.empty()) std::copy(p.position.begin(), p.position.end(), x.begin());
            if (!v.empty()) std::copy(p.velocity.begin(), p.velocity.end(), v.begin());
        });
    }
    /// Reads values that no step changes while it runs; for another thread the simulation is busy.
    template <class F>
    auto read(F f) {
        const OneUser user(busy_, "the simulation");
        return f(simulation_);
    }

    /// The same of arrays in the memory of the simulation's device: nothing passes through the host.
    void copy_state_on_device(const DeviceArray* position, const DeviceArray* velocity) {
        const auto to = [&](const DeviceArray* array, const char* key) -> View<Vec3<double>> {
            if (array == nullptr) return {};
            array->require_on(read([](const Simulation& s) { return s.space(); }), key);
            return {reinterpret_cast<Vec3<double>*>(array->writable<double>().ptr), array->size() / 3};
        };
        const auto x = to(position, "position"), v = to(velocity, "velocity");
        use([&](Simulation& s) { s.copy_state(x, v); });
    }

   private:
    Simulation simulation_;
    std::atomic<bool> busy_ = false;
};

/// The force of n particles, used by one thread at a time. Its arrays are in the memory of its space.
class PythonLocalForce {
   public:
    PythonLocalForce(const Force& force, index_t n, const std::string& device, int threads)
        : on_(space_named(device, threads)), force_(on_, force, n), n_(n) {}

    void accelerate(const Vectors& position, const Numbers& mass, const InOut<double, nb::shape<-1, 3>>& out) {
        require_host();
        const View<Vec3<double>> to(reinterpret_cast<Vec3<double>*>(out.data()), static_cast<index_t>(out.shape(0)));
        alone(busy_, "the force", [&] { force_.accelerate(vectors(position), view_of(mass), to); });
    }
    void potential(const Vectors& position, const Numbers& mass, const InOut<double, nb::ndim<1>>& out) {
        require_host();
        alone(busy_, "the force", [&] { force_.potential(vectors(position), view_of(mass), view_of(out)); });
    }
    void accelerate_on_device(const DeviceArray& position, const DeviceArray& mass, const DeviceArray& out) {
        out.require_on(on_, "out");
        const View<Vec3<double>> to(reinterpret_cast<Vec3<double>*>(out.writable<double>().ptr), out.size() / 3);
        on_device(position, mass, [&](auto x, auto m) { force_.accelerate(x, m, to); });
    }
    void potential_on_device(const DeviceArray& position, const DeviceArray& mass, const DeviceArray& out) {
        out.require_on(on_, "out");
        on_device(position, mass, [&](auto x, auto m) { force_.potential(x, m, out.writable<double>()); });
    }
    index_t size() const { return n_; }
    std::string device() const { return name(on_); }

   private:
    void require_host() const {
        KS_VALIDATE(
            std::holds_alternative<Cpu>(on_),
            "is in the memory of the host, and the force computes on " + name(on_) + ": pass arrays of CuPy or torch on that device",
            {"", 0, 0, "position"});
    }
    template <class F>
    void on_device(const DeviceArray& position, const DeviceArray& mass, F f) {
        position.require_on(on_, "position"), mass.require_on(on_, "mass");
        const View<const Vec3<double>> x(reinterpret_cast<const Vec3<double>*>(position.view<double>().ptr), position.size() / 3);
        alone(busy_, "the force", [&] { f(x, mass.view<double>()); });
    }

    AnySpace on_;
    LocalForce force_;
    index_t n_;
    std::atomic<bool> busy_ = false;
};

Mac mac_of(std::optional<double> theta, std::optional<double> delta, std::optional<double> error) {
    KS_VALIDATE(theta.has_value() + delta.has_value() + error.has_value() <= 1,
                "theta, delta and error are three criteria: give one of them", {"", 0, 0, "Tree"});
    if (theta) return GeometricMac{*theta};
    if (error) return MultipoleMac{*error};
    return delta ? AccelerationMac{*delta} : AccelerationMac{};
}

void bind_forces(nb::module_& m) {
    nb::class_<Direct>(m, "Direct", "Direct summation: every particle acts on every other one.")
        .def(
            "__init__",
            [](Direct* self, double softening, double G, const std::string& precision, const std::string& variant, bool deterministic,
               const std::string& kernel) {
                KS_VALIDATE(precision == "single" || precision == "double", "is '" + precision + "': take single or double",
                            {"", 0, 0, "precision"});
                const Direct direct{.softening = softening,
                                    .G = G,
                                    .precision = precision == "single" ? Precision::single_ : Precision::double_,
                                    .variant = direct_variant_named(variant),
                                    .deterministic = deterministic,
                                    .softening_kernel = softening_kernel_named(kernel)};
                validate(Force(direct));
                new (self) Direct(direct);
            },
            nb::kw_only(), nb::arg("softening") = 0.0, nb::arg("G") = 1.0, nb::arg("precision") = "single", nb::arg("variant") = "auto",
            nb::arg("deterministic") = true, nb::arg("kernel") = "plummer",
            "softening [length], G [length^3 / (mass time^2)], precision single or double, variant auto, plain, simd, tile or pair,\n"
            "deterministic: the same bits from run to run, kernel plummer or spline.")
        .def_ro("softening", &Direct::softening, "eps [length]")
        .def_ro("G", &Direct::G, "gravitational constant [length^3 / (mass time^2)]")
        .def_prop_ro("precision", [](const Direct& f) { return f.precision == Precision::single_ ? "single" : "double"; })
        .def_prop_ro("variant", [](const Direct& f) { return name(f.variant); })
        .def_ro("deterministic", &Direct::deterministic)
        .def_prop_ro("kernel", [](const Direct& f) { return name(f.softening_kernel); });

    nb::class_<Tree>(m, "Tree", "The tree code of Barnes and Hut on a space-filling curve.")
        .def(
            "__init__",
            [](Tree* self, double softening, double G, std::optional<double> theta, std::optional<double> delta,
               std::optional<double> error, const std::string& multipole, const std::string& curve, int leaf_size, const std::string& walk,
               bool deterministic, const std::string& kernel) {
                Tree tree{.mac = mac_of(theta, delta, error),
                          .softening = softening,
                          .G = G,
                          .multipole = named(multipole, {Multipole::monopole, Multipole::quadrupole}, "multipole"),
                          .curve = named(curve, {Curve::morton, Curve::hilbert}, "curve"),
                          .leaf_size = leaf_size,
                          .walk = tree_walk_named(walk),
                          .deterministic = deterministic,
                          .softening_kernel = softening_kernel_named(kernel)};
                validate(tree);
                new (self) Tree(tree);
            },
            nb::kw_only(), nb::arg("softening") = 0.0, nb::arg("G") = 1.0, nb::arg("theta") = nb::none(), nb::arg("delta") = nb::none(),
            nb::arg("error") = nb::none(), nb::arg("multipole") = "quadrupole", nb::arg("curve") = "hilbert", nb::arg("leaf_size") = 32,
            nb::arg("walk") = "auto", nb::arg("deterministic") = true, nb::arg("kernel") = "plummer",
            "softening [length], G [length^3 / (mass time^2)]; one of theta (geometric criterion), delta (acceleration criterion, the\n"
            "default, 1/512) and error [length / time^2] (multipole criterion); multipole monopole or quadrupole, curve hilbert or\n"
            "morton, leaf_size 1 to 64, walk auto, lists or links, kernel plummer or spline.")
        .def_ro("softening", &Tree::softening, "eps [length]")
        .def_ro("G", &Tree::G, "gravitational constant [length^3 / (mass time^2)]")
        .def_prop_ro(
            "mac",
            [](const Tree& t) -> std::pair<std::string, double> {
                if (const auto* mac = std::get_if<GeometricMac>(&t.mac)) return {"theta", mac->theta};
                if (const auto* mac = std::get_if<MultipoleMac>(&t.mac)) return {"error", mac->error};
                return {"delta", std::get<AccelerationMac>(t.mac).delta};
            },
            "Name and value of the acceptance criterion.")
        .def_prop_ro("multipole", [](const Tree& t) { return name(t.multipole); })
        .def_prop_ro("curve", [](const Tree& t) { return name(t.curve); })
        .def_ro("leaf_size", &Tree::leaf_size)
        .def_prop_ro("walk", [](const Tree& t) { return name(t.walk); })
        .def_ro("deterministic", &Tree::deterministic)
        .def_prop_ro("kernel", [](const Tree& t) { return name(t.softening_kernel); });
}

template <class Control>
void bind_control(nb::module_& m, const char* name, const char* doc) {
    nb::class_<Control>(m, name, doc)
        .def(
            "__init__",
            [](Control* self, double dt_max, double eta, const std::string& criterion, int deepest, double length) {
                KS_VALIDATE(criterion == "velocity-and-acceleration" || criterion == "acceleration",
                            "is '" + criterion + "': take velocity-and-acceleration or acceleration", {"", 0, 0, "criterion"});
                Control steps;
                steps.dt_max = dt_max, steps.eta = eta, steps.deepest = deepest, steps.length = length;
                if (criterion == "acceleration") steps.criterion = StepCriterion::acceleration;
                validate(Steps(steps));
                new (self) Control(steps);
            },
            nb::arg("dt_max"), nb::kw_only(), nb::arg("eta") = 0.5, nb::arg("criterion") = "velocity-and-acceleration",
            nb::arg("deepest") = 24, nb::arg("length") = 0.0,
            "dt_max [time]: the longest step; eta: accuracy; criterion velocity-and-acceleration or acceleration; the shortest step is\n"
            "dt_max / 2^deepest; length [length] replaces a softening of 0.")
        .def_ro("dt_max", &Control::dt_max)
        .def_ro("eta", &Control::eta)
        .def_prop_ro(
            "criterion",
            [](const Control& c) { return c.criterion == StepCriterion::acceleration ? "acceleration" : "velocity-and-acceleration"; })
        .def_ro("deepest", &Control::deepest)
        .def_ro("length", &Control::length);
}

void bind_steps(nb::module_& m) {
    nb::class_<Leapfrog>(m, "Leapfrog", "Kick-drift-kick with one constant step for all particles.")
        .def(
            "__init__",
            [](Leapfrog* self, double dt) {
                validate(Steps(Leapfrog{dt}));
                new (self) Leapfrog{dt};
            },
            nb::arg("dt"), "dt [time], not 0; negative runs backwards.")
        .def_ro("dt", &Leapfrog::dt);
    bind_control<AdaptiveSteps>(m, "Adaptive", "One step for all particles: the shortest that the criterion gives.");
    bind_control<BlockSteps>(m, "Block", "Individual steps of the particles on the grid dt_max / 2^k.");
}

void bind_results(nb::module_& m) {
    nb::class_<Diagnostics>(m, "Diagnostics", "Energies, momenta, virial ratio, centre of mass and Lagrangian radii at one time.")
        .def_ro("time", &Diagnostics::time)
        .def_ro("kinetic", &Diagnostics::kinetic)
        .def_ro("potential", &Diagnostics::potential)
        .def_ro("virial_ratio", &Diagnostics::virial_ratio)
        .def_ro("energy", &Diagnostics::energy)
        .def_prop_ro("momentum", [](const Diagnostics& d) { return numbers(d.momentum); })
        .def_prop_ro("angular_momentum", [](const Diagnostics& d) { return numbers(d.angular_momentum); })
        .def_prop_ro("center_of_mass", [](const Diagnostics& d) { return numbers(d.center_of_mass); })
        .def_ro("lagrangian_radius", &Diagnostics::lagrangian_radius, "Of the mass fractions 0.1, 0.25, 0.5, 0.75, 0.9.");
    nb::class_<ForceAudit>(m, "ForceAudit", "Relative errors of the accelerations of a sample against direct summation in double.")
        .def_ro("count", &ForceAudit::count)
        .def_ro("median", &ForceAudit::median)
        .def_ro("p99", &ForceAudit::p99)
        .def_ro("max", &ForceAudit::max);
}

void bind_simulation(nb::module_& m) {
    using S = PythonSimulation;
    nb::class_<S>(m, "Simulation")
        .def(nb::init<const nb::object&, const Force&, const Steps&, const std::string&, int, double>(), nb::arg("particles"),
             nb::arg("force"), nb::arg("step"), nb::arg("device"), nb::arg("threads"), nb::arg("time"))
        .def("advance", &S::advance, nb::arg("until"), nb::arg("most"), nb::arg("seconds"))
        .def(
            "step", [](S& s, std::int64_t n, bool diagnostics_follow) { s.use([&](Simulation& own) { own.step(n, diagnostics_follow); }); },
            nb::arg("n"), nb::arg("diagnostics_follow"))
        .def_prop_ro("time", [](S& s) { return s.read([](const Simulation& own) { return own.time(); }); })
        .def_prop_ro("steps", [](S& s) { return s.read([](const Simulation& own) { return own.steps(); }); })
        .def_prop_ro("size", [](S& s) { return s.read([](const Simulation& own) { return own.size(); }); })
        .def_prop_ro("device", [](S& s) { return s.read([](const Simulation& own) { return name(own.space()); }); })
        .def_prop_ro("variant", [](S& s) { return s.read([](const Simulation& own) { return own.variant(); }); })
        .def_prop_ro("interactions", [](S& s) { return s.read([](const Simulation& own) { return own.interactions(); }); })
        .def("copy_state", &S::copy_state, nb::arg("position").noconvert().none(), nb::arg("velocity").noconvert().none())
        .def("copy_state_on_device", &S::copy_state_on_device, nb::arg("position").none(), nb::arg("velocity").none())
        .def("particles", [](nb::handle_t<S> self) { return S::particles(self); })
        .def("acceleration", [](S& s) { return owned_vectors(s.use([](Simulation& own) { return own.acceleration(); })); })
        .def("potential", [](S& s) { return owned(s.use([](Simulation& own) { return own.potential(); })); })
        .def("diagnostics", [](S& s) { return s.use([](Simulation& own) { return own.diagnostics(); }); })
        .def("audit", [](S& s, index_t count) { return s.use([&](Simulation& own) { return own.audit(count); }); }, nb::arg("count"));

    nb::class_<PythonLocalForce>(m, "LocalForce")
        .def(nb::init<const Force&, index_t, const std::string&, int>(), nb::arg("force"), nb::arg("n"), nb::arg("device"),
             nb::arg("threads"))
        .def("accelerate", &PythonLocalForce::accelerate, nb::arg("position").noconvert(), nb::arg("mass").noconvert(),
             nb::arg("out").noconvert())
        .def("potential", &PythonLocalForce::potential, nb::arg("position").noconvert(), nb::arg("mass").noconvert(),
             nb::arg("out").noconvert())
        .def("accelerate_on_device", &PythonLocalForce::accelerate_on_device)
        .def("potential_on_device", &PythonLocalForce::potential_on_device)
        .def_prop_ro("size", &PythonLocalForce::size)
        .def_prop_ro("device", &PythonLocalForce::device);
}

void bind_particles(nb::module_& m) {
    m.def(
        "plummer",
        [](index_t count, std::uint64_t seed, double mass, double scale, double G) {
            return arrays_of([&] {
                const nb::gil_scoped_release released;
                return plummer({.count = count, .seed = seed, .mass = mass, .scale = scale, .G = G});
            }());
        },
        nb::arg("count"), nb::arg("seed") = 1, nb::arg("mass") = 1.0, nb::arg("scale") = PlummerOptions{}.scale, nb::arg("G") = 1.0);
    m.def("place", [](const nb::object& particles, const std::array<double, 3>& position, const std::array<double, 3>& velocity,
                      const std::array<double, 3>& spin) {
        auto placed = particles_from(particles);
        {
            const nb::gil_scoped_release released;
            place(placed, {.position = vector(position), .velocity = vector(velocity), .spin = vector(spin)});
        }
        return arrays_of(std::move(placed));
    });
    m.def("read_snapshot", [](const std::string& path) {
        auto s = [&] {
            const nb::gil_scoped_release released;
            return read_snapshot(path);
        }();
        nb::dict facts;
        facts["time"] = s.time;
        facts["units"] = s.units.name;
        facts["scales"] = nb::make_tuple(s.units.length_cm, s.units.mass_g, s.units.velocity_cm_s);
        facts["G"] = s.units.G;
        facts["softening"] = s.softening;
        facts["model"] = s.model;
        facts["acceleration"] = s.acceleration.empty() ? nb::object(nb::none()) : nb::cast(owned_vectors(std::move(s.acceleration)));
        facts["potential"] = s.potential.empty() ? nb::object(nb::none()) : nb::cast(owned(std::move(s.potential)));
        return nb::make_tuple(arrays_of(std::move(s.particles)), facts);
    });
    m.def("write_snapshot", [](const std::string& path, const nb::object& particles, double time, const std::string& units,
                               const std::array<double, 3>& scales, const std::string& format, bool double_precision, bool compress) {
        Snapshot s;
        s.particles = particles_from(particles);
        s.time = time;
        s.units = units == "user" ? user_units(scales[0], scales[1], scales[2]) : units_named(units);
        SnapshotWriteOptions options{.double_precision = double_precision, .compress = compress};
        KS_VALIDATE(format == "hdf5" || format == "gadget1" || format == "gadget2", "is '" + format + "': take hdf5, gadget1 or gadget2",
                    {"", 0, 0, "format"});
        if (format != "hdf5") options.format = format == "gadget1" ? SnapshotFormat::gadget1 : SnapshotFormat::gadget2;
        const nb::gil_scoped_release released;
        write_snapshot(path, s, options);
    });
}

}  // namespace

void bind_gravity(nb::module_& m) {
    bind_forces(m);
    bind_steps(m);
    bind_results(m);
    bind_simulation(m);
    bind_particles(m);
}

}  // namespace kasane::python
