#include <kasane/lattice/hmc/rational_term.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/hmc/hmc_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kasane::run {
namespace {

std::vector<std::string> action_names() {
    std::vector<std::string> names;
    for (const auto& each : lattice::gauge_actions) names.emplace_back(each.name);
    return names;
}

std::vector<std::string> integrator_names() {
    std::vector<std::string> names;
    for (const auto& each : lattice::integrators) names.emplace_back(each.name);
    return names;
}

void read_gauge_action(io::Section table, HmcFile& file) {
    file.action.beta = table.number("beta", {.help = "6 / g^2", .range = io::above(0)});
    if (table.has("c1")) {
        if (table.has("action")) table.problem("action", "is given beside c1, which names the action too: keep one of them");
        file.action.c1 =
            table.number("c1", {.help = "weight of a rectangle; a plaquette has c0 = 1 - 8 c1", .range = {.least = -10, .most = 0.12}});
        file.action_name = "c1";
        return;
    }
    file.action_name =
        table.text("action", {.help = "by the weight c1 of its rectangles", .fallback = "wilson", .choices = action_names()});
    for (const auto& each : lattice::gauge_actions)
        if (file.action_name == each.name) file.action.c1 = each.c1;
}

void read_hmc_keys(io::Section table, HmcFile& file) {
    file.trajectories = table.integer("trajectories", {.help = "in all", .least = 1, .most = most_updates});
    read_thermalisation(table, "hmc", "trajectories", file.trajectories, file);
    file.length = table.number("length", {.help = "of a trajectory", .fallback = 1.0, .range = io::above(0)});
    file.integrator =
        table.text("integrator", {.help = "of the molecular dynamics", .fallback = "omelyan2", .choices = integrator_names()});
    file.steps = static_cast<int>(table.integer("steps", {.help = "of the integrator in a trajectory", .least = 1, .most = 1'000'000}));
    file.accept_first = table.integer("accept_first", {.help = "trajectories without Metropolis's test, for a start far from equilibrium",
                                                       .fallback = 0,
                                                       .least = 0,
                                                       .most = most_updates});
    if (!table.faulty("hmc.accept_first") && !table.faulty("hmc.thermalisation") && file.accept_first > file.thermalisation)
        table.problem("accept_first",
                      fmt::format("is {}, and thermalisation is {}: trajectories without Metropolis's test must be left out "
                                  "of the means. Take at most as many",
                                  file.accept_first, file.thermalisation));
    file.seed = read_seed(table, "of momenta and of Metropolis's test");
}

/// The range of a rational approximation, if it is given.
void read_range(io::Section& table, const HmcFile& file, double weight_error, HmcFlavour& flavour) {
    const bool least = table.has("spectrum_least"), most = table.has("spectrum_most");
    if (least) flavour.least = table.number("spectrum_least", {.help = "of the eigenvalues of Dhat^+ Dhat", .range = io::above(0)});
    if (most) flavour.most = table.number("spectrum_most", {.help = "of the eigenvalues of Dhat^+ Dhat", .range = io::above(0)});
    if (!least) table.unused("spectrum_least");
    if (!most) table.unused("spectrum_most");
    if (least != most)
        table.problem(least ? "spectrum_least" : "spectrum_most",
                      fmt::format("needs {} beside it: give both, or none of them to have the range measured",
                                  least ? "spectrum_most" : "spectrum_least"));
    if (!(weight_error > 0) || file.extents.volume() <= 0 || least != most || (least && !(flavour.least > 0 && flavour.most > 0))) return;
    try {
        // A measured range is at most about as wide as this.
        lattice::approximation_for(least ? flavour.least : 1e-7, least ? flavour.most : 10, file.extents, weight_error);
    } catch (const InputError& error) {
        table.problem(least ? "spectrum_least" : "", error);
    }
}

/// Quarks of one flavour: those of [quarks] with flavours = 1, and those of [[flavour]].
void read_flavours(io::Section& table, std::vector<io::Section> others, const HmcFile& file, HmcQuarks& quarks) {
    if (quarks.flavours == 2 && others.empty()) {
        for (const char* key : {"weight_error", "spectrum_every", "spectrum_least", "spectrum_most"}) table.unused(key);
        return;
    }
    quarks.weight_error = table.number("weight_error", {.help = "bound of the relative error of a configuration's weight, of each flavour",
                                                        .fallback = 1e-4,
                                                        .range = {.least = 1e-9, .most = 0.1}});
    quarks.spectrum_every = static_cast<int>(table.integer(
        "spectrum_every", {.help = "trajectories between measurements of the spectrum", .fallback = 10, .least = 1, .most = most_updates}));
    if (quarks.flavours == 1) {
        quarks.single.push_back({.kappa = quarks.kappa, .table = "[quarks]"});
        read_range(table, file, quarks.weight_error, quarks.single.back());
        if (quarks.twisted_mass != 0)
            table.problem("twisted_mass", "makes the determinant of one flavour complex: leave it out, or take flavours = 2");
        if (!quarks.masses.empty())
            table.problem("flavours", "is 1, and [[hasenbusch]] divides the determinant of two flavours: leave out one of the two");
    } else {
        for (const char* key : {"spectrum_least", "spectrum_most"}) table.unused(key);
    }
    for (auto& other : others) {
        HmcFlavour flavour;
        flavour.kappa = other.number(
            "kappa", {.help = "of one further flavour without twisted mass, by a rational approximation", .range = io::above(0)});
        read_range(other, file, quarks.weight_error, flavour);
        quarks.single.push_back(std::move(flavour));
    }
}

void read_quarks(io::Section& root, HmcFile& file) {
    auto table = root.table("quarks", "two flavours of equal mass, or one; without this table there are none");
    auto factors = root.tables("hasenbusch");
    auto others = root.tables("flavour");
    if (!table.present()) {
        if (!factors.empty())
            factors[0].problem("", "needs [quarks], whose determinant it divides: give that table, or leave this one out");
        if (!others.empty())
            others[0].problem(
                "",
                "needs [quarks], whose csw, boundary and tolerances it shares: give that table, with flavours = 1 where there is no pair");
        return;
    }
    HmcQuarks quarks;
    quarks.flavours = static_cast<int>(
        table.integer("flavours", {.help = "2 of equal mass, or 1 by a rational approximation", .fallback = 2, .least = 1, .most = 2}));
    quarks.kappa = table.number("kappa", {.help = "1 / (2 m + 8)", .range = io::above(0)});
    quarks.csw = table.number("csw", {.help = "of the clover term; 0: none", .fallback = 0.0, .range = {.least = 0}});
    quarks.boundary =
        table.text("boundary", {.help = "of the quarks in time", .fallback = "antiperiodic", .choices = {"antiperiodic", "periodic"}});
    quarks.twisted_mass = table.number("twisted_mass", {.help = "2 kappa mu", .fallback = 0.0});
    quarks.precision =
        table.text("precision", {.help = "of the iterations of solves", .fallback = "single", .choices = {"single", "half", "double"}});
    quarks.action_rtol = table.number(
        "action_rtol", {.help = "tolerance of the solves of the action", .fallback = 1e-11, .range = {.least = 1e-15, .most = 0.1}});
    quarks.force_rtol =
        table.number("force_rtol", {.help = "tolerance of the solves of forces", .fallback = 1e-8, .range = {.least = 1e-15, .most = 0.1}});
    quarks.gauge_steps = static_cast<int>(
        table.integer("gauge_steps", {.help = "of the gauge action in each drift of the quarks", .fallback = 2, .least = 1, .most = 1000}));
    for (auto& factor : factors) {
        const double mass =
            factor.number("mass", {.help = "of a factor det(D^+ D + mass^2) of the determinant; ascending", .range = io::above(0)});
        if (!quarks.masses.empty() && mass <= quarks.masses.back())
            factor.problem(
                "mass", fmt::format("is {}, and the mass before it is {}: sort the masses in ascending order", mass, quarks.masses.back()));
        quarks.masses.push_back(mass);
    }
    if (quarks.twisted_mass != 0 && !factors.empty())
        table.problem("twisted_mass", "is given beside [[hasenbusch]], whose heat bath needs quarks without it: leave out one of the two");
    read_flavours(table, std::move(others), file, quarks);
    file.quarks = std::move(quarks);
}

/// The papers of the methods.
std::vector<std::string> hmc_papers(const HmcFile& file) {
    std::vector<std::string> all{"S. Duane, A. D. Kennedy, B. J. Pendleton, D. Roweth, Phys. Lett. B 195, 216 (1987) (hybrid Monte Carlo)"};
    for (const auto& each : lattice::gauge_actions)
        if (file.action_name == each.name) all.emplace_back(each.paper);
    for (const auto& each : lattice::integrators)
        if (file.integrator == each.name && each.integrator != lattice::Integrator::leapfrog) all.emplace_back(each.paper);
    if (file.quarks && file.quarks->csw != 0)
        all.emplace_back("B. Sheikholeslami, R. Wohlert, Nucl. Phys. B 259, 572 (1985) (clover term)");
    if (file.quarks && !file.quarks->masses.empty())
        all.emplace_back("M. Hasenbusch, Phys. Lett. B 519, 177 (2001) (factors of the determinant)");
    if (file.quarks && !file.quarks->single.empty()) {
        all.emplace_back("M. A. Clark, A. D. Kennedy, Phys. Rev. Lett. 98, 051601 (2007) (one flavour by a rational approximation)");
        all.emplace_back("J. van den Eshof et al., Comput. Phys. Commun. 146, 203 (2002) (Zolotarev's approximation)");
    }
    all.emplace_back("U. Wolff, Comput. Phys. Commun. 156, 143 (2004) (errors of correlated measurements)");
    return all;
}

}  // namespace

std::vector<lattice::Level> HmcFile::levels() const {
    const auto found = std::ranges::find_if(lattice::integrators, [&](const auto& each) { return integrator == each.name; });
    if (!quarks) return {{found->integrator, steps, {0}}};
    std::vector<int> terms(static_cast<std::size_t>(quarks->terms()));
    std::iota(terms.begin(), terms.end(), 1);
    return {{found->integrator, steps, terms}, {found->integrator, quarks->gauge_steps, {0}}};
}

HmcFile read_hmc_file(const RunSource& source) {
    io::RunFileReader reader(source.path, source.settings);
    auto root = reader.root();
    HmcFile file;
    read_run_keys(reader, "hmc", source.problems, file);
    auto lattice = root.table("lattice", "periodic in all directions");
    read_extents(lattice, file);
    read_start(root.table("start", "the links before the first trajectory"), !source.from, file);
    read_gauge_action(root.table("gauge", "S = beta sum of c0 (1 - Re tr P / 3) over plaquettes and c1 (1 - Re tr R / 3) over rectangles"),
                      file);
    read_quarks(root, file);
    read_hmc_keys(root.table("hmc", "hybrid Monte Carlo: momenta, molecular dynamics, Metropolis's test"), file);
    auto output = root.table("output", "what is written");
    file.directory = read_output_directory(output);
    read_configurations(output, "trajectories", file);
    read_intervals(output, "trajectory", file);
    finish(reader, file);
    file.papers = hmc_papers(file);
    return file;
}

}  // namespace kasane::run
