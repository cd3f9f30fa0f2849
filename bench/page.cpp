// Head of the page, sections, tables.
#include <bench/page.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using report::escape, report::grouped, report::number;

namespace {

constexpr const char* own_style = R"css(
.findings { font-size: 1.0625rem; max-width: 46em; }
.head { max-width: 52em; margin-bottom: 28px; }
.contents { list-style: none; padding: 0; margin: 24px 0 0; display: flex; flex-wrap: wrap; gap: 6px 22px; }
a { color: var(--s1); }
.way { grid-column: 1 / -1; font-size: 1.15rem; margin: 8px 0 -28px; }
.beside .scroll { padding: 0; }
.beside table { font-size: 0.875rem; }
.beside th, .beside td { text-align: right; padding: 5px 0 5px 18px; border-top: 1px solid var(--line); font-weight: 400; }
.beside thead th { border-top: 0; color: var(--muted); vertical-align: bottom; }
.beside :is(th, td):first-child { padding-left: 0; }
.beside .words { text-align: left; }
.legend i { display: inline-block; width: 18px; height: 10px; border-radius: 2px; margin-right: 6px; background: var(--own); }
.plot rect.span { fill: var(--own); }
.numbers { margin: 32px 0 0; }
.scroll { overflow-x: auto; padding: 0 18px 14px; }
.numbers table { font-size: 0.8125rem; white-space: nowrap; }
.numbers th, .numbers td { text-align: right; padding: 4px 0 4px 18px; border-top: 1px solid var(--line); font-weight: 400; }
.numbers thead th { border-top: 0; color: var(--muted); vertical-align: bottom; white-space: normal; }
.numbers .words { text-align: left; white-space: normal; min-width: 24em; }
.numbers :is(th, td):first-child { text-align: left; padding-left: 0; }
)css";

std::string text_of(const io::Json& object, const std::string& key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

/// "1.2 ms", a count, or the plain number, by the column's name.
std::string cell(const std::string& key, double value) {
    if (std::isnan(value)) return key == "error" ? "–" : "";
    if (key.ends_with("seconds") || key == "seconds_few" || key == "seconds_raw" || key == "t_sync" || key == "t_kernel")
        return time_text(value);
    if (value == std::round(value) && std::abs(value) < 1e15) return grouped(std::llround(value));
    return number(value);
}

/// Escaped, with `words` as code.
std::string prose(const std::string& text) {
    std::string out;
    bool code = false;
    for (const char c : escape(text))
        if (c == '`') {
            out += code ? "</code>" : "<code>";
            code = !code;
        } else {
            out += c;
        }
    return code ? escape(text) : out;
}

std::string spaced(std::string key) {
    for (auto& c : key)
        if (c == '_') c = ' ';
    return key;
}

std::string table(const Study& study) {
    std::vector<std::string> keys{"n", "seconds", "spread", "rate", "error"};
    for (const auto& key : study.more_keys())
        if (!key.starts_with("level_") && key != "p99_error") keys.push_back(key);  // those are drawn, this is the error
    std::string out =
        "<details class=\"numbers\"><summary>The numbers</summary>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>case</th>";
    const bool notes = std::any_of(study.rows.begin(), study.rows.end(), [](const Row& row) { return !row.note().empty(); });
    for (const auto& key : keys) out += "<th>" + escape(spaced(key)) + "</th>";
    if (notes) out += "<th class=\"words\">note</th>";
    out += "</tr></thead><tbody>\n";
    for (const auto& row : study.rows) {
        out += "<tr><th scope=\"row\">" + escape(row.label.empty() ? study.name : row.label) + "</th>";
        for (const auto& key : keys) out += "<td>" + cell(key, row[key]) + "</td>";
        if (notes) out += "<td class=\"words\">" + escape(row.note()) + "</td>";
        out += "</tr>\n";
    }
    return out + "</tbody></table></div></details>\n";
}

std::string section(const Study& study) {
    std::string out = fmt::format("<section id=\"{0}\">\n<h2>{0}</h2>\n", escape(study.name));
    if (const auto seen = findings(study); !seen.empty()) out += "<p class=\"findings\">" + seen + "</p>\n";
    if (!study.head.empty()) out += "<p class=\"head muted\">" + prose(study.head) + "</p>\n";
    if (const auto drawn = figures(study); !drawn.empty()) out += "<div class=\"charts\">\n" + drawn + "</div>\n";
    return out + table(study) + "</section>\n";
}

/// Machine, version, build.
std::string facts(const Record& record) {
    const auto& head = record.head;
    const auto machine = head.value("machine", io::Json::object());
    const auto build = head.value("build", io::Json::object());
    std::string out;
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) out += "<div><dt>" + name + "</dt><dd>" + escape(value) + "</dd></div>\n";
    };
    add("Machine", text_of(machine, "name"));
    add("Capability", text_of(machine, "capability"));
    add("Version", "kasane " + text_of(head, "version") + ", commit " + text_of(head, "commit"));
    add("Build", text_of(build, "compiler") + (text_of(build, "cuda").empty() ? "" : ", CUDA " + text_of(build, "cuda")));
    add("Date", text_of(head, "date"));
    return "<dl class=\"facts\">\n" + out + "</dl>\n";
}

}  // namespace

std::string time_text(double seconds) {
    if (!std::isfinite(seconds)) return "unknown";
    if (seconds >= 1) return number(seconds) + "\u00a0s";
    return seconds >= 1e-3 ? number(1e3 * seconds) + "\u00a0ms" : number(1e6 * seconds) + "\u00a0µs";
}

std::string page(const Record& record) {
    const auto machine = text_of(record.head.value("machine", io::Json::object()), "name");
    report::Page page{.title = "Benchmarks, " + machine, .heading = machine.empty() ? "Benchmarks" : machine, .eyebrow = "kasane bench"};
    page.style = own_style;
    page.head = facts(record) + "<ul class=\"contents\">\n";
    for (const auto& study : record.studies) page.head += fmt::format("<li><a href=\"#{0}\">{0}</a></li>\n", escape(study.name));
    page.head += "</ul>\n";
    for (const auto& study : record.studies) page.body += section(study);
    return report::html(page);
}

}  // namespace kasane::bench
