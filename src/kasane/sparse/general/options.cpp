#include <kasane/core/base/error.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/sparse/general/options.hpp>

#include <string_view>
#include <vector>

namespace kasane::sparse {
namespace {

constexpr std::string_view method_names[] = {"auto", "bicgstab", "gmres", "minres", "cg"};
constexpr std::string_view precondition_names[] = {"auto", "none", "jacobi", "ilu0", "ilut", "spai"};

template <class E, std::size_t n>
E value_of(const std::string_view (&names)[n], const std::string& text, const std::string& what) {
    std::string list;
    for (std::size_t k = 0; k < n; ++k) {
        if (text == names[k]) return static_cast<E>(k);
        list += (k > 0 ? ", " : "") + std::string(names[k]);
    }
    const std::string nearest = nearest_name(text, names);
    throw InputError(what + " \"" + text + "\" is not known" + (nearest.empty() ? "." : ": did you mean \"" + nearest + "\"?") +
                     " There are " + list + ".");
}

}  // namespace

GeneralMethod parse_general_method(const std::string& text) { return value_of<GeneralMethod>(method_names, text, "method"); }
GeneralPrecondition parse_general_precondition(const std::string& text) {
    return value_of<GeneralPrecondition>(precondition_names, text, "preconditioner");
}
std::string name(GeneralMethod value) { return std::string(method_names[static_cast<std::size_t>(value)]); }
std::string name(GeneralPrecondition value) { return std::string(precondition_names[static_cast<std::size_t>(value)]); }

}  // namespace kasane::sparse
