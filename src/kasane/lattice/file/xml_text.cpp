#include <kasane/lattice/file/xml_text.hpp>

namespace kasane::lattice {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string without_comments(std::string_view text) {
    std::string kept;
    while (true) {
        const auto open = text.find("<!--");
        kept += text.substr(0, open);
        if (open == std::string_view::npos) return kept;
        const auto close = text.find("-->", open + 4);
        if (close == std::string_view::npos) return kept;
        text.remove_prefix(close + 3);
    }
}

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

}  // namespace

std::vector<std::string> xml_elements(std::string_view text, std::string_view name) {
    const auto plain = without_comments(text);
    const std::string_view all = plain;
    const auto opening = "<" + std::string(name), closing = "</" + std::string(name);
    std::vector<std::string> found;
    for (auto at = all.find(opening); at != std::string_view::npos; at = all.find(opening, at)) {
        at += opening.size();
        if (at >= all.size() || (all[at] != '>' && blanks.find(all[at]) == std::string_view::npos)) continue;  // a longer name
        const auto begin = all.find('>', at);
        if (begin == std::string_view::npos) break;
        const auto end = all.find(closing, begin);
        if (end == std::string_view::npos) break;
        found.push_back(trimmed(all.substr(begin + 1, end - begin - 1)));
        at = end;
    }
    return found;
}

}  // namespace kasane::lattice
