// The parts of `kasane lattice`: each adds its options to its own subcommand and returns what it does.
#pragma once

#include <app/command.hpp>

namespace kasane::app {

Action add_lattice_info(CLI::App&, const Common&);
Action add_lattice_solve(CLI::App&, const Common&);
Action add_lattice_measure(CLI::App&, const Common&);
Action add_lattice_generate(CLI::App&, const Common&);
Action add_lattice_convert(CLI::App&, const Common&);

}  // namespace kasane::app
