#include <kasane/gravity/evolve/stepper.hpp>

#include <fmt/format.h>

namespace kasane::gravity {

void Stepper::report_blow_up(const BlowUp& what) {
    throw ComputationError(
        fmt::format("particle {} (id {}) is not finite any more; it was at t = {:.6g}: a step was too long for an encounter, or "
                    "the numbers left "
                    "the range of the arithmetic. Take a shorter step (smaller dt or eta), more softening, or other units",
                    what.particle, id_of(what.particle), options.start_time + static_cast<double>(what.step) * macro_step(options.step)));
}

}  // namespace kasane::gravity
