// Names of the solver's options, as in run files, the command and records.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/sparse/options/options.hpp>

#include <charconv>
#include <string_view>

namespace kasane::sparse {
namespace {

template <class E>
struct Named {
    E value;
    const char* name;
};

constexpr Named<Precondition> preconditions[] = {{Precondition::none, "none"},
                                                 {Precondition::jacobi, "jacobi"},
                                                 {Precondition::ssor, "ssor"},
                                                 {Precondition::ic0, "ic0"},
                                                 {Precondition::ict, "ict"},
                                                 {Precondition::ick, "ick"},
                                                 {Precondition::multigrid, "multigrid"},
                                                 {Precondition::automatic, "auto"}};
constexpr Named<Numbering> numberings[] = {
    {Numbering::automatic, "auto"}, {Numbering::coalesced, "coalesced"}, {Numbering::sequential, "sequential"}};
constexpr Named<Iteration> named_iterations[] = {
    {Iteration::automatic, "auto"}, {Iteration::plain, "plain"}, {Iteration::eisenstat, "eisenstat"}, {Iteration::reduced, "reduced"}};
constexpr Named<Smoother> smoothers[] = {
    {Smoother::chebyshev, "chebyshev"}, {Smoother::gauss_seidel, "gauss-seidel"}, {Smoother::jacobi, "jacobi"}};
constexpr Named<Cycle> cycles[] = {{Cycle::automatic, "auto"}, {Cycle::v, "v"}, {Cycle::w, "w"}, {Cycle::k, "k"}};
constexpr Named<Launch> launches[] = {{Launch::automatic, "auto"}, {Launch::cooperative, "cooperative"}, {Launch::graph, "graph"}};

template <class E, std::size_t n>
E parsed(const Named<E> (&all)[n], const std::string& text, const std::string& what) {
    std::vector<std::string_view> names;
    for (const auto& one : all) {
        if (text == one.name) return one.value;
        names.emplace_back(one.name);
    }
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + std::string(name);
    const std::string nearest = nearest_name(text, names);
    throw InputError(what + " \"" + text + "\" is not known" + (nearest.empty() ? "." : ": did you mean \"" + nearest + "\"?") +
                     " There are " + list + ".");
}

template <class E, std::size_t n>
std::string named(const Named<E> (&all)[n], E value) {
    for (const auto& one : all)
        if (value == one.value) return one.name;
    return "";
}

/// The whole text as a number from 1 on; 0 where it is not one.
int count(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

}  // namespace

Precondition parse_precondition(const std::string& text) { return parsed(preconditions, text, "preconditioner"); }
Numbering parse_numbering(const std::string& text) { return parsed(numberings, text, "numbering"); }
Iteration parse_iteration(const std::string& text) { return parsed(named_iterations, text, "iteration"); }
Launch parse_launch(const std::string& text) { return parsed(launches, text, "launch"); }
Smoother parse_smoother(const std::string& text) { return parsed(smoothers, text, "smoother"); }
Cycle parse_cycle(const std::string& text) { return parsed(cycles, text, "cycle"); }
std::string name(Precondition value) { return named(preconditions, value); }
std::string name(Numbering value) { return named(numberings, value); }
std::string name(Iteration value) { return named(named_iterations, value); }
std::string name(Launch value) { return named(launches, value); }
std::string name(Smoother value) { return named(smoothers, value); }
std::string name(Cycle value) { return named(cycles, value); }

Format Format::parse(const std::string& text) {
    if (text == "auto") return {};
    if (text == "csr") return {FormatKind::csr, 1, 1};
    if (text == "ell") return {FormatKind::ell, 0, 1};
    if (text == "sliced-ell") return {FormatKind::sliced_ell, 0, 1};
    if (text.starts_with("sell:")) {
        const auto second = text.find(':', 5);
        const int chunk = count(std::string_view(text).substr(5, second == std::string::npos ? second : second - 5));
        const int sigma = second == std::string::npos ? 1 : count(std::string_view(text).substr(second + 1));
        KS_VALIDATE(chunk >= 1 && chunk <= 4096 && sigma >= 1,
                    "format \"" + text +
                        "\": C of sell:C:SIGMA is a whole number from 1 to 4096 and SIGMA one from 1 on. Try sell:8:1 on a "
                        "CPU, sell:32:1 on a GPU.");
        return {FormatKind::sell, chunk, sigma};
    }
    static constexpr std::string_view known[] = {"auto", "csr", "ell", "sliced-ell", "sell:C:SIGMA"};
    const std::string nearest = nearest_name(text, known);
    throw InputError("format \"" + text + "\" is not known" + (nearest.empty() ? "." : ": did you mean \"" + nearest + "\"?") +
                     " There are auto, csr, ell, sliced-ell and sell:C:SIGMA.");
}

std::string Format::text() const {
    switch (kind) {
        case FormatKind::automatic: return "auto";
        case FormatKind::csr: return "csr";
        case FormatKind::ell: return "ell";
        case FormatKind::sliced_ell: return "sliced-ell";
        case FormatKind::sell: return "sell:" + std::to_string(chunk) + ":" + std::to_string(sigma);
    }
    return "";
}

}  // namespace kasane::sparse
