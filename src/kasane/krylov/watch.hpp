// Keeps the log of a running method: counts iterations (also those of an inner solver), calls the stop function, and ends the solve at a
// limit; the stagnation test detects a residual that no longer falls.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/krylov/log.hpp>
#include <kasane/krylov/options.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace kasane::krylov {

/// Writes the log while a method and its inner solver run; residuals are norms.
class Watch {
   public:
    /// Keeps references to options and log.
    Watch(const Options& options, SolveLog& log) : options_(options), log_(log) {}

    /// Sets |b|, in the unit of the residuals.
    void set_b_norm(double norm) { b_norm_ = norm; }
    /// |b|
    double b_norm() const { return b_norm_; }
    /// The residual that ends the solve: rtol |b|.
    double target() const { return options_.rtol * b_norm_; }
    /// The options of the solve.
    const Options& options() const { return options_; }
    /// The log.
    SolveLog& log() { return log_; }

    /// Called before an iteration. Returns false if it must not be executed: then the log has the outcome, and later calls return false
    /// too.
    bool go_on(double residual) { return allows(residual, log_.iterations); }
    /// Called before an iteration of an inner solver; otherwise as go_on().
    bool go_on_inside(double residual) { return allows(residual * inside_scale_, log_.inner_iterations); }
    /// Iterations that the limit still allows, of the method or of the inner solver.
    int left(bool inside) const { return options_.iteration_limit - (inside ? log_.inner_iterations : log_.iterations); }
    /// Counts iterations that were executed before the caller's stop function was called.
    void executed(int iterations, bool inside) { (inside ? log_.inner_iterations : log_.iterations) += iterations; }
    /// Sets the outer residual per unit of the residual that the preconditioner gets.
    void set_inside_scale(double scale) { inside_scale_ = scale; }
    /// Whether the solve has ended.
    bool ended() const { return ended_; }

    /// Ends the solve; returns false.
    bool end(Outcome why) {
        ended_ = true;
        log_.end = why;
        return false;
    }
    /// Adds a note to the log.
    void note(std::string text) { log_.notes.push_back(std::move(text)); }
    /// "iteration 12, residual 3.1e-05": the place that a note names.
    std::string place(double residual) const {
        char text[80];
        std::snprintf(text, sizeof text, "iteration %d, residual %.1e", log_.iterations + log_.inner_iterations, residual / b_norm_);
        return text;
    }

   private:
    bool allows(double residual, int& count) {
        if (ended_) return false;
        const double relative = residual / b_norm_;
        if (options_.history) log_.residuals.push_back(relative);
        if (count >= options_.iteration_limit) return end(Outcome::iteration_limit);
        if (options_.stop && options_.stop(log_.iterations + log_.inner_iterations, relative)) return end(Outcome::stopped);
        ++count;
        return true;
    }

    const Options& options_;
    SolveLog& log_;
    double b_norm_ = 1, inside_scale_ = 1;
    bool ended_ = false;
};

/// Checks whether a watch allows an iteration: one of the method, or one of an inner solver with residuals in another unit.
struct Allowance {
    Watch& watch;         ///< of the solve
    bool inside = false;  ///< of an inner solver
    double unit = 1;      ///< of the norms

    /// Called before an iteration: counts it, and returns whether it may be executed.
    bool operator()(double norm) const { return inside ? watch.go_on_inside(norm / unit) : watch.go_on(norm); }
    /// Iterations that the limit still allows.
    int left() const { return watch.left(inside); }
    /// Counts iterations that were executed without a call before each.
    void executed(int iterations) const { watch.executed(iterations, inside); }
};

/// Stagnation test: whether the residual has not fallen by a tenth within a number of iterations, or has grown beyond use.
class StagnationTest {
   public:
    /// @param limit  iterations in which the residual must fall by a tenth   @param residual  at the start
    KS_FN StagnationTest(int limit, double residual) : limit_(limit) { start(residual); }
    /// Begins again from this residual.
    KS_FN void start(double residual) { best_ = start_ = residual, since_ = 0; }
    /// Called after every iteration; returns true if the method must start again. A residual of 1e4 times the first one has lost the digits
    /// that single precision holds.
    KS_FN bool stagnated(double residual) {
        if (residual < 0.9 * best_) best_ = residual, since_ = 0;
        return ++since_ > limit_ || !(residual <= 1e4 * start_);
    }
    /// Whether 50 iterations brought no gain at less than half of the first residual: rounding may be the reason, so update the true
    /// residual.
    KS_FN bool slow() const { return since_ >= 50 && best_ < 0.5 * start_; }

   private:
    int limit_, since_ = 0;
    double best_ = 0, start_ = 0;
};

}  // namespace kasane::krylov
