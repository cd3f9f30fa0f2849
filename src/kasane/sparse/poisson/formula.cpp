// Formulas of run files: a recursive descent over the text writes a program for a stack of numbers, which is then run for every cell.
// Invariants: nesting is limited, so neither the parser's recursion nor the stack can overflow; a program is constant once parsed.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

namespace kasane::sparse {
namespace {

enum class Op : unsigned char { number, i, j, k, x, y, z, add, subtract, multiply, divide, power, negate, sin, cos, exp, log, sqrt, abs };

struct Step {
    Op op;
    double value = 0;
};

constexpr int deepest = 64;  ///< of parentheses, functions, signs and exponents inside one another
/// A level holds at most three operands back: of a sum, of a product and of a power.
constexpr int stack_size = 3 * deepest + 4;

constexpr std::pair<std::string_view, Op> variables[] = {{"i", Op::i}, {"j", Op::j}, {"k", Op::k},
                                                         {"x", Op::x}, {"y", Op::y}, {"z", Op::z}};
constexpr std::pair<std::string_view, Op> functions[] = {{"sin", Op::sin}, {"cos", Op::cos},   {"exp", Op::exp},
                                                         {"log", Op::log}, {"sqrt", Op::sqrt}, {"abs", Op::abs}};
constexpr std::string_view names[] = {"i", "j", "k", "x", "y", "z", "pi", "sin", "cos", "exp", "log", "sqrt", "abs"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// sum = product {(+|-) product};  product = signed {(*|/) signed};  signed = -signed | power;  power = atom [^ signed]
class Parser {
   public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::vector<Step> program() {
        skip();
        if (at_end()) fail("the formula is empty: give a number, or for example i + j + k");
        sum();
        if (!at_end()) fail(fmt::format("'{}' is not expected here: an operator + - * / ^ or the end is", here()));
        return std::move(program_);
    }

   private:
    [[noreturn]] void fail(const std::string& what) const {
        throw InputError(fmt::format("column {} of the formula: {}", at_ + 1, what), {"", 0, static_cast<int>(at_) + 1, ""});
    }
    bool at_end() const { return at_ == text_.size(); }
    /// The character here; of UTF-8 all its bytes.
    std::string_view here() const {
        auto end = at_ + 1;
        while (end < text_.size() && (text_[end] & 0xC0) == 0x80) ++end;
        return text_.substr(at_, end - at_);
    }
    void skip() {
        while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        skip();
        return true;
    }
    void write(Op op, double value = 0) { program_.push_back({op, value}); }

    void sum() {
        product();
        for (;;) {
            const Op op = take('+') ? Op::add : take('-') ? Op::subtract : Op::number;
            if (op == Op::number) return;
            product();
            write(op);
        }
    }
    void product() {
        signed_power();
        for (;;) {
            const Op op = take('*') ? Op::multiply : take('/') ? Op::divide : Op::number;
            if (op == Op::number) return;
            signed_power();
            write(op);
        }
    }
    void signed_power() {
        if (++depth_ > deepest) fail(fmt::format("nested deeper than {} levels: write it in fewer", deepest));
        if (take('-')) {
            signed_power();
            write(Op::negate);
        } else {
            atom();
            if (take('^')) {
                signed_power();
                write(Op::power);
            }
        }
        --depth_;
    }
    void parenthesis(std::size_t opened_at) {
        sum();
        if (take(')')) return;
        if (at_end()) fail(fmt::format("the formula ends, and the parenthesis of column {} is open: close it with )", opened_at + 1));
        fail(fmt::format("'{}' is not expected here: an operator or ) is", here()));
    }
    void atom() {
        if (at_end()) fail("the formula ends where a number, a name or ( is expected");
        const auto start = at_;
        if (take('(')) return parenthesis(start);
        if (is_digit(text_[at_]) || text_[at_] == '.') return number();
        if (is_letter(text_[at_])) return name();
        fail(fmt::format("'{}' is not expected here: a number, a name or ( is", here()));
    }
    void number() {
        double value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) fail("the number is out of the range of doubles");
        if (error != std::errc{}) fail(fmt::format("'{}' is no number", here()));
        at_ = static_cast<std::size_t>(end - text_.data());
        skip();
        write(Op::number, value);
    }
    void name() {
        const auto start = at_;
        auto end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
        const auto word = text_.substr(start, end - start);
        const auto is = [&](const auto& each) { return each.first == word; };
        if (word == "pi") {
            write(Op::number, std::numbers::pi);
        } else if (const auto* v = std::ranges::find_if(variables, is); v != std::end(variables)) {
            write(v->second);
        } else if (const auto* f = std::ranges::find_if(functions, is); f != std::end(functions)) {
            at_ = end;
            skip();
            const auto opened_at = at_;
            if (!take('(')) fail(fmt::format("'{0}' is a function: its argument follows in parentheses, {0}(...)", word));
            parenthesis(opened_at);
            write(f->second);
            return;
        } else {
            const auto near = nearest_name(word, names);
            fail(fmt::format("'{}' is not known; there are i j k (cell indices), x y z (cell centres), pi and sin cos exp log sqrt abs{}",
                             word, near.empty() ? "" : ". Did you mean '" + near + "'?"));
        }
        at_ = end;
        skip();
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::vector<Step> program_;
};

double run(const std::vector<Step>& program, const std::array<index_t, 3>& cell, const std::array<double, 3>& centre) {
    std::array<double, stack_size> stack;
    std::size_t top = 0;  // one above the last
    const auto binary = [&](auto f) {
        --top;
        stack[top - 1] = f(stack[top - 1], stack[top]);
    };
    for (const auto& step : program) {
        switch (step.op) {
            case Op::number: stack[top++] = step.value; break;
            case Op::i: stack[top++] = static_cast<double>(cell[0]); break;
            case Op::j: stack[top++] = static_cast<double>(cell[1]); break;
            case Op::k: stack[top++] = static_cast<double>(cell[2]); break;
            case Op::x: stack[top++] = centre[0]; break;
            case Op::y: stack[top++] = centre[1]; break;
            case Op::z: stack[top++] = centre[2]; break;
            case Op::add: binary([](double a, double b) { return a + b; }); break;
            case Op::subtract: binary([](double a, double b) { return a - b; }); break;
            case Op::multiply: binary([](double a, double b) { return a * b; }); break;
            case Op::divide: binary([](double a, double b) { return a / b; }); break;
            case Op::power: binary([](double a, double b) { return std::pow(a, b); }); break;
            case Op::negate: stack[top - 1] = -stack[top - 1]; break;
            case Op::sin: stack[top - 1] = std::sin(stack[top - 1]); break;
            case Op::cos: stack[top - 1] = std::cos(stack[top - 1]); break;
            case Op::exp: stack[top - 1] = std::exp(stack[top - 1]); break;
            case Op::log: stack[top - 1] = std::log(stack[top - 1]); break;
            case Op::sqrt: stack[top - 1] = std::sqrt(stack[top - 1]); break;
            case Op::abs: stack[top - 1] = std::abs(stack[top - 1]); break;
        }
    }
    return stack[0];
}

}  // namespace

CellFunction parse_formula(const std::string& text) {
    return [program = Parser(text).program()](const std::array<index_t, 3>& cell, const std::array<double, 3>& centre) {
        return run(program, cell, centre);
    };
}

std::vector<double> source_of(const PoissonProblem& problem, const std::string& formula) {
    validate(problem);
    const auto f = parse_formula(formula);
    const auto x = cell_centres(problem, 0), y = cell_centres(problem, 1), z = cell_centres(problem, 2);
    const auto [nx, ny, nz] = problem.cells;
    std::vector<double> values(static_cast<std::size_t>(problem.rows()));
    parallel_for(Cpu{}, ny * nz, [&, nx = nx, ny = ny](index_t line) {
        const index_t j = line % ny, k = line / ny;
        for (index_t i = 0; i < nx; ++i)
            values[static_cast<std::size_t>(i + nx * line)] =
                f({i + 1, j + 1, k + 1}, {x[static_cast<std::size_t>(i)], y[static_cast<std::size_t>(j)], z[static_cast<std::size_t>(k)]});
    });
    const auto bad = std::ranges::find_if_not(values, [](double v) { return std::isfinite(v); });
    if (bad != values.end()) {
        const auto row = static_cast<index_t>(bad - values.begin());
        throw InputError(fmt::format("the formula gives {} in cell ({}, {}, {}): it must be finite everywhere", *bad, row % nx + 1,
                                     row / nx % ny + 1, row / (nx * ny) + 1));
    }
    return values;
}

}  // namespace kasane::sparse
