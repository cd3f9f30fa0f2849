#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace kasane::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
    switch (level) {
        case Level::debug: return spdlog::level::debug;
        case Level::info: return spdlog::level::info;
        case Level::warning: return spdlog::level::warn;
        case Level::error: return spdlog::level::err;
        case Level::off: return spdlog::level::off;
    }
    return spdlog::level::info;
}

struct Loggers {
    std::shared_ptr<spdlog::logger> terminal = [] {
        auto logger = std::make_shared<spdlog::logger>("kasane", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
        // On a terminal a progress bar may occupy the line: the log line replaces it, and the next update draws it again.
        logger->set_pattern(isatty(STDERR_FILENO) ? "\r\x1b[K%^%l%$: %v" : "%^%l%$: %v");
        logger->set_level(spdlog::level::info);
        return logger;
    }();
    std::shared_ptr<spdlog::logger> file;
};

Loggers& loggers() {
    static Loggers instance;
    return instance;
}

/// Lines quote text of files, in which control characters could command a terminal: each is '?' in its place.
std::string printable(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto c = static_cast<unsigned char>(line[i]);
        const auto next = i + 1 < line.size() ? static_cast<unsigned char>(line[i + 1]) : 0;
        const bool wide = c == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F in UTF-8
        if (wide) ++i;
        text += wide || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f ? '?' : line[i];
    }
    return text;
}

}  // namespace

void write(Level level, std::string_view line) {
    auto& [terminal, file] = loggers();
    const auto text = printable(line);
    terminal->log(spdlog_level(level), "{}", text);
    if (file) file->log(spdlog_level(level), "{}", text);
}

void set_terminal_level(Level level) { loggers().terminal->set_level(spdlog_level(level)); }

FileSink::FileSink(const std::filesystem::path& path) {
    // Opened here first: the message of the logging library has neither reason nor remedy. O_NONBLOCK refuses a pipe at once.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
    KS_VALIDATE(descriptor >= 0,
                std::string("the log cannot be written: ") + std::strerror(errno) + ". Make it a file that you may write, or move it away",
                {path.string(), 0, 0, ""});
    ::close(descriptor);
    auto logger = std::make_shared<spdlog::logger>("file", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string()));
    logger->set_pattern("%Y-%m-%d %H:%M:%S %l: %v");
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::debug);
    // A full disk must not end a run that can still save its checkpoint, so a log line that cannot be written is dropped.
    logger->set_error_handler([](const std::string&) {});
    loggers().file = std::move(logger);
}

FileSink::~FileSink() { loggers().file.reset(); }

}  // namespace kasane::log
