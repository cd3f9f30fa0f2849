#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/input_file.hpp>
#include <kasane/run/gauge/update_table.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace kasane::run {
namespace {

/// Removes the text before the next comma, and the comma, from the line and parses it. @returns false where it is not a number
template <class T>
bool take(std::string_view& line, T& value) {
    const auto comma = line.find(',');
    const auto field = line.substr(0, comma);
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc{} && end == field.data() + field.size();
}

}  // namespace

std::vector<std::string> split_at_commas(std::string_view line) {
    std::vector<std::string> words;
    for (;;) {
        const auto comma = line.find(',');
        words.emplace_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return words;
        line.remove_prefix(comma + 1);
    }
}

void UpdateTable::add(std::int64_t update, const std::vector<double>& row) {
    KS_REQUIRE(row.size() == columns.size(), fmt::format("a row of {} numbers for the {} columns of {}", row.size(), columns.size(), name));
    updates.push_back(update);
    for (std::size_t k = 0; k < row.size(); ++k) values[k].push_back(row[k]);
}

std::vector<double> UpdateTable::column(const std::string& name_of, std::int64_t after) const {
    const auto found = std::ranges::find(columns, name_of);
    if (found == columns.end()) return {};
    const auto& all = values[static_cast<std::size_t>(found - columns.begin())];
    const auto first = std::ranges::upper_bound(updates, after) - updates.begin();
    return {all.begin() + first, all.end()};
}

void write_table(const std::filesystem::path& path, const char* update, const UpdateTable& table) {
    auto text = fmt::format("{},{}\n", update, fmt::join(table.columns, ","));
    for (std::size_t i = 0; i < table.updates.size(); ++i) {
        text += fmt::format("{}", table.updates[i]);
        for (const auto& column : table.values) text += fmt::format(",{:.17g}", column[i]);
        text += '\n';
    }
    write_atomically(path, text);
}

UpdateTable read_table(const std::filesystem::path& path, const char* update, const std::vector<std::string>& columns) {
    io::check_regular_file(path, "a table of measurements");
    std::ifstream file(path, std::ios::binary);
    KS_VALIDATE(file, "cannot be read", {path.string(), 0, 0, ""});
    std::string line;
    std::getline(file, line);
    auto found = split_at_commas(line);
    KS_VALIDATE(found[0] == update, fmt::format("does not begin with the column {}", update), {path.string(), 1, 0, ""});
    found.erase(found.begin());
    KS_VALIDATE(columns.empty() || found == columns, fmt::format("does not begin with the line \"{},{}\"", update, fmt::join(columns, ",")),
                {path.string(), 1, 0, ""});
    UpdateTable table(path.stem().string(), std::move(found));
    std::vector<double> row(table.columns.size());
    for (int number = 2; std::getline(file, line); ++number) {
        std::int64_t at = 0;
        std::string_view rest = line;
        bool good = take(rest, at);
        for (auto& value : row) good = good && take(rest, value);
        KS_VALIDATE(good && rest.empty(), fmt::format("is not a row of {} numbers", row.size() + 1), {path.string(), number, 0, ""});
        KS_VALIDATE(table.empty() || at > table.updates.back(), fmt::format("has {} {} after {}", update, at, table.updates.back()),
                    {path.string(), number, 0, ""});
        table.add(at, row);
    }
    return table;
}

}  // namespace kasane::run
