// The command `kasane`: one file per verb.
#include <kasane/version.hpp>

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
    CLI::App app{"kasane: self-gravity, sparse systems, lattice QCD"};
    app.set_version_flag("--version", kasane::version);
    CLI11_PARSE(app, argc, argv);
}
