// Observables, the Wilson flow, quenched updates, the quark solver, correlators and files.
#include <src/lattice.hpp>

namespace kasane::python {
namespace {

/// The quark solver, used by one thread at a time.
class PythonWilson {
    /// Calls solve(stop) without the GIL; Ctrl-C ends it.
    template <class Solve>
    auto interruptible(Solve solve) {
        Interrupts interrupts;
        const krylov::StopFunction stop = [&](int, double) { return interrupts.arrived(); };
        const auto log = alone(busy_, "the solver", [&] { return solve(stop); });
        interrupts.raise();
        return log;
    }

   public:
    PythonWilson(const LinkArray& links, double kappa, double csw, const std::string& boundary, const std::string& method,
                 const std::string& inner, double rtol, int iteration_limit, const std::string& device, int threads)
        : on_(space_named(device, threads)), extents_(extents_from_shape(links, "links")), solver_([&] {
              parameters_ = {
                  .kappa = kappa, .csw = csw, .boundary = named(boundary, {Boundary::periodic, Boundary::antiperiodic}, "boundary")};
              options_.method = named(method,
                                      {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres,
                                       Method::refinement, Method::automatic},
                                      "method");
              options_.inner = inner == "auto" ? default_inner_precision(on_, extents_)
                                               : named(inner, {Precision::half, Precision::single, Precision::double_}, "inner", "auto");
              options_.rtol = rtol, options_.iteration_limit = iteration_limit;
              const auto field = gauge_from(links);
              const nb::gil_scoped_release released;
              return WilsonSolver(on_, field, parameters_, options_);
          }()) {}

    nb::tuple solve(const SpinorArray& b) {
        SpinorField x(extents_);
        SolveLog log;
        if (std::holds_alternative<Cpu>(on_)) {
            log = interruptible([&](const auto& stop) { return solver_.solve(view_of(b), view(x.values), stop); });
        } else {
            const auto rhs = spinor_from(b, "b");
            log = interruptible([&](const auto& stop) { return solver_.solve(rhs, x, stop); });
        }
        return nb::make_tuple(array_of(std::move(x)), log);
    }
    /// Several right-hand sides: as many at once as are fast (columns_at_once()).
    nb::tuple solve_columns(const std::vector<SpinorArray>& all) {
        const auto wanted = static_cast<int>(all.size());
        const auto at_once = static_cast<std::size_t>(columns_at_once(on_, extents_, parameters_, options_, wanted));
        nb::list solutions;
        std::vector<SolveLog> logs;
        for (std::size_t first = 0; first < all.size(); first += at_once) {
            std::vector<SpinorField> b;
            for (std::size_t c = first; c < std::min(first + at_once, all.size()); ++c) b.push_back(spinor_from(all[c], "b"));
            std::vector<SpinorField> x(b.size(), SpinorField(extents_));
            for (const auto& log : interruptible([&](const auto& stop) { return solver_.solve(b, x, stop); })) logs.push_back(log);
            for (auto& field : x) solutions.append(array_of(std::move(field)));
        }
        return nb::make_tuple(solutions, logs);
    }
    Array<Number> apply(const SpinorArray& in, bool adjoint) {
        SpinorField out(extents_);
        if (std::holds_alternative<Cpu>(on_)) {
            alone(busy_, "the solver", [&] { solver_.apply(view_of(in), view(out.values), adjoint); });
        } else {
            const auto from = spinor_from(in, "psi");
            alone(busy_, "the solver", [&] { solver_.apply(from, out, adjoint); });
        }
        return array_of(std::move(out));
    }
    /// Fields in the memory of the solver's device; x has the first guess.
    SolveLog solve_on_device(const DeviceArray& b, const DeviceArray& x) {
        b.require_on(on_, "b"), x.require_on(on_, "x");
        return interruptible([&](const auto& stop) { return solver_.solve(b.view<Number>(), x.writable<Number>(), stop); });
    }
    void apply_on_device(const DeviceArray& in, const DeviceArray& out, bool adjoint) {
        in.require_on(on_, "psi"), out.require_on(on_, "out");
        alone(busy_, "the solver", [&] { solver_.apply(in.view<Number>(), out.writable<Number>(), adjoint); });
    }
    std::string device() const { return name(on_); }

   private:
    AnySpace on_;
    Extents extents_;
    DiracParameters parameters_;
    SolverOptions options_;
    WilsonSolver solver_;
    std::atomic<bool> busy_ = false;
};

/// A propagator of columns and a time that the package has checked.
Propagator propagator_from(const std::vector<SpinorArray>& columns, int source_time) {
    Propagator p{.source_time = source_time, .columns = {}};
    for (const auto& column : columns) p.columns.push_back(spinor_from(column, "columns"));
    return p;
}

void bind_links(nb::module_& m) {
    using L = PythonLinks;
    nb::class_<L>(m, "Links")
        .def(nb::init<const LinkArray&, const std::string&, int>(), nb::arg("links").noconvert(), nb::arg("device"), nb::arg("threads"))
        .def(nb::init<const std::array<int, 4>&, const std::string&, double, std::uint64_t, const std::string&, int>())
        .def("update", &L::update)
        .def(nb::init<const DeviceArray&, const std::string&>(), nb::arg("links"), nb::arg("device"))
        .def("array", &L::array)
        .def("copy_to", &L::copy_to)
        .def_prop_ro("device", &L::device)
        .def_prop_ro("extents", &L::extents)
        .def("require_su3", &L::require_su3)
        .def("reunitarise", &L::reunitarise)
        .def("plaquette",
             [](L& l) {
                 const auto p = l.use([](auto& u) { return plaquette(u); });
                 return nb::make_tuple(p.space, p.time);
             })
        .def("link_trace", [](L& l) { return l.use([](auto& u) { return link_trace(u); }); })
        .def("polyakov_loop", [](L& l) { return l.use([](auto& u) { return polyakov_loop(u); }); })
        .def("topological_charge", [](L& l) { return l.use([](auto& u) { return topological_charge(u); }); })
        .def("energy_density", [](L& l) { return l.use([](auto& u) { return energy_density(u); }); })
        .def("flow", &L::flow);
}

void bind_quarks(nb::module_& m) {
    nb::class_<SolveLog, krylov::SolveLog>(m, "QuarkSolveLog", "Course and outcome of a quark solve.").def_ro("gflops", &SolveLog::gflops);
    nb::class_<PythonWilson>(m, "WilsonSolver")
        .def(nb::init<const LinkArray&, double, double, const std::string&, const std::string&, const std::string&, double, int,
                      const std::string&, int>())
        .def("solve", &PythonWilson::solve, nb::arg("b").noconvert())
        .def("solve_columns", &PythonWilson::solve_columns, nb::arg("b").noconvert())
        .def("apply", &PythonWilson::apply, nb::arg("psi").noconvert(), nb::arg("adjoint"))
        .def("solve_on_device", &PythonWilson::solve_on_device)
        .def("apply_on_device", &PythonWilson::apply_on_device)
        .def_prop_ro("device", &PythonWilson::device);
    m.def("point_source", [](const std::array<int, 4>& n, const std::array<int, 4>& s, int spin, int colour) {
        const auto extents = extents_of(n, "extents");
        for (int mu = 0; mu < 4; ++mu)
            KS_VALIDATE(s[static_cast<std::size_t>(mu)] >= 0 && s[static_cast<std::size_t>(mu)] < extents[mu],
                        "is outside the lattice " + text(extents), {"", 0, 0, "site"});
        KS_VALIDATE(spin >= 0 && spin < 4 && colour >= 0 && colour < 3, "spin is 0 to 3, colour 0 to 2", {"", 0, 0, "spin"});
        return array_of(point_source(extents, {{s[0], s[1], s[2], s[3]}}, spin, colour));
    });
    m.def("pion_correlator",
          [](const std::vector<SpinorArray>& columns, int t) { return owned(pion_correlator(propagator_from(columns, t))); });
    m.def("vector_correlator",
          [](const std::vector<SpinorArray>& columns, int t) { return owned(vector_correlator(propagator_from(columns, t))); });
    m.def("effective_mass", [](const std::vector<double>& c) { return owned(effective_mass(c)); });
}

void bind_files(nb::module_& m) {
    m.def("read_gauge", [](const std::string& path) {
        auto file = [&] {
            const nb::gil_scoped_release released;
            return read_gauge(path);
        }();
        const auto& f = file.facts;
        nb::dict facts;
        facts["format"] = std::string(name(f.format)), facts["bits"] = f.bits, facts["rows"] = f.rows;
        facts["checksum"] = f.checksum.kind, facts["stored_checksum"] = f.checksum.stored;
        facts["stored_plaquette"] = f.stored_plaquette, facts["distance_from_su3"] = f.worst_distance_from_su3, facts["notes"] = f.notes;
        return nb::make_tuple(array_of(std::move(file.field)), facts);
    });
    m.def("write_gauge", [](const std::string& path, const LinkArray& links, const std::string& format, int bits, int rows) {
        const GaugeWriteOptions options{
            .format = named(format, {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::milc, GaugeFormat::openqcd}, "format"),
            .bits = bits,
            .rows = rows};
        const auto field = gauge_from(links);
        const nb::gil_scoped_release released;
        write_gauge(path, field, options);
    });
    m.def("read_solution", [](const std::string& path) {
        auto file = [&] {
            const nb::gil_scoped_release released;
            return read_solution(path);
        }();
        const auto& f = file.facts;
        nb::dict facts;
        facts["kappa"] = f.parameters.kappa, facts["csw"] = f.parameters.csw, facts["boundary"] = std::string(name(f.parameters.boundary));
        facts["basis"] = std::string(name(f.basis)), facts["source"] = f.source, facts["gauge_file"] = f.gauge_file;
        facts["plaquette"] = f.plaquette, facts["solver"] = f.solver, facts["relative_residuals"] = f.relative_residuals;
        facts["pion"] = f.pion, facts["vector"] = f.vector;
        nb::list columns;
        for (auto& column : file.columns) columns.append(array_of(std::move(column)));
        return nb::make_tuple(columns, facts);
    });
    m.def("estimate", [](const std::vector<double>& series) {
        const auto e = estimate(series);
        nb::dict facts;
        facts["count"] = e.count, facts["mean"] = e.mean, facts["error"] = e.error, facts["tau"] = e.tau, facts["tau_error"] = e.tau_error;
        return facts;
    });
}

}  // namespace

void bind_lattice(nb::module_& m) {
    bind_links(m);
    bind_hmc(m);
    bind_quarks(m);
    bind_files(m);
}

}  // namespace kasane::python
