// Run files of each kind, with comments: those of examples/, which the build puts into the command.
#pragma once

namespace kasane::app {

struct Template {
    const char* problem;  ///< "gravity"
    const char* example;  ///< "examples/plummer.toml", as its comments name it
    const char* text;
};
/// Ends with a problem that is null.
extern const Template templates[];

}  // namespace kasane::app
