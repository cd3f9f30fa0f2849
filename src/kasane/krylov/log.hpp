// What the methods for general (complex, not symmetric) systems have in common: how they end, their options, their log, and the watch
// that counts iterations, inner ones too, and says when to end.
// Invariants: none of them throws for numerical reasons: how it ended is in the log; x is the last iterate, whatever the end; `converged`
// means that the true residual b - A x is below the tolerance, not the recurrence's.
//
// An algebra has `Vector`, `Scalar` = std::complex<double> and the verbs
//     like(x)                            a vector of x's size
//     copy(x, y), zero(y)                y = x, y = 0
//     norm2(x), dot(x, y)                sum |x_i|^2, sum conj(x_i) y_i
//     axpby(a, x, b, y)                  y = a x + b y; where b = 0, y is not read
//     axpy_norm2(a, x, y)                y += a x; |y|^2
//     dot_norm2(x, y)                    {x.y, |x|^2}
//     direction(r, beta, omega, v, p)    p = r + beta (p - omega v)
//     finish(alpha, p, omega, t, shadow, x, r)    x += alpha p + omega r, r -= omega t; {shadow.r, |r|^2}
//     step(a, p, q, x, r)                x += a p, r -= a q; |r|^2
// An operator has apply(algebra, in, out) and, for conjugate gradients, apply_adjoint(algebra, in, out); in and out differ.
// A flexible preconditioner has apply(algebra, in, out) or apply(algebra, in, out, watch, enough): out = A^-1 in, about; a residual of norm
// `enough` would end the caller's iteration. "convert(from, to)" copies a vector of one precision to one of another.
#pragma once

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kasane::krylov {

enum class End {
    converged,
    iteration_limit,
    stagnated,   ///< the recurrence goes on, the true residual does not: rounding, or a singular A
    breakdown,   ///< a denominator vanished or the residual grew or stood still, and new starts did not help
    not_finite,  ///< NaN or infinity in b, x or A
    stopped,     ///< by the caller's stop()
};

constexpr std::string_view name(End end) {
    switch (end) {
        case End::converged: return "converged";
        case End::iteration_limit: return "iteration limit";
        case End::stagnated: return "stagnated";
        case End::breakdown: return "breakdown";
        case End::not_finite: return "not finite";
        case End::stopped: return "stopped";
    }
    return "";
}

struct Options {
    double tolerance = 1e-10;      ///< of ||b - A x|| / ||b||, true
    int iteration_limit = 10'000;  ///< of the method's iterations, and of all inner ones
    int patience = 500;            ///< iterations without a residual smaller by a tenth before a new start
    int inner_patience = 500;      ///< the same of an inner solver
    bool history = true;           ///< keep the residual of every iteration
    /// Asked before every iteration, inner ones too, with the number of those done and the relative residual; true ends it. May be empty.
    std::function<bool(int iteration, double residual)> stop = {};
};

struct Log {
    End end = End::iteration_limit;
    int iterations = 0;              ///< of the method itself
    int inner_iterations = 0;        ///< of all inner solves
    int updates = 0;                 ///< how often b - A x was computed in the outer precision
    int restarts = 0;                ///< new starts after a breakdown
    double true_residual = 0;        ///< ||b - A x|| / ||b|| at the end
    std::vector<double> residuals;   ///< relative to ||b||, before every iteration, as its recurrence sees it; the last is the true one
    std::vector<std::string> notes;  ///< new starts and their reasons
    bool converged() const { return end == End::converged; }
};

/// Writes the log while a method and its inner solver run; residuals are given as norms.
class Watch {
   public:
    Watch(const Options& options, Log& log) : options_(options), log_(log) {}

    void set_b_norm(double norm) { b_norm_ = norm; }
    double b_norm() const { return b_norm_; }
    double target() const { return options_.tolerance * b_norm_; }
    const Options& options() const { return options_; }
    Log& log() { return log_; }

    /// Before an iteration: false where it must not be made; then the log's end says why, and it stays so.
    bool go_on(double residual) { return allows(residual, log_.iterations); }
    bool go_on_inside(double residual) { return allows(residual * inside_scale_, log_.inner_iterations); }
    /// The outer residual per unit of the residual that the preconditioner is given.
    void set_inside_scale(double scale) { inside_scale_ = scale; }
    bool ended() const { return ended_; }

    bool end(End why) {
        ended_ = true;
        log_.end = why;
        return false;
    }
    void note(std::string text) { log_.notes.push_back(std::move(text)); }
    /// "iteration 12, residual 3.1e-05": where a note belongs.
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
        if (count >= options_.iteration_limit) return end(End::iteration_limit);
        if (options_.stop && options_.stop(log_.iterations + log_.inner_iterations, relative)) return end(End::stopped);
        ++count;
        return true;
    }

    const Options& options_;
    Log& log_;
    double b_norm_ = 1, inside_scale_ = 1;
    bool ended_ = false;
};

/// Notices a residual that has not become smaller by a tenth for as many iterations as the options allow, or has grown beyond use.
class Patience {
   public:
    Patience(int iterations, double residual) : iterations_(iterations) { start(residual); }
    void start(double residual) { best_ = start_ = residual, since_ = 0; }
    /// Of the residual after an iteration. A residual 1e4 times that of the start has cost the digits that single precision has.
    bool lost(double residual) {
        if (residual < 0.9 * best_) best_ = residual, since_ = 0;
        return ++since_ > iterations_ || !(residual <= 1e4 * start_);
    }
    /// A long wait, though not yet lost, below half the residual of the start: rounding may be all that goes on.
    bool waits() const { return since_ >= 50 && best_ < 0.5 * start_; }

   private:
    int iterations_, since_ = 0;
    double best_ = 0, start_ = 0;
};

}  // namespace kasane::krylov
