#include <kasane/core/base/error.hpp>
#include <kasane/core/io/number_text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <locale>
#include <sstream>

namespace kasane {

bool LineReader::next(std::string_view& line) {
    const auto* newline = begin_ < end_ ? static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_)) : nullptr;
    if (!newline) {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
                  buffer_.begin());
        end_ -= begin_;
        begin_ = 0;
        const auto searched = end_;
        end_ += source_.read(buffer_.data() + end_, buffer_.size() - end_);
        if (end_ == 0) return false;
        newline = static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
        KS_VALIDATE(newline || end_ < buffer_.size(), "has a line of more than a million characters: it is not a text file, or damaged",
                    {source_.name(), static_cast<int>(line_ + 1), 0, ""});
    }
    const auto stop = newline ? static_cast<std::size_t>(newline - buffer_.data()) : end_;
    line = {buffer_.data() + begin_, stop - begin_};
    begin_ = newline ? stop + 1 : stop;
    ++line_;
    return true;
}

namespace {

/// from_chars does not accept a plus sign.
std::string_view without_plus(std::string_view word) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+') word.remove_prefix(1);
    return word;
}

/// from_chars reports too large and too small alike.
NumberText out_of_range(std::string_view word, double& to) {
    std::istringstream stream{std::string(word)};
    stream.imbue(std::locale::classic());
    return stream >> to && std::isfinite(to) ? NumberText::good : NumberText::too_large;
}

/// Fortran writes the exponent with a D, and omits the letter where the exponent has three digits. Empty: neither.
std::string with_exponent(std::string_view word, std::size_t behind_mantissa) {
    std::string text(word);
    const char c = text[behind_mantissa];
    if (c == 'd' || c == 'D') {
        text[behind_mantissa] = 'e';
    } else if ((c == '+' || c == '-') && text.size() - behind_mantissa == 4) {
        text.insert(behind_mantissa, 1, 'e');
    } else {
        return "";
    }
    return text;
}

}  // namespace

NumberText parse_number(std::string_view word, index_t& to) {
    word = without_plus(word);
    const auto* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, to);
    if (error == std::errc::result_out_of_range && stop == end) return NumberText::too_large;
    return error == std::errc{} && stop == end ? NumberText::good : NumberText::not_a_number;
}

NumberText parse_number(std::string_view word, double& to) {
    word = without_plus(word);
    const auto* end = word.data() + word.size();
    auto [stop, error] = std::from_chars(word.data(), end, to);
    if (error == std::errc{} && stop == end) return NumberText::good;
    if (error == std::errc::invalid_argument) return NumberText::not_a_number;
    std::string fortran;
    if (stop != end) {
        fortran = with_exponent(word, static_cast<std::size_t>(stop - word.data()));
        if (fortran.empty()) return NumberText::not_a_number;
        word = fortran;
        end = word.data() + word.size();
        const auto again = std::from_chars(word.data(), end, to);
        stop = again.ptr, error = again.ec;
        if (stop != end) return NumberText::not_a_number;
    }
    return error == std::errc::result_out_of_range ? out_of_range(word, to) : NumberText::good;
}

std::string in_quotes(std::string_view word) {
    constexpr std::size_t most = 32;
    std::string text = "'";
    for (const char c : word.substr(0, most)) text += c >= ' ' && c < 127 ? c : '?';
    return text + (word.size() > most ? "...'" : "'");
}

}  // namespace kasane
