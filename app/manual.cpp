// kasane manual: prints the manual page (troff) of all verbs, from the text of --help.
#include <app/command.hpp>
#include <app/command_tree.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kasane::app {
namespace {

/// Text as troff prints it: backslashes, hyphens and leading points or quotes are not read as commands.
std::string troff(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\n' ? "\n.br\n" : std::string(1, c);
    return !text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" + result : result;
}

std::string option_entry(const OptionHelp& option) {
    std::string names;
    for (const auto& name : option.names) names += (names.empty() ? "" : ", ") + ("\\fB" + troff(name) + "\\fR");
    if (!option.positional && !option.value.empty()) names += " \\fI" + troff(option.value) + "\\fR";
    auto help = option.help;
    if (option.required) help += help.empty() ? "Required" : " (required)";
    if (!option.preset.empty()) help += " (default: " + option.preset + ")";
    return ".TP\n" + names + "\n" + troff(help) + "\n";
}

std::string synopsis(const VerbHelp& verb) {
    auto line = "\\fBkasane " + troff(verb.path) + "\\fR";
    for (const auto& option : verb.options)
        if (option.positional)
            line += option.required ? " \\fI" + troff(option.names[0]) + "\\fR" : " [\\fI" + troff(option.names[0]) + "\\fR]";
    return line + " [options]";
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string manual_page(const VerbHelp& tree) {
    auto page = fmt::format(".TH KASANE 1 \"\" \"kasane {}\" \"User commands\"\n.SH NAME\nkasane \\- {}\n.SH SYNOPSIS\n", version,
                            "self\\-gravity, sparse systems, lattice QCD");
    const auto verbs = all_verbs(tree);
    for (const auto* verb : verbs)
        if (!verb->path.empty() && verb->verbs.empty()) page += synopsis(*verb) + "\n.br\n";
    page +=
        ".SH DESCRIPTION\n\\fBkasane\\fR runs the problem that a run file names: self\\-gravity of particles, sparse symmetric positive "
        "definite systems, or lattice QCD. Every verb has the options of the section COMMON OPTIONS.\n";
    const auto is_common = [&](const OptionHelp& option) {
        return std::any_of(std::begin(common_options), std::end(common_options), [&](const char* name) {
            return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
        });
    };
    for (const auto* verb : verbs) {
        if (verb->path.empty()) continue;
        page += ".SH " + upper(troff(verb->path)) + "\n" + troff(verb->help) + ".\n";
        for (const auto& option : verb->options)
            if (!is_common(option)) page += option_entry(option);
    }
    page += ".SH COMMON OPTIONS\n";
    for (const auto& option : tree.verbs.front().options)
        if (is_common(option)) page += option_entry(option);
    return page +
           ".SH EXIT STATUS\n0: done; 1: the computation failed; 2: bad input or usage; 130: interrupted, after a checkpoint where "
           "there is one.\n";
}

}  // namespace

Action add_manual(CLI::App& app, const Common& common) {
    return [&app, &common] {
        auto page = manual_page(describe(*app.get_parent()));
        page.pop_back();  // print() ends the line
        print(common, {{"page", page}}, page);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
