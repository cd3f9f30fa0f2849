#include <kasane/gravity/evolve/energy_drift.hpp>

#include <cmath>
#include <variant>

namespace kasane::gravity {

double expected_energy_drift(const Force& force, const Steps& steps, index_t particles) {
    const StepControl* control = std::get_if<AdaptiveSteps>(&steps);
    if (!control) control = std::get_if<BlockSteps>(&steps);
    if (!control || particles == 0) return 0;
    // Direct summation, Plummer spheres: 6e-6 per crossing time at 4,096 particles, 6e-7 at 65,536; eta 0.25, 0.5 and 1: 1 : 5 : 50.
    const double stepping = 5e-7 * std::pow(control->eta / 0.5, 3) * std::pow(65536. / static_cast<double>(particles), 0.7);
    const auto* tree = std::get_if<Tree>(&force);
    if (!tree) return stepping;
    // 1.5e-7 at delta 2^-9, 1e-5 at 2^-6; theta 0.75 is as good as delta 2^-9.
    if (const auto* mac = std::get_if<AccelerationMac>(&tree->mac)) return stepping + 3e-7 * std::pow(512 * mac->delta, 1.5);
    if (const auto* mac = std::get_if<GeometricMac>(&tree->mac)) return stepping + 3e-7 * std::pow(mac->theta / 0.75, 4);
    return 0;
}

}  // namespace kasane::gravity
