// The result of a sparse solve as JSON and as text, for `kasane solve` and for runs.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/sparse/solver.hpp>

#include <string>

namespace kasane::run {

/// Numbers that are not finite become null; sizes of colours are listed up to 1024 colours.
io::Json as_json(const sparse::SetupFacts& setup, const sparse::SolveLog& log);

/// The choices, parts of the set-up, memory, notes, outcome, speed, and a dozen lines of the history; no line break at the end.
std::string as_text(const sparse::SetupFacts& setup, const sparse::SolveLog& log);

/// The reason and a remedy for a solve that did not converge; empty where it converged.
std::string advice(const sparse::SolveLog& log);

}  // namespace kasane::run
