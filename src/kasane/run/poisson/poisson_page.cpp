// The parts of the page of a Poisson run, from the files of its directory.
#include <kasane/core/base/error.hpp>
#include <kasane/report/fact_rows.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/poisson/poisson.hpp>
#include <kasane/run/poisson/poisson_output.hpp>
#include <kasane/report/slices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace kasane::run {
namespace {

using namespace report;

const char* const poisson_style = R"css(
.slices { display: flex; gap: 28px; align-items: flex-end; }
.slices figure { flex: var(--share) 1 0; min-width: 0; }
.slices img { display: block; width: 100%; height: auto; border-radius: 8px; }
.slices figcaption { font-size: 0.9rem; line-height: 1.45; margin-top: 10px; }
.slices strong { color: var(--ink); font-weight: 620; }
.card { border: 1px solid var(--line); border-radius: 10px; background: var(--card); padding: 14px 18px; margin-bottom: 12px; }
.scale { margin-top: 28px; font-size: 0.85rem; color: var(--muted); font-variant-numeric: tabular-nums; }
.scale i { display: block; height: 14px; border-radius: 7px; }
.scale div { position: relative; height: 2.2em; margin: 0 7px; }
.scale span { position: absolute; transform: translateX(-50%); padding-top: 7px; white-space: nowrap; }
.scale span::before { content: ""; position: absolute; left: 50%; top: 0; height: 5px; border-left: 1px solid var(--axis); }
@media (max-width: 640px) { .slices { display: block; } .slices figure + figure { margin-top: 28px; } .scale span:nth-child(even) { display: none; } }
)css";

struct PoissonHistory {
    std::filesystem::path directory;
    PoissonRecord record;
    std::optional<Solution> solution;  ///< or the newest checkpoint
};

std::string box_text(const std::array<index_t, 3>& cells) {
    return fmt::format("{} × {} × {}", grouped(cells[0]), grouped(cells[1]), grouped(cells[2]));
}

std::string preconditioner(const sparse::SetupFacts& s) {
    if (s.precondition == "ic0") return "an incomplete Cholesky factorisation";
    if (s.precondition == "ssor") return "symmetric successive over-relaxation";
    if (s.precondition == "ict") return "an incomplete Cholesky factorisation with a threshold";
    if (s.precondition == "ick") return "an incomplete Cholesky factorisation with levels of fill";
    if (s.precondition == "multigrid") return s.stored_entries > 0 ? "multigrid by smoothed aggregation" : "geometric multigrid";
    return s.precondition == "jacobi" ? "the diagonal" : "";
}

bool solved(const PoissonRecord& r) { return r.setup.rows > 0 && r.log.seconds > 0; }

/// "f = i + j + k"; a long formula is left to the facts.
std::string named_text(const char* name, const std::string& what) {
    return what.size() > 32 ? fmt::format("a formula for {}", name) : fmt::format("{} = {}", name, escape(what));
}

/// One paragraph in words.
std::string poisson_lead(const PoissonRecord& r) {
    std::string text;
    const bool constant = r.coefficient.empty() || r.coefficient == "1";
    if (r.cells[0] > 0)
        text += fmt::format("The potential of a source in a box of <strong>{}</strong> cells: {} = f with {}{}. ", box_text(r.cells),
                            r.tensor   ? "−∇·(K∇φ)"
                            : constant ? "−Δφ"
                                       : "−∇·(c∇φ)",
                            named_text("f", r.source),
                            r.tensor   ? " and a tensor K"
                            : constant ? ""
                                       : " and " + named_text("c", r.coefficient));
    if (solved(r)) {
        text += fmt::format("Conjugate gradients{} took <strong>{}</strong>",
                            preconditioner(r.setup).empty()
                                ? ""
                                : ", preconditioned by " + preconditioner(r.setup) +
                                      (r.setup.colors > 0 ? " in " + counted(r.setup.colors, "colour", "colours") : "") + ",",
                            counted(r.log.iterations, "iteration", "iterations"));
        text += fmt::format(" to bring ‖b − A x‖ / ‖b‖ down to <strong>{}</strong>{}. ", error_size(r.log.true_residual),
                            r.log.converged() ? "" : ", where " + error_size(r.rtol) + " was requested");
        text += fmt::format("Set-up and solve took <strong>{}</strong>", duration(r.setup.total_seconds + r.log.seconds));
        if (const auto on = machine_text(r); !on.empty()) text += " on " + escape(on);
        text += ". ";
    }
    if (r.setup.singular) text += "No face holds φ, so it is known up to a constant: this is the solution whose mean is zero. ";
    return text;
}

std::string number_tiles(const PoissonRecord& r) {
    std::string out;
    if (r.setup.rows > 0) out += tile(grouped(r.setup.rows), "unknowns");
    if (solved(r)) {
        out += tile(grouped(r.log.iterations), "iterations");
        out += tile(duration(r.log.seconds), "solving");
        out += tile(error_size(r.log.true_residual), "‖b − A x‖ / ‖b‖");
    }
    return out;
}

/// Notes of the record as sentences.
std::vector<std::string> sentences(const std::vector<std::string>& notes, const std::vector<std::string>& there) {
    std::vector<std::string> all;
    for (auto note : notes) {
        if (!note.empty() && note.back() != '.') note += '.';
        if (!note.empty() && note[0] >= 'a' && note[0] <= 'z') note[0] = static_cast<char>(note[0] - 'a' + 'A');
        if (std::ranges::find(all, note) == all.end() && std::ranges::find(there, note) == there.end()) all.push_back(note);
    }
    return all;
}

std::string color_bar(const ColorScale& scale) {
    constexpr int stops = 32;
    std::vector<Rgb> colors;
    for (int i = 0; i <= stops; ++i)
        colors.push_back(scale(scale.least() + static_cast<double>(i) / stops * (scale.greatest() - scale.least())));
    std::string out = "<div class=\"scale\"><i style=\"background:" + css_gradient(colors) + "\"></i><div>";
    for (const double tick : scale.ticks(8)) {
        const auto text = std::abs(tick) < 1e-9 * (scale.greatest() - scale.least()) ? std::string("0") : brief(tick);
        out += fmt::format("<span style=\"left:{:.2f}%\">{}</span>", 100 * scale.share(tick), escape(text));
    }
    return out + "</div></div>\n";
}

std::string pictures(const PoissonHistory& h) {
    if (!h.solution) return "";
    const auto& s = *h.solution;
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    for (const double v : s.potential)
        if (std::isfinite(v)) least = std::min(least, v), greatest = std::max(greatest, v);
    if (least > greatest)
        return "<section><p class=\"muted\">No value of the potential is finite: there is nothing to show.</p></section>\n";
    const ColorScale scale(least, greatest);
    const auto slices = middle_slices({s.faces, &s.potential}, scale);
    std::string out = "<section aria-label=\"Slices of the potential\">\n<h2>The potential φ</h2>\n<div class=\"slices\">\n";
    bool stretched = false;
    for (const auto& slice : slices) {
        const char across = "xyz"[slice.across], up = "xyz"[slice.up], normal = "xyz"[slice.normal];
        const auto range =
            std::isnan(slice.least) ? std::string("no finite value") : number(slice.least, 4) + " to " + number(slice.greatest, 4);
        stretched |= slice.stretched;
        out += fmt::format(
            "<figure style=\"--share:{:.4g}\"><img alt=\"Potential in the {}–{} plane\" width=\"{}\" height=\"{}\" src=\"{}\">"
            "<figcaption><strong>{} → right, {} ↑ up</strong>, at {} = {}<br>φ = {}</figcaption></figure>\n",
            static_cast<double>(slice.image.width), across, up, slice.image.width, slice.image.height, data_uri(encode_png(slice.image)),
            across, up, normal, escape(brief(slice.position)), escape(range));
    }
    out += "</div>\n" + color_bar(scale);
    out += fmt::format(
        "<p class=\"muted\">Three planes through the middle of the box{}, drawn between the cell centres by linear interpolation; thin "
        "lines join equal values. Over all cells φ goes from {} to {}.</p>\n",
        stretched ? " (not to scale: it is too long for that)" : "", escape(number(least, 5)), escape(number(greatest, 5)));
    return out + "</section>\n";
}

std::string convergence(const PoissonHistory& h) {
    if (!h.solution || h.solution->history.size() < 2) return "";
    const auto& r = h.record;
    Plot plot;
    plot.title = "Residual against iteration";
    plot.x_label = "iteration", plot.y_label = "residual, relative";
    plot.log_y = true;
    Series formed, weighted;
    formed.name = "‖r‖/‖b‖", formed.color = 1;
    weighted.name = "M-norm", weighted.color = 0, weighted.stroke = Stroke::dashed;
    for (const auto& point : h.solution->history) {
        const double k = point.iteration;
        if (std::isfinite(point.relative)) formed.x.push_back(k), formed.y.push_back(point.relative);
        if (std::isfinite(point.preconditioned)) weighted.x.push_back(k), weighted.y.push_back(point.preconditioned);
    }
    const bool both = weighted.y.size() > 1 && r.setup.precondition != "none";
    if (formed.y.size() > 0) plot.series.push_back(formed);
    if (both) plot.series.push_back(weighted);
    plot.marks = formed.y.size() < 40 && !both;
    if (r.rtol > 0) plot.reference = r.rtol, plot.reference_name = "tolerance " + error_size(r.rtol);
    std::string caption = "The residual r = b − A x of the recurrence, relative to b.";
    if (both) caption += " Dashed: √(r·M⁻¹r) relative to its initial value, the norm in which the preconditioned iteration works.";
    if (r.log.restarts > 0)
        caption +=
            fmt::format(" The iteration restarted {} from the true residual, because rounding had made the recurrence deviate from it.",
                        counted(r.log.restarts, "time", "times"));
    if (r.segments.size() > 1) caption += " The run was resumed: each segment builds new search directions, which costs some iterations.";
    return chart("Convergence", to_svg(plot), caption);
}

std::string colors_text(const sparse::SetupFacts& s) {
    if (s.colors == 0) return "";
    const auto count = counted(s.colors, "colour", "colours");
    if (s.color_sizes.empty()) return count;
    const auto [least, most] = std::ranges::minmax(s.color_sizes);
    return count + (least == most ? " of " + counted(most, "row", "rows") : " of " + grouped(least) + " to " + grouped(most) + " rows");
}

std::string color_sizes(const sparse::SetupFacts& s) {
    if (s.color_sizes.size() < 2) return "";
    const auto [least, most] = std::ranges::minmax(s.color_sizes);
    if (least == most) return "";
    Plot plot;
    plot.title = "Rows of each colour";
    plot.x_label = "colour", plot.y_label = "rows";
    plot.marks = s.color_sizes.size() <= 40;
    plot.from_zero = true;
    Series sizes;
    sizes.color = 3;
    for (std::size_t c = 0; c < s.color_sizes.size(); ++c)
        sizes.x.push_back(static_cast<double>(c + 1)), sizes.y.push_back(static_cast<double>(s.color_sizes[c]));
    plot.series.push_back(std::move(sizes));
    return chart("Sizes of the colours", to_svg(plot),
                 "Rows of one colour are independent of each other, and are eliminated at the same time; colours follow one another. Few "
                 "large ones keep many threads busy, many small ones converge faster.");
}

std::string speed(const PoissonRecord& r) {
    if (!solved(r)) return "";
    const auto& [setup, log] = std::tie(r.setup, r.log);
    std::vector<std::pair<std::string, double>> parts{{"assembly of the system", r.assembly_seconds}};
    for (const auto& [name, seconds] : setup.seconds) parts.emplace_back("set-up: " + name, seconds);
    parts.emplace_back("iterations", log.iteration_seconds);
    if (log.seconds > log.iteration_seconds) parts.emplace_back("solve: copies and the rest", log.seconds - log.iteration_seconds);
    std::erase_if(parts, [](const auto& part) { return !(part.second > 0); });
    std::ranges::stable_sort(parts, std::greater(), [](const auto& part) { return part.second; });
    std::string rate;
    if (log.iterations > 0 && log.iteration_seconds > 0) {
        const double each = log.iteration_seconds / log.iterations;
        rate = fmt::format("<p class=\"big\"><strong>{} GB/s</strong> <span>from and to memory</span></p>\n",
                           number(1e-9 * setup.bytes_per_iteration / each));
        rate += fmt::format(
            "<p>An iteration took <strong>{} ms</strong>. It must move {}, {} bytes per unknown, counting every array once in each "
            "phase that touches it; the figure above is that count over the time measured. Arrays that fit into a cache are faster than "
            "memory.</p>\n",
            number(1e3 * each), escape(bytes(setup.bytes_per_iteration)),
            number(setup.bytes_per_iteration / static_cast<double>(setup.rows)));
        if (setup.barriers_per_iteration > 0)
            rate += fmt::format("<p>Its threads wait for each other {} in each iteration, mostly between colours.</p>\n",
                                counted(setup.barriers_per_iteration, "time", "times"));
    }
    const auto bars = time_bars(std::move(parts), r.segments.size() > 1 ? 0 : r.seconds);
    return speed_section(rate, "<h3>Where the time went</h3>\n" + bars);
}

/// "φ = 0 on z_max; flux density 2 out of x_min; no flux elsewhere".
std::string boundary_text(const std::array<sparse::Boundary, 6>& boundary) {
    std::vector<std::string> parts;
    int closed = 0;
    for (std::size_t f = 0; f < 6; ++f) {
        const auto& face = boundary[f];
        const auto value = face.formula.empty() ? brief(face.value) : face.formula;
        if (face.kind == sparse::BoundaryKind::dirichlet)
            parts.push_back(fmt::format("φ = {} on {}", value, sparse::face_names[f]));
        else if (face.kind == sparse::BoundaryKind::robin)
            parts.push_back(fmt::format("flux density {} (φ − {}) out of {}", brief(face.transfer), value, sparse::face_names[f]));
        else if (face.kind == sparse::BoundaryKind::periodic) {
            if (f % 2 == 0) parts.push_back(fmt::format("periodic along {}", "xyz"[f / 2]));
        } else if (face.value != 0 || !face.formula.empty())
            parts.push_back(fmt::format("flux density {} out of {}", value, sparse::face_names[f]));
        else
            ++closed;
    }
    if (closed > 0) parts.emplace_back(closed == 6 ? "no flux through any face" : "no flux elsewhere");
    return joined(parts);
}

FactRows facts(const PoissonRecord& r) {
    const auto& s = r.setup;
    FactRows rows;
    if (r.cells[0] > 0) {
        rows.add("Grid", box_text(r.cells) + " cells");
        rows.add("Spacing", fmt::format("{}; {}; {} along x; y; z", r.spacing[0], r.spacing[1], r.spacing[2]));
        rows.add("Box", fmt::format("{} × {} × {}", brief(r.size[0]), brief(r.size[1]), brief(r.size[2])));
        rows.add("Boundary", boundary_text(r.boundary));
        rows.add("Source f", r.source);
        rows.add(r.tensor ? "Tensor K" : "Coefficient c", r.coefficient);
    }
    if (s.rows > 0) {
        rows.add("System", grouped(s.rows) + " unknowns, " + grouped(s.nonzeros) + " entries" + (s.singular ? ", singular" : ""));
        if (!s.ordering.empty()) {  // multigrid stores no matrix
            rows.add("Ordering", joined({s.ordering, colors_text(s)}));
            if (!s.numbering.empty()) {  // factors with fill have no choice
                rows.add("Numbering", s.numbering);
                rows.add(
                    "Format",
                    s.format + (s.stored_entries > s.nonzeros ? ", " + grouped(s.stored_entries - s.nonzeros) + " places of padding" : ""));
                rows.add("Iteration", joined({s.iteration, s.launch}));
            }
        }
        rows.add("Preconditioner", s.precondition + (s.own_factor ? ", with separate values" : "") +
                                       (s.shift > 0 ? ", diagonal shifted by " + number(s.shift) : ""));
        rows.add("Memory",
                 fmt::format("{} for the solver, {} bytes per unknown; {} at most during the set-up", bytes(static_cast<double>(s.bytes)),
                             number(static_cast<double>(s.bytes) / static_cast<double>(s.rows)), bytes(static_cast<double>(s.peak_bytes))));
    }
    if (solved(r)) {
        rows.add("Iterations", fmt::format("{} of at most {}", grouped(r.log.iterations), grouped(r.iteration_limit)));
        rows.add("Residual", fmt::format("{} ({} by the recurrence), {} requested", error_size(r.log.true_residual),
                                         error_size(r.log.residual), error_size(r.rtol)));
        rows.add("Potential", fmt::format("{} to {}, mean {}", number(r.least, 7), number(r.greatest, 7), number(r.mean, 7)));
        if (r.log.mean_removed != 0) rows.add("Taken from b", number(r.log.mean_removed) + " per row: its mean");
    }
    return rows;
}

std::string opening(const PoissonHistory& h) {
    std::error_code ignored;
    for (const char* file : {"solution.xmf", "solution.hdf5"})
        if (!std::filesystem::is_regular_file(h.directory / file, ignored)) return "";
    const auto xdmf = shell_word((h.directory / "solution.xmf").string()), hdf5 = (h.directory / "solution.hdf5").string();
    return "<section>\n<h2>Open the solution</h2>\n<div class=\"halves\">\n<div><h3>ParaView</h3>\n<pre class=\"card\" "
           "tabindex=\"0\">paraview " +
           escape(xdmf) +
           "</pre>\n<p>Choose the XDMF reader if ParaView asks, press Apply, and colour by Potential. The numbers are in solution.hdf5 "
           "beside it: keep the two files together.</p></div>\n<div><h3>Python</h3>\n<pre class=\"card\" tabindex=\"0\">" +
           escape("import h5py\nwith h5py.File('" + hdf5 +
                  "') as f:\n    phi = f['Potential'][:]   # [z, y, x]\n    x, y, z = (f['Faces'][a][:] for a in 'xyz')") +
           "</pre>\n<p>Faces are those of the cells, one more than there are cells; the values belong to the cells between "
           "them.</p></div>\n</div>\n</section>\n";
}

/// The solution and the checkpoints, the newest first.
std::vector<std::filesystem::path> iterates(const std::filesystem::path& directory) {
    auto all = checkpoints_in(directory);
    if (std::error_code ignored; std::filesystem::is_regular_file(directory / "solution.hdf5", ignored))
        all.insert(all.begin(), directory / "solution.hdf5");
    return all;
}

PoissonHistory read_poisson_history(RunHistory& run) {
    PoissonHistory h{.directory = run.directory, .record = {}, .solution = {}};
    h.record.status = "unknown";
    try {
        if (!run.record.is_null()) h.record = poisson_record_from_json(run.record.dump(), run.directory / "record.json");
    } catch (const InputError& error) {
        run.notes.push_back(std::string("The record cannot be read: ") + error.what() + ".");
    }
    for (const auto& path : iterates(run.directory)) {
        try {
            h.solution = read_solution(path);
            break;
        } catch (const InputError& error) {
            run.notes.push_back(path.filename().string() + " cannot be shown: " + error.problems()[0].message + ".");
        }
    }
    if (std::error_code ignored; h.record.status == "done" && !std::filesystem::exists(run.directory / "solution.hdf5", ignored))
        run.notes.emplace_back("The solution, solution.hdf5, is missing.");
    return h;
}

}  // namespace

RunPage poisson_page(RunHistory& run) {
    const auto h = read_poisson_history(run);
    const auto& r = h.record;
    RunPage page;
    page.head = r;
    page.done = "converged";
    page.lead = poisson_lead(r);
    page.tiles = number_tiles(r);
    if (r.status == "not converged")
        page.remarks =
            "<p>This is not the solution, only the last iterate: " + escape(r.message.empty() ? "it did not converge" : r.message) +
            ".</p>";
    if (r.status == "interrupted") page.remarks = "<p>The page shows its iterate so far.</p>";
    page.notes = sentences(r.notes, run.notes);
    page.body = pictures(h) + chart_section("How it converged", convergence(h) + color_sizes(r.setup)) + speed(r) + opening(h);
    page.facts = facts(r);
    page.style = poisson_style;
    return page;
}

}  // namespace kasane::run
