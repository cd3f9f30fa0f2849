#include <kasane/report/fact_rows.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::report {

void FactRows::add(const std::string& name, const std::string& value) {
    if (!value.empty()) rows_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escape(value));
}

void FactRows::add(const std::string& name, double value, const std::string& unit) {
    if (std::isfinite(value)) add(name, brief(value) + (unit.empty() ? "" : " " + unit));
}

std::string FactRows::html() const { return rows_.empty() ? "" : "<dl class=\"facts\">\n" + rows_ + "</dl>\n"; }

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& t : texts)
        if (!t.empty()) out += (out.empty() ? "" : ", ") + t;
    return out;
}

std::string clock(std::string iso) {
    if (iso.size() < 19 || iso[10] != 'T') return iso;
    iso[10] = ' ';
    if (iso.back() == 'Z') iso.replace(iso.size() - 1, 1, " UTC");
    return iso;
}

std::string command_row(const std::string& line, const std::string& does) {
    return fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escape(line), does);
}

std::string command_table(const std::string& rows) {
    return "<h3>Commands</h3>\n<table class=\"commands\"><tbody>\n" + rows + "</tbody></table>\n";
}

std::string time_bars(std::vector<std::pair<std::string, double>> parts, double whole) {
    double sum = 0;
    for (const auto& [name, seconds] : parts) sum += seconds;
    if (!(sum > 0)) return "";
    if (whole > 1.005 * sum) parts.emplace_back("everything else", whole - sum), sum = whole;
    std::string out = "<ul class=\"bars\">\n";
    for (const auto& [name, seconds] : parts) {
        const double share = 100 * seconds / sum;
        out += fmt::format("<li><span>{}</span><span>{} · {}%</span><i style=\"width:{:.2f}%\"></i></li>\n", escape(name),
                           duration(seconds), share < 0.1 && share > 0 ? "&lt;0.1" : number(share, share < 10 ? 2 : 3), share);
    }
    return out + "</ul>\n";
}

std::string run_file_details(const std::string& run_file) {
    if (run_file.empty()) return "";
    return "<details><summary>The run file, with every default written out</summary>\n<pre tabindex=\"0\">" + escape(run_file) +
           "</pre></details>\n";
}

std::string paper_list(const std::vector<std::string>& papers) {
    if (papers.empty()) return "";
    std::string out = "<h3>Papers to cite</h3>\n<ul class=\"papers\">\n";
    for (const auto& p : papers) out += "<li>" + escape(p) + "</li>\n";
    return out + "</ul>\n";
}

}  // namespace kasane::report
