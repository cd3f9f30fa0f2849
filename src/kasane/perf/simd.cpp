#include <kasane/core/base/error.hpp>
#include <kasane/perf/simd.hpp>
#include <kasane/perf/simd_targets.hpp>

#include <hwy/highway.h>

namespace kasane {
namespace {

std::int64_t best_of(std::int64_t targets) { return targets & -targets; }

}  // namespace

std::string simd_target() { return hwy::TargetName(best_of(hwy::SupportedTargets() & HWY_TARGETS)); }

std::vector<std::string> simd_targets() {
    std::vector<std::string> names;
    for (const auto target : hwy::SupportedAndGeneratedTargets()) names.push_back(hwy::TargetName(target));
    return names;
}

void select_simd_target(const std::string& name) {
    hwy::SetSupportedTargetsForTest(0);
    std::int64_t wanted = name.empty() ? hwy::SupportedTargets() : 0;
    for (const auto target : hwy::SupportedAndGeneratedTargets())
        if (name == hwy::TargetName(target)) wanted = target;
    KS_VALIDATE(wanted != 0, "this processor or build has no instruction set '" + name + "'; the best is " + simd_target());
    if (!name.empty()) hwy::SetSupportedTargetsForTest(wanted);
    hwy::GetChosenTarget().Update(wanted);
}

}  // namespace kasane
