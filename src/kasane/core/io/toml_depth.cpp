#include <kasane/core/base/error.hpp>
#include <kasane/core/io/toml_depth.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kasane::io {
namespace {

constexpr int most_toml_levels = 64;  // a run file has 4

/// The position after the string that begins with the quote at `i`; a string on one line ends at the end of the line at the latest. The
/// last characters of a string of several lines may be one or two quotes: """a""""" is valid.
std::size_t behind_string(std::string_view text, std::size_t i) {
    const char quote = text[i];
    const std::string three(3, quote);
    const bool escapes = quote == '"', several_lines = text.substr(i, 3) == three;
    for (i += several_lines ? 3 : 1; i < text.size(); ++i) {
        if (escapes && text[i] == '\\')
            ++i;
        else if (several_lines ? text.substr(i, 3) == three : text[i] == quote)
            return several_lines ? std::min({text.size(), text.find_first_not_of(quote, i), i + 5}) : i + 1;
        else if (!several_lines && text[i] == '\n')
            return i;
    }
    return text.size();
}

}  // namespace

void check_toml_depth(std::string_view text, const std::filesystem::path& file) {
    struct Bracket {
        int level;
        bool holds_keys;  // a header or an inline table, not an array
    };
    std::vector<Bracket> open;
    int level = 0, line = 1;
    bool in_key = true;  // a dot in a key is a level, one in a number is not
    std::size_t line_begin = 0;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const auto end = behind_string(text, i);
            for (; i < end; ++i)
                if (text[i] == '\n') ++line, line_begin = i + 1;
            continue;
        }
        if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (c == '\n') ++line, line_begin = i + 1;
        if (c == '\n' || c == ',') {
            level = open.empty() ? 0 : open.back().level;
            in_key = open.empty() || open.back().holds_keys;
        }
        if (c == '=') in_key = false;
        if ((c == ']' || c == '}') && !open.empty()) open.pop_back();
        if ((c == '.' && in_key) || c == '[' || c == '{') {
            KS_VALIDATE(
                ++level <= most_toml_levels,
                fmt::format("is nested deeper than {} levels of tables or arrays. Write it with fewer levels: a run file has at most 4",
                            most_toml_levels),
                {file.string(), line, static_cast<int>(i - line_begin) + 1, ""});
        }
        if (c == '{') in_key = true;
        if (c == '[' || c == '{') open.push_back({level, in_key});
        ++i;
    }
}

}  // namespace kasane::io
