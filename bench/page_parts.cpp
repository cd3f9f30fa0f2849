#include <bench/page_parts.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <limits>

namespace kasane::bench {

using report::escape, report::number, report::Plot, report::Scale, report::Series;

std::string figure(const Plot& plot, const std::string& caption) {
    return report::chart(escape(plot.title), report::to_svg(plot), caption);
}

Series series(const std::string& name, std::vector<Row> rows, const std::string& x, const std::string& y) {
    std::erase_if(rows, [&](const Row& row) { return !std::isfinite(row[x]); });
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return a[x] < b[x]; });
    Series s{name, {}, {}};
    for (const auto& row : rows) s.x.push_back(row[x]), s.y.push_back(row[y]);
    return s;
}

Plot plot(const std::string& title, const std::string& x_label, Scale x_scale, const std::string& y_label, bool log_y) {
    Plot p;
    p.title = title, p.x_label = x_label, p.y_label = y_label;
    p.x_scale = x_scale, p.log_y = log_y, p.marks = true;
    return p;
}

std::string bars(const std::string& title, const std::vector<std::pair<std::string, double>>& values,
                 const std::function<std::string(double)>& text) {
    double longest = 0;
    for (const auto& [name, value] : values) longest = std::fmax(longest, value);
    if (!(longest > 0)) return "";
    std::string out = "<figure class=\"chart\"><h3>" + title + "</h3>\n<ul class=\"bars\">\n";
    for (const auto& [name, value] : values)
        if (std::isfinite(value))
            out += fmt::format("<li><span>{}</span><span>{}</span><i style=\"width:{:.2f}%\"></i></li>\n", escape(name), text(value),
                               100 * value / longest);
    return out + "</ul></figure>\n";
}

std::string percent(double share) { return number(100 * share, 2) + "%"; }

std::string speed_text(double bytes_per_second) { return number(1e-9 * bytes_per_second) + "\u00a0GB/s"; }

const Row* least(const std::vector<Row>& rows, const std::string& key) {
    const Row* best = nullptr;
    for (const auto& row : rows)
        if (std::isfinite(row[key]) && (!best || row[key] < (*best)[key])) best = &row;
    return best;
}

double seconds_at_error(const std::vector<Row>& rows, double error) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const double a = rows[i - 1]["median_error"], b = rows[i]["median_error"];
        if (!((a >= error && error >= b) || (a <= error && error <= b)) || a == b) continue;
        const double share = std::log(error / a) / std::log(b / a);
        return rows[i - 1]["seconds"] * std::pow(rows[i]["seconds"] / rows[i - 1]["seconds"], share);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace kasane::bench
