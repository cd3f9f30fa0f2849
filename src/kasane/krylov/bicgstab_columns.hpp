// BiCGStab for several right-hand sides ("columns") at once: one iteration for all of them, with scalars of each, so that the operator
// reads its matrix once for all columns. Not a block method: the columns do not mix. Invariant: each column passes through the same
// operations in the same order as in bicgstab.hpp and inner_bicgstab.hpp, so that where the algebra's sums do not depend on the other
// columns its solution has the same bits as alone; a column that has ended does no more work.
//
// An algebra of columns has Scalar, and a Vector that holds a vector of every column. Its operations are those of algebra.hpp for the
// columns of a set; scalars and results are in the order of the set:
//     copy(set, x, y), zero(set, y), norm2(set, x), dot(set, x, y), axpby(set, a, x, b, y), axpy_norm2(set, a, x, y),
//     dot_norm2(set, x, y), direction(set, r, beta, omega, v, p), finish(set, alpha, p, omega, t, shadow, x, r)
// An operator has apply(algebra, set, in, out); convert(set, from, to) copies columns to another precision.
#pragma once

#include <kasane/krylov/bicgstab_scalars.hpp>
#include <kasane/krylov/columns.hpp>
#include <kasane/krylov/watch.hpp>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace kasane::krylov {

/// Vectors of the iteration; see BicgstabWorkspace.
template <class Algebra>
struct ColumnsWorkspace {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    Vector r;                                 ///< residuals
    Vector shadow;                            ///< shadow residuals
    Vector p;                                 ///< directions
    Vector v;                                 ///< A M^-1 p
    Vector t;                                 ///< A M^-1 s
};

/// BicgstabRecurrence for columns. A step returns the columns of the set for which BicgstabRecurrence's would return true.
template <class Algebra>
class BicgstabColumns {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra
    using Scalar = typename Algebra::Scalar;  ///< of the algebra

    /// Works on the vectors of the workspace. @param columns  that the vectors have
    BicgstabColumns(Algebra& algebra, ColumnsWorkspace<Algebra>& work, int columns)
        : algebra_(algebra), w_(work), at_(static_cast<std::size_t>(columns)) {}

    /// The scalars of a column.
    BicgstabScalars<RecurrenceScalar<Scalar>>& of(int c) { return at_[static_cast<std::size_t>(c)]; }
    /// The residuals.
    Vector& r() { return w_.r; }
    /// Output vectors for A p_hat.
    Vector& v() { return w_.v; }
    /// Output vectors for A s_hat.
    Vector& t() { return w_.t; }

    /// Begins with the present r, whose norms are norm(c).
    template <class Norm>
    void start(const ColumnSet& set, Norm norm) {
        for (const int c : set) of(c).start(norm(c));
        algebra_.copy(set, w_.r, w_.shadow);
    }
    /// The next directions, p.
    const Vector& direction(const ColumnSet& set) {
        const auto [fresh, others] = divided(set, [&](int c) { return of(c).fresh(); });
        algebra_.copy(fresh, w_.r, w_.p);
        algebra_.direction(others, w_.r, of_each(others, [&](int c) { return Scalar(of(c).beta()); }),
                           of_each(others, [&](int c) { return Scalar(of(c).omega()); }), w_.v, w_.p);
        return w_.p;
    }
    /// After v = A p_hat. @param enough  norm of the residual of a column c that ends its iteration: enough(c)
    template <class Enough>
    ColumnSet half_step(const ColumnSet& set, const Vector& p_hat, Vector& x, Enough enough) {
        const bool plain = &p_hat == &w_.p;
        const auto products = algebra_.dot_norm2(set, w_.v, w_.shadow);
        std::size_t i = 0;
        const auto [sound, broken] = divided(set, [&](int c) {
            const auto& [v_shadow, v2] = products[i++];
            return of(c).take_v(v_shadow, v2);
        });
        const auto squares = algebra_.axpy_norm2(sound, of_each(sound, [&](int c) { return Scalar(-of(c).alpha()); }), w_.v, w_.r);
        i = 0;
        const auto [smaller, lost] = divided(sound, [&](int c) { return of(c).take_half(squares[i++]); });
        if (!lost.empty()) {
            const auto before = algebra_.axpy_norm2(lost, of_each(lost, [&](int c) { return Scalar(of(c).alpha()); }), w_.v, w_.r);
            for (i = 0; i < lost.size(); ++i) of(lost[i]).undo_half(before[i]);
        }
        const auto [done, on] = divided(smaller, [&](int c) { return of(c).is_enough(enough(c)); });
        add(plain ? done : smaller, [&](int c) { return Scalar(of(c).alpha()); }, p_hat, x);
        return on;
    }
    /// After t = A s_hat.
    ColumnSet full_step(const ColumnSet& set, const Vector& s_hat, Vector& x) {
        const bool plain = &s_hat == &w_.r;
        const auto products = algebra_.dot_norm2(set, w_.t, w_.r);
        std::size_t i = 0;
        const auto [sound, broken] = divided(set, [&](int c) {
            const auto& [ts, t2] = products[i++];
            return of(c).take_t(ts, t2);
        });
        const auto alpha = [&](int c) { return Scalar(of(c).alpha()); };
        const auto omega = [&](int c) { return Scalar(of(c).omega()); };
        i = 0;
        if (plain) {
            add(broken, alpha, w_.p, x);
            const auto rest = algebra_.finish(sound, of_each(sound, alpha), w_.p, of_each(sound, omega), w_.t, w_.shadow, x, w_.r);
            return divided(sound,
                           [&](int c) {
                               const auto& [rho, r2] = rest[i++];
                               return of(c).take_rest(rho, r2);
                           })
                .first;
        }
        add(sound, omega, s_hat, x);
        const auto squares = algebra_.axpy_norm2(sound, of_each(sound, [&](int c) { return Scalar(-of(c).omega()); }), w_.t, w_.r);
        const auto rho = algebra_.dot(sound, w_.shadow, w_.r);
        return divided(sound,
                       [&](int c) {
                           const auto k = i++;
                           (void)c;
                           return of(c).take_rest(rho[k], squares[k]);
                       })
            .first;
    }

   private:
    /// x += a(c) y
    template <class Factor>
    void add(const ColumnSet& set, Factor a, const Vector& y, Vector& x) {
        algebra_.axpby(set, of_each(set, a), y, std::vector<Scalar>(set.size(), 1), x);
    }

    Algebra& algebra_;
    ColumnsWorkspace<Algebra>& w_;
    std::vector<BicgstabScalars<RecurrenceScalar<Scalar>>> at_;
};

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
};

/// The courses of all columns, and the stop function that is called once for all of them.
class ColumnCourses {
   public:
    /// @param stop  called with the largest number of iterations and the largest residual of the columns; may be empty
    explicit ColumnCourses(StopFunction stop) : stop_(std::move(stop)) {}
    /// Adds the next column.
    void add(const Options& options, double b_norm) { courses_.emplace_back(options, b_norm); }
    /// Of a column.
    ColumnCourse& operator[](int c) { return courses_[static_cast<std::size_t>(c)]; }
    /// The number of columns.
    int size() const { return static_cast<int>(courses_.size()); }

    /// Calls the stop function for the columns of the set that have not ended; where it returns true, every column ends.
    /// @param norm  of a column's residual: norm(c)
    template <class Norm>
    void call_stop(const ColumnSet& set, Norm norm) {
        if (!stop_) return;
        int iterations = -1;
        double worst = 0;
        for (const int c : set) {
            auto& course = (*this)[c];
            if (course.watch.ended()) continue;
            iterations = std::max(iterations, course.log.iterations + course.log.inner_iterations);
            worst = std::max(worst, norm(c) / course.watch.b_norm());
        }
        if (iterations >= 0 && stop_(iterations, worst))
            for (auto& course : courses_)
                if (!course.watch.ended()) course.watch.end(Outcome::stopped);
    }

   private:
    std::deque<ColumnCourse> courses_;
    StopFunction stop_;
};

/// The columns of one inner solve (InnerBicgstab for columns): scales, targets, starts, and the choice of the result.
template <class High, class Low, class Convert>
class InnerColumns {
   public:
    /// Converts the right-hand sides; a column that is zero or not finite is copied to `out` and not solved.
    /// @param y  the solutions in the low precision   @param tolerance  as that of InnerBicgstab
    InnerColumns(High& high, Low& low, const Convert& convert, const ColumnSet& set, const typename High::Vector& in,
                 typename High::Vector& out, ColumnsWorkspace<Low>& work, typename Low::Vector& y, ColumnCourses& courses, double tolerance)
        : high_(high),
          low_(low),
          convert_(convert),
          in_(in),
          out_(out),
          y_(y),
          courses_(courses),
          at_(static_cast<std::size_t>(courses.size())) {
        convert(set, in, work.r);
        const auto squares = low.norm2(set, work.r);
        for (std::size_t i = 0; i < set.size(); ++i) of(set[i]).norm = std::sqrt(squares[i]);
        usable_ = divided(set, [&](int c) { return scale(c, work); }).first;
        for (const int c : usable_) {
            Inner& a = of(c);
            // Rounding would lift a residual that is just small enough here slightly above the tolerance of the outer method.
            a.target = std::max(tolerance * a.norm, 0.3 * courses[c].watch.target() * a.unit);
            a.now = a.norm;
        }
        low.zero(usable_, y);
        starting_ = divided(usable_, [&](int c) { return needs_start(c); }).first;
    }

    /// Starts the columns that need it; false where no column is left. @param it  the recurrence
    bool go_on(BicgstabColumns<Low>& it) {
        it.start(starting_, [&](int c) { return of(c).now; });
        for (const int c : starting_) ++of(c).starts, of(c).stagnation = {courses_[c].options.inner_stagnation_limit, of(c).now};
        running_.insert(running_.end(), starting_.begin(), starting_.end());
        std::sort(running_.begin(), running_.end());
        courses_.call_stop(running_, [&](int c) { return it.of(c).norm() / of(c).unit; });
        going_ = divided(running_, [&](int c) {
                     return it.of(c).norm() > of(c).target && courses_[c].watch.go_on_inside(it.of(c).norm() / of(c).unit);
                 }).first;
        return !running_.empty();
    }
    /// The columns that make the next iteration.
    const ColumnSet& going() const { return going_; }
    /// The norm that ends a column.
    double target(int c) const { return at_[static_cast<std::size_t>(c)].target; }
    /// After an iteration. @param sound  the columns whose recurrence continues
    void finish_iteration(BicgstabColumns<Low>& it, const ColumnSet& sound) {
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
    /// out = y where that has a smaller residual than zero, otherwise in. A column whose residual was not halved ends as a breakdown.
    void end() {
        const auto squares = low_.norm2(usable_, y_);
        std::size_t i = 0;
        const auto [good, useless] = divided(usable_, [&](int c) {
            Inner& a = of(c);
            auto& watch = courses_[c].watch;
            const bool finite = std::isfinite(squares[i++]);
            if (!watch.ended() && (!finite || !(a.now <= std::max(0.5 * a.norm, a.target)))) {
                watch.note("the inner BiCGStab gains nothing");
                watch.end(Outcome::breakdown);
            }
            return finite && a.now < a.norm;
        });
        high_.copy(useless, in_, out_);
        convert_(good, y_, out_);
        for (const int c : good)
            if (of(c).unit != 1) high_.axpby({c}, {0}, in_, {1 / of(c).unit}, out_);
    }

   private:
    static constexpr int most_starts = 2;
    /// One column.
    struct Inner {
        double norm = 0, unit = 1, target = 0, now = 0;
        int starts = 0;
        bool left = false;
        StagnationTest stagnation{0, 0};
    };
    Inner& of(int c) { return at_[static_cast<std::size_t>(c)]; }
    bool needs_start(int c) {
        const Inner& a = of(c);
        return a.starts < most_starts && a.now > std::max(a.target, 0.5 * a.norm) && std::isfinite(a.now) && !courses_[c].watch.ended();
    }
    /// Scales a residual whose squares would leave the range of floats; false where it is zero or not finite.
    bool scale(int c, ColumnsWorkspace<Low>& work) {
        Inner& a = of(c);
        if (a.norm > 1e-12 && a.norm < 1e12) return true;
        const ColumnSet one{c};
        const double true_norm = std::sqrt(high_.norm2(one, in_)[0]);
        if (!(true_norm > 0) || !std::isfinite(true_norm)) {
            high_.copy(one, in_, out_);
            return false;
        }
        a.unit = std::ldexp(1., -std::ilogb(true_norm));
        high_.axpby(one, {a.unit}, in_, {0}, out_);
        convert_(one, out_, work.r);
        a.norm = std::sqrt(low_.norm2(one, work.r)[0]);
        return true;
    }

    High& high_;
    Low& low_;
    const Convert& convert_;
    const typename High::Vector& in_;
    typename High::Vector& out_;
    typename Low::Vector& y_;
    ColumnCourses& courses_;
    std::vector<Inner> at_;
    ColumnSet usable_, running_, starting_, going_;
};

/// Nested BiCGStab, bicgstab() with InnerBicgstab, for the columns of a set, from the x that are given: the same course for each column.
/// @param A, a       operators of the high and the low precision   @param tolerance  of an inner solve
/// @param z          vectors for M^-1 p and M^-1 s   @param y  vectors of the low precision
/// @param courses    of all columns, with the norms of b: near 1, since they are not scaled; their logs are filled
template <class High, class HighOperator, class Low, class LowOperator, class Convert>
void nested_bicgstab_columns(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert, double tolerance,
                             const ColumnSet& set, const typename High::Vector& b, typename High::Vector& x, ColumnsWorkspace<High>& work,
                             typename High::Vector& z, ColumnsWorkspace<Low>& low_work, typename Low::Vector& y, ColumnCourses& courses) {
    constexpr int fruitless_starts = 3;
    using Scalar = typename High::Scalar;
    BicgstabColumns<High> it(high, work, courses.size());
    const auto factors = [](const ColumnSet& of, double value) { return std::vector<Scalar>(of.size(), value); };
    // r = b - A x
    const auto update = [&](const ColumnSet& of) {
        A.apply(high, of, x, work.r);
        high.axpby(of, factors(of, 1), b, factors(of, -1), work.r);
        const auto squares = high.norm2(of, work.r);
        for (std::size_t i = 0; i < of.size(); ++i) {
            auto& course = courses[of[i]];
            ++course.log.updates;
            course.norm = std::sqrt(squares[i]), course.known = true;
        }
    };
    // z = A^-1 in, approximately
    const auto precondition = [&](const ColumnSet& of, const typename High::Vector& in) {
        InnerColumns inner(high, low, convert, of, in, z, low_work, y, courses, tolerance);
        BicgstabColumns<Low> inside(low, low_work, courses.size());
        while (inner.go_on(inside)) {
            const auto& p = inside.direction(inner.going());
            a.apply(low, inner.going(), p, inside.v());
            const auto half = inside.half_step(inner.going(), p, y, [&](int c) { return inner.target(c); });
            a.apply(low, half, inside.r(), inside.t());
            inner.finish_iteration(inside, inside.full_step(half, inside.r(), y));
        }
        inner.end();
    };
    {
        const auto squares = high.norm2(set, x);
        std::size_t i = 0;
        const auto [zero, guessed] = divided(set, [&](int) { return squares[i++] == 0; });
        high.zero(zero, x);
        high.axpby(zero, factors(zero, 1), b, factors(zero, 0), work.r);
        for (const int c : zero) courses[c].norm = courses[c].watch.b_norm();
        update(guessed);
    }
    for (const int c : set) {
        courses[c].best = courses[c].norm;
        if (!std::isfinite(courses[c].norm)) courses[c].watch.end(Outcome::not_finite);
    }
    ColumnSet running, starting = divided(set, [&](int c) { return !courses[c].converged() && !courses[c].watch.ended(); }).first;
    while (!running.empty() || !starting.empty()) {
        it.start(starting, [&](int c) { return courses[c].norm; });
        for (const int c : starting) courses[c].stagnation = {courses[c].options.stagnation_limit, courses[c].norm}, courses[c].why = "";
        running.insert(running.end(), starting.begin(), starting.end());
        std::sort(running.begin(), running.end());
        courses.call_stop(running, [&](int c) { return it.of(c).norm(); });
        const auto going = divided(running, [&](int c) {
                               return it.of(c).norm() > courses[c].watch.target() && courses[c].watch.go_on(it.of(c).norm());
                           }).first;
        for (const int c : going) courses[c].known = false;
        precondition(going, it.direction(going));
        A.apply(high, going, z, it.v());
        const auto half = it.half_step(going, z, x, [&](int c) { return courses[c].watch.target(); });
        precondition(half, it.r());
        A.apply(high, half, z, it.t());
        const auto sound = it.full_step(half, z, x);
        for (const int c : going)
            if (!std::binary_search(sound.begin(), sound.end(), c)) courses[c].why = it.of(c).vanished();
        const auto on = divided(sound, [&](int c) {
                            if (!courses[c].stagnation.stagnated(it.of(c).norm())) return true;
                            courses[c].why = "progress";
                            return false;
                        }).first;
        const auto ended = divided(running, [&](int c) { return !std::binary_search(on.begin(), on.end(), c); }).first;
        update(divided(ended, [&](int c) { return !courses[c].known; }).first);
        running = on;
        starting.clear();
        for (const int c : ended) {
            auto& course = courses[c];
            if (!std::isfinite(course.norm)) course.watch.end(Outcome::not_finite);
            if (course.watch.ended() || course.converged()) continue;
            ++course.log.restarts;
            course.fruitless = course.norm <= 0.5 * course.best ? 0 : course.fruitless + 1;
            course.best = std::min(course.best, course.norm);
            if (course.fruitless == fruitless_starts) {
                course.watch.end(*course.why != 0 ? Outcome::breakdown : Outcome::stagnated);
                continue;
            }
            course.watch.note("BiCGStab: new start at " + course.watch.place(course.norm) +
                              (*course.why != 0 ? std::string(", where ") + course.why + " vanished"
                                                : ", the true one, where the recurrence's had converged"));
            starting.push_back(c);
        }
    }
    for (const int c : set) {
        auto& course = courses[c];
        if (course.converged()) course.log.end = Outcome::converged;
        course.log.true_residual = course.norm / course.watch.b_norm();
        if (course.options.history) course.log.residuals.push_back(course.log.true_residual);
    }
}

}  // namespace kasane::krylov
