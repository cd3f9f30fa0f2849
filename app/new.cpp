// kasane new gravity|poisson|quenched|hmc: writes a run file with comments, to be changed.
#include <app/command.hpp>
#include <app/templates.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <vector>

namespace kasane::app {
namespace {

const Template& template_of(const std::string& problem) {
    const Template* found = templates;
    while (found->problem != problem) ++found;  // the parser accepts no other problem
    return *found;
}

/// The example with the name of its new file in its comments.
std::string renamed(const Template& from, const std::string& file) {
    std::string text = from.text;
    const std::string example = from.example, name = report::shell_word(file);
    for (auto at = text.find(example); at != std::string::npos; at = text.find(example, at + name.size()))
        text.replace(at, example.size(), name);
    return text;
}

int write_new(const Common& common, const std::string& problem, std::string file, bool force) {
    if (file.empty()) file = problem + ".toml";
    keep_existing(file, force, "another name with -o");
    AtomicFile output(file);
    output.write(renamed(template_of(problem), file));
    output.commit();
    const auto word = report::shell_word(file);
    print(common, {{"file", file}, {"problem", problem}},
          fmt::format("{0}\n`kasane check {1}` reads it, `kasane run {1}` runs it", file, word));
    return success;
}

}  // namespace

Action add_new(CLI::App& app, const Common& common) {
    struct Options {
        std::string problem, file;
        bool force = false;
    };
    auto options = std::make_shared<Options>();
    std::vector<std::string> problems;
    for (const auto* each = templates; each->problem; ++each) problems.emplace_back(each->problem);
    app.add_option("PROBLEM", options->problem, fmt::format("{}", fmt::join(problems, ", ")))->required()->check(CLI::IsMember(problems));
    app.add_option("-o,--output", options->file, "File to write (default: PROBLEM.toml)")->type_name("FILE");
    app.add_flag("--force", options->force, "Overwrite the file if it exists");
    return [options, &common] { return write_new(common, options->problem, options->file, options->force); };
}

}  // namespace kasane::app
