// The systems A x = b of several columns: their true residuals, written to the courses of the columns.
#pragma once

#include <kasane/krylov/column_courses.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace kasane::krylov {

/// ScaledSystem for columns, whose b have norms near 1 and are not scaled.
template <class Algebra, class Operator>
class ColumnSystem {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra

    /// Keeps references to all arguments. @param r  vectors for the residuals   @param courses  with the norms of b
    ColumnSystem(Algebra& algebra, const Operator& A, const Vector& b, Vector& x, Vector& r, ColumnCourses& courses)
        : algebra_(algebra), A_(A), b_(b), x_(x), r_(r), courses_(courses) {}

    /// r = b - A x of the columns of a set. @return the columns that are not solved
    ColumnSet begin(const ColumnSet& set) {
        const auto squares = algebra_.norm2(set, x_);
        std::size_t i = 0;
        const auto [zero, guessed] = divided(set, [&](int) { return squares[i++] == 0; });
        algebra_.zero(zero, x_);
        add_b(zero, 0);
        for (const int c : zero) courses_[c].norm = courses_[c].watch.b_norm();
        update(guessed);
        for (const int c : set) {
            courses_[c].best = courses_[c].norm;
            if (!std::isfinite(courses_[c].norm)) courses_[c].watch.end(Outcome::not_finite);
        }
        return divided(set, [&](int c) { return !courses_[c].converged() && !courses_[c].watch.ended(); }).first;
    }
    /// r = b - A x with the present x.
    void update(const ColumnSet& set) {
        A_.apply(algebra_, set, x_, r_);
        add_b(set, -1);
        const auto squares = algebra_.norm2(set, r_);
        for (std::size_t i = 0; i < set.size(); ++i) {
            auto& course = courses_[set[i]];
            ++course.log.updates;
            course.norm = std::sqrt(squares[i]), course.known = true;
        }
    }

   private:
    using Scalars = std::vector<typename Algebra::Scalar>;

    /// r = b + factor r
    void add_b(const ColumnSet& set, double factor) { algebra_.axpby(set, Scalars(set.size(), 1), b_, Scalars(set.size(), factor), r_); }

    Algebra& algebra_;
    const Operator& A_;
    const Vector& b_;
    Vector& x_;
    Vector& r_;
    ColumnCourses& courses_;
};

}  // namespace kasane::krylov
