// Hybrid Monte Carlo of gauge fields.
#include <src/lattice.hpp>

#include <string_view>

namespace kasane::python {
namespace {

#if defined(KASANE_CUDA)
using AnyChain = std::variant<HmcChain<Cpu>, HmcChain<Cuda>>;
#else
using AnyChain = std::variant<HmcChain<Cpu>>;
#endif

/// The entry of a list of names in C++. @throws InputError for the argument `key` with what is allowed
template <class List>
const auto& entry_named(const List& list, const std::string& text, const char* key) {
    std::string known;
    for (const auto& each : list) {
        if (text == each.name) return each;
        known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    throw InputError("is '" + text + "': take one of " + known, {"", 0, 0, key});
}

Precision precision_named(const std::string& text, const char* key) {
    return named(text, {Precision::half, Precision::single, Precision::double_}, key);
}

/// The options of a kasane.lattice.Quarks.
HmcQuarkOptions quarks_of(const nb::object& from) {
    const auto number = [&](const char* name) { return value_of<double>(name, from.attr(name)); };
    const auto text = [&](const char* name) { return value_of<std::string>(name, from.attr(name)); };
    const auto whole = [&](const char* name) { return value_of<int>(name, from.attr(name)); };
    return {.dirac = {.kappa = number("kappa"),
                      .csw = number("csw"),
                      .boundary = named(text("boundary"), {Boundary::periodic, Boundary::antiperiodic}, "boundary")},
            .twisted_mass = number("twisted_mass"),
            .masses = value_of<std::vector<double>>("masses", from.attr("masses")),
            .inner = precision_named(text("precision"), "precision"),
            .force_inner = {},
            .action_rtol = number("action_rtol"),
            .force_rtol = number("force_rtol"),
            .chronological = whole("chronological"),
            .gauge_steps = whole("gauge_steps")};
}

/// Trajectories of one lattice, run by one thread at a time.
class PythonHmc {
   public:
    PythonHmc(PythonLinks& links, double beta, const std::string& action, std::optional<double> c1, const nb::object& quarks,
              const std::string& integrator, int steps, double length, std::uint64_t seed)
        : chain_([&] {
              HmcOptions options{.action = {beta, c1 ? *c1 : entry_named(gauge_actions, action, "action").c1},
                                 .quarks = {},
                                 .integrator = entry_named(integrators, integrator, "integrator").integrator,
                                 .steps = steps,
                                 .length = length,
                                 .seed = seed};
              if (!quarks.is_none()) options.quarks = quarks_of(quarks);
              return links.use([&]<Space S>(Links<S>& u) -> AnyChain { return HmcChain<S>(u.space(), u.extents, options); });
          }()) {}

    /// (H, dH, accepted, iterations). Ctrl-C ends the trajectory, and the links are those of before.
    nb::tuple trajectory(PythonLinks& links, std::uint64_t number, bool test) {
        Interrupts interrupts;
        const auto result = links.use([&]<Space S>(Links<S>& u) {
            const OneUser user(busy_, "the chain");
            auto* chain = std::get_if<HmcChain<S>>(&chain_);
            KS_REQUIRE(chain != nullptr, "the chain and the gauge field are on different devices");
            return chain->trajectory(u, number, test, [&] { return interrupts.arrived(); });
        });
        interrupts.raise();
        return nb::make_tuple(result->H, result->dH, result->accepted, result->iterations);
    }

   private:
    AnyChain chain_;
    std::atomic<bool> busy_ = false;
};

}  // namespace

void bind_hmc(nb::module_& m) {
    nb::class_<PythonHmc>(m, "HmcChain")
        .def(nb::init<PythonLinks&, double, const std::string&, std::optional<double>, const nb::object&, const std::string&, int, double,
                      std::uint64_t>(),
             nb::arg("links"), nb::arg("beta"), nb::arg("action"), nb::arg("c1").none(), nb::arg("quarks").none(), nb::arg("integrator"),
             nb::arg("steps"), nb::arg("length"), nb::arg("seed"))
        .def("trajectory", &PythonHmc::trajectory);
}

}  // namespace kasane::python
