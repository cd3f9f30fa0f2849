#include <app/command_tree.hpp>

namespace kasane::app {
namespace {

OptionHelp describe_option(const CLI::Option& option) {
    OptionHelp help;
    help.positional = option.get_positional();
    if (help.positional) {
        help.names = {option.get_name()};
    } else {
        for (const auto& name : option.get_snames()) help.names.push_back("-" + name);
        for (const auto& name : option.get_lnames()) help.names.push_back("--" + name);
    }
    if (option.get_items_expected_max() > 0) help.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
    help.help = option.get_description();
    help.preset = option.get_default_str();
    help.required = option.get_required();
    return help;
}

VerbHelp describe_verb(const CLI::App& app, const std::string& path) {
    VerbHelp verb{.path = path, .name = app.get_name(), .help = app.get_description(), .options = {}, .verbs = {}};
    for (const auto* option : app.get_options()) verb.options.push_back(describe_option(*option));
    for (const auto* inner : app.get_subcommands([](const CLI::App*) { return true; }))
        verb.verbs.push_back(describe_verb(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name()));
    return verb;
}

}  // namespace

VerbHelp describe(const CLI::App& app) { return describe_verb(app, ""); }

std::vector<const VerbHelp*> all_verbs(const VerbHelp& tree) {
    std::vector<const VerbHelp*> all{&tree};
    for (const auto& verb : tree.verbs)
        for (const auto* each : all_verbs(verb)) all.push_back(each);
    return all;
}

}  // namespace kasane::app
