#include <kasane/core/base/error.hpp>

namespace kasane {

std::string InputProblem::text() const {
    std::string head = where.file;
    if (where.line > 0) {
        head += ":" + std::to_string(where.line);
        if (where.column > 0) head += ":" + std::to_string(where.column);
    }
    if (!head.empty()) head += ": ";
    if (!where.key.empty()) head += where.key + ": ";
    return head + message;
}

namespace {
std::string joined(const std::vector<InputProblem>& problems) {
    std::string text;
    for (const auto& problem : problems) text += (text.empty() ? "" : "\n") + problem.text();
    return text;
}
}  // namespace

InputError::InputError(std::string message, Where where) : InputError(std::vector<InputProblem>{{std::move(message), std::move(where)}}) {}

InputError::InputError(std::vector<InputProblem> problems) : Error(joined(problems)), problems_(std::move(problems)) {}

}  // namespace kasane
