// A plain check of markup: every tag closed in order, attributes quoted, entities known. Enough for SVG as XML and for the page,
// whose void elements and bare attributes HTML allows.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kasane::test {

enum class Dialect { xml, html };

/// The first thing wrong, or an empty string.
inline std::string markup_problem(const std::string& text, Dialect dialect) {
    static const std::set<std::string> empty_elements{"meta", "link", "img", "input", "br", "hr"};
    static const std::set<std::string> entities{"amp", "lt", "gt", "quot", "#39"};
    const bool html = dialect == Dialect::html;
    std::vector<std::string> open;
    std::size_t at = 0;
    const auto near = [&](std::size_t where) { return " near: " + text.substr(where, 60); };
    const auto entity_problem = [&](std::size_t from, std::size_t to) -> std::string {
        for (auto i = text.find('&', from); i < to; i = text.find('&', i + 1)) {
            const auto end = text.find(';', i);
            if (end == std::string::npos || !entities.count(text.substr(i + 1, end - i - 1))) return "unknown entity" + near(i);
        }
        return "";
    };
    while (at < text.size()) {
        const auto tag = text.find('<', at);
        if (const auto problem = entity_problem(at, std::min(tag, text.size())); !problem.empty()) return problem;
        if (tag == std::string::npos) break;
        if (html && text.compare(tag, 9, "<!DOCTYPE") == 0) {
            at = text.find('>', tag) + 1;
            continue;
        }
        const bool closing = text[tag + 1] == '/';
        auto i = tag + (closing ? 2 : 1);
        std::string name;
        while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '-')) name += text[i++];
        if (name.empty()) return "a bare <" + near(tag);
        while (i < text.size() && text[i] != '>' && text[i] != '/') {
            if (std::isspace(static_cast<unsigned char>(text[i]))) {
                ++i;
                continue;
            }
            const auto first = i;
            while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '-')) ++i;
            if (i == first) return "a strange attribute" + near(tag);
            if (text[i] != '=') {
                if (!html) return "an attribute without a value" + near(tag);
                continue;
            }
            if (text[i + 1] != '"') return "an unquoted attribute" + near(tag);
            const auto end = text.find('"', i + 2);
            if (end == std::string::npos) return "an open quote" + near(tag);
            if (text.substr(i, end - i).find('<') != std::string::npos) return "a < in an attribute" + near(tag);
            if (const auto problem = entity_problem(i, end); !problem.empty()) return problem;
            i = end + 1;
        }
        const bool self_closed = i < text.size() && text[i] == '/';
        const auto end = text.find('>', i);
        if (end == std::string::npos) return "an open tag" + near(tag);
        at = end + 1;
        if (closing) {
            if (open.empty() || open.back() != name) return "</" + name + "> closes nothing" + near(tag);
            open.pop_back();
        } else if (!self_closed && !(html && empty_elements.count(name))) {
            open.push_back(name);
            if (html && (name == "script" || name == "style")) at = text.find("</" + name, at);
        }
        if (at == std::string::npos) return "an open " + name;
    }
    return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace kasane::test
