// The verbs of the command with their options, read from the parser, for shell completion and the manual page: one source with --help.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace kasane::app {

struct OptionHelp {
    std::vector<std::string> names;  ///< "-o", "--output"; of an argument its name, "FILE"
    std::string value;               ///< name of its value, "FILE", "TEXT"; empty: a flag
    std::string help, preset;        ///< preset: the default, empty where there is none
    bool positional = false, required = false;
};

struct VerbHelp {
    std::string path;  ///< the words after `kasane`: "lattice solve"; empty: kasane itself
    std::string name, help;
    std::vector<OptionHelp> options;
    std::vector<VerbHelp> verbs;
};

/// The whole tree below the parser of `kasane`.
VerbHelp describe(const CLI::App& app);

/// kasane itself and all verbs below it, each before its own verbs.
std::vector<const VerbHelp*> all_verbs(const VerbHelp& tree);

}  // namespace kasane::app
