// kasane view DIR: shows the report of a run in a browser of this machine, also while the run is in progress. Nothing is written.
#include <app/command.hpp>
#include <app/local_server.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/kinds.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;

constexpr int refresh_seconds = 10;

/// A file of the run directory itself: no link, nothing in a folder, and nothing that begins with a point.
std::optional<HttpResponse> file_in(const fs::path& directory, const std::string& name) {
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) return std::nullopt;
    std::error_code unknown;
    if (fs::symlink_status(directory / name, unknown).type() != fs::file_type::regular) return std::nullopt;
    std::ifstream file(directory / name, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    const auto extension = fs::path(name).extension();
    const bool is_text = extension == ".csv" || extension == ".txt" || extension == ".toml";
    return HttpResponse{is_text                ? "text/plain; charset=utf-8"
                        : extension == ".json" ? "application/json"
                        : extension == ".html" ? "text/html; charset=utf-8"
                                               : "application/octet-stream",
                        text.str(), 0};
}

/// The page, made from the files of the directory as they are now.
HttpResponse report_now(const fs::path& directory) {
    bool finished = false;
    try {
        const auto page = run::report_page(run::kinds(), directory, &finished);
        return {"text/html; charset=utf-8", page, finished ? 0 : refresh_seconds};
    } catch (const Error& error) {  // a file that the run is writing
        return {"text/plain; charset=utf-8", std::string(error.what()) + "\n", refresh_seconds};
    }
}

int view(const Common& common, const std::string& given, int port) {
    const fs::path directory = given;
    run::report_page(run::kinds(), directory);  // its errors are those of the command
    catch_interrupts();
    LocalServer server(port);
    const auto url = fmt::format("http://127.0.0.1:{}/", server.port());
    print(common, {{"directory", given}, {"url", url}}, url + "\nCtrl-C ends it");
    std::fflush(stdout);
    server.serve(
        [&](const std::string& path) -> std::optional<HttpResponse> {
            return path == "/" || path == "/report.html" ? report_now(directory) : file_in(directory, path.substr(1));
        },
        interrupt_requested);
    return success;
}

}  // namespace

Action add_view(CLI::App& app, const Common& common) {
    struct Options {
        std::string directory;
        int port = 0;
    };
    auto options = std::make_shared<Options>();
    app.add_option("DIR", options->directory, "Directory of the run")->required();
    app.add_option("--port", options->port, "Port on 127.0.0.1; 0: any that is free")->check(whole_number(0, 65535));
    return [options, &common] { return view(common, options->directory, options->port); };
}

}  // namespace kasane::app
