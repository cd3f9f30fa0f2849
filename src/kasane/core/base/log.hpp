// The log: levelled lines to standard error (coloured on a terminal) and, once a run has a directory, to its log file.
// The library only writes lines; the command decides how quiet the terminal is.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace kasane::log {

/// Importance of a line.
enum class Level {
    debug,    ///< for the log file
    info,     ///< what a user should see
    warning,  ///< the result may differ from what the user expects
    error,    ///< the command fails
    off,      ///< no line has this level
};

/// Writes one line.
void write(Level level, std::string_view line);

/// Formats and writes a line of level debug.
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
/// Formats and writes a line of level info.
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
/// Formats and writes a line of level warning.
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
/// Formats and writes a line of level error.
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

/// Least level that reaches the terminal (default: info).
void set_terminal_level(Level level);

/// As long as it exists, every line, of level debug too, is also appended to a file.
class FileSink {
   public:
    /// @throws InputError: the file cannot be opened
    explicit FileSink(const std::filesystem::path& path);
    /// Closes the file.
    ~FileSink();
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;
};

}  // namespace kasane::log
