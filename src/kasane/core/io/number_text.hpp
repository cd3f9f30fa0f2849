// Lines, words and numbers of a text file, as fast as the disk delivers them.
// Invariants: nothing depends on the locale; a number is taken only if the whole word is one.
#pragma once

#include <kasane/core/io/byte_source.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kasane {

/// Lines without their ends (LF or CR LF), counted from 1.
class LineReader {
   public:
    explicit LineReader(ByteSource& source)
        : source_(source), buffer_(static_cast<std::size_t>(std::min<std::uint64_t>(block, source.left() + 1))) {}
    /// The next line, valid until the next call. @returns false at the end
    /// @throws InputError for a line longer than a block: not a text file
    bool next(std::string_view& line);
    index_t line() const { return line_; }
    /// Bytes after the last line.
    std::uint64_t left() const { return source_.left() + (end_ - begin_); }

   private:
    static constexpr std::size_t block = std::size_t{1} << 20;
    ByteSource& source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // the bytes that are not read yet
    index_t line_ = 0;
};

/// Takes words from the front of a line.
class Words {
   public:
    explicit Words(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}
    /// Returns the next word; empty at the end of the line.
    std::string_view next() {
        while (at_ < end_ && is_blank(*at_)) ++at_;
        const char* first = at_;
        while (at_ < end_ && !is_blank(*at_)) ++at_;
        return {first, static_cast<std::size_t>(at_ - first)};
    }

   private:
    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
    const char *at_, *end_;
};

enum class NumberText { good, not_a_number, too_large };
NumberText parse_number(std::string_view word, index_t& to);
/// Reads a number, also with a Fortran exponent (1.5D+3, 1.5-103). A number too small for a double becomes the nearest one; "nan" and "inf"
/// are read.
NumberText parse_number(std::string_view word, double& to);

/// Quotes a word of a file for a message: in quotation marks, short, printable.
std::string in_quotes(std::string_view word);

}  // namespace kasane
