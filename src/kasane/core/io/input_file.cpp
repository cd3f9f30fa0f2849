#include <kasane/core/base/error.hpp>
#include <kasane/core/io/input_file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace kasane::io {

void check_regular_file(const std::filesystem::path& path, const std::string& needed) {
    const Where here{path.string(), 0, 0, ""};
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    KS_VALIDATE(std::filesystem::exists(status), "there is no such file", here);
    KS_VALIDATE(!std::filesystem::is_directory(status), fmt::format("is a directory: {} is needed", needed), here);
    KS_VALIDATE(std::filesystem::is_regular_file(status),
                fmt::format("is not a regular file: {} is needed. Save the output of a pipe or a device to a file first", needed), here);
}

std::string read_text_file(const std::filesystem::path& path, std::uint64_t most, const std::string& needed) {
    const Where here{path.string(), 0, 0, ""};
    check_regular_file(path, needed);
    std::ifstream file(path, std::ios::binary);
    KS_VALIDATE(file, fmt::format("cannot be opened: {}", std::strerror(errno)), here);
    std::string text;
    char block[4096];
    while (file.read(block, sizeof block), file.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(file.gcount()));
        KS_VALIDATE(text.size() <= most, fmt::format("is larger than {} MiB: {} is needed", most >> 20, needed), here);
    }
    KS_VALIDATE(!file.bad(), "cannot be read", here);
    return text;
}

}  // namespace kasane::io
