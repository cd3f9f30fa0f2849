// The exceptions of the library. Message grammar: problem, reason, remedy.
// Invariants: the user corrects what an InputError names (exit status 2); a ComputationError is a failure of the calculation (exit
// status 1); a LogicError is a mistake of the calling program. The library never prints or exits.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kasane {

/// Position of a problem in the user's input; empty or zero where it is unknown.
struct Where {
    std::string file;  ///< path, as the user gave it
    int line = 0;      ///< counted from 1
    int column = 0;    ///< counted from 1
    std::string key;   ///< dotted key of a run file ("force.softening"), or a command-line option
};

/// Base of everything that kasane throws on purpose.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The computation failed: blown up, not converged, device lost.
class ComputationError : public Error {
    using Error::Error;
};

/// The calling program misuses the API: views of different sizes, an object of another space, calls in the wrong order. The program must be
/// corrected; bad input and files are an InputError.
class LogicError : public Error {
    using Error::Error;
};

/// One problem in the user's input.
struct InputProblem {
    std::string message;  ///< problem, reason, remedy
    Where where;          ///< position in the input
    /// "FILE:LINE:COLUMN: KEY: message", without the parts that are unknown.
    std::string text() const;
};

/// Bad input, files or usage; holds every problem that was found, at least one.
class InputError : public Error {
   public:
    /// One problem.
    explicit InputError(std::string message, Where where = {});
    /// @param problems  at least one
    explicit InputError(std::vector<InputProblem> problems);

    /// All problems that were found, at least one.
    const std::vector<InputProblem>& problems() const { return problems_; }

   private:
    std::vector<InputProblem> problems_;
};

}  // namespace kasane

/// User input and files: always checked. KS_VALIDATE(condition, message[, where]).
#define KS_VALIDATE(condition, ...)                              \
    do {                                                         \
        if (!(condition)) throw kasane::InputError(__VA_ARGS__); \
    } while (false)

/// Calls of the public API by a program: always checked. KS_REQUIRE(condition, message) throws LogicError.
#define KS_REQUIRE(condition, message)                       \
    do {                                                     \
        if (!(condition)) throw kasane::LogicError(message); \
    } while (false)

/// Contract between modules of kasane: checked in dev builds (KASANE_DEV), not evaluated otherwise.
#if defined(KASANE_DEV)
#include <cassert>
#define KS_EXPECT(condition) assert(condition)
#else
#define KS_EXPECT(condition) static_cast<void>(sizeof(!(condition)))
#endif
