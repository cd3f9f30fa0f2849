// The extension kasane._core: bindings of the public headers. The package kasane (python/kasane) checks arguments and adds what is
// easier in Python; programs use the package.
#include <src/binding.hpp>

#include <kasane/version.hpp>

namespace kasane::python {

bool Interrupts::arrived() {
    constexpr double interval = 0.05;  // [s]
    if (found_) return true;
    if (since_.seconds() < interval) return false;
    since_ = Stopwatch();
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) found_ = std::make_exception_ptr(nb::python_error());
    return found_ != nullptr;
}

void Interrupts::raise() const {
    if (found_) std::rethrow_exception(found_);
}

namespace {

/// Raises a class of kasane.errors with one argument.
void raise_as(const char* name, const nb::object& argument) {
    const nb::object type = nb::module_::import_("kasane.errors").attr(name);
    PyErr_SetObject(type.ptr(), argument.ptr());
}

nb::list problems_of(const InputError& error) {
    const auto text = [](const std::string& s) -> nb::object { return s.empty() ? nb::none() : nb::object(nb::str(s.c_str(), s.size())); };
    const auto number = [](int n) -> nb::object { return n == 0 ? nb::none() : nb::object(nb::int_(n)); };
    nb::list all;
    for (const auto& [message, where] : error.problems())
        all.append(nb::make_tuple(message, text(where.file), number(where.line), number(where.column), text(where.key)));
    return all;
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const InputError& error) {
        raise_as("InputError", problems_of(error));
    } catch (const ComputationError& error) {
        raise_as("ComputationError", nb::str(error.what()));
    } catch (const LogicError& error) {
        raise_as("LogicError", nb::str(error.what()));
    }
}

nb::list device_list() {
    nb::list all;
    int gpus = 0;
    for (const auto& device : devices()) {
        nb::dict entry;
        entry["device"] = device.kind == "cpu" ? std::string("cpu") : "cuda:" + std::to_string(gpus++);
        entry["name"] = device.name;
        entry["memory_bytes"] = device.memory_bytes;
        entry["units"] = device.units;
        entry["capability"] = device.capability;
        all.append(entry);
    }
    return all;
}

void set_log_level(const std::string& level) {
    using log::Level;
    for (const auto& [name, value] : {std::pair{"debug", Level::debug}, std::pair{"info", Level::info},
                                      std::pair{"warning", Level::warning}, std::pair{"error", Level::error}, std::pair{"off", Level::off}})
        if (level == name) return log::set_terminal_level(value);
    throw InputError("there is no log level '" + level + "': take debug, info, warning, error or off", {"", 0, 0, "level"});
}

}  // namespace
}  // namespace kasane::python

NB_MODULE(_core, m) {
    using namespace kasane::python;
    m.doc() = "Bindings of the C++ interface of kasane; use the package kasane.";
    m.attr("version") = kasane::version;
    m.attr("commit") = kasane::commit;
    m.attr("cuda_compiler") = kasane::cuda_compiler;
    nb::register_exception_translator(translate);
    m.def("devices", &device_list, "The CPU first, then every CUDA device that this build can use.");
    m.def("why_no_cuda", &kasane::why_no_cuda, "Why there is no CUDA device; empty where there is one.");
    m.def("set_log_level", &set_log_level, nb::arg("level"));
    m.def("touch", [](In<double>) {}, nb::arg("array"), "Takes an array and does nothing: the cost of a call (python/bench/overhead.py).");
    kasane::log::set_terminal_level(kasane::log::Level::warning);
#if !defined(KASANE_DEV)
    nb::set_leak_warnings(false);  // other packages (torch, pytest) keep references to the end of the process: no fault of the user
#endif
    bind_device_array(m);
    bind_gravity(m);
    bind_sparse(m);
    bind_lattice(m);
}
