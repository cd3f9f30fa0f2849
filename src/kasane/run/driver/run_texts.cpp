#include <kasane/core/base/error.hpp>
#include <kasane/run/driver/run_texts.hpp>

#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

namespace kasane::run {

std::optional<std::string> content(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

RunTexts run_texts(const fs::path& directory) {
    const Where here{directory.string(), 0, 0, ""};
    KS_VALIDATE(fs::is_directory(directory), "there is no such directory", here);
    RunTexts texts{content(directory / "record.json"), content(directory / "run.toml")};
    KS_VALIDATE(texts.record || texts.run_file, "is not the directory of a run: it holds neither record.json nor run.toml", here);
    return texts;
}

}  // namespace kasane::run
