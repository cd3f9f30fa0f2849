#include <kasane/core/base/error.hpp>
#include <kasane/run/driver/kept_keys.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::run {

void check_kept(const KeptKeys& run_file, const KeptKeys& checkpoint, const std::filesystem::path& path) {
    std::vector<InputProblem> problems;
    for (const auto& [key, value] : run_file) {
        const auto then = std::ranges::find(checkpoint, key, [](const auto& each) { return each.first; });
        if (then == checkpoint.end() || then->second == value) continue;
        problems.push_back({fmt::format("is {}, and the checkpoint was made with {}: it must not change on resume. Set it back, or start a "
                                        "new run",
                                        value, then->second),
                            {path.string(), 0, 0, key}});
    }
    if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace kasane::run
