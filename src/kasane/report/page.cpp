#include <kasane/report/page.hpp>
#include <kasane/report/words.hpp>

namespace kasane::report {

std::string html(const Page& page) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    constexpr std::size_t beside_body = 1 << 17;
    out.reserve(page.body.size() + beside_body);
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
    out += "<title>" + escape(page.title) + " · kasane</title>\n<style>\n" + style + page.style + "</style>\n</head>\n<body>\n<main>\n";
    out += "<header>\n<p class=\"eyebrow\">" + page.eyebrow + "</p>\n<h1>" + escape(page.heading.empty() ? page.title : page.heading) +
           "</h1>\n" + page.head + "</header>\n";
    out += page.body + "</main>\n";
    if (!page.script.empty()) out += "<script>\n" + page.script + "</script>\n";
    return out + "</body>\n</html>\n";
}

std::string tile(const std::string& value, const std::string& label) { return "<div><dt>" + label + "</dt><dd>" + value + "</dd></div>"; }

std::string tiles(const std::string& all) { return all.empty() ? "" : "<dl class=\"tiles\">" + all + "</dl>\n"; }

std::string badge(const std::string& kind, const std::string& text) { return "<span class=\"badge " + kind + "\">" + text + "</span>"; }

std::string remarks(const std::string& paragraphs, const std::vector<std::string>& notes) {
    std::string text = paragraphs;
    if (!notes.empty()) {
        text += "<ul>";
        for (const auto& note : notes) text += "<li>" + escape(note) + "</li>";
        text += "</ul>";
    }
    return text.empty() ? "" : "<aside class=\"note\" aria-label=\"About this report\">" + text + "</aside>\n";
}

std::string chart(const std::string& heading, const std::string& svg, const std::string& caption) {
    if (svg.empty()) return "";
    return "<figure class=\"chart\"><h3>" + heading + "</h3>\n" + svg + "<figcaption>" + caption + "</figcaption></figure>\n";
}

std::string chart_section(const std::string& heading, const std::string& charts) {
    if (charts.empty()) return "";
    return "<section>\n<h2>" + heading + "</h2>\n<div class=\"charts\">\n" + charts + "</div>\n</section>\n";
}

std::string ramp_key(const std::vector<Rgb>& colors, const std::string& name, const std::string& remark) {
    return "<span class=\"key\"><i style=\"background:" + css_gradient(colors) + "\"></i>" + escape(name) + " <small>" + escape(remark) +
           "</small></span>";
}

std::string speed_section(const std::string& rate, const std::string& times) {
    if (rate.empty() && times.empty()) return "";
    return "<section class=\"speed\">\n<h2>Speed</h2>\n<div class=\"halves\">\n<div>" + rate + "</div>\n<div>" + times +
           "</div>\n</div>\n</section>\n";
}

}  // namespace kasane::report
