// The log: levelled lines to standard error (coloured on a terminal) and, once a run has a directory, to its log file.
// The library only writes lines; the command sets the level of the terminal.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace kasane::log {

/// Importance of a line.
enum class Level {
    debug,    ///< for the log file
    info,     ///< progress and results for the user
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

/// Sets the lowest level that is written to the terminal (default: info).
void set_terminal_level(Level level);

/// Appends every line, including those of level debug, to a file as long as the object exists.
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
