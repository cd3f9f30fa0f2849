#include <kasane/core/base/log.hpp>
#include <kasane/run/driver/newest_checkpoint.hpp>

#include <fmt/format.h>

namespace fs = std::filesystem;

namespace kasane::run {

void set_aside(const std::vector<InputProblem>& unreadable) {
    for (const auto& problem : unreadable) {
        const auto& from = problem.where.file;
        auto to = from + ".unread";
        std::error_code error;
        for (int number = 2; fs::exists(fs::symlink_status(to, error)); ++number) to = fmt::format("{}.unread{}", from, number);
        fs::rename(from, to, error);
        KS_VALIDATE(!error,
                    fmt::format("cannot be read, and cannot be renamed: {}. Move it to another place and resume again", error.message()),
                    {from, 0, 0, ""});
        log::warning("{}. It is renamed to {}, and the run continues from the checkpoint before it", problem.text(), to);
    }
}

}  // namespace kasane::run
