#include <kasane/core/base/error.hpp>
#include <kasane/gravity/step/steps.hpp>

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

namespace kasane::gravity {

double macro_step(const Steps& steps) {
    return std::visit(
        [](const auto& s) {
            if constexpr (std::is_same_v<std::decay_t<decltype(s)>, Leapfrog>)
                return s.dt;
            else
                return s.dt_max;
        },
        steps);
}

void validate(const Steps& steps) {
    if (const auto* leapfrog = std::get_if<Leapfrog>(&steps)) {
        KS_VALIDATE(std::isfinite(leapfrog->dt) && leapfrog->dt != 0,
                    fmt::format("dt = {} cannot be used: it must be finite and not zero", leapfrog->dt));
        return;
    }
    const auto& control = std::visit(
        [](const auto& s) -> StepControl {
            if constexpr (std::is_same_v<std::decay_t<decltype(s)>, Leapfrog>)
                return {};
            else
                return s;
        },
        steps);
    KS_VALIDATE(std::isfinite(control.dt_max) && control.dt_max > 0,
                fmt::format("dt_max = {} cannot be used: it must be finite and above zero", control.dt_max));
    KS_VALIDATE(std::isfinite(control.eta) && control.eta > 0,
                fmt::format("eta = {} cannot be used: steps need an accuracy above zero. Try 0.5", control.eta));
    KS_VALIDATE(control.deepest >= 0 && control.deepest <= 30,
                fmt::format("{} halvings of dt_max cannot be used: take 0 to 30", control.deepest));
    KS_VALIDATE(std::isfinite(control.length) && control.length >= 0,
                fmt::format("length = {} cannot be used: it must be finite and not negative", control.length));
}

}  // namespace kasane::gravity
