// The courses of the columns of a solve and of an inner solve (bicgstab_columns.hpp): logs, limits, targets and new starts.
#pragma once

#include <kasane/krylov/column_scalars.hpp>
#include <kasane/krylov/columns.hpp>
#include <kasane/krylov/watch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace kasane::krylov {

/// State of one column of a running solve, as bicgstab() has it in local variables.
struct ColumnCourse {
    Options options;            ///< of the column; without a stop function
    SolveLog log;               ///< of the column
    Watch watch;                ///< of the column
    StagnationTest stagnation;  ///< since the last start
    double norm = 0;            ///< true |r| of the last update
    double best = 0;            ///< the smallest one at a start
    bool known = true;          ///< r is b - A x
    int fruitless = 0;          ///< starts without gain
    const char* why = "";       ///< the reason for the end of the recurrence

    /// @param b_norm  |b| of the column
    ColumnCourse(Options of, double b_norm) : options(std::move(of)), watch(options, log), stagnation(options.stagnation_limit, b_norm) {
        options.stop = {};
        watch.set_b_norm(b_norm);
    }
    ColumnCourse(const ColumnCourse&) = delete;

    /// Whether the true residual is within the tolerance.
    bool converged() const { return norm <= watch.target(); }
    /// Called after the end of a recurrence, with the true residual; returns whether the column starts again.
    bool starts_again() {
        constexpr int fruitless_starts = 3;
        if (!std::isfinite(norm)) watch.end(Outcome::not_finite);
        if (watch.ended() || converged()) return false;
        ++log.restarts;
        fruitless = norm <= 0.5 * best ? 0 : fruitless + 1;
        best = std::min(best, norm);
        if (fruitless == fruitless_starts) return watch.end(*why != 0 ? Outcome::breakdown : Outcome::stagnated);
        watch.note("BiCGStab: new start at " + watch.place(norm) +
                   (*why != 0 ? std::string(", where ") + why + " vanished" : ", the true one, where the recurrence's had converged"));
        return true;
    }
    /// Writes the end to the log.
    void end() {
        if (converged()) log.end = Outcome::converged;
        log.true_residual = norm / watch.b_norm();
        if (options.history) log.residuals.push_back(log.true_residual);
    }
};

/// The courses of all columns, and the stop function that is called once for all of them.
class ColumnCourses {
   public:
    /// @param stop  called with the largest number of iterations and the largest residual of the columns; may be empty
    explicit ColumnCourses(StopFunction stop) : stop_(std::move(stop)) {}
    /// Adds the next column.
    void add(const Options& options, double b_norm) { courses_.emplace_back(options, b_norm); }
    /// Course of a column.
    ColumnCourse& operator[](int c) { return courses_[static_cast<std::size_t>(c)]; }
    /// The residuals that end the solves, of all columns.
    std::vector<double> targets() const {
        std::vector<double> of;
        for (const auto& course : courses_) of.push_back(course.watch.target());
        return of;
    }
    /// The number of columns.
    int size() const { return static_cast<int>(courses_.size()); }

    /// Calls the stop function for the columns of the set that have not ended; where it returns true, every column ends.
    /// @param norms  of the residuals, in the order of the set
    void call_stop(const ColumnSet& set, const std::vector<double>& norms) {
        if (!stop_) return;
        int iterations = -1;
        double worst = 0;
        for (std::size_t i = 0; i < set.size(); ++i) {
            const auto& course = (*this)[set[i]];
            if (course.watch.ended()) continue;
            iterations = std::max(iterations, course.log.iterations + course.log.inner_iterations);
            worst = std::max(worst, norms[i] / course.watch.b_norm());
        }
        if (iterations >= 0 && stop_(iterations, worst))
            for (auto& course : courses_)
                if (!course.watch.ended()) course.watch.end(Outcome::stopped);
    }

   private:
    std::deque<ColumnCourse> courses_;
    StopFunction stop_;
};

/// The courses of the columns of one inner solve (InnerBicgstab for columns): targets, starts, and the choice of the result.
class InnerCourses {
   public:
    /// One column.
    struct Inner {
        double norm = 0;                  ///< of the right-hand side, in its unit
        double unit = 1;                  ///< factor for the right-hand side
        double now = 0;                   ///< |r| at the end of the last iteration
        int starts = 0;                   ///< of the recurrence
        bool left = false;                ///< it does not start again
        StagnationTest stagnation{0, 0};  ///< since the last start
    };

    /// @param courses  of all columns
    explicit InnerCourses(ColumnCourses& courses)
        : courses_(courses), at_(static_cast<std::size_t>(courses.size())), targets_(at_.size()) {}

    /// State of a column in the inner solve.
    Inner& of(int c) { return at_[static_cast<std::size_t>(c)]; }
    /// The columns that start, with |r|.
    std::pair<const ColumnSet&, std::vector<double>> starting() {
        return {starting_, of_each(starting_, [&](int c) { return of(c).now; })};
    }
    /// The columns that make the next iteration.
    const ColumnSet& going() const { return going_; }
    /// The norms that end the columns.
    const std::vector<double>& targets() const { return targets_; }

    /// Begins with the columns whose right-hand sides are neither zero nor infinite. @param tolerance  as that of InnerBicgstab
    void begin(const ColumnSet& usable, double tolerance) {
        usable_ = usable;
        for (const int c : usable_) {
            Inner& a = of(c);
            // Rounding would lift a residual that is just small enough here slightly above the tolerance of the outer method.
            target(c) = std::max(tolerance * a.norm, 0.3 * courses_[c].watch.target() * a.unit);
            a.now = a.norm;
        }
        starting_ = divided(usable_, [&](int c) { return needs_start(c); }).first;
    }
    /// After starting() was executed: chooses going(); false where no column is left. @param it  the scalars of the recurrence
    template <class Scalar>
    bool go_on(const ColumnScalars<Scalar>& it) {
        for (const int c : starting_) ++of(c).starts, of(c).stagnation = {courses_[c].options.inner_stagnation_limit, of(c).now};
        running_.insert(running_.end(), starting_.begin(), starting_.end());
        std::sort(running_.begin(), running_.end());
        courses_.call_stop(running_, of_each(running_, [&](int c) { return it.of(c).norm() / of(c).unit; }));
        going_ = divided(running_, [&](int c) {
                     return it.of(c).norm() > target(c) && courses_[c].watch.go_on_inside(it.of(c).norm() / of(c).unit);
                 }).first;
        return !running_.empty();
    }
    /// Called after an iteration. @param sound  the columns whose recurrence continues
    template <class Scalar>
    void finish_iteration(const ColumnScalars<Scalar>& it, const ColumnSet& sound) {
        running_ = divided(sound, [&](int c) {
                       auto& stagnation = of(c).stagnation;
                       return !stagnation.stagnated(it.of(c).norm()) && !stagnation.slow();
                   }).first;
        starting_.clear();
        for (const int c : usable_) {
            if (of(c).left || std::binary_search(running_.begin(), running_.end(), c)) continue;
            of(c).now = it.of(c).norm();
            if (needs_start(c)) {
                starting_.push_back(c);
            } else {
                of(c).left = true;
            }
        }
    }
    /// The columns whose solutions have a smaller residual than zero, and the others. A column whose residual was not halved ends as a
    /// breakdown. @param squares  of the solutions, in the order of the columns that begin() was given
    std::pair<ColumnSet, ColumnSet> end(const std::vector<double>& squares) {
        std::size_t i = 0;
        return divided(usable_, [&](int c) {
            Inner& a = of(c);
            auto& watch = courses_[c].watch;
            const bool finite = std::isfinite(squares[i++]);
            if (!watch.ended() && (!finite || !(a.now <= std::max(0.5 * a.norm, target(c))))) {
                watch.note("the inner BiCGStab gains nothing");
                watch.end(Outcome::breakdown);
            }
            return finite && a.now < a.norm;
        });
    }

   private:
    static constexpr int most_starts = 2;
    double& target(int c) { return targets_[static_cast<std::size_t>(c)]; }
    bool needs_start(int c) {
        const Inner& a = of(c);
        return a.starts < most_starts && a.now > std::max(target(c), 0.5 * a.norm) && std::isfinite(a.now) && !courses_[c].watch.ended();
    }

    ColumnCourses& courses_;
    std::vector<Inner> at_;
    std::vector<double> targets_;
    ColumnSet usable_, running_, starting_, going_;
};

}  // namespace kasane::krylov
