#include <bench/gravity/direct_problem.hpp>
#include <bench/gravity/scaling.hpp>
#include <bench/gravity/scaling_page.hpp>
#include <bench/gravity/scaling_timeline.hpp>
#include <bench/page.hpp>
#include <bench/page_parts.hpp>
#include <kasane/gravity/performance/direct_model.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace kasane::bench {
namespace {

using report::escape, report::grouped, report::number, report::Plot, report::Scale, report::Series, report::Stroke;

std::string workers_text(double workers) { return workers == 1 ? "1 worker" : fmt::format("{} workers", std::llround(workers)); }

/// "both-sides, copy" for the label "both-sides, copy, P 4"; empty for other labels.
std::string way_of(const std::string& label) {
    const auto at = label.rfind(", P ");
    const bool timed = label.starts_with("both-sides") || label.starts_with("one-sided");
    return at == std::string::npos || !timed ? "" : label.substr(0, at);
}

std::string form_of(const std::string& way) { return way.substr(0, way.find(", ")); }

/// The study's times, sorted by form and engine.
struct Scaling {
    std::vector<double> counts;     ///< numbers of workers, ascending
    std::vector<std::string> ways;  ///< forms with engines; without messages, the forms of one worker
    std::vector<Row> rows;          ///< rows with times
    explicit Scaling(const Study& study) {
        std::set<double> seen;
        std::vector<std::string> alone;
        for (const auto& row : study.rows) {
            const auto way = way_of(row.label);
            if (const double workers = row["members"]; std::isfinite(workers)) seen.insert(workers);
            if (way.empty()) continue;
            rows.push_back(row);
            auto& list = way == form_of(way) ? alone : ways;
            if (std::find(list.begin(), list.end(), way) == list.end()) list.push_back(way);
        }
        counts = {seen.begin(), seen.end()};
        for (const auto& form : alone)
            if (std::none_of(ways.begin(), ways.end(), [&](const auto& way) { return form_of(way) == form; })) ways.push_back(form);
    }
    /// Rows of one way, and those of one worker in the same form.
    std::vector<Row> of(const std::string& way, double workers) const {
        std::vector<Row> some;
        for (const auto& row : rows)
            if (row["members"] == workers && way_of(row.label) == (workers == 1 ? form_of(way) : way)) some.push_back(row);
        std::stable_sort(some.begin(), some.end(), [](const Row& a, const Row& b) { return a["n"] < b["n"]; });
        return some;
    }
    /// Number of the colour and the mark for a number of workers, the same in all figures.
    int place(double workers) const { return static_cast<int>(std::find(counts.begin(), counts.end(), workers) - counts.begin()); }
};

double seconds_at(const std::vector<Row>& rows, double n, const std::string& key) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row["n"] == n; });
    return at == rows.end() ? NAN : (*at)[key];
}

enum class Figure { performance, strong, weak };

/// The value of a figure at (N, P) from the times with this key. @param one  rows of one worker
double value_of(Figure which, const Row& row, const std::vector<Row>& one, const std::string& key) {
    const double n = row["n"], workers = row["members"], seconds = row[key];
    if (which == Figure::performance) return 1e-12 * direct_flops * n * n / seconds;
    if (which == Figure::strong) return seconds_at(one, n, key) / (workers * seconds);
    return workers * seconds_at(one, n / workers, key) / seconds;
}

/// The paper's equations with the constants of this record: eq. 2 fitted to the times of one worker, eqs. 4 to 7 with the measured t_sync.
/// They describe the form in which every source acts on every target.
struct Equations {
    gravity::DirectWaves waves;
    std::map<double, double> t_sync;  ///< by number of workers [s]

    /// Empty where the form is another or the record has too few times.
    static std::optional<Equations> of(const Study& study, const Scaling& scaling, const std::string& way) {
        std::vector<index_t> n;
        std::vector<double> seconds;
        for (const auto& row : scaling.of(way, 1))
            if (row["n"] >= 1 && row["seconds"] > 0) n.push_back(std::llround(row["n"])), seconds.push_back(row["seconds"]);
        if (form_of(way) != "one-sided" || n.size() < 3) return {};
        Equations found{gravity::fit_direct_waves(n, seconds), {}};
        for (const auto& row : study.with("sync, P "))
            if (std::isfinite(row["t_sync"])) found.t_sync[row["members"]] = std::max(0., row["t_sync"]);
        return found;
    }
    /// Whether the equations are for this number of workers: a power of two, with a known t_sync.
    bool hold_for(double workers) const {
        return workers == 1 || (t_sync.contains(workers) && std::has_single_bit(static_cast<unsigned>(std::llround(workers))));
    }
    double seconds(index_t n, double workers) const {
        return workers == 1 ? waves.seconds(n, n) : gravity::cluster_seconds(waves, n, static_cast<int>(workers), t_sync.at(workers));
    }
    /// A figure's value at (N, P).
    double value(Figure which, index_t n, double workers) const {
        const auto size = static_cast<double>(n);
        if (which == Figure::performance) return 1e-12 * direct_flops * size * size / seconds(n, workers);
        if (which == Figure::strong) return seconds(n, 1) / (workers * seconds(n, workers));
        return workers * seconds(n / static_cast<index_t>(workers), 1) / seconds(n, workers);
    }
    /// The dotted curve between the sizes of the rows.
    Series curve(Figure which, const std::vector<Row>& rows, double workers, int color) const {
        Series s;
        s.color = color, s.stroke = Stroke::dotted;
        constexpr double per_doubling = 8;
        const double each_first = rows.front()["n"] / workers, each_last = rows.back()["n"] / workers;
        index_t before = 0;
        for (double k = 0; k <= per_doubling * std::log2(each_last / each_first) + 1e-9; ++k) {
            const auto each = static_cast<index_t>(std::llround(each_first * std::exp2(k / per_doubling)));
            if (each == before) continue;
            before = each;
            const auto n = each * static_cast<index_t>(workers);
            s.x.push_back(static_cast<double>(which == Figure::weak ? each : n));
            s.y.push_back(value(which, n, workers));
        }
        return s;
    }
};

/// A figure with the model's times as lines, those of the paper's equations as dotted lines and the measured times as marks.
std::string scaling_figure(const Scaling& scaling, const std::string& way, const std::optional<Equations>& equations, Figure which, Plot p,
                           const std::string& caption) {
    const auto one = scaling.of(way, 1);
    std::vector<Series> measured;
    for (const double workers : scaling.counts) {
        if (which != Figure::performance && workers == 1) continue;
        Series model, marks;
        model.color = marks.color = scaling.place(workers) % report::colors;
        marks.shape = scaling.place(workers);
        bool known = false;
        for (const auto& row : scaling.of(way, workers)) {
            const double x = which == Figure::weak ? row["n"] / workers : row["n"];
            const double modelled = value_of(which, row, one, "model_seconds");
            model.x.push_back(x), model.y.push_back(modelled);
            marks.x.push_back(x), marks.y.push_back(value_of(which, row, one, "seconds"));
            known = known || std::isfinite(modelled);
        }
        if (marks.x.empty()) continue;
        marks.name = workers_text(workers);
        marks.stroke = known || equations ? Stroke::none : Stroke::dotted;  // without a model, a dotted line connects the marks
        if (known) p.series.push_back(std::move(model));
        if (equations && equations->hold_for(workers))
            p.series.push_back(equations->curve(which, scaling.of(way, workers), workers, marks.color));
        measured.push_back(std::move(marks));
    }
    p.marks = std::none_of(measured.begin(), measured.end(), [](const Series& s) { return s.stroke == Stroke::none; });
    p.series.insert(p.series.end(), measured.begin(), measured.end());
    return figure(p, caption);
}

/// Timelines of one call, worker by worker, of the rows that have them.
std::string overlap(const Scaling& scaling, const std::string& way) {
    std::string pictures;
    for (const auto& row : scaling.rows) {
        if (way_of(row.label) != way) continue;
        const auto title = fmt::format("{} at N = {}", workers_text(row["members"]), grouped(std::llround(row["n"])));
        const auto picture = timeline_picture("Overlap of " + way + ", " + title, row.timeline());
        if (picture.empty()) continue;
        pictures += fmt::format("<p class=\"legend\"><strong>{}</strong>{}</p>\n{}", title,
                                when({row["hidden"]}, [&] { return "<span>" + percent(row["hidden"]) + " of the messages hidden</span>"; }),
                                picture);
    }
    if (pictures.empty()) return "";
    return "<figure class=\"chart\"><h3>Overlap: one call, worker by worker</h3>\n" + pictures +
           "<figcaption>Hidden is the fraction of the message time during which kernels run, on the worst worker.</figcaption></figure>\n";
}

/// "For 4 workers eqs. 6 and 7 lie between 1.00 and 2.00." for the numbers of workers of this record.
std::string limits(const Scaling& scaling) {
    std::string text;
    for (const double workers : scaling.counts)
        if (const auto devices = static_cast<int>(workers); workers >= 2 && std::has_single_bit(static_cast<unsigned>(devices)))
            text += fmt::format("{}{}{} for {} workers", text.empty() ? " Limits of eqs. 6 and 7 where the devices are not filled: " : ", ",
                                devices > 2 ? number(gravity::unfilled_efficiency(devices, 1, 2)) + " to " : std::string(),
                                number(gravity::unfilled_efficiency(devices, 1, 0)), devices);
    return text.empty() ? "" : text + ".";
}

std::string figures_of(const Study& study, const Scaling& scaling, const std::string& way, bool headed) {
    auto performance = plot("Figure 8: performance", "N", Scale::doublings, "TFLOPS", true);
    auto strong = plot("Figure 9: strong scaling", "N", Scale::doublings, "P(N; P) / (P(N; 1) P)", false);
    auto weak = plot("Figure 10: weak scaling", "N / P", Scale::doublings, "P(N; P) / (P(N/P; 1) P)", false);
    for (auto* p : {&strong, &weak}) p->reference = 1, p->from_zero = true;
    const auto heading = headed ? "<h3 class=\"way\">" + escape(way) + "</h3>\n" : "";
    const auto equations = Equations::of(study, scaling, way);
    const std::string fitted =
        !equations
            ? ""
            : fmt::format(" Dotted: the equations of the paper; eq. 2, fitted to one worker, is ceil(N/{}) (N {} ns + {}), within {:.1f}%.",
                          grouped(equations->waves.filling), number(1e9 * equations->waves.per_source),
                          time_text(equations->waves.per_wave), 100 * equations->waves.largest);
    const auto drawn = [&](Figure which, const Plot& p, const std::string& caption) {
        return scaling_figure(scaling, way, equations, which, p, caption);
    };
    return heading +
           drawn(Figure::performance, performance,
                 "[MTM13] fig. 8, 26 flops per interaction. Marks are measured, lines are the model's. The paper's peak: 254.0 TFLOPS "
                 "on 256 Tesla M2090." +
                     fitted) +
           drawn(Figure::strong, strong,
                 std::string("[MTM13] fig. 9: against one worker with all N particles.") + (equations ? " Dotted: eqs. 2, 4 and 5." : "")) +
           drawn(Figure::weak, weak,
                 "[MTM13] fig. 10: against one worker with N/P particles. Above 1, several small kernels fill a device "
                 "that one of them cannot fill; in the paper up to 1.5." +
                     (equations ? " Dotted: eqs. 6 and 7." + limits(scaling) : std::string())) +
           overlap(scaling, way);
}

std::vector<Row> synchronisations(const Study& study) {
    auto rows = study.with("sync, P ");
    std::erase_if(rows, [](const Row& row) { return !std::isfinite(row["members"]); });
    return rows;
}

/// Figure 7: total time of empty launches and one synchronisation.
std::string figure_7(const Study& study, const Scaling& scaling) {
    auto p = plot("Figure 7: synchronisation and launches", "launches", Scale::decades, "time [s]", true);
    std::vector<Series> measured;
    for (const auto& row : synchronisations(study)) {
        Series fit, marks;
        fit.color = marks.color = scaling.place(row["members"]) % report::colors;
        marks.shape = scaling.place(row["members"]);
        marks.name = workers_text(row["members"]);
        marks.stroke = Stroke::none;
        marks.x = fit.x = row.list("launches");
        marks.y = row.list("launch_seconds");
        marks.y.resize(marks.x.size(), NAN);
        for (const double launches : fit.x) fit.y.push_back(row["t_sync"] + launches * row["t_kernel"]);
        p.series.push_back(std::move(fit));
        measured.push_back(std::move(marks));
    }
    p.series.insert(p.series.end(), measured.begin(), measured.end());
    return figure(p, "[MTM13] fig. 7: empty kernels, then a barrier of all workers. Lines: t_sync + launches t_kernel by least squares.");
}

/// Table 2: measured times beside those of the paper.
std::string table_2(const Study& study) {
    const auto rows = synchronisations(study);
    if (rows.empty()) return "";
    const auto cell = [](double seconds) { return "<td>" + (std::isfinite(seconds) ? time_text(seconds) : "") + "</td>"; };
    std::string out =
        "<figure class=\"chart beside\"><h3>Table 2: t_sync and t_kernel</h3>\n<div class=\"scroll\"><table><thead><tr><th>workers, "
        "GPUs</th>"
        "<th>t_sync</th><th>t_kernel</th><th>t_sync [MTM13]</th><th>t_kernel [MTM13]</th></tr></thead><tbody>\n";
    for (const auto& row : rows)
        out += fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}{}</tr>\n", std::llround(row["members"]), cell(row["t_sync"]),
                           cell(row["t_kernel"]), cell(row["paper_t_sync"]), cell(row["paper_t_kernel"]));
    return out +
           "</tbody></table></div><figcaption>t_sync, divided by the calls of a batch, is subtracted from the times of all other "
           "figures.</figcaption>"
           "</figure>\n";
}

/// "Weak efficiency is above 1 at N/P = 8,192 (1.11, both-sides, nccl, 2 workers)": the sizes where it exceeds 1 by more than the times
/// scatter, each with its largest value over all ways.
std::string superlinear(const Scaling& scaling) {
    constexpr double margin = 0.02;
    std::map<double, const Row*> above;  // by N/P
    for (const auto& row : scaling.rows)
        if (row["weak"] > 1 + std::fmax(margin, row["spread"])) {
            auto& most = above[row["n"] / row["members"]];
            if (!most || row["weak"] > (*most)["weak"]) most = &row;
        }
    std::string text;
    for (const auto& [each, row] : above)
        text +=
            fmt::format("{}{} ({}, {}, {})", text.empty() ? "Weak efficiency is above 1 at N/P = " : ", at ", grouped(std::llround(each)),
                        number((*row)["weak"]), escape(way_of(row->label)), workers_text((*row)["members"]));
    return text.empty()
               ? ""
               : text + ", the superlinear region of [MTM13]: kernels of two streams share a device that one of them does not fill. ";
}

/// Largest deviation of the model from the measured times of a way, with one worker or with more.
double model_deviation(const Scaling& scaling, const std::string& way, bool alone) {
    double worst = NAN;
    for (const double workers : scaling.counts)
        if ((workers == 1) == alone)
            for (const auto& row : scaling.of(way, workers)) worst = std::fmax(worst, std::abs(row["model_seconds"] / row["seconds"] - 1));
    return worst;
}

}  // namespace

std::string scaling_figures(const Study& study) {
    const Scaling scaling(study);
    std::string out = figure_7(study, scaling) + table_2(study);
    for (const auto& way : scaling.ways) out += figures_of(study, scaling, way, scaling.ways.size() > 1);
    return out;
}

std::string scaling_findings(const Study& study) {
    const Scaling scaling(study);
    const Row* best = nullptr;
    for (const auto& row : scaling.rows)
        if (std::isfinite(row["rate"]) && (!best || row["rate"] > (*best)["rate"])) best = &row;
    if (!best) return "";
    const double workers = (*best)["members"];
    auto text = when({workers, (*best)["n"]}, [&] {
        return fmt::format("The most is <strong>{} interactions/s</strong> ({} TFLOPS), by {} ({}) at N = {}. ", number((*best)["rate"]),
                           number(1e-12 * direct_flops * (*best)["rate"]), workers_text(workers), escape(way_of(best->label)),
                           grouped(std::llround((*best)["n"])));
    });
    if (workers > 1) {
        const auto rows = scaling.of(way_of(best->label), workers);
        const Row *strong = nullptr, *weak = nullptr;  // rows of the largest N with this efficiency
        double hidden = NAN;
        for (const auto& row : rows) {
            if (std::isfinite(row["strong"])) strong = &row;
            if (std::isfinite(row["weak"])) weak = &row;
            if (weak == &row) hidden = row["hidden"];
        }
        if (strong)
            text += fmt::format("Strong efficiency at N = {}: <strong>{}</strong>. ", grouped(std::llround((*strong)["n"])),
                                number((*strong)["strong"]));
        if (weak)
            text += fmt::format("Weak efficiency at N/P = {}: <strong>{}</strong>{}. ", grouped(std::llround((*weak)["n"] / workers)),
                                number((*weak)["weak"]),
                                when({hidden}, [&] { return ", with " + percent(hidden) + " of the messages hidden"; }));
    }
    text += superlinear(scaling);
    const auto way = way_of(best->label);
    const double one = model_deviation(scaling, way, true), more = model_deviation(scaling, way, false);
    text += when({one}, [&] {
        return fmt::format("The model of it is within {} for one worker{}. ", percent(one),
                           when({more}, [&] { return ", within " + percent(more) + " for more"; }));
    });
    for (const auto& row : study.with("model, "))
        if (!row.note().empty()) text += fmt::format("The model of {}: {}. ", escape(row.label.substr(7)), escape(row.note()));
    return text;
}

}  // namespace kasane::bench
