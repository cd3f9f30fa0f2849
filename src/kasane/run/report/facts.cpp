// What one needs to trust, repeat or cite the run.
#include <kasane/run/report/page.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::run::report {
namespace {

/// Rows of a table; what is not known is left out.
class Rows {
   public:
    void add(const std::string& name, const std::string& value) {
        if (!value.empty()) out_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escape(value));
    }
    void add(const std::string& name, double value, const std::string& unit = "") {
        if (std::isfinite(value)) add(name, brief(value) + (unit.empty() ? "" : " " + unit));
    }
    const std::string& html() const { return out_; }

   private:
    std::string out_;
};

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& t : texts)
        if (!t.empty()) out += (out.empty() ? "" : ", ") + t;
    return out;
}

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

/// "2026-11-21T12:34:56Z" -> "2026-11-21 12:34:56 UTC"; other texts stay.
std::string clock(std::string iso) {
    if (iso.size() < 19 || iso[10] != 'T') return iso;
    iso[10] = ' ';
    if (iso.back() == 'Z') iso.replace(iso.size() - 1, 1, " UTC");
    return iso;
}

/// "acceleration criterion, delta = 0.001953".
std::string criterion(const History& h) {
    if (h.mac.empty()) return "";
    const auto* parameter = h.mac == "geometric" ? "theta" : h.mac == "acceleration" ? "delta" : "error";
    return h.mac + " criterion" + (std::isfinite(h.mac_parameter) ? std::string(", ") + parameter + " = " + brief(h.mac_parameter) : "");
}

std::string table(const Context& c) {
    const auto& h = c.history;
    Rows rows;
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
                              h.precision.empty() ? "" : h.precision + " precision",
                              h.accumulation.empty() ? "" : h.accumulation + " accumulation", h.deterministic ? "deterministic" : ""}));
    if (h.rebuilds > 0) rows.add("Trees built", grouped(h.rebuilds));
    rows.add("Interactions", h.interactions);
    std::vector<std::string> device{h.device};
    if (std::isfinite(h.memory_bytes) && h.memory_bytes > 0) device.push_back(bytes(h.memory_bytes));
    if (std::isfinite(h.device_units) && h.device_units > 0)
        device.push_back(brief(h.device_units) + (h.device_kind == "cpu" ? " cores" : " multiprocessors"));
    if (std::isfinite(h.clock_hertz) && h.clock_hertz > 0) device.push_back(brief(h.clock_hertz / 1e9) + " GHz");
    if (!h.capability.empty()) device.push_back(h.device_kind == "cuda" ? "compute capability " + h.capability : h.capability);
    rows.add("Device", joined(device));
    rows.add("Threads", h.threads > 0 ? grouped(h.threads) + (h.simd.empty() ? "" : " (" + h.simd + ")") : "");
    rows.add("Version", joined({h.version.empty() ? "" : "kasane " + h.version, h.commit.empty() ? "" : "commit " + h.commit}));
    rows.add("Build", joined({h.compiler, h.cuda.empty() ? "" : "CUDA " + h.cuda, h.mpi.empty() ? "" : "MPI " + h.mpi}));
    rows.add("Started", clock(h.started));
    rows.add("Finished", clock(h.finished));
    if (h.segments > 1) rows.add("Resumed", counted(h.segments - 1, "time", "times"));
    rows.add("Keys not used", joined(h.unused_keys));
    return rows.html().empty() ? "" : "<dl class=\"facts\">\n" + rows.html() + "</dl>\n";
}

std::string command(const std::string& line, const std::string& does) {
    return fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escape(line), does);
}

std::string commands(const History& h) {
    const auto directory = shell_word(h.directory.string());
    std::string out = "<h3>Commands</h3>\n<table class=\"commands\"><tbody>\n";
    if (!h.run_file.empty())
        out += command("kasane run " + shell_word((h.directory / "run.toml").string()) + " -o NEW_DIRECTORY", "the same run once more");
    if (h.status != "done") out += command("kasane resume " + directory, "goes on from the newest checkpoint");
    out += command("kasane report " + directory, "makes this page anew");
    return out + "</tbody></table>\n";
}

}  // namespace

std::string facts(const Context& c) {
    const auto& h = c.history;
    std::string out = "<section>\n<h2>Facts</h2>\n" + table(c);
    if (!h.run_file.empty())
        out += "<details><summary>The run file, with every default written out</summary>\n<pre tabindex=\"0\">" + escape(h.run_file) +
               "</pre></details>\n";
    out += commands(h);
    if (!h.papers.empty()) {
        out += "<h3>Papers to cite</h3>\n<ul class=\"papers\">\n";
        for (const auto& p : h.papers) out += "<li>" + escape(p) + "</li>\n";
        out += "</ul>\n";
    }
    return out + "</section>\n";
}

}  // namespace kasane::run::report
