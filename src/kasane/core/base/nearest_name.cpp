#include <kasane/core/base/nearest_name.hpp>

#include <algorithm>
#include <cctype>
#include <vector>

namespace kasane {
namespace {

constexpr int letter = 4;   // cost of one wrong, missing or surplus letter
constexpr int capital = 1;  // cost of a letter in the wrong case

int replacement(char a, char b) {
    if (a == b) return 0;
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return lower(a) == lower(b) ? capital : letter;
}

/// Optimal string alignment: Levenshtein's distance with the swap of two neighbours as one edit.
int distance(std::string_view a, std::string_view b) {
    std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j) * letter;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = static_cast<int>(i) * letter;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + letter, row[j - 1] + letter, last[j - 1] + replacement(a[i - 1], b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + letter);
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string_view> known) {
    int least = letter * std::max(1, static_cast<int>(name.size() + 1) / 3) + 1;
    std::string_view nearest;
    for (const auto candidate : known) {
        const int d = distance(name, candidate);
        // A name that shares no letter with the misspelt one is not a useful suggestion.
        const bool kinship = d < letter * static_cast<int>(std::max(name.size(), candidate.size()));
        if (d < least && kinship) least = d, nearest = candidate;
    }
    return std::string(nearest);
}

}  // namespace kasane
