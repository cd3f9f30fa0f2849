// Formulas of run files, parsed and evaluated by muParser.
// Invariants: muParser gets only what kasane documents: length, characters, parentheses, assignments and chained comparisons are checked
// before; its optimizer, which reorders sums, is off; each thread evaluates with its own parser.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

namespace kasane::sparse {
namespace {

constexpr std::size_t longest = 10'000;  ///< characters; muParser's own limit is slightly higher

struct Function {
    const char* name;
    double (*of)(double);
};
constexpr Function functions[] = {{"sin", [](double x) { return std::sin(x); }},   {"cos", [](double x) { return std::cos(x); }},
                                  {"exp", [](double x) { return std::exp(x); }},   {"log", [](double x) { return std::log(x); }},
                                  {"sqrt", [](double x) { return std::sqrt(x); }}, {"abs", [](double x) { return std::abs(x); }}};
constexpr const char* variables[] = {"i", "j", "k", "x", "y", "z"};
constexpr std::string_view names[] = {"i", "j", "k", "x", "y", "z", "pi", "sin", "cos", "exp", "log", "sqrt", "abs"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// @param at  offset of the problem
[[noreturn]] void fail(std::string_view text, std::size_t at, const std::string& what) {
    const auto before = text.substr(0, at);
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto column = static_cast<int>(at - (before.rfind('\n') + 1)) + 1;  // npos + 1 is 0
    const bool one_line = text.find('\n') == text.npos;
    throw InputError(fmt::format("{}column {} of the formula: {}", one_line ? "" : fmt::format("line {}, ", line), column, what),
                     {"", 0, column, ""});
}

/// The character at an offset; of UTF-8 all its bytes.
std::string_view character(std::string_view text, std::size_t at) {
    auto end = at + 1;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    return text.substr(at, end - at);
}

std::string_view word(std::string_view text, std::size_t at) {
    auto end = at;
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    return text.substr(at, end - at);
}

std::size_t skip_space(std::string_view text, std::size_t at) {
    while (at < text.size() && is_space(text[at])) ++at;
    return at;
}

/// Whether the text before an offset ends with an operand, so that an operator must follow.
bool after_operand(std::string_view text, std::size_t at) {
    while (at > 0 && is_space(text[at - 1])) --at;
    return at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == ')');
}

[[noreturn]] void fail_unexpected(std::string_view text, std::size_t at) {
    const bool operand = after_operand(text, at), sign = text[at] == '-' || text[at] == '+';
    fail(text, at,
         fmt::format("'{}' is not expected here: {}{}", character(text, at),
                     operand ? "an operator or the end is" : "a number, a name or ( is",
                     sign && !operand ? ". Write a second sign in parentheses, 2*(-(-x))" : ""));
}

[[noreturn]] void fail_end(std::string_view text) { fail(text, text.size(), "the formula ends where a number, a name or ( is expected"); }

/// Refuses formulas that muParser accepts and kasane does not, and those for which muParser reports no place.
void check_text(std::string_view text) {
    if (text.size() > longest)
        throw InputError(fmt::format("the formula has {} characters, and {} are allowed: give the values in an HDF5 file instead",
                                     text.size(), longest));
    struct Parenthesis {
        std::size_t opened_at;
        bool compared = false;  ///< a comparison is part of the present operand of && || ? :
    };
    std::vector<Parenthesis> open{{0}};
    bool empty = true;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (is_space(c)) continue;
        empty = false;
        const auto two = text.substr(at, 2);
        if (two == "&&" || two == "||") {
            open.back().compared = false;
            ++at;
        } else if (two == "<=" || two == ">=" || two == "==" || two == "!=" || c == '<' || c == '>') {
            if (open.back().compared)
                fail(text, at, "comparisons cannot be chained: write 0 < x && x < 1 instead of 0 < x < 1, or use parentheses");
            open.back().compared = true;
            if (two.size() == 2 && two[1] == '=') ++at;
        } else if (c == '=') {
            fail(text, at, "= would assign a value: a comparison is ==");
        } else if (c == '?' || c == ':') {
            open.back().compared = false;
        } else if (c == '(') {
            open.push_back({at});
        } else if (c == ')') {
            if (open.size() == 1) fail(text, at, "')' closes no parenthesis: an operator or the end is expected here");
            open.pop_back();
        } else if (c == ',') {
            fail(text, at, "',' is not expected here: the decimal separator is '.', and functions take one argument");
        } else if ((c == '+' || c == '-') && !after_operand(text, at)) {
            const auto next = skip_space(text, at + 1);
            if (next == text.size()) fail_end(text);
            if (!is_letter(text[next]) && !is_digit(text[next]) && text[next] != '.' && text[next] != '(') fail_unexpected(text, next);
        } else if (!is_letter(c) && !is_digit(c) && std::string_view(".+-*/^").find(c) == std::string_view::npos) {
            fail_unexpected(text, at);
        }
    }
    if (empty) fail(text, text.size(), "the formula is empty: give a number, or for example i + j + k");
    if (open.size() > 1)
        fail(text, text.size(),
             fmt::format("the formula ends, and the parenthesis '(' at character {} is open: close it with )", open.back().opened_at + 1));
}

/// Reports a position at which no token of muParser begins.
[[noreturn]] void fail_unknown(std::string_view text, std::size_t at) {
    if (after_operand(text, at)) fail_unexpected(text, at);
    if (is_digit(text[at]) || text[at] == '.')
        fail(text, at, "no number can be read here: write 1, 0.5 or 1e-3, within the range of doubles");
    if (!is_letter(text[at])) fail_unexpected(text, at);
    const auto name = word(text, at);
    if (std::ranges::any_of(functions, [&](const Function& f) { return f.name == name; }))
        fail(text, at, fmt::format("'{0}' is a function: its argument follows in parentheses, {0}(...)", name));
    const auto near = nearest_name(name, names);
    fail(text, at,
         fmt::format("'{}' is not known; there are i j k (cell indices), x y z (cell centres), pi and sin cos exp log sqrt abs{}", name,
                     near.empty() ? "" : ". Did you mean '" + near + "'?"));
}

[[noreturn]] void fail(std::string_view text, const mu::ParserError& error) {
    const auto end = text.size();
    const auto at = error.GetPos() < 0 ? end : std::min(static_cast<std::size_t>(error.GetPos()), end);
    switch (error.GetCode()) {
        case mu::ecUNEXPECTED_EOF: fail_end(text);
        case mu::ecMISSING_ELSE_CLAUSE:
        case mu::ecMISPLACED_COLON:
            fail(text, at, "? and : come in pairs: write CONDITION ? VALUE : VALUE_OTHERWISE, with parentheses where they are nested");
        case mu::ecUNASSIGNABLE_TOKEN: fail_unknown(text, at);
        default:
            if (at == end) fail(text, end, "muParser refuses the formula: " + error.GetMsg());
            fail_unexpected(text, at);
    }
}

/// One formula with its variables, for one thread.
class Formula {
   public:
    /// @throws InputError as check_formula()
    explicit Formula(const std::string& text) {
        check_text(text);
        parser_.EnableOptimizer(false);
        parser_.ClearFun();
        parser_.ClearConst();
        parser_.DefineConst("pi", std::numbers::pi);
        for (const auto& function : functions) parser_.DefineFun(function.name, function.of);
        for (std::size_t v = 0; v < at_.size(); ++v) parser_.DefineVar(variables[v], &at_[v]);
        try {
            parser_.SetExpr(text);
            parser_.Eval();  // setting the expression parses it
        } catch (const mu::ParserError& error) {
            fail(text, error);
        }
    }
    Formula(const Formula&) = delete;  // the parser keeps pointers to the variables
    Formula& operator=(const Formula&) = delete;

    /// The cell along one direction, counted from 0, and its centre.
    void place(std::size_t direction, index_t cell, double centre) {
        at_[direction] = static_cast<double>(cell + 1);
        at_[3 + direction] = centre;
    }
    double value() const { return parser_.Eval(); }

   private:
    std::array<double, std::size(variables)> at_{};
    mu::Parser parser_;
};

}  // namespace

void check_formula(const std::string& text) { Formula{text}; }

std::vector<double> source_of(const PoissonProblem& problem, const std::string& formula) {
    validate(problem);
    check_formula(formula);
    const std::array centres{cell_centres(problem, 0), cell_centres(problem, 1), cell_centres(problem, 2)};
    const auto centre = [&](std::size_t d, index_t cell) { return centres[d][static_cast<std::size_t>(cell)]; };
    const auto nx = problem.cells[0], ny = problem.cells[1], nz = problem.cells[2];
    std::vector<double> values(static_cast<std::size_t>(problem.rows()));
#pragma omp parallel num_threads(thread_count(Cpu{}))
    {
        Formula f(formula);
#pragma omp for schedule(static)
        for (index_t line = 0; line < ny * nz; ++line) {
            f.place(1, line % ny, centre(1, line % ny));
            f.place(2, line / ny, centre(2, line / ny));
            for (index_t i = 0; i < nx; ++i) {
                f.place(0, i, centre(0, i));
                values[static_cast<std::size_t>(i + nx * line)] = f.value();
            }
        }
    }
    const auto bad = std::ranges::find_if_not(values, [](double v) { return std::isfinite(v); });
    if (bad != values.end()) {
        const auto row = static_cast<index_t>(bad - values.begin());
        const auto i = row % nx, j = row / nx % ny, k = row / (nx * ny);
        throw InputError(
            fmt::format("the formula gives {} in cell ({}, {}, {}), at x = {:.6g}, y = {:.6g}, z = {:.6g}: it must be finite everywhere",
                        *bad, i + 1, j + 1, k + 1, centre(0, i), centre(1, j), centre(2, k)));
    }
    return values;
}

std::vector<double> face_values(const PoissonProblem& problem, std::size_t face) {
    const std::size_t across = face / 2, first = across == 0 ? 1 : 0, second = across == 2 ? 1 : 2;
    const bool upper = face % 2 == 1;
    const auto columns = problem.cells[first], lines = problem.cells[second];
    const auto& condition = problem.boundary[face];
    std::vector<double> values(static_cast<std::size_t>(columns * lines), condition.value);
    if (condition.formula.empty()) return values;
    Formula f(condition.formula);
    const auto u = cell_centres(problem, static_cast<int>(first)), v = cell_centres(problem, static_cast<int>(second));
    const auto edges = cell_faces(problem, static_cast<int>(across));
    f.place(across, upper ? problem.cells[across] - 1 : 0, upper ? edges.back() : edges.front());
    for (index_t line = 0; line < lines; ++line) {
        f.place(second, line, v[static_cast<std::size_t>(line)]);
        for (index_t column = 0; column < columns; ++column) {
            f.place(first, column, u[static_cast<std::size_t>(column)]);
            const double value = values[static_cast<std::size_t>(column + columns * line)] = f.value();
            KS_VALIDATE(std::isfinite(value),
                        fmt::format("the formula gives {} at {} = {:.6g}, {} = {:.6g}: it must be finite on the whole face", value,
                                    "xyz"[first], u[static_cast<std::size_t>(column)], "xyz"[second], v[static_cast<std::size_t>(line)]),
                        {"", 0, 0, face_names[face]});
        }
    }
    return values;
}

}  // namespace kasane::sparse
