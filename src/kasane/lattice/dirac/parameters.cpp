#include <kasane/lattice/dirac/parameters.hpp>

#include <fmt/format.h>

namespace kasane::lattice {

const char* name(Precision precision) {
    switch (precision) {
        case Precision::half: return "half";
        case Precision::single: return "single";
        case Precision::double_: return "double";
    }
    return "";
}

const char* name(Boundary boundary) { return boundary == Boundary::periodic ? "periodic" : "antiperiodic"; }

std::string name(Precision precision, const LinkStorage& links) {
    return fmt::format("{}-{}{}{}", name(precision), static_cast<int>(links.reals),
                       links.half && precision != Precision::half ? ", half links" : "", links.temporal_gauge ? ", temporal gauge" : "");
}

}  // namespace kasane::lattice
