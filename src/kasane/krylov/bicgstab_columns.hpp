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

#include <kasane/krylov/column_courses.hpp>
#include <kasane/krylov/column_scalars.hpp>
#include <kasane/krylov/column_system.hpp>
#include <kasane/krylov/columns.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
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

/// BicgstabRecurrence for columns. A step returns the columns of the set for which the step of BicgstabRecurrence would return true.
template <class Algebra>
class BicgstabColumns {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra
    using Scalar = typename Algebra::Scalar;  ///< of the algebra

    /// Works on the vectors of the workspace. @param columns  that the vectors have
    BicgstabColumns(Algebra& algebra, ColumnsWorkspace<Algebra>& work, int columns) : algebra_(algebra), w_(work), scalars_(columns) {}

    /// The scalars.
    const ColumnScalars<Scalar>& scalars() const { return scalars_; }
    /// The residuals.
    Vector& r() { return w_.r; }
    /// Output vectors for A p_hat.
    Vector& v() { return w_.v; }
    /// Output vectors for A s_hat.
    Vector& t() { return w_.t; }

    /// Begins with the present r. @param norms  of r, in the order of the set
    void start(const ColumnSet& set, const std::vector<double>& norms) {
        scalars_.start(set, norms);
        algebra_.copy(set, w_.r, w_.shadow);
    }
    /// Continues after the caller has replaced r by better residuals; directions and shadow vectors stay. @param norms  of r, in the order
    /// of the set
    void replaced(const ColumnSet& set, const std::vector<double>& norms) {
        for (std::size_t i = 0; i < set.size(); ++i) scalars_.of(set[i]).replaced(norms[i]);
        const auto others = scalars_.fresh(set).second;
        const auto rho = algebra_.dot(others, w_.shadow, w_.r);
        for (std::size_t i = 0; i < others.size(); ++i) scalars_.of(others[i]).set_rho(rho[i]);
    }
    /// The next directions, p.
    const Vector& direction(const ColumnSet& set) {
        const auto [fresh, others] = scalars_.fresh(set);
        algebra_.copy(fresh, w_.r, w_.p);
        algebra_.direction(others, w_.r, scalars_.beta(others), scalars_.omega(others), w_.v, w_.p);
        return w_.p;
    }
    /// After v = A p_hat. @param enough  norms of residuals that end the iteration, one of each of the columns that the vectors have
    ColumnSet half_step(const ColumnSet& set, const Vector& p_hat, Vector& x, const std::vector<double>& enough) {
        const bool plain = &p_hat == &w_.p;
        const auto sound = scalars_.take_v(set, algebra_.dot_norm2(set, w_.v, w_.shadow)).first;
        const auto [smaller, lost] =
            scalars_.take_half(sound, algebra_.axpy_norm2(sound, scalars_.negative(scalars_.alpha(sound)), w_.v, w_.r));
        if (!lost.empty()) scalars_.undo_half(lost, algebra_.axpy_norm2(lost, scalars_.alpha(lost), w_.v, w_.r));
        const auto [done, on] = scalars_.is_enough(smaller, enough);
        const ColumnSet& moved = plain ? done : smaller;
        add(moved, scalars_.alpha(moved), p_hat, x);
        return on;
    }
    /// After t = A s_hat.
    ColumnSet full_step(const ColumnSet& set, const Vector& s_hat, Vector& x) {
        const bool plain = &s_hat == &w_.r;
        const auto [sound, broken] = scalars_.take_t(set, algebra_.dot_norm2(set, w_.t, w_.r));
        if (plain) {
            add(broken, scalars_.alpha(broken), w_.p, x);
            return scalars_.take_rest(sound,
                                      algebra_.finish(sound, scalars_.alpha(sound), w_.p, scalars_.omega(sound), w_.t, w_.shadow, x, w_.r));
        }
        add(sound, scalars_.omega(sound), s_hat, x);
        const auto squares = algebra_.axpy_norm2(sound, scalars_.negative(scalars_.omega(sound)), w_.t, w_.r);
        return scalars_.take_rest(sound, algebra_.dot(sound, w_.shadow, w_.r), squares);
    }

   private:
    /// x += a y
    void add(const ColumnSet& set, const std::vector<Scalar>& a, const Vector& y, Vector& x) {
        algebra_.axpby(set, a, y, std::vector<Scalar>(set.size(), 1), x);
    }

    Algebra& algebra_;
    ColumnsWorkspace<Algebra>& w_;
    ColumnScalars<Scalar> scalars_;
};

/// BiCGStab with a flexible preconditioner, bicgstab(), for the columns of a set, from the x that are given: the same course for each
/// column.
/// @param M        M(set, in) computes z = M^-1 in of the columns of a set
/// @param z        vectors for M^-1 p and M^-1 s
/// @param courses  of all columns, with the norms of b: near 1, since they are not scaled; their logs are filled
template <class Algebra, class Operator>
void bicgstab_columns(Algebra& algebra, const Operator& A, const std::function<void(const ColumnSet&, const typename Algebra::Vector&)>& M,
                      const ColumnSet& set, const typename Algebra::Vector& b, typename Algebra::Vector& x, ColumnsWorkspace<Algebra>& work,
                      const typename Algebra::Vector& z, ColumnCourses& courses) {
    BicgstabColumns<Algebra> it(algebra, work, courses.size());
    const auto targets = courses.targets();
    ColumnSystem system(algebra, A, b, x, work.r, courses);
    ColumnSet running, starting = system.begin(set);
    while (!running.empty() || !starting.empty()) {
        it.start(starting, of_each(starting, [&](int c) { return courses[c].norm; }));
        for (const int c : starting) courses[c].stagnation = {courses[c].options.stagnation_limit, courses[c].norm}, courses[c].why = "";
        running.insert(running.end(), starting.begin(), starting.end());
        std::sort(running.begin(), running.end());
        courses.call_stop(running, of_each(running, [&](int c) { return it.scalars().of(c).norm(); }));
        const auto going =
            divided(running, [&](int c) {
                return it.scalars().of(c).norm() > courses[c].watch.target() && courses[c].watch.go_on(it.scalars().of(c).norm());
            }).first;
        for (const int c : going) courses[c].known = false;
        M(going, it.direction(going));
        A.apply(algebra, going, z, it.v());
        const auto half = it.half_step(going, z, x, targets);
        M(half, it.r());
        A.apply(algebra, half, z, it.t());
        const auto sound = it.full_step(half, z, x);
        for (const int c : going)
            if (!std::binary_search(sound.begin(), sound.end(), c)) courses[c].why = it.scalars().of(c).vanished();
        const auto on = divided(sound, [&](int c) {
                            if (!courses[c].stagnation.stagnated(it.scalars().of(c).norm())) return true;
                            courses[c].why = "progress";
                            return false;
                        }).first;
        const auto ended = divided(running, [&](int c) { return !std::binary_search(on.begin(), on.end(), c); }).first;
        system.update(divided(ended, [&](int c) { return !courses[c].known; }).first);
        running = on;
        starting.clear();
        for (const int c : ended)
            if (courses[c].starts_again()) starting.push_back(c);
    }
    for (const int c : set) courses[c].end();
}

/// Nested BiCGStab, bicgstab() with InnerBicgstab, for the columns of a set: see bicgstab_columns(). A right-hand side of an inner solve
/// that is zero or not finite is its solution.
/// @param A, a       operators of the high and the low precision   @param tolerance  of an inner solve
/// @param y          vectors of the low precision
template <class High, class HighOperator, class Low, class LowOperator, class Convert>
void nested_bicgstab_columns(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert, double tolerance,
                             const ColumnSet& set, const typename High::Vector& b, typename High::Vector& x, ColumnsWorkspace<High>& work,
                             typename High::Vector& z, ColumnsWorkspace<Low>& low_work, typename Low::Vector& y, ColumnCourses& courses) {
    const auto inner_solve = [&](const ColumnSet& of, const typename High::Vector& in) {
        InnerCourses inner(courses);
        BicgstabColumns<Low> it(low, low_work, courses.size());
        // Scales a residual whose squares would leave the range of floats; false where it is zero or not finite.
        const auto scale = [&](int c) {
            double &norm = inner.of(c).norm, &unit = inner.of(c).unit;
            if (norm > 1e-12 && norm < 1e12) return true;
            const ColumnSet one{c};
            const double true_norm = std::sqrt(high.norm2(one, in)[0]);
            if (!(true_norm > 0) || !std::isfinite(true_norm)) {
                high.copy(one, in, z);
                return false;
            }
            unit = std::ldexp(1., -std::ilogb(true_norm));
            high.axpby(one, {unit}, in, {0}, z);
            convert(one, z, low_work.r);
            norm = std::sqrt(low.norm2(one, low_work.r)[0]);
            return true;
        };
        convert(of, in, low_work.r);
        const auto squares = low.norm2(of, low_work.r);
        for (std::size_t i = 0; i < of.size(); ++i) inner.of(of[i]).norm = std::sqrt(squares[i]);
        const auto usable = divided(of, scale).first;
        low.zero(usable, y);
        inner.begin(usable, tolerance);
        while (true) {
            const auto [starting, norms] = inner.starting();
            it.start(starting, norms);
            if (!inner.go_on(it.scalars())) break;
            const auto& p = it.direction(inner.going());
            a.apply(low, inner.going(), p, it.v());
            const auto half = it.half_step(inner.going(), p, y, inner.targets());
            a.apply(low, half, it.r(), it.t());
            inner.finish_iteration(it.scalars(), it.full_step(half, it.r(), y));
        }
        const auto [good, useless] = inner.end(low.norm2(usable, y));
        high.copy(useless, in, z);
        convert(good, y, z);
        for (const int c : good)
            if (const double unit = inner.of(c).unit; unit != 1) high.axpby({c}, {0}, in, {1 / unit}, z);
    };
    bicgstab_columns(high, A, inner_solve, set, b, x, work, z, courses);
}

}  // namespace kasane::krylov
