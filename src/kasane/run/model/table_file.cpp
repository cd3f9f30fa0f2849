#include <kasane/core/io/input_file.hpp>
#include <kasane/run/model/table_file.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace kasane::run {
namespace {

constexpr std::size_t largest_file = 16u << 20;  // a quarter of a million lines
constexpr std::size_t most_problems = 10;        // a file of another kind has one per line

std::string read_text(const std::filesystem::path& path) {
    auto text = io::read_text_file(path, largest_file, "a table of two columns");
    KS_VALIDATE(text.find('\0') == std::string::npos, "is not text: a table of two columns of numbers is needed",
                {path.string(), 0, 0, ""});
    return text;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == '\v' || c == '\f'; }

/// The next word of the line, taken off it; empty at its end.
std::string_view next_word(std::string_view& line) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    std::size_t end = 0;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const auto word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

/// A word as shown in a message: printable and short.
std::string shown(std::string_view word) {
    std::string text;
    for (const char c : word.substr(0, 24)) text += c >= 0x20 && c < 0x7f ? c : '?';
    return word.size() > 24 ? text + "..." : text;
}

double parse_number(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    KS_VALIDATE(error != std::errc::invalid_argument && end == word.data() + word.size(),
                fmt::format("\"{}\" is not a number", shown(word)));
    KS_VALIDATE(error == std::errc{} && std::isfinite(value), fmt::format("{} is not a finite number in double precision", shown(word)));
    return value;
}

}  // namespace

gravity::Table read_table(const std::filesystem::path& path) {
    const auto text = read_text(path);
    gravity::Table table;
    table.source = path.string();
    std::vector<InputProblem> problems;
    std::string_view rest = text;
    for (int line_number = 1; !rest.empty() && problems.size() < most_problems; ++line_number) {
        const auto end = rest.find('\n');
        auto line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        line = line.substr(0, line.find('#'));
        const auto first = next_word(line), second = next_word(line), third = next_word(line);
        if (first.empty()) continue;
        try {
            KS_VALIDATE(!second.empty(), "has one column: radius and density are needed");
            KS_VALIDATE(third.empty(), "has more than two columns: radius and density are needed. Put # before what else there is");
            const double radius = parse_number(first), density = parse_number(second);
            table.radius.push_back(radius);
            table.density.push_back(density);
        } catch (const InputError& error) {
            problems.push_back({error.problems().front().message, {path.string(), line_number, 0, ""}});
        }
    }
    if (!problems.empty()) throw InputError(std::move(problems));
    KS_VALIDATE(!table.radius.empty(), "holds no numbers: two columns, radius and density, are needed", {path.string(), 0, 0, ""});
    return table;
}

}  // namespace kasane::run
