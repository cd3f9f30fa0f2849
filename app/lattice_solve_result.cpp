#include <app/lattice_solve_result.hpp>
#include <kasane/core/base/counted.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/observe/correlators.hpp>
#include <kasane/report/fact_rows.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::app {
namespace {

struct Totals {
    int iterations = 0, inner_iterations = 0;
    double seconds = 0, gflop = 0;
};
Totals totals(const LatticeSolveResult& r) {
    Totals t;
    for (const auto& log : r.logs) {
        t.iterations += log.iterations;
        t.inner_iterations += log.inner_iterations;
        t.seconds += log.seconds;
        t.gflop += log.gflops * log.seconds;
    }
    return t;
}

bool has_inner(const lattice::SolverOptions& options) {
    return has_inner_solver(options.method) || options.inner != lattice::Precision::double_;
}

std::string operators(const lattice::SolverOptions& options) {
    auto text = name(lattice::Precision::double_, options.outer_links);
    if (has_inner(options)) text += " outside, " + name(options.inner, options.inner_links) + " inside";
    return text + (options.schur == lattice::Schur::symmetric ? ", symmetric even-odd" : ", asymmetric even-odd");
}

io::Json coherent_json(const lattice::CoherentReport& r) {
    if (r.dimension == 0) return nullptr;
    return {{"vectors", r.vectors},          {"block", r.block.n}, {"blocks", r.blocks},
            {"dimension", r.dimension},      {"bytes", r.bytes},   {"setup_seconds", r.seconds},
            {"independence", r.independence}};
}

/// At most a dozen residuals of a history, with the first and the last.
std::string history_table(const std::vector<double>& residuals) {
    constexpr std::size_t lines = 12;
    if (residuals.size() < 2) return "";
    auto text = fmt::format("\n{:>12} {:>12}", "iteration", "||r||/||b||");
    const auto count = std::min(lines, residuals.size());
    for (std::size_t line = 0; line < count; ++line) {
        const auto at = line * (residuals.size() - 1) / (count - 1);
        text += fmt::format("\n{:>12} {:>12.3e}", at, residuals[at]);
    }
    return text;
}

std::string correlator_table(const LatticeSolveResult& r) {
    if (r.facts.pion.empty()) return "";
    auto text = fmt::format("\n{:>5} {:>18} {:>18} {:>12}", "t", "pion", "vector", "pion mass");
    for (std::size_t t = 0; t < r.facts.pion.size(); ++t) {
        const bool mass = t < r.pion_mass.size() && std::isfinite(r.pion_mass[t]);
        text += fmt::format("\n{:>5} {:>18.10e} {:>18.10e} {:>12}", t, r.facts.pion[t], r.facts.vector[t],
                            mass ? fmt::format("{:.6f}", r.pion_mass[t]) : "");
    }
    return text;
}

report::Series series(const std::string& label, const std::vector<double>& values) {
    report::Series s{label, {}, values};
    for (std::size_t t = 0; t < values.size(); ++t) s.x.push_back(static_cast<double>(t));
    return s;
}

}  // namespace

double LatticeSolveResult::worst_residual() const {
    double worst = 0;
    for (const auto& log : logs) worst = !(log.true_residual <= worst) ? log.true_residual : worst;  // NaN stays
    return worst;
}

double LatticeSolveResult::seconds() const { return totals(*this).seconds; }

io::Json as_json(const LatticeSolveResult& r) {
    const auto sum = totals(r);
    auto columns = io::Json::array();
    for (const auto& log : r.logs)
        columns.push_back({{"iterations", log.iterations},
                           {"inner_iterations", log.inner_iterations},
                           {"relative_residual", log.true_residual},
                           {"seconds", log.seconds}});
    const auto file = [](const std::string& path) { return path.empty() ? io::Json(nullptr) : io::Json(path); };
    io::Json object{
        {"file", r.facts.gauge_file},
        {"extents", r.extents.n},
        {"format", r.gauge_format},
        {"plaquette", r.facts.plaquette},
        {"kappa", r.facts.parameters.kappa},
        {"csw", r.facts.parameters.csw},
        {"boundary", name(r.facts.parameters.boundary)},
        {"source", r.facts.source},
        {"device", r.device},
        {"grid", r.grid},
        {"solver", name(r.options.method)},
        {"schur", r.options.schur == lattice::Schur::symmetric ? "symmetric" : "asymmetric"},
        {"outer", name(lattice::Precision::double_, r.options.outer_links)},
        {"inner", has_inner(r.options) ? io::Json(name(r.options.inner, r.options.inner_links)) : nullptr},
        {"deflated_modes", r.modes},
        {"coherent", coherent_json(r.coherent)},
        {"rtol", r.options.rtol},
        {"columns_at_once", r.columns_at_once},
        {"bytes_per_site", {{"device", r.memory.device}, {"host", r.memory.host}}},
        {"converged", r.converged()},
        {"end", r.logs.empty() ? "" : name(r.logs.back().end)},
        {"iterations", sum.iterations},
        {"inner_iterations", sum.inner_iterations},
        {"relative_residual", r.worst_residual()},
        {"seconds", sum.seconds},
        {"gflops", sum.seconds > 0 ? sum.gflop / sum.seconds : 0},
        {"wall_seconds", {{"reading", r.wall.reading}, {"setup", r.wall.setup}, {"solving", r.wall.solving}, {"output", r.wall.output}}},
        {"columns", columns},
        {"history", r.logs.empty() ? std::vector<double>{} : r.logs.back().residuals},
        {"notes", r.notes},
        {"solution", file(r.solution)},
        {"page", file(r.page)},
    };
    if (!r.facts.pion.empty()) {
        object["pion"] = r.facts.pion;
        object["vector"] = r.facts.vector;
        object["pion_effective_mass"] = r.pion_mass;
    }
    return object;
}

std::string as_text(const LatticeSolveResult& r) {
    const auto sum = totals(r);
    const auto& p = r.facts.parameters;
    auto text = fmt::format("{}: {} sites, plaquette {:.10f}", r.facts.gauge_file, lattice::text(r.extents), r.facts.plaquette);
    text += fmt::format("\nkappa {:.12g}, c_sw {:.12g}, {} in time; source {}", p.kappa, p.csw, name(p.boundary), r.facts.source);
    const auto& g = r.grid;
    const auto workers = g[0] * g[1] * g[2] * g[3] > 1 ? fmt::format(", {}x{}x{}x{} workers", g[0], g[1], g[2], g[3]) : "";
    text += fmt::format("\n{} on {}{}: {}", name(r.options.method), r.device, workers, operators(r.options));
    if (const auto& c = r.coherent; c.dimension > 0)
        text += fmt::format("\ndeflation by {} near-null vectors in {} blocks of {}, set up in {:.3g} s", c.vectors, c.blocks,
                            lattice::text(c.block), c.seconds);
    for (const auto& note : r.notes) text += "\nnote: " + note;
    if (!r.logs.empty()) {
        const auto& last = r.logs.back();
        text += fmt::format("\n{} after {} iteration{}", name(last.end), sum.iterations, sum.iterations == 1 ? "" : "s");
        if (has_inner(r.options)) text += fmt::format(" and {}", counted(sum.inner_iterations, "inner one"));
        if (r.columns > 1) text += fmt::format(", {} of {} columns", r.logs.size(), r.columns);
        text += fmt::format(": ||b - D x|| / ||b|| = {:.2e}", r.worst_residual());
        text += fmt::format("\nsolved in {:.3g} s", sum.seconds);
        if (sum.seconds > 0) text += fmt::format(": {:.4g} GFLOPS", sum.gflop / sum.seconds);
        text += fmt::format("\nwall time: reading {:.3g} s, set-up {:.3g} s, solving {:.3g} s, output {:.3g} s", r.wall.reading,
                            r.wall.setup, r.wall.solving, r.wall.output);
        if (r.columns == 1 || !r.converged()) text += history_table(last.residuals);
    }
    return text + correlator_table(r);
}

std::string as_page(const LatticeSolveResult& r) {
    using report::escape;
    const auto& p = r.facts.parameters;
    const auto sum = totals(r);
    report::Plot correlators;
    correlators.title = "Pion and vector correlators against time";
    correlators.x_label = "t from the source";
    correlators.y_label = "C(t)";
    correlators.log_y = correlators.marks = true;
    correlators.series = {series("pion", r.facts.pion), series("vector", r.facts.vector)};
    report::Plot mass;
    mass.title = "Effective mass of the pion and the vector meson against time";
    mass.x_label = "t from the source";
    mass.y_label = "mass [1/a]";
    mass.marks = true;
    mass.from_zero = true;
    mass.series = {series("pion", r.pion_mass), series("vector", lattice::effective_mass(r.facts.vector))};
    report::FactRows rows;
    rows.add("gauge field", r.facts.gauge_file);
    rows.add("lattice", lattice::text(r.extents));
    rows.add("plaquette", fmt::format("{:.10f}", r.facts.plaquette));
    rows.add("kappa", fmt::format("{:.12g}", p.kappa));
    rows.add("c_sw", fmt::format("{:.12g}", p.csw));
    rows.add("time", std::string(name(p.boundary)));
    rows.add("source", r.facts.source);
    rows.add("solver", std::string(name(r.options.method)) + ", " + operators(r.options));
    if (r.coherent.dimension > 0)
        rows.add("deflation", fmt::format("{} near-null vectors in blocks of {}", r.coherent.vectors, lattice::text(r.coherent.block)));
    rows.add("device", r.device);
    rows.add("largest residual", report::error_size(r.worst_residual()));
    rows.add("iterations", fmt::format("{} and {}", sum.iterations, counted(sum.inner_iterations, "inner one")));
    rows.add("solving", report::duration(sum.seconds));
    rows.add("propagator", r.solution);
    const auto title = fmt::format("Propagator, kappa {:.12g}, {}", p.kappa, lattice::text(r.extents));
    report::Page page{.title = title, .eyebrow = "kasane lattice solve"};
    page.body = "<section>\n<h2>Mesons</h2>\n<div class=\"charts\">\n";
    page.body += report::chart("Correlators", to_svg(correlators), "Summed over space, t counted from the source: zero momentum.");
    page.body +=
        report::chart("Effective mass", to_svg(mass), "Of one state that runs both ways around the lattice; gaps where none fits.");
    page.body += "</div>\n</section>\n<section>\n<h2>Facts</h2>\n" + rows.html() + "</section>\n";
    return report::html(page);
}

std::string advice(krylov::Outcome end) {
    using krylov::Outcome;
    switch (end) {
        case Outcome::converged: return "";
        case Outcome::iteration_limit:
            return "the limit of iterations was reached before the tolerance: allow more with --max-iterations, or a larger --rtol; where "
                   "kappa is at or beyond the critical one of this field, take a smaller one";
        case Outcome::stagnated: return "the residual no longer decreases: take --inner single or double, --solver cg, or a larger --rtol";
        case Outcome::diverged:
            return "the residual grows: kappa is beyond the critical one of this field, most likely; take a smaller one, or --solver cg";
        case Outcome::not_finite: return "numbers left the range of doubles: check the gauge field and the parameters";
        case Outcome::stopped: return "the solve was stopped before its end";
        default: return "";  // outcomes of conjugate gradients alone
    }
}

}  // namespace kasane::app
