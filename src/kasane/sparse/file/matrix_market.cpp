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
#include <complex>
#include <concepts>
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

/// What a reader takes.
enum class Numbers { real, complex };

struct Header {
    bool coordinate = false, symmetric = false;  ///< symmetric: one triangle, mirrored
    bool complex = false;                        ///< a number is two words, real and imaginary part
    bool conjugate = false, negative = false;    ///< of the mirror image

    index_t rows = 0, columns = 0, entries = 0;
    index_t size_line = 0;
};

/// A file of one matrix or vector, up to its numbers.
class MarketFile {
   public:
    explicit MarketFile(ByteSource& source) : complaints(source.name()), lines_(source) {}

    /// @param matrix  true: a matrix is expected, false: a vector
    Header header(bool matrix, Numbers numbers) {
        std::string_view line;
        lines_.next(line);
        Words words(line);
        words.next();
        std::array<std::string, 4> type;
        for (auto& word : type) word = lower_case(words.next());
        const auto& [object, layout, field, symmetry] = type;
        Header h;
        h.coordinate = layout == "coordinate";
        h.complex = field == "complex";
        integers_ = field == "integer";
        h.conjugate = symmetry == "hermitian";
        h.negative = symmetry == "skew-symmetric";
        h.symmetric = symmetry == "symmetric" || h.conjugate || h.negative;
        if (object.empty() || layout.empty() || field.empty() || symmetry.empty())
            complaints.fail(1, "is cut off: the first line must be like '%%MatrixMarket matrix coordinate real symmetric'");
        check_type(object, layout, field, symmetry, matrix, numbers);
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
        const bool finite = text == NumberText::good && std::isfinite(to);
        if (finite && !(integers_ && to != std::trunc(to))) return true;
        if (finite) {
            complaints.add(line(), in_quotes(word) + " is not a whole number, and the field is 'integer': write 'real' in line 1");
            return false;
        }
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
                    bool matrix, Numbers numbers) {
        const bool takes_complex = numbers == Numbers::complex;
        const auto refuse = [&](const std::string& why) { complaints.add(1, why); };
        if (object != "matrix") refuse("object " + in_quotes(object) + " is not read: only 'matrix' is");
        if (layout != "coordinate" && layout != "array")
            refuse("format " + in_quotes(layout) + " is unknown: it is 'coordinate' or 'array'");
        if (field == "pattern")
            refuse("is a pattern: it says where entries are, not what they are. A file with field 'real' is needed");
        else if (field == "complex" && !takes_complex)
            refuse(matrix ? "is complex, and a real matrix is needed here: write 'real'"
                          : "is complex, and the system is real: write real and imaginary part as two columns of a real array");
        else if (field != "real" && field != "integer" && field != "complex")
            refuse("field " + in_quotes(field) + " is unknown: it must be 'real', 'integer' or 'complex'");
        if (symmetry == "skew-symmetric" && !takes_complex)
            refuse("is skew-symmetric: its diagonal is zero, so it is not positive definite");
        else if (symmetry == "hermitian" && (field != "complex" || !takes_complex))
            refuse("is hermitian, thus complex, and real numbers are needed here: a real one is 'symmetric'");
        else if (symmetry != "general" && symmetry != "symmetric" && symmetry != "hermitian" && symmetry != "skew-symmetric")
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
    bool integers_ = false;  // the field of the file
};

/// The shortest line of a number has `least` characters and its end; the last one may lack the end.
index_t most_lines(const MarketFile& file, std::uint64_t least) { return static_cast<index_t>((file.left() + 1) / (least + 1)); }

[[noreturn]] void too_few(MarketFile& file, const Header& h, index_t found) {
    file.complaints.fail(file.line(),
                         fmt::format("ends after {} of the {} entries that line {} states: it is truncated, or line {} is wrong", found,
                                     h.entries, h.size_line, h.size_line));
}

[[noreturn]] void too_many(MarketFile& file, const Header& h) {
    file.complaints.fail(file.line(), fmt::format("continues after the {} entries that line {} states: line {} is wrong, or something was "
                                                  "appended",
                                                  h.entries, h.size_line, h.size_line));
}

/// Refuses numbers of entries that a file of that length cannot hold.
void check_length(MarketFile& file, const Header& h, std::uint64_t shortest) {
    const auto most = most_lines(file, shortest);
    if (h.entries > most)
        file.complaints.fail(h.size_line,
                             fmt::format("states {} entries, and the {} bytes after it hold {} at most: the file is truncated, or "
                                         "this line is wrong",
                                         h.entries, file.left(), most));
}

/// Reads a number of one word, or of two where the file is complex. @returns false after a complaint
bool read_number(MarketFile& file, const Header& h, Words& words, std::complex<double>& to) {
    double real = 0, imaginary = 0;
    if (!file.value(words.next(), real)) return false;
    if (h.complex && !file.value(words.next(), imaginary)) return false;
    to = {real, imaginary};
    return true;
}
bool read_number(MarketFile& file, const Header&, Words& words, double& to) { return file.value(words.next(), to); }

/// Calls put(row, column, value) for every entry, 0-based. @tparam Value  double or std::complex<double>
template <class Value, class Put>
void read_entries(MarketFile& file, const Header& h, Put put) {
    std::string_view line;
    for (index_t found = 0; found < h.entries; ++found) {
        if (!file.data_line(line)) too_few(file, h, found);
        Words words(line);
        index_t row = 0, column = 0;
        Value value = 0;
        if (file.index(words.next(), "row", h.rows, row) && file.index(words.next(), "column", h.columns, column) &&
            read_number(file, h, words, value) && file.nothing_more(words, h.complex ? "row column real imaginary" : "row column value"))
            put(row - 1, column - 1, value);
    }
    if (file.data_line(line)) too_many(file, h);
    file.complaints.throw_if_any();
}

/// A symmetric file names each off-diagonal place once, in either triangle, which may change from place to place.
/// @param symmetry  the file's word
void check_triangles(MarketFile& file, const std::vector<Entry>& entries, const char* symmetry) {
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
                1, fmt::format("says '{0}', and entry ({1}, {2}) is given as ({2}, {1}) too: a {0} file holds each pair once. If it holds "
                               "both triangles, write 'general' instead",
                               symmetry, e.row + 1, e.column + 1));
}

}  // namespace

bool is_matrix_market(const std::string& head) { return lower_case(head.substr(0, banner.size())) == banner; }

namespace {

/// The header of a square matrix whose counts fit the file and the memory. @param lists  of entries that are kept at a time
Header matrix_header(MarketFile& file, const std::string& name, Numbers numbers, std::uint64_t memory, std::uint64_t lists) {
    const auto h = file.header(true, numbers);
    if (h.rows != h.columns)
        file.complaints.fail(h.size_line, fmt::format("is not square: it has {} rows and {} columns", h.rows, h.columns));
    check_length(file, h, h.complex ? 7 : 5);          // "1 1 1", "1 1 1 1"
    const index_t rows_of_entry = h.negative ? 2 : 1;  // a skew-symmetric entry and its mirror image
    if (h.rows > rows_of_entry * most_lines(file, 5))
        file.complaints.fail(h.size_line,
                             fmt::format("states {} rows, and the {} bytes after it cannot hold an entry for each: every row needs "
                                         "its diagonal entry",
                                         h.rows, file.left()));
    check_file_memory(name, fmt::format("{} rows with {} entries", h.rows, h.entries),
                      lists * assemble_memory(h.rows, h.entries, h.symmetric), memory);
    return h;
}

}  // namespace

MatrixFile read_matrix_market(ByteSource& source, std::uint64_t memory) {
    MarketFile file(source);
    const auto h = matrix_header(file, source.name(), Numbers::real, memory, 1);
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(h.entries));
    read_entries<double>(file, h, [&](index_t row, index_t column, double value) {
        entries.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value});
    });
    if (h.symmetric) check_triangles(file, entries, "symmetric");
    MatrixFile result;
    result.format = "Matrix Market";
    result.symmetric = h.symmetric;
    result.matrix = assemble(h.rows, std::move(entries), h.symmetric, result.duplicates);
    return result;
}

ComplexMatrixFile read_complex_market(ByteSource& source, std::uint64_t memory) {
    MarketFile file(source);
    const auto h = matrix_header(file, source.name(), Numbers::complex, memory, 4);
    // Real and imaginary parts are assembled one after the other: both have the same places in the same order.
    std::vector<Entry> real, imaginary;
    const auto put = [&](index_t row, index_t column, std::complex<double> value) {
        real.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value.real()});
        imaginary.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value.imag()});
    };
    read_entries<std::complex<double>>(file, h, [&](index_t row, index_t column, std::complex<double> value) {
        if (row == column && h.conjugate && value.imag() != 0)
            file.complaints.add(
                file.line(),
                fmt::format("is on the diagonal and has the imaginary part {}: that of a hermitian matrix is real", value.imag()));
        if (row == column && h.negative && value != 0.)
            file.complaints.add(file.line(), "is on the diagonal and not zero: that of a skew-symmetric matrix is zero");
        put(row, column, value);
    });
    if (h.symmetric) {
        check_triangles(file, real, h.conjugate ? "hermitian" : h.negative ? "skew-symmetric" : "symmetric");
        const double sign = h.negative ? -1 : 1, sign_of_imaginary = h.conjugate || h.negative ? -1 : 1;
        for (auto k = real.size(); k-- > 0;)
            if (const Entry r = real[k], i = imaginary[k]; r.row != r.column)
                put(r.column, r.row, {sign * r.value, sign_of_imaginary * i.value});
    }
    ComplexMatrixFile result;
    result.symmetric = h.symmetric;
    index_t again = 0;
    auto whole = assemble(h.rows, std::move(real), false, result.duplicates);
    const auto rest = assemble(h.rows, std::move(imaginary), false, again);
    auto& A = result.matrix;
    A = {std::move(whole.begin), std::move(whole.column), std::vector<std::complex<double>>(whole.value.size())};
    for (std::size_t e = 0; e < A.value.size(); ++e) A.value[e] = {whole.value[e], rest.value[e]};
    if (h.symmetric && result.duplicates > 0) {  // count each pair once
        index_t places = 0;
        for (index_t row = 0; row < A.rows(); ++row)
            for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e)
                places += A.column[static_cast<std::size_t>(e)] <= row;
        result.duplicates = h.entries - places;
    }
    return result;
}

bool is_complex_market(ByteSource& source) {
    const auto head = source.head();
    if (!is_matrix_market(head)) return false;
    Words words(std::string_view(head).substr(0, head.find('\n')));
    for (int k = 0; k < 3; ++k) words.next();
    return lower_case(words.next()) == "complex";
}

namespace {

/// The numbers of an array or of an n x 1 coordinate file, column by column. @param several  more than one column is allowed in an array
/// @tparam Columns  VectorColumns or ComplexColumns
template <class Columns>
Columns read_numbers(ByteSource& source, index_t rows, std::uint64_t memory, bool several) {
    using Value = typename decltype(Columns::values)::value_type;
    MarketFile file(source);
    auto h = file.header(false, std::same_as<Value, double> ? Numbers::real : Numbers::complex);
    const bool allowed = h.columns == 1 || (several && !h.coordinate && h.columns > 1);
    if (!allowed)
        file.complaints.fail(h.size_line,
                             fmt::format("has {} rows and {} columns, and a vector of one column is needed{}", h.rows, h.columns,
                                         h.columns > 1 && !h.coordinate ? ": write each right-hand side to a file of its own" : ""));
    if (h.symmetric && h.rows > 1) file.complaints.fail(1, "says 'symmetric' of a vector: it must be 'general'");
    if (h.columns > most_rows)
        file.complaints.fail(h.size_line, fmt::format("states {} columns, and at most {} can be", h.columns, most_rows));
    if (!h.coordinate) h.entries = h.rows * h.columns;
    check_length(file, h, (h.coordinate ? 5 : 1) + (h.complex ? 2 : 0));
    check_vector_size(source.name(), h.rows, rows);
    const index_t numbers = h.rows * h.columns;
    check_file_memory(source.name(), fmt::format("{} numbers", numbers), static_cast<std::uint64_t>(numbers) * sizeof(Value), memory);
    Columns x{std::vector<Value>(static_cast<std::size_t>(numbers), Value(0)), h.columns};
    if (h.coordinate) {
        read_entries<Value>(file, h, [&](index_t row, index_t, Value value) { x.values[static_cast<std::size_t>(row)] += value; });
        return x;
    }
    std::string_view line;
    for (index_t k = 0; k < numbers; ++k) {
        if (!file.data_line(line)) too_few(file, h, k);
        Words words(line);
        if (read_number(file, h, words, x.values[static_cast<std::size_t>(k)]))
            file.nothing_more(words, h.complex ? "real imaginary" : "value");
    }
    if (file.data_line(line)) too_many(file, h);
    file.complaints.throw_if_any();
    return x;
}

}  // namespace

std::vector<double> read_vector_market(ByteSource& source, index_t rows, std::uint64_t memory) {
    return read_numbers<VectorColumns>(source, rows, memory, false).values;
}

VectorColumns read_columns_market(ByteSource& source, index_t rows, std::uint64_t memory) {
    return read_numbers<VectorColumns>(source, rows, memory, true);
}

ComplexColumns read_complex_columns_market(ByteSource& source, index_t rows, std::uint64_t memory) {
    return read_numbers<ComplexColumns>(source, rows, memory, true);
}

}  // namespace kasane::sparse
