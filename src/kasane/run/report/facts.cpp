// What one needs to trust, repeat or cite the run.
#include <kasane/run/report/fact_rows.hpp>
#include <kasane/run/report/page.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::run::report {
namespace {

std::string types(const History& h) {
    static constexpr const char* name[] = {"gas", "halo", "disk", "bulge", "stars", "boundary"};
    std::vector<std::string> parts;
    for (std::size_t t = 0; t < h.by_type.size(); ++t)
        if (h.by_type[t] > 0) parts.push_back(grouped(h.by_type[t]) + " " + name[t]);
    return joined(parts);
}

std::string units(const gravity::Units& u) {
    if (u.name.empty()) return "";
    if (!(u.length_cm > 0)) return u.name + fmt::format(", G = {:.6g}", u.G);
    return fmt::format("{}: {}, {}, {}, G = {:.6g}", u.name, pretty_unit(u.length_name), pretty_unit(u.mass_name), u.velocity_name, u.G);
}

/// "acceleration criterion, delta = 0.001953".
std::string criterion(const History& h) {
    if (h.mac.empty()) return "";
    const auto* parameter = h.mac == "geometric" ? "theta" : h.mac == "acceleration" ? "delta" : "error";
    return h.mac + " criterion" + (std::isfinite(h.mac_parameter) ? std::string(", ") + parameter + " = " + brief(h.mac_parameter) : "");
}

std::string table(const Context& c) {
    const auto& h = c.history;
    FactRows rows;
    rows.add("Particles", h.particles > 0 ? grouped(h.particles) + (types(h).empty() ? "" : " (" + types(h) + ")") : "");
    rows.add("Units", units(h.units));
    rows.add("Softening", h.softening, c.length_unit);
    const bool constant = h.step_method.empty() || h.step_method == "leapfrog";
    if (std::isfinite(h.dt)) {
        const auto scale = time_scale(h.units, h.dt);
        rows.add(constant ? "Step" : "Longest step",
                 brief(h.dt) + (scale.unit.empty() ? "" : " (" + brief(h.dt * scale.factor) + " " + scale.unit + ")"));
    }
    rows.add("Steps", h.steps > 0 ? grouped(h.steps) : "");
    if (!constant) {
        rows.add("Step method", joined({h.step_method, h.criterion, std::isfinite(h.eta) ? "eta = " + brief(h.eta) : ""}));
        rows.add("Block steps", h.block_steps > 0 ? grouped(h.block_steps) : "");
    }
    rows.add("Force", joined({h.method, h.variant, criterion(h), h.multipole,
                              h.leaf_size > 0 ? "leaves of up to " + grouped(h.leaf_size) : "", h.curve.empty() ? "" : h.curve + " order",
                              h.precision.empty() ? "" : h.precision + " precision", h.deterministic ? "deterministic" : ""}));
    if (h.rebuilds > 0) rows.add("Trees built", grouped(h.rebuilds));
    if (h.step_seconds > 0 && h.predicted_step_seconds > 0)
        rows.add("Time of a step", brief(h.step_seconds) + " s, predicted " + brief(h.predicted_step_seconds) + " s");
    rows.add("Interactions", h.interactions);
    std::vector<std::string> device{h.device};
    if (std::isfinite(h.memory_bytes) && h.memory_bytes > 0) device.push_back(bytes(h.memory_bytes));
    if (std::isfinite(h.device_units) && h.device_units > 0)
        device.push_back(brief(h.device_units) + (h.device_kind == "cpu" ? " cores" : " multiprocessors"));
    if (std::isfinite(h.clock_hertz) && h.clock_hertz > 0) device.push_back(brief(h.clock_hertz / 1e9) + " GHz");
    if (!h.capability.empty()) device.push_back(h.device_kind == "cuda" ? "compute capability " + h.capability : h.capability);
    rows.add("Device", joined(device));
    rows.add("Threads", h.threads > 0 ? grouped(h.threads) + (h.simd.empty() ? "" : " (" + h.simd + ")") : "");
    if (h.ranks * h.members > 1)
        rows.add("Ranks", joined({grouped(h.ranks) + (h.members > 1 ? " of " + grouped(h.members) + " devices" : ""), h.engine, h.form}));
    rows.add("Version", joined({h.version.empty() ? "" : "kasane " + h.version, h.commit.empty() ? "" : "commit " + h.commit}));
    rows.add("Build", joined({h.compiler, h.cuda.empty() ? "" : "CUDA " + h.cuda, h.mpi.empty() ? "" : "MPI " + h.mpi}));
    rows.add("Started", clock(h.started));
    rows.add("Finished", clock(h.finished));
    if (h.segments > 1) rows.add("Resumed", counted(h.segments - 1, "time", "times"));
    rows.add("Keys not used", joined(h.unused_keys));
    return rows.html();
}

std::string commands(const History& h) {
    const auto directory = shell_word(h.directory.string());
    std::string rows;
    if (!h.run_file.empty())
        rows +=
            command_row("kasane run " + shell_word((h.directory / "run.toml").string()) + " -o NEW_DIRECTORY", "the same run once more");
    if (h.status != "done") rows += command_row("kasane resume " + directory, "goes on from the newest checkpoint");
    rows += command_row("kasane report " + directory, "makes this page anew");
    return command_table(rows);
}

}  // namespace

std::string facts(const Context& c) {
    const auto& h = c.history;
    return "<section>\n<h2>Facts</h2>\n" + table(c) + run_file_details(h.run_file) + commands(h) + paper_list(h.papers) + "</section>\n";
}

}  // namespace kasane::run::report
