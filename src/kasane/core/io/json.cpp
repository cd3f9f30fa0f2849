#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::io {
namespace {

constexpr int most_json_levels = 64;  // files of kasane have fewer than 10

/// Number of the line of the byte at this position.
int line_of(std::string_view text, std::size_t position) {
    return 1 + static_cast<int>(std::ranges::count(text.substr(0, position), '\n'));
}

void check_depth(std::string_view text, const std::filesystem::path& file) {
    int level = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == ']' || c == '}') {
            --level;
        } else if (c == '[' || c == '{') {
            KS_VALIDATE(++level <= most_json_levels,
                        fmt::format("is not a JSON file of kasane: arrays and objects are nested deeper than {} levels", most_json_levels),
                        {file.string(), line_of(text, i), 0, ""});
        }
    }
}

}  // namespace

io::Json parse_json(std::string_view text, const std::filesystem::path& file) {
    check_depth(text, file);
    try {
        return io::Json::parse(text);
    } catch (const io::Json::parse_error& error) {
        const auto line = line_of(text, std::max<std::size_t>(error.byte, 1) - 1);
        throw InputError("is not JSON: it is damaged, or another kind of file", {file.string(), line, 0, ""});
    } catch (const io::Json::out_of_range&) {
        throw InputError("is not a JSON file of kasane: a number in it is beyond double precision", {file.string(), 0, 0, ""});
    }
}

}  // namespace kasane::io
