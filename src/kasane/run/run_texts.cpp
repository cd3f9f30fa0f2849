#include <kasane/core/base/error.hpp>
#include <kasane/run/run_texts.hpp>

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

bool holds_run_of(Problem problem, const fs::path& directory, const std::function<void(const std::string& record)>& read) {
    try {
        if (const auto text = content(directory / "record.json")) return read(*text), true;
    } catch (const InputError&) {  // of another problem, or damaged: the run file tells
    }
    try {
        return problem_of(directory / "run.toml") == problem;
    } catch (const InputError&) {
        return false;
    }
}

}  // namespace kasane::run
