#include <kasane/lattice/hmc/rational_term.hpp>
#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/gauge/gauge_workers.hpp>
#include <kasane/run/hmc/hmc_file.hpp>
#include <kasane/run/hmc/step_tuner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasane::run {
namespace {

/// Earlier solutions of a chronological guess: more than three save no iterations.
/// On 8^4 (kappa 0.135, csw 1.76, mass 0.3, 16 steps, one CPU thread) 0, 2, 3, 4 take 7953, 5770, 5044, 5060 iterations of forces and 13.8,
/// 12.3, 12.4, 12.6 s for a trajectory.
constexpr int default_chronological = 3;

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
    if (table.has("acceptance"))
        file.acceptance = table.number("acceptance", {.help = "wanted: steps is tuned to it during thermalisation, from trajectory "
                                                              "accept_first + 1 on",
                                                      .range = {.least = 0.1, .most = 0.99}});
    file.accept_first = table.integer("accept_first", {.help = "trajectories without Metropolis's test, for a start far from equilibrium",
                                                       .fallback = 0,
                                                       .least = 0,
                                                       .most = most_updates});
    if (!table.faulty("hmc.accept_first") && !table.faulty("hmc.thermalisation") && file.accept_first > file.thermalisation)
        table.problem("accept_first",
                      fmt::format("is {}, and thermalisation is {}: trajectories without Metropolis's test must be left out "
                                  "of the means. Take at most as many",
                                  file.accept_first, file.thermalisation));
    if (file.acceptance > 0 && !table.faulty("hmc.thermalisation") && file.thermalisation - file.accept_first < tuning_block)
        table.problem("acceptance",
                      fmt::format("is given, and {} of the trajectories of thermalisation have Metropolis's test: tuning needs "
                                  "{}. Take more for thermalisation, or leave acceptance out",
                                  std::max<std::int64_t>(0, file.thermalisation - file.accept_first), tuning_block));
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
        for (const char* key : {"weight_error", "spectrum_every", "spectrum_least", "spectrum_most"})
            if (table.has(key) && !table.faulty("quarks.flavours"))
                table.problem(key, "has no effect with flavours = 2 and without [[flavour]]: leave it out");
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
        for (const char* key : {"spectrum_least", "spectrum_most"})
            if (table.has(key)) table.problem(key, "has no effect with flavours = 2: leave it out, or give it in [[flavour]]");
    }
    for (auto& other : others) {
        HmcFlavour flavour;
        flavour.kappa = other.number(
            "kappa", {.help = "of one further flavour without twisted mass, by a rational approximation", .range = io::above(0)});
        read_range(other, file, quarks.weight_error, flavour);
        quarks.single.push_back(std::move(flavour));
    }
}

void read_measurements_of(io::Section table, HmcFile& file) {
    const auto every = [&](const char* key, const char* help) {
        return table.integer(key, {.help = help, .fallback = 0, .least = 0, .most = most_updates});
    };
    auto& m = file.measure;
    m.reversibility_every = every("reversibility_every", "trajectories between returns to the start of one; 0: none");
    m.flow_every = every("flow_every", "trajectories between Wilson flows of the links, with topological charge and t0; 0: none");
    m.spectrum_every = every("spectrum_every", "trajectories between estimates of the smallest eigenvalue of Dhat^+ Dhat; 0: none");
    if (m.spectrum_every > 0 && !table.faulty("quarks") && !(file.quarks && file.quarks->flavours == 2))
        table.problem("spectrum_every", file.quarks ? "is given, and quarks.flavours is 1: the spectrum of one flavour is measured every "
                                                      "quarks.spectrum_every trajectories. Leave it out"
                                                    : "is given, and there is no table [quarks]: leave it out");
    m.flow_time = table.number("flow_time", {.help = "end of the flow", .unit = "a^2", .fallback = 4.0, .range = io::above(0)});
    m.flow_step = table.number(
        "flow_step",
        {.help = "of its integration", .unit = "a^2", .fallback = 0.02, .range = {.least = 0, .most = 0.1, .open_least = true}});
    if (!table.faulty("measure.flow_time") && !table.faulty("measure.flow_step") && m.flow_time / m.flow_step > 1e6)
        table.problem("flow_time",
                      fmt::format("is {} in steps of {}: more than a million steps. Take longer steps", m.flow_time, m.flow_step));
}

/// Inexact deflation of the light field of two flavours.
void read_deflation(io::Section& table, const HmcFile& file, HmcQuarks& quarks) {
    quarks.deflate = static_cast<int>(table.integer(
        "deflate",
        {.help = "near-null vectors that deflate the light solves of two flavours; 0: none", .fallback = 0, .least = 0, .most = 200}));
    if (quarks.deflate == 0) {
        if (!table.faulty("quarks.deflate") && table.has("deflation_block"))
            table.problem("deflation_block", "has no effect without deflate: give the number of near-null vectors, too");
        table.unused("deflation_block");
        return;
    }
    if (table.has("deflation_block"))
        for (const auto extent : table.integers("deflation_block", {.help = "extents of its blocks", .count = 4, .least = 2, .most = 4096}))
            quarks.deflation_block.push_back(static_cast<int>(extent));
    const auto refuse = [&](bool bad, const std::string& message) {
        if (bad) table.problem("deflate", fmt::format("is {}, {}", quarks.deflate, message));
    };
    refuse(quarks.flavours == 1, "and quarks.flavours is 1: deflation is for the solves of two flavours. Leave it out");
    refuse(quarks.twisted_mass != 0, "which needs quarks without a twisted mass: leave out one of the two");
    refuse(file.grid.has_value(), file.grid ? fmt::format("which needs one device, but the lattice is divided among {} workers: leave it "
                                                          "out, or take one rank with gpus_per_rank = 1",
                                                          file.grid->size())
                                            : "");
    if (table.faulty("lattice.extents") || table.faulty("quarks.deflation_block") || file.extents.volume() == 0) return;
    const auto options = lattice::chosen(quarks.solver().deflation, file.extents);
    for (const auto& problem : lattice::problems_of(options, file.extents))
        table.problem(quarks.deflation_block.empty() ? "deflate" : "deflation_block", problem);
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
        for (auto* tables : {&factors, &others})
            for (auto& each : *tables)
                for (const auto& key : each.keys()) each.unused(key);
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
    quarks.force_precision = table.text("force_precision", {.help = "of the iterations of the solves of forces; default: precision",
                                                            .fallback = quarks.precision,
                                                            .choices = {"single", "half", "double"}});
    quarks.action_rtol = table.number(
        "action_rtol", {.help = "tolerance of the solves of the action", .fallback = 1e-11, .range = {.least = 1e-15, .most = 0.1}});
    quarks.force_rtol =
        table.number("force_rtol", {.help = "tolerance of the solves of forces", .fallback = 1e-8, .range = {.least = 1e-15, .most = 0.1}});
    quarks.gauge_steps = static_cast<int>(
        table.integer("gauge_steps", {.help = "of the gauge action in each drift of the quarks", .fallback = 2, .least = 1, .most = 1000}));
    quarks.chronological = static_cast<int>(
        table.integer("chronological", {.help = "earlier solutions that the first guess of a force's solve combines; 0: it is 0",
                                        .fallback = default_chronological,
                                        .least = 0,
                                        .most = 20}));
    for (auto& factor : factors) {
        const double mass =
            factor.number("mass", {.help = "of a factor det(D^+ D + mass^2) of the determinant; ascending", .range = io::above(0)});
        if (!quarks.masses.empty() && mass <= quarks.masses.back())
            factor.problem(
                "mass", fmt::format("is {}, and the mass before it is {}: sort the masses in ascending order", mass, quarks.masses.back()));
        quarks.masses.push_back(mass);
        quarks.mass_steps.push_back(static_cast<int>(
            factor.integer("steps", {.help = "of its field in each drift of the field before it; 0: on the time scale of that one",
                                     .fallback = 0,
                                     .least = 0,
                                     .most = 1000})));
    }
    if (quarks.twisted_mass != 0 && !factors.empty())
        table.problem("twisted_mass", "is given beside [[hasenbusch]], whose heat bath needs quarks without it: leave out one of the two");
    read_deflation(table, file, quarks);
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
    if (file.quarks && file.quarks->chronological > 0)
        all.emplace_back("R. C. Brower, T. Ivanenko, A. R. Levi, K. N. Orginos, Nucl. Phys. B 484, 353 (1997) (chronological guesses)");
    if (file.quarks && file.quarks->deflate > 0) all.emplace_back("M. Luscher, JHEP 07, 081 (2007), arXiv:0706.2298 (inexact deflation)");
    if (file.quarks && !file.quarks->masses.empty())
        all.emplace_back("M. Hasenbusch, Phys. Lett. B 519, 177 (2001) (factors of the determinant)");
    if (file.quarks && !file.quarks->single.empty()) {
        all.emplace_back("M. A. Clark, A. D. Kennedy, Phys. Rev. Lett. 98, 051601 (2007) (one flavour by a rational approximation)");
        all.emplace_back("J. van den Eshof et al., Comput. Phys. Commun. 146, 203 (2002) (Zolotarev's approximation)");
    }
    if (file.measure.flow_every > 0) all.emplace_back("M. Luscher, JHEP 08, 071 (2010), arXiv:1006.4518 (Wilson flow)");
    all.emplace_back("U. Wolff, Comput. Phys. Commun. 156, 143 (2004) (errors of correlated measurements)");
    return all;
}

}  // namespace

std::vector<lattice::Level> HmcFile::levels(int outer_steps) const {
    const auto found = std::ranges::find_if(lattice::integrators, [&](const auto& each) { return integrator == each.name; });
    if (!quarks) return {{found->integrator, outer_steps, {0}}};
    std::vector<lattice::Level> levels{{found->integrator, outer_steps, {}}};
    const int fields = quarks->two_flavour_fields();
    for (int field = 0; field < fields; ++field) {
        const int own = field > 0 ? quarks->steps_of(static_cast<std::size_t>(field) - 1) : 0;
        if (own > 0) levels.push_back({found->integrator, own, {}});
        levels.back().terms.push_back(field + 1);
    }
    const bool determinant = fields > 0 && quarks->csw != 0;  // of the two flavours: with the shortest steps, because it costs little
    if (determinant) levels.back().terms.push_back(fields + 1);
    for (int term = fields + determinant + 1; term <= quarks->terms(); ++term) levels.front().terms.push_back(term);
    levels.push_back({found->integrator, quarks->gauge_steps, {0}});
    return levels;
}

int HmcFile::order() const { return integrator == "omelyan4" || integrator == "force_gradient" ? 4 : 2; }

HmcFile read_hmc_file(const RunSource& source) {
    io::RunFileReader reader(source.path, source.settings);
    auto root = reader.root();
    HmcFile file;
    auto parallel = root.table("parallel", "several GPUs and ranks");
    const int workers = read_workers(reader, parallel, "hmc", source, file);
    auto lattice = root.table("lattice", "periodic in all directions");
    read_extents(lattice, file);
    read_grid(parallel, workers, file);
    read_start(root.table("start", "the links before the first trajectory"), !source.from, file);
    read_gauge_action(root.table("gauge", "S = beta sum of c0 (1 - Re tr P / 3) over plaquettes and c1 (1 - Re tr R / 3) over rectangles"),
                      file);
    read_quarks(root, file);
    read_hmc_keys(root.table("hmc", "hybrid Monte Carlo: momenta, molecular dynamics, Metropolis's test"), file);
    read_measurements_of(root.table("measure", "beside the plaquette; without effect on the chain"), file);
    auto output = root.table("output", "what is written");
    file.directory = read_output_directory(output);
    read_configurations(output, "trajectories", file);
    read_intervals(output, "trajectory", file);
    finish(reader, file);
    file.papers = hmc_papers(file);
    return file;
}

}  // namespace kasane::run
