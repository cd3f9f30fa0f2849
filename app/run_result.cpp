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

namespace {

std::string page_of(const run::RunResult& result) {
    return result.report.empty() ? "" : std::filesystem::absolute(result.report).lexically_normal().string();
}

}  // namespace

io::Json result_object(const run::RunResult& result) {
    io::Json object{{"directory", result.directory.string()},
                    {"status", result.status},
                    {"message", result.message},
                    {"seconds", result.seconds},
                    {"report", run::text_or_null(page_of(result))}};
    object.update(result.summary.object);
    return object;
}

std::string result_text(const run::RunResult& result) {
    auto text = result.summary.text;
    if (const auto page = page_of(result); !page.empty()) text += "\nopen " + page;
    if (result.status == "interrupted")
        text += fmt::format("\n`kasane resume {0}` continues the run, `kasane report {0}` writes its page", result.directory.string());
    return text;
}

int exit_status(const run::RunResult& result) {
    return result.status == "done" ? success : result.status == "interrupted" ? interrupted : computation_failed;
}

int print_result(const Common& common, const run::RunResult& result) {
    if (!result.message.empty()) log::error("{}", result.message);
    print(common, result_object(result), result_text(result));
    return exit_status(result);
}

}  // namespace kasane::app
