// The result of a sparse solve: the keys of --json, and some lines for people. Shared by `kasane solve` and runs that solve a system.
#pragma once

#include <kasane/sparse/solver.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace kasane::run {

/// Numbers that are not finite become null; sizes of colours are listed up to 1024 colours.
nlohmann::ordered_json as_json(const sparse::SetupFacts& setup, const sparse::SolveLog& log);

/// What was chosen, parts of the set-up, memory, notes, how it ended, speed, and the history in a dozen lines; no line break at the end.
std::string as_text(const sparse::SetupFacts& setup, const sparse::SolveLog& log);

/// Why a solve that did not converge ended, and what to do; empty for one that did.
std::string advice(const sparse::SolveLog& log);

}  // namespace kasane::run
