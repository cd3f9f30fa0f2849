#include <app/run_result.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>

#include <fmt/format.h>

namespace kasane::app {

run::RunControls controls(const Common& common) {
    return {.progress = common.progress(), .stop = interrupt_requested, .ranks = common.ranks};
}

void need_one_rank(const Common& common, const std::string& file, const std::string& what) {
    KS_VALIDATE(!common.ranks || common.ranks->size() == 1,
                fmt::format("{} runs on one rank, and {} were started: start it without mpirun", what, common.ranks->size()),
                {file, 0, 0, ""});
}

int print_result(const Common& common, const run::RunResult& result) {
    const bool interrupted = result.status == "interrupted";
    const auto page = result.report.empty() ? "" : std::filesystem::absolute(result.report).lexically_normal().string();
    nlohmann::ordered_json object{{"directory", result.directory.string()},
                                  {"status", result.status},
                                  {"message", result.message},
                                  {"seconds", result.seconds},
                                  {"report", run::text_or_null(page)}};
    object.update(result.summary.object);
    auto text = result.summary.text;
    if (!page.empty()) text += "\nopen " + page;
    if (interrupted)
        text += fmt::format("\n`kasane resume {0}` continues the run, `kasane report {0}` writes its page", result.directory.string());
    if (!result.message.empty()) log::error("{}", result.message);
    print(common, object, text);
    return result.status == "done" ? success : interrupted ? ExitStatus::interrupted : computation_failed;
}

}  // namespace kasane::app
