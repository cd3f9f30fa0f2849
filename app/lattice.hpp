// The verbs of `kasane lattice`. Each function adds the options of a verb to its subcommand and returns the action of the verb.
#pragma once

#include <app/command.hpp>

namespace kasane::app {

Action add_lattice_info(CLI::App&, const Common&);
Action add_lattice_solve(CLI::App&, const Common&);
Action add_lattice_measure(CLI::App&, const Common&);
Action add_lattice_generate(CLI::App&, const Common&);
Action add_lattice_convert(CLI::App&, const Common&);

}  // namespace kasane::app
