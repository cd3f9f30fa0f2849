// Reads Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html
// Invariants: memory is allocated only after the sizes in a header were compared with the rest of the file; every problem names its line.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/number_text.hpp>
#include <kasane/sparse/file/assemble.hpp>
#include <kasane/sparse/file/readers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kasane::sparse {
namespace {

constexpr std::string_view banner = "%%matrixmarket";

std::string lower_case(std::string_view word) {
    std::string text(word);
    for (auto& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

/// Collects problems of lines, and throws when there are many.
class Complaints {
   public:
    explicit Complaints(std::string file) : file_(std::move(file)) {}
    void add(index_t line, std::string message) {
        problems_.push_back(
            {std::move(message), {file_, static_cast<int>(std::min<index_t>(line, std::numeric_limits<int>::max())), 0, ""}});
        if (problems_.size() >= 8) throw InputError(problems_);
    }
    [[noreturn]] void fail(index_t line, std::string message) {
        problems_.push_back(
            {std::move(message), {file_, static_cast<int>(std::min<index_t>(line, std::numeric_limits<int>::max())), 0, ""}});
        throw InputError(problems_);
    }
    void throw_if_any() const {
        if (!problems_.empty()) throw InputError(problems_);
    }

   private:
    std::string file_;
    std::vector<InputProblem> problems_;
};

struct Header {
    bool coordinate = false, symmetric = false;
    index_t rows = 0, columns = 0, entries = 0;
    index_t size_line = 0;
};

/// A file of one matrix or vector, up to its numbers.
class MarketFile {
   public:
    explicit MarketFile(ByteSource& source) : complaints(source.name()), lines_(source) {}

    /// @param matrix  true: a matrix is expected, false: a vector
    Header header(bool matrix) {
        std::string_view line;
        lines_.next(line);
        Words words(line);
        words.next();
        std::array<std::string, 4> type;
        for (auto& word : type) word = lower_case(words.next());
        const auto& [object, layout, field, symmetry] = type;
        Header h;
        h.coordinate = layout == "coordinate";
        h.symmetric = symmetry == "symmetric";
        if (object.empty() || layout.empty() || field.empty() || symmetry.empty())
            complaints.fail(1, "is cut off: the first line must be like '%%MatrixMarket matrix coordinate real symmetric'");
        check_type(object, layout, field, symmetry, matrix);
        if (!data_line(line)) complaints.fail(lines_.line(), "ends before its size line: it is truncated");
        h.size_line = lines_.line();
        sizes(line, h);
        return h;
    }

    /// The next line that is neither blank nor a comment.
    bool data_line(std::string_view& line) {
        while (lines_.next(line)) {
            const auto first = line.find_first_not_of(" \t\r\v\f");
            if (first != std::string_view::npos && line[first] != '%') return true;
        }
        return false;
    }
    index_t line() const { return lines_.line(); }
    std::uint64_t left() const { return lines_.left(); }

    /// @returns false after a complaint
    bool value(std::string_view word, double& to) {
        const auto text = parse_number(word, to);
        if (text == NumberText::good && std::isfinite(to)) return true;
        complaints.add(line(), word.empty()                       ? "ends before its value: a real number is expected last"
                               : text == NumberText::not_a_number ? in_quotes(word) + " is not a number"
                               : text == NumberText::too_large    ? in_quotes(word) + " is too large for a double"
                                                                  : in_quotes(word) + ": every value must be a finite number");
        return false;
    }
    bool index(std::string_view word, const char* what, index_t most, index_t& to) {
        const auto text = parse_number(word, to);
        if (text == NumberText::good && to >= 1 && to <= most) return true;
        if (word.empty() || text == NumberText::not_a_number)
            complaints.add(line(), fmt::format("{} {} is not a whole number: a line is 'row column value'", what, in_quotes(word)));
        else
            complaints.add(line(), fmt::format("{} {} is out of range: it must be from 1 to {}{}", what, in_quotes(word), most,
                                               text == NumberText::good && to == 0 ? "; Matrix Market counts from 1" : ""));
        return false;
    }
    bool nothing_more(Words& words, const char* expected) {
        const auto word = words.next();
        if (word.empty()) return true;
        complaints.add(line(), fmt::format("{} is one word too many: a line is '{}'", in_quotes(word), expected));
        return false;
    }

    Complaints complaints;

   private:
    void check_type(const std::string& object, const std::string& layout, const std::string& field, const std::string& symmetry,
                    bool matrix) {
        const auto refuse = [&](const std::string& why) { complaints.add(1, why); };
        if (object != "matrix") refuse("object " + in_quotes(object) + " is not read: only 'matrix' is");
        if (layout != "coordinate" && layout != "array")
            refuse("format " + in_quotes(layout) + " is unknown: it is 'coordinate' or 'array'");
        if (field == "pattern")
            refuse("is a pattern: it says where entries are, not what they are. A file with field 'real' is needed");
        else if (field == "complex")
            refuse("is complex: systems are real. Solve real and imaginary part as one real system, or write 'real'");
        else if (field != "real" && field != "integer")
            refuse("field " + in_quotes(field) + " is unknown: it must be 'real' or 'integer'");
        if (symmetry == "skew-symmetric")
            refuse("is skew-symmetric: its diagonal is zero, so it is not positive definite");
        else if (symmetry == "hermitian")
            refuse("is hermitian, thus complex: systems are real. A real one is 'symmetric'");
        else if (symmetry != "general" && symmetry != "symmetric")
            refuse("symmetry " + in_quotes(symmetry) + " is unknown: it must be 'general' or 'symmetric'");
        if (matrix && layout == "array")
            refuse("is an array: a dense matrix or a vector. A sparse matrix is needed, 'matrix coordinate real symmetric' (or general)");
        complaints.throw_if_any();
    }

    void sizes(std::string_view line, Header& h) {
        Words words(line);
        std::array<index_t*, 3> numbers{&h.rows, &h.columns, &h.entries};
        const std::size_t count = h.coordinate ? 3 : 2;
        const char* expected = h.coordinate ? "rows columns entries" : "rows columns";
        for (std::size_t i = 0; i < count; ++i) {
            const auto word = words.next();
            const auto text = parse_number(word, *numbers[i]);
            if (text != NumberText::good || *numbers[i] < 0)
                complaints.fail(h.size_line,
                                text == NumberText::too_large
                                    ? in_quotes(word) + " is too large for a size"
                                    : fmt::format("the size line must be '{}', and {} is not such a number", expected, in_quotes(word)));
        }
        if (const auto word = words.next(); !word.empty())
            complaints.fail(h.size_line, fmt::format("the size line must be '{}', and {} is one word too many", expected, in_quotes(word)));
        if (h.rows == 0 || h.columns == 0)
            complaints.fail(h.size_line, fmt::format("is empty: it has {} rows and {} columns", h.rows, h.columns));
        if (h.rows > most_rows) complaints.fail(h.size_line, fmt::format("states {} rows, and at most {} can be", h.rows, most_rows));
    }

    LineReader lines_;
};

/// The shortest line of a number has `least` characters and its end; the last one may lack the end.
index_t most_lines(const MarketFile& file, std::uint64_t least) { return static_cast<index_t>((file.left() + 1) / (least + 1)); }

[[noreturn]] void too_few(MarketFile& file, const Header& h, index_t found) {
    file.complaints.fail(file.line(),
                         fmt::format("ends after {} of the {} entries that line {} states: it is truncated, or line {} is wrong", found,
                                     h.entries, h.size_line, h.size_line));
}

[[noreturn]] void too_many(MarketFile& file, const Header& h) {
    file.complaints.fail(file.line(), fmt::format("continues behind the {} entries that line {} states: line {} is wrong, or something was "
                                                  "appended",
                                                  h.entries, h.size_line, h.size_line));
}

/// Refuses numbers of entries that a file of that length cannot hold.
void check_length(MarketFile& file, const Header& h, std::uint64_t shortest) {
    const auto most = most_lines(file, shortest);
    if (h.entries > most)
        file.complaints.fail(h.size_line,
                             fmt::format("states {} entries, and the {} bytes behind it hold {} at most: the file is truncated, or "
                                         "this line is wrong",
                                         h.entries, file.left(), most));
}

/// Calls put(row, column, value) for every entry, 0-based.
template <class Put>
void read_entries(MarketFile& file, const Header& h, Put put) {
    std::string_view line;
    for (index_t found = 0; found < h.entries; ++found) {
        if (!file.data_line(line)) too_few(file, h, found);
        Words words(line);
        index_t row = 0, column = 0;
        double value = 0;
        if (file.index(words.next(), "row", h.rows, row) && file.index(words.next(), "column", h.columns, column) &&
            file.value(words.next(), value) && file.nothing_more(words, "row column value"))
            put(row - 1, column - 1, value);
    }
    if (file.data_line(line)) too_many(file, h);
    file.complaints.throw_if_any();
}

/// A symmetric file names each off-diagonal place once, in either triangle, which may change from place to place.
void check_triangles(MarketFile& file, const std::vector<Entry>& entries) {
    const auto key = [](std::int32_t larger, std::int32_t smaller) {
        return static_cast<std::uint64_t>(larger) << 32 | static_cast<std::uint32_t>(smaller);
    };
    std::vector<std::uint64_t> upper;
    bool lower = false;
    for (const auto& e : entries) {
        if (e.column > e.row)
            upper.push_back(key(e.column, e.row));
        else
            lower = lower || e.row > e.column;
    }
    if (!lower || upper.empty()) return;
    std::sort(upper.begin(), upper.end());
    for (const auto& e : entries)
        if (e.row > e.column && std::binary_search(upper.begin(), upper.end(), key(e.row, e.column)))
            file.complaints.fail(
                1, fmt::format("says 'symmetric', and entry ({}, {}) is given as ({}, {}) too: a symmetric file holds each pair "
                               "once. If it holds both triangles, write 'general' instead",
                               e.row + 1, e.column + 1, e.column + 1, e.row + 1));
}

}  // namespace

bool is_matrix_market(const std::string& head) { return lower_case(head.substr(0, banner.size())) == banner; }

MatrixFile read_matrix_market(ByteSource& source, std::uint64_t memory) {
    MarketFile file(source);
    const auto h = file.header(true);
    if (h.rows != h.columns)
        file.complaints.fail(h.size_line, fmt::format("is not square: it has {} rows and {} columns", h.rows, h.columns));
    check_length(file, h, 5);  // "1 1 1"
    if (h.rows > most_lines(file, 5))
        file.complaints.fail(h.size_line,
                             fmt::format("states {} rows, and the {} bytes behind it cannot hold an entry for each: every row needs "
                                         "its diagonal entry",
                                         h.rows, file.left()));
    check_file_memory(source.name(), fmt::format("{} rows with {} entries", h.rows, h.entries),
                      assemble_memory(h.rows, h.entries, h.symmetric), memory);
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(h.entries));
    read_entries(file, h, [&](index_t row, index_t column, double value) {
        entries.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value});
    });
    if (h.symmetric) check_triangles(file, entries);
    MatrixFile result;
    result.format = "Matrix Market";
    result.symmetric = h.symmetric;
    result.matrix = assemble(h.rows, std::move(entries), h.symmetric, result.duplicates);
    return result;
}

namespace {

/// The numbers of an array or of an n x 1 coordinate file, column by column. @param several  more than one column is allowed in an array
VectorColumns read_numbers(ByteSource& source, index_t rows, std::uint64_t memory, bool several) {
    MarketFile file(source);
    auto h = file.header(false);
    const bool allowed = h.columns == 1 || (several && !h.coordinate && h.columns > 1);
    if (!allowed)
        file.complaints.fail(h.size_line,
                             fmt::format("has {} rows and {} columns, and a vector of one column is needed{}", h.rows, h.columns,
                                         h.columns > 1 && !h.coordinate ? ": write each right-hand side to a file of its own" : ""));
    if (h.symmetric && h.rows > 1) file.complaints.fail(1, "says 'symmetric' of a vector: it must be 'general'");
    if (h.columns > most_rows)
        file.complaints.fail(h.size_line, fmt::format("states {} columns, and at most {} can be", h.columns, most_rows));
    if (!h.coordinate) h.entries = h.rows * h.columns;
    check_length(file, h, h.coordinate ? 5 : 1);
    check_vector_size(source.name(), h.rows, rows);
    const index_t numbers = h.rows * h.columns;
    check_file_memory(source.name(), fmt::format("{} numbers", numbers), static_cast<std::uint64_t>(numbers) * sizeof(double), memory);
    VectorColumns x{std::vector<double>(static_cast<std::size_t>(numbers), 0), h.columns};
    if (h.coordinate) {
        read_entries(file, h, [&](index_t row, index_t, double value) { x.values[static_cast<std::size_t>(row)] += value; });
        return x;
    }
    std::string_view line;
    for (index_t k = 0; k < numbers; ++k) {
        if (!file.data_line(line)) too_few(file, h, k);
        Words words(line);
        if (file.value(words.next(), x.values[static_cast<std::size_t>(k)])) file.nothing_more(words, "value");
    }
    if (file.data_line(line)) too_many(file, h);
    file.complaints.throw_if_any();
    return x;
}

}  // namespace

std::vector<double> read_vector_market(ByteSource& source, index_t rows, std::uint64_t memory) {
    return read_numbers(source, rows, memory, false).values;
}

VectorColumns read_columns_market(ByteSource& source, index_t rows, std::uint64_t memory) {
    return read_numbers(source, rows, memory, true);
}

}  // namespace kasane::sparse
