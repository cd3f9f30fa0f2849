// Systems in compressed rows, the Poisson problem of a box, preconditioners, conjugate gradients with operators from Python.
#include <src/binding.hpp>

#include <kasane/krylov.hpp>
#include <kasane/sparse.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <functional>
#include <memory>
#include <tuple>

namespace kasane::python {
namespace {

using namespace sparse;
using Numbers = In<double, nb::ndim<1>>;
using Result = InOut<double, nb::ndim<1>>;
/// Called with the iterations so far and the relative residual; a value that is true in Python ends the solve.
using Callback = std::optional<nb::callable>;

/// Calls it with the GIL held. @returns whether it ends the solve
bool asks_to_stop(const Callback& callback, int iteration, double residual) {
    const nb::object answer = (*callback)(iteration, residual);
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw nb::python_error();
    return truth == 1;
}

using ComplexNumbers = In<std::complex<double>, nb::ndim<1>>;

/// Refers to the caller's arrays on the host, which are kept as long as this. @tparam Value  double or std::complex<double>
template <class Value = double>
struct CsrArrays {
    using Viewed = std::conditional_t<std::same_as<Value, double>, CsrView, ComplexCsrView>;
    using Indices = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    Indices begin, column;
    In<Value, nb::ndim<1>> value;

    static CsrArrays of(const nb::object& begin, const nb::object& column, const In<Value, nb::ndim<1>>& value) {
        return {nb::cast<Indices>(begin, false), nb::cast<Indices>(column, false), value};
    }
    index_t rows() const { return static_cast<index_t>(begin.shape(0)) - 1; }
    Viewed view() const {
        const index_t n = rows();
        KS_REQUIRE(n >= 0 && column.shape(0) == value.shape(0), "the arrays of a matrix in compressed rows do not fit together");
        const bool wide_begin = is_wide(begin), wide_column = is_wide(column);
        const auto with = [&]<class Offset>(const Offset* first) {
            KS_VALIDATE(n == 0 || first[n] <= static_cast<index_t>(value.shape(0)), "indptr ends beyond the entries of the matrix");
            if (wide_column) return Viewed(n, first, static_cast<const std::int64_t*>(column.data()), value.data());
            return Viewed(n, first, static_cast<const std::int32_t*>(column.data()), value.data());
        };
        if (wide_begin) return with(static_cast<const std::int64_t*>(begin.data()));
        return with(static_cast<const std::int32_t*>(begin.data()));
    }

   private:
    static bool is_wide(const Indices& array) {
        const bool wide = array.dtype() == nb::dtype<std::int64_t>();
        KS_REQUIRE(wide || array.dtype() == nb::dtype<std::int32_t>(), "indices of a matrix are 32- or 64-bit integers");
        return wide;
    }
};

/// Calls solve(stop) with a stop function that asks Python for signals and calls the caller's, and raises what either raised.
template <class Log, class Solve>
Log interruptible(const Callback& callback, Solve solve) {
    Interrupts interrupts;
    std::exception_ptr raised;
    const auto stop = [&](int iteration, double residual) {
        if (callback) {
            const nb::gil_scoped_acquire held;
            try {
                if (asks_to_stop(callback, iteration, residual)) return true;
            } catch (...) {
                raised = std::current_exception();
                return true;
            }
        }
        return interrupts.arrived();
    };
    const Log log = solve(krylov::StopFunction(stop));
    if (raised) std::rethrow_exception(raised);
    interrupts.raise();
    return log;
}

/// Solver, GeneralSolver, ComplexSolver or PoissonSolver, used by one thread at a time.
template <class S, class Value = double>
class PythonSolver {
   public:
    /// @param make  makes the solver; called without the GIL
    template <class Make>
    PythonSolver(index_t rows, Make make)
        : rows_(rows), solver_([&] {
              const nb::gil_scoped_release released;
              return make();
          }()) {}

    SolveLog solve(const In<Value, nb::ndim<1>>& b, const InOut<Value, nb::ndim<1>>& x, const Callback& callback) {
        return interruptible<SolveLog>(
            callback, [&](const StopFunction& stop) { return use([&] { return solver_.solve(view_of(b), view_of(x), stop); }); });
    }
    /// B and X [columns, rows]. @returns the logs of the columns that were solved
    std::vector<SolveLog> solve_columns(const In<Value, nb::ndim<2>>& B, const InOut<Value, nb::ndim<2>>& X, const Callback& callback) {
        return interruptible<std::vector<SolveLog>>(callback, [&](const StopFunction& stop) {
            return use([&] { return sparse::solve_columns(solver_, view_of(B), view_of(X), static_cast<index_t>(B.shape(0)), stop); });
        });
    }
    void update(const nb::object& begin, const nb::object& column, const In<Value, nb::ndim<1>>& value) {
        const auto arrays = CsrArrays<Value>::of(begin, column, value);
        use([&] { solver_.update(arrays.view()); });
    }
    void set_tolerance(double rtol, int iteration_limit) {
        const OneUser user(busy_, "the solver");
        solver_.set_tolerance(rtol, iteration_limit);
    }
    /// Calls f() without the GIL, as the only user.
    template <class F>
    auto use(F f) {
        return alone(busy_, "the solver", f);
    }
    S& solver() { return solver_; }
    const S& solver() const { return solver_; }
    index_t rows() const { return rows_; }

   private:
    index_t rows_;
    S solver_;
    std::atomic<bool> busy_ = false;
};
using PythonSystem = PythonSolver<Solver>;
using PythonGeneral = PythonSolver<GeneralSolver>;
using PythonComplex = PythonSolver<ComplexSolver, std::complex<double>>;
using PythonPoisson = PythonSolver<PoissonSolver>;

#if defined(KASANE_CUDA)
/// The arrays of a matrix in the memory of a device. @throws InputError: on another one
CsrView device_view(Cuda on, const DeviceArray& begin, const DeviceArray& column, const DeviceArray& value) {
    column.require_on(on, "A.indices"), value.require_on(on, "A.data");
    const index_t n = begin.size() - 1;
    KS_REQUIRE(n >= 0 && column.size() == value.size(), "the arrays of a matrix in compressed rows do not fit together");
    const auto with = [&]<class Offset>(View<const Offset> first) {
        std::vector<Offset> last(1);
        copy_to_host(on, view(last), first.subview(n, 1));
        KS_VALIDATE(last[0] <= value.size(), "indptr ends beyond the entries of the matrix");
        const auto* values = value.view<double>().ptr;
        if (column.type() == "int64") return CsrView(n, first.ptr, column.view<std::int64_t>().ptr, values);
        return CsrView(n, first.ptr, column.view<std::int32_t>().ptr, values);
    };
    if (begin.type() == "int64") return with(begin.view<std::int64_t>());
    return with(begin.view<std::int32_t>());
}
#endif

/// The device that a solver of arrays on a device uses. @throws InputError where this build or machine has none
AnySpace cuda_space(const std::string& device) { return space_named(device == "auto" ? "cuda" : device); }

/// The options of a dictionary whose keys are members of SolverOptions.
SolverOptions options_of(const nb::dict& given) {
    SolverOptions o;
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const auto text = [&] { return value_of<std::string>(name.c_str(), value); };
        if (name == "precondition")
            o.precondition = parse_precondition(text());
        else if (name == "ordering")
            o.ordering = Ordering::parse(text());
        else if (name == "numbering")
            o.numbering = parse_numbering(text());
        else if (name == "format")
            o.format = Format::parse(text());
        else if (name == "iteration")
            o.iteration = parse_iteration(text());
        else if (name == "launch")
            o.launch = parse_launch(text());
        else if (name == "drop_tolerance")
            o.drop_tolerance = value_of<double>(name.c_str(), value);
        else if (name == "fill")
            o.fill = value_of<int>(name.c_str(), value);
        else if (name == "level")
            o.level = value_of<int>(name.c_str(), value);
        else if (name == "block")
            o.block = nb::isinstance<nb::str>(value) && text() == "auto" ? 0 : value_of<int>(name.c_str(), value);
        else if (name == "ssor_omega")
            o.ssor_omega = value_of<double>(name.c_str(), value);
        else if (name == "smoother")
            o.multigrid.smoother = parse_smoother(text());
        else if (name == "smoother_steps")
            o.multigrid.steps = value_of<int>(name.c_str(), value);
        else if (name == "cycle")
            o.multigrid.cycle = parse_cycle(text());
        else if (name == "single_factor")
            o.single_factor = value_of<bool>(name.c_str(), value);
        else if (name == "rtol")
            o.rtol = value_of<double>(name.c_str(), value);
        else if (name == "iteration_limit")
            o.iteration_limit = value_of<int>(name.c_str(), value);
        else if (name == "tune")
            o.tune = value_of<bool>(name.c_str(), value) ? Tuning::full : Tuning::off;
        else
            throw InputError("is not an option of the solver", {"", 0, 0, name});
    }
    return o;
}

/// The options of a dictionary whose keys are members of GeneralOptions.
GeneralOptions general_options_of(const nb::dict& given) {
    GeneralOptions o;
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        if (name == "method")
            o.method = parse_general_method(value_of<std::string>(name.c_str(), value));
        else if (name == "precondition")
            o.precondition = parse_general_precondition(value_of<std::string>(name.c_str(), value));
        else if (name == "ordering")
            o.ordering = Ordering::parse(value_of<std::string>(name.c_str(), value));
        else if (name == "restart")
            o.restart = value_of<int>(name.c_str(), value);
        else if (name == "drop_tolerance")
            o.drop_tolerance = value_of<double>(name.c_str(), value);
        else if (name == "fill")
            o.fill = value_of<int>(name.c_str(), value);
        else if (name == "scale")
            o.scale = value_of<bool>(name.c_str(), value);
        else if (name == "rtol")
            o.rtol = value_of<double>(name.c_str(), value);
        else if (name == "iteration_limit")
            o.iteration_limit = value_of<int>(name.c_str(), value);
        else
            throw InputError("is not an option of a solver of nonsymmetric systems", {"", 0, 0, name});
    }
    return o;
}

/// (values [count], vectors [count, rows], residuals [count], facts) of the smallest eigenvalues.
nb::tuple eigenpairs_of(const nb::object& begin, const nb::object& column, const Numbers& value, int count, double rtol,
                        int iteration_limit, const std::string& precondition, const std::string& device, int threads,
                        const Callback& callback) {
    const auto A = CsrArrays<>::of(begin, column, value);
    const auto view = A.view();
    const auto on = space_named(device, threads);
    const EigenOptions options{.count = count,
                               .rtol = rtol,
                               .iteration_limit = iteration_limit,
                               .precondition = parse_precondition(precondition),
                               .near_null = {}};
    auto found = interruptible<Eigenpairs>(callback, [&](const StopFunction& stop) {
        const nb::gil_scoped_release released;
        return eigenpairs(on, view, options, stop);
    });
    std::vector<double> vectors;
    for (const auto& each : found.vectors) vectors.insert(vectors.end(), each.begin(), each.end());
    nb::dict facts;
    facts["converged"] = found.converged(), facts["end"] = std::string(krylov::name(found.end)), facts["iterations"] = found.iterations;
    facts["setup_seconds"] = found.setup_seconds, facts["seconds"] = found.seconds, facts["device"] = found.device;
    const auto pairs = found.vectors.size();
    return nb::make_tuple(owned(std::move(found.values)),
                          owned<double>(std::move(vectors), {pairs, pairs == 0 ? 0 : static_cast<std::size_t>(view.n)}),
                          owned(std::move(found.residuals)), facts);
}

PoissonProblem problem_of(const nb::object& from) {
    PoissonProblem p;
    p.cells = nb::cast<std::array<index_t, 3>>(from.attr("cells"));
    p.spacing = nb::cast<std::array<std::vector<double>, 3>>(from.attr("spacing"));
    // (kind, value, transfer, formula) of each face
    const auto faces = nb::cast<std::array<std::tuple<std::string, double, double, std::string>, 6>>(from.attr("boundary"));
    for (std::size_t k = 0; k < 6; ++k) {
        const auto& [kind, value, transfer, formula] = faces[k];
        p.boundary[k] = {kind == "dirichlet"  ? BoundaryKind::dirichlet
                         : kind == "robin"    ? BoundaryKind::robin
                         : kind == "periodic" ? BoundaryKind::periodic
                                              : BoundaryKind::neumann,
                         value, transfer, formula};
    }
    const auto field = [&](const char* name, std::vector<double>& to) {
        const nb::object given = from.attr(name);
        if (given.is_none()) return;
        const auto values = nb::cast<In<double>>(given, false);
        to.assign(values.data(), values.data() + values.size());
    };
    field("coefficient", p.coefficient);
    field("source", p.source);
    p.tensor = nb::cast<std::array<std::vector<double>, 6>>(from.attr("_components"));
    return p;
}

/// (row_begin, columns, values), which own the matrix's memory.
template <class Matrix>
nb::tuple arrays_of(Matrix&& A) {
    return nb::make_tuple(owned(std::move(A.begin)), owned(std::move(A.column)), owned(std::move(A.value)));
}

/// out = f(in) of a callable with NumPy arrays; the krylov interface of operators and preconditioners. Called with the GIL held.
struct PythonOperator {
    nb::callable f;

    template <class Algebra>
    void apply(Algebra&, const std::vector<double>& in, std::vector<double>& out) const {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        auto copy = in;
        const auto result = nb::cast<Numbers>(f(owned(std::move(copy))), false);
        KS_VALIDATE(result.shape(0) == in.size(),
                    "the operator returned " + std::to_string(result.shape(0)) + " numbers for a vector of " + std::to_string(in.size()));
        out.assign(result.data(), result.data() + result.size());
    }
};

krylov::SolveLog conjugate_gradients(nb::callable A, std::optional<nb::callable> M, const Numbers& b, const Result& x, double rtol,
                                     int iteration_limit, const Callback& callback) {
    KS_VALIDATE(rtol > 0 && rtol < 1, "is " + std::to_string(rtol) + ": it must be above 0 and below 1. Try 1e-8", {"", 0, 0, "rtol"});
    KS_VALIDATE(iteration_limit >= 1, "is " + std::to_string(iteration_limit) + ": at least one iteration must be allowed. Try 10000",
                {"", 0, 0, "iteration_limit"});
    const Stopwatch watch;
    std::vector<double> rhs(b.data(), b.data() + b.size()), solution(x.data(), x.data() + x.size());
    krylov::HostAlgebra algebra;
    krylov::CgWorkspace<std::vector<double>> work{rhs, rhs, rhs, rhs};
    krylov::Options options{.rtol = rtol, .iteration_limit = iteration_limit};
    if (callback) options.stop = [&](int iteration, double residual) { return asks_to_stop(callback, iteration, residual); };
    auto log = M ? krylov::conjugate_gradients(algebra, PythonOperator{A}, PythonOperator{*M}, rhs, solution, work, options)
                 : krylov::conjugate_gradients(algebra, PythonOperator{A}, krylov::NoPreconditioner{}, rhs, solution, work, options);
    std::copy(solution.begin(), solution.end(), x.data());
    log.seconds = watch.seconds();
    return log;
}

/// A preconditioner as a function of arrays.
std::function<void(const std::vector<double>&, std::vector<double>&)> preconditioner(const CsrView& A, const std::string& name,
                                                                                     double omega) {
    const auto of = [](auto M) {
        return [kept = std::make_shared<decltype(M)>(std::move(M))](const std::vector<double>& in, std::vector<double>& out) {
            kept->solve(in, out);
        };
    };
    switch (parse_precondition(name)) {
        case Precondition::ic0: return of(IncompleteCholesky(A));
        case Precondition::ssor: return of(Ssor(A, omega));
        case Precondition::jacobi: return of(Jacobi(A));
        case Precondition::none:
        case Precondition::automatic:
        case Precondition::ict:
        case Precondition::ick:
        case Precondition::multigrid: break;
    }
    throw InputError("is " + name + ": take ic0, ssor or jacobi", {"", 0, 0, "precondition"});
}

struct PythonPreconditioner {
    std::function<void(const std::vector<double>&, std::vector<double>&)> apply;
    std::size_t rows;
};

void bind_logs(nb::module_& m) {
    using Log = krylov::SolveLog;
    nb::class_<Log>(m, "KrylovLog", "Course and outcome of a solve.")
        .def_prop_ro(
            "end", [](const Log& l) { return std::string(name(l.end)); }, "How it ended, in words: 'converged', ...")
        .def_prop_ro("converged", &Log::converged)
        .def_ro("iterations", &Log::iterations)
        .def_ro("inner_iterations", &Log::inner_iterations)
        .def_ro("restarts", &Log::restarts)
        .def_ro("residual", &Log::residual, "||r|| / ||b|| of the recurrence at the end.")
        .def_ro("true_residual", &Log::true_residual, "||b - A x|| / ||b|| computed from x at the end.")
        .def_ro("seconds", &Log::seconds)
        .def_prop_ro(
            "residuals", [](const Log& l) { return owned(std::vector<double>(l.residuals)); }, nb::rv_policy::move)
        .def_ro("notes", &Log::notes);
    nb::class_<SolveLog, Log>(m, "SolveLog", "Course and outcome of a sparse solve.")
        .def_ro("iteration_seconds", &SolveLog::iteration_seconds)
        .def_ro("mean_removed", &SolveLog::mean_removed)
        .def_prop_ro(
            "residuals",
            [](const SolveLog& l) {
                std::vector<double> relative;
                for (const auto& point : l.history) relative.push_back(point.relative);
                return owned(std::move(relative));
            },
            nb::rv_policy::move);
}

/// The members that all solvers have.
template <class S, class Value = double>
nb::class_<PythonSolver<S, Value>> bind_solver(nb::module_& m, const char* name) {
    using P = PythonSolver<S, Value>;
    return nb::class_<P>(m, name)
        .def("solve", &P::solve, nb::arg("b").noconvert(), nb::arg("x").noconvert(), nb::arg("callback").none())
        .def("solve_columns", &P::solve_columns, nb::arg("B").noconvert(), nb::arg("X").noconvert(), nb::arg("callback").none())
        .def("set_tolerance", &P::set_tolerance, nb::arg("rtol"), nb::arg("iteration_limit"))
        .def_prop_ro("rows", &P::rows);
}

nb::dict facts_of(const SetupFacts& f) {
    nb::dict facts;
    facts["rows"] = f.rows, facts["nonzeros"] = f.nonzeros, facts["device"] = f.device, facts["ordering"] = f.ordering;
    facts["numbering"] = f.numbering, facts["format"] = f.format, facts["precondition"] = f.precondition;
    facts["iteration"] = f.iteration, facts["colors"] = f.colors, facts["shift"] = f.shift, facts["singular"] = f.singular;
    facts["bytes"] = f.bytes, facts["seconds"] = f.total_seconds, facts["notes"] = f.notes;
    return facts;
}

/// A solver of a matrix in compressed rows of the host. @param options_of  makes the options of S from a dict
template <class S, class Value = double, class OptionsOf>
nb::class_<PythonSolver<S, Value>> bind_matrix_solver(nb::module_& m, const char* name, OptionsOf options_of) {
    using P = PythonSolver<S, Value>;
    return bind_solver<S, Value>(m, name)
        .def(
            "__init__",
            [options_of](P* self, const nb::object& begin, const nb::object& column, const In<Value, nb::ndim<1>>& value,
                         const nb::dict& options, const std::string& device, int threads) {
                const auto A = CsrArrays<Value>::of(begin, column, value);
                const auto view = A.view();
                const auto on = space_named(device, threads);
                const auto o = options_of(options);
                new (self) P(A.rows(), [&] { return S(on, view, o); });
            },
            nb::arg("begin"), nb::arg("column"), nb::arg("value"), nb::arg("options"), nb::arg("device"), nb::arg("threads"))
        .def("update", &P::update, nb::arg("begin"), nb::arg("column"), nb::arg("value").noconvert())
        .def_prop_ro("setup", [](const P& s) { return facts_of(s.solver().setup()); });
}

void bind_solvers(nb::module_& m) {
    bind_matrix_solver<Solver>(m, "Solver", options_of)
        .def("__init__",
             [](PythonSystem* self, const DeviceArray& begin, const DeviceArray& column, const DeviceArray& value, const nb::dict& options,
                const std::string& device) {
                 const auto on = cuda_space(device);
                 begin.require_on(on, "A.indptr");
#if defined(KASANE_CUDA)
                 const auto view = device_view(std::get<Cuda>(on), begin, column, value);
                 const auto o = options_of(options);
                 new (self) PythonSystem(view.n, [&] { return Solver::on_device(std::get<Cuda>(on), view, o); });
#else
                 static_cast<void>(self), static_cast<void>(column), static_cast<void>(value), static_cast<void>(options);
#endif
             })
        .def(
            "solve_on_device",
            [](PythonSystem& s, const std::string& device, const DeviceArray& b, const DeviceArray& x, const Callback& callback) {
                const auto on = space_named(device);
                b.require_on(on, "b"), x.require_on(on, "x0");
#if defined(KASANE_CUDA)
                return interruptible<SolveLog>(callback, [&](const StopFunction& stop) {
                    return s.use([&] { return s.solver().solve_on_device(b.view<double>(), x.writable<double>(), stop); });
                });
#else
                static_cast<void>(s), static_cast<void>(callback);
                return SolveLog();
#endif
            },
            nb::arg("device"), nb::arg("b"), nb::arg("x"), nb::arg("callback").none());

    bind_matrix_solver<GeneralSolver>(m, "GeneralSolver", general_options_of).def_prop_ro("kind", [](const PythonGeneral& s) {
        const auto& k = s.solver().kind();
        nb::dict facts;
        facts["symmetric"] = k.symmetric, facts["positive"] = k.positive, facts["asymmetry"] = k.asymmetry;
        facts["zero_diagonals"] = k.zero_diagonals;
        return facts;
    });

    bind_matrix_solver<ComplexSolver, std::complex<double>>(m, "ComplexSolver", general_options_of)
        .def_prop_ro("kind", [](const PythonComplex& s) {
            const auto& k = s.solver().kind();
            nb::dict facts;
            facts["hermitian"] = k.hermitian, facts["symmetric"] = k.symmetric, facts["positive"] = k.positive;
            return facts;
        });

    bind_solver<PoissonSolver>(m, "PoissonSolver")
        .def(
            "__init__",
            [](PythonPoisson* self, const nb::object& problem, double rtol, int iteration_limit, const std::string& device, int threads) {
                const auto p = problem_of(problem);
                const auto on = space_named(device, threads);
                const PoissonSolverOptions options{.rtol = rtol, .iteration_limit = iteration_limit};
                new (self) PythonPoisson(p.rows(), [&] { return PoissonSolver(on, p, options); });
            },
            nb::arg("problem"), nb::arg("rtol"), nb::arg("iteration_limit"), nb::arg("device"), nb::arg("threads"))
        .def_prop_ro("grids", [](const PythonPoisson& s) { return s.solver().setup().grids; });
}

}  // namespace

void bind_sparse(nb::module_& m) {
    bind_logs(m);
    bind_solvers(m);
    m.def("eigenpairs", &eigenpairs_of, nb::arg("begin"), nb::arg("column"), nb::arg("value").noconvert(), nb::arg("count"),
          nb::arg("rtol"), nb::arg("iteration_limit"), nb::arg("precondition"), nb::arg("device"), nb::arg("threads"),
          nb::arg("callback").none());
    m.def("validate_poisson", [](const nb::object& problem) { validate(problem_of(problem)); });
    m.def("geometric_multigrid_pays", [](const nb::object& problem) { return geometric_multigrid_pays(problem_of(problem)); });
    m.def("poisson_matrix", [](const nb::object& problem) { return arrays_of(poisson_matrix(problem_of(problem))); });
    m.def("poisson_rhs", [](const nb::object& problem) { return owned(poisson_rhs(problem_of(problem))); });
    m.def("source_of",
          [](const nb::object& problem, const std::string& formula) { return owned(source_of(problem_of(problem), formula)); });
    m.def("conjugate_gradients", &conjugate_gradients, nb::arg("A"), nb::arg("M").none(), nb::arg("b").noconvert(),
          nb::arg("x").noconvert(), nb::arg("rtol"), nb::arg("iteration_limit"), nb::arg("callback").none());
    nb::class_<PythonPreconditioner>(m, "Preconditioner")
        .def(
            "__init__",
            [](PythonPreconditioner* self, const nb::object& begin, const nb::object& column, const Numbers& value, const std::string& name,
               double omega) {
                const auto arrays = CsrArrays<>::of(begin, column, value);
                const auto A = arrays.view();
                check(A);
                new (self) PythonPreconditioner{preconditioner(A, name, omega), static_cast<std::size_t>(A.n)};
            },
            nb::arg("begin"), nb::arg("column"), nb::arg("value"), nb::arg("precondition"), nb::arg("ssor_omega"))
        .def("__call__", [](const PythonPreconditioner& M, const Numbers& r) {
            KS_VALIDATE(r.shape(0) == M.rows,
                        "the vector has " + std::to_string(r.shape(0)) + " numbers, and the matrix " + std::to_string(M.rows) + " rows");
            std::vector<double> in(r.data(), r.data() + r.size()), out(in.size());
            M.apply(in, out);
            return owned(std::move(out));
        });
    const auto without_gil = [](const auto& f) {
        const nb::gil_scoped_release released;
        return f();
    };
    m.def("read_matrix", [=](const std::string& path) {
        if (holds_complex_numbers(path)) return arrays_of(without_gil([&] { return read_complex_matrix(path); }).matrix);
        return arrays_of(without_gil([&] { return read_matrix(path); }).matrix);
    });
    m.def("write_complex_matrix",
          [](const std::string& path, const nb::object& begin, const nb::object& column, const ComplexNumbers& value, bool hermitian) {
              const auto A = CsrArrays<std::complex<double>>::of(begin, column, value);
              write_matrix_market(path, A.view(), hermitian);
          });
    m.def("write_complex_vector", [](const std::string& path, const ComplexNumbers& x) { write_vector_market(path, view_of(x)); });
    m.def("write_matrix", [](const std::string& path, const nb::object& begin, const nb::object& column, const Numbers& value,
                             bool symmetric, const std::string& format) {
        const auto A = CsrArrays<>::of(begin, column, value);
        KS_VALIDATE(format == "mtx" || format == "petsc", "is '" + format + "': take mtx or petsc", {"", 0, 0, "format"});
        KS_VALIDATE(format == "mtx" || !symmetric, "is for mtx: PETSc binary always has both triangles", {"", 0, 0, "symmetric"});
        if (format == "mtx") return write_matrix_market(path, A.view(), symmetric);
        return write_matrix_petsc(path, A.view());
    });
    m.def("read_vector", [](const std::string& path) -> nb::object {
        if (!holds_complex_numbers(path)) return nb::cast(owned(read_vector(path)));
        auto columns = read_complex_columns(path);
        KS_VALIDATE(columns.columns == 1, "has several columns: one is expected", {path, 0, 0, ""});
        return nb::cast(owned(std::move(columns.values)));
    });
    m.def("write_vector", [](const std::string& path, const Numbers& x, const std::string& format) {
        KS_VALIDATE(format == "mtx" || format == "petsc", "is '" + format + "': take mtx or petsc", {"", 0, 0, "format"});
        if (format == "mtx") return write_vector_market(path, view_of(x));
        return write_vector_petsc(path, view_of(x));
    });
}

}  // namespace kasane::python
