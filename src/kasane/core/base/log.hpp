// The log: levelled lines to standard error (coloured on a terminal) and, once a run has a directory, to its log file.
// The library only writes lines; the command decides how quiet the terminal is.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace kasane::log {

enum class Level { debug, info, warning, error, off };

void write(Level level, std::string_view line);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

/// Least level that reaches the terminal (default: info).
void set_terminal_level(Level level);

/// While it lives, every line, of level debug too, also goes to the end of `path`.
class FileSink {
   public:
    explicit FileSink(const std::filesystem::path& path);
    ~FileSink();
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;
};

}  // namespace kasane::log
