// kasane completion bash|zsh|fish: prints a script that completes verbs, options and file names in a shell.
#include <app/command.hpp>
#include <app/command_tree.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::app {
namespace {

/// 'text' for a shell.
std::string shell_quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
    return result + "'";
}

std::vector<std::string> option_names(const VerbHelp& verb) {
    std::vector<std::string> names;
    for (const auto& option : verb.options)
        if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

/// The pattern of a case: every path below kasane, as " lattice solve".
std::string path_pattern(const VerbHelp& tree) {
    std::string pattern;
    for (const auto* verb : all_verbs(tree))
        if (!verb->path.empty()) pattern += (pattern.empty() ? "" : " | ") + shell_quoted(" " + verb->path);
    return pattern;
}

std::string bash_script(const VerbHelp& tree) {
    std::string cases;
    for (const auto* verb : all_verbs(tree)) {
        std::string verbs;
        for (const auto& inner : verb->verbs) verbs += (verbs.empty() ? "" : " ") + inner.name;
        cases += fmt::format("        {}) verbs={} options={} ;;\n", shell_quoted(verb->path.empty() ? "" : " " + verb->path),
                             shell_quoted(verbs), shell_quoted(fmt::format("{}", fmt::join(option_names(*verb), " "))));
    }
    return fmt::format(
        R"(# Completion of kasane for bash: source <(kasane completion bash)
_kasane() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} path= verbs= options= i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "$path ${{COMP_WORDS[i]}}" in
        {}) path="$path ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path" in
{}    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    elif [[ -n $verbs ]]; then
        COMPREPLY=($(compgen -W "$verbs" -- "$current"))
    else
        COMPREPLY=()  # the shell's file names
    fi
}}
complete -o default -F _kasane kasane
)",
        path_pattern(tree), cases);
}

std::string zsh_script(const VerbHelp& tree) {
    /// 'word:help', in which a colon of the word is not its end.
    const auto described = [](std::string word, const std::string& help) {
        for (auto at = word.find(':'); at != std::string::npos; at = word.find(':', at + 2)) word.insert(at, "\\");
        return shell_quoted(word + ":" + help);
    };
    std::string cases;
    for (const auto* verb : all_verbs(tree)) {
        std::string verbs, options;
        for (const auto& inner : verb->verbs) verbs += " " + described(inner.name, inner.help);
        for (const auto& option : verb->options)
            for (const auto& name : option.positional ? std::vector<std::string>{} : option.names)
                options += " " + described(name, option.help);
        cases +=
            fmt::format("    {}) verbs=({} ) options=({} ) ;;\n", shell_quoted(verb->path.empty() ? "" : " " + verb->path), verbs, options);
    }
    return fmt::format(
        R"(#compdef kasane
# Completion of kasane for zsh: source <(kasane completion zsh), or a file _kasane in a directory of $fpath
_kasane() {{
    local path_= i
    local -a verbs options
    for ((i = 2; i < CURRENT; ++i)); do
        case "$path_ ${{words[i]}}" in
        {}) path_="$path_ ${{words[i]}}" ;;
        esac
    done
    case "$path_" in
{}    esac
    if [[ ${{words[CURRENT]}} == -* ]]; then
        _describe option options
    elif (( $#verbs )); then
        _describe verb verbs
    else
        _files
    fi
}}
if [[ "${{funcstack[1]}}" == _kasane ]]; then _kasane "$@"; else compdef _kasane kasane; fi
)",
        path_pattern(tree), cases);
}

std::string fish_script(const VerbHelp& tree) {
    std::string script = "# Completion of kasane for fish: kasane completion fish | source\n";
    const auto words = [](const VerbHelp& of) {
        std::string all;
        for (const auto& verb : of.verbs) all += " " + verb.name;
        return all;
    };
    // `solve` is a verb of kasane and of `kasane lattice`: the first word decides.
    const auto condition = [&](const VerbHelp& verb) -> std::string {
        if (verb.path.empty()) return "not __fish_seen_subcommand_from" + words(verb);
        const auto space = verb.path.find(' ');
        if (space != std::string::npos)
            return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}", verb.path.substr(0, space), verb.name);
        std::string parents;
        for (const auto& other : tree.verbs)
            if (!other.verbs.empty() && other.name != verb.name) parents += " " + other.name;
        const auto seen = "__fish_seen_subcommand_from " + verb.name;
        if (!verb.verbs.empty()) return seen + "; and not __fish_seen_subcommand_from" + words(verb);
        return parents.empty() ? seen : seen + "; and not __fish_seen_subcommand_from" + parents;
    };
    for (const auto* verb : all_verbs(tree)) {
        const auto when = shell_quoted(condition(*verb));
        for (const auto& inner : verb->verbs)
            script += fmt::format("complete -c kasane -n {} -f -a {} -d {}\n", when, inner.name, shell_quoted(inner.help));
        for (const auto& option : verb->options) {
            if (option.positional) continue;
            auto line = fmt::format("complete -c kasane -n {}", when);
            for (const auto& name : option.names) line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            script += line + (option.value.empty() ? "" : " -r") + " -d " + shell_quoted(option.help) + "\n";
        }
    }
    return script;
}

}  // namespace

Action add_completion(CLI::App& app, const Common& common) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    return [shell, &app, &common] {
        const auto tree = describe(*app.get_parent());
        auto script = *shell == "bash" ? bash_script(tree) : *shell == "zsh" ? zsh_script(tree) : fish_script(tree);
        script.pop_back();  // print() ends the line
        print(common, {{"shell", *shell}, {"script", script}}, script);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
