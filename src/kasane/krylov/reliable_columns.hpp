// BiCGStab in mixed precision with reliable updates for several right-hand sides ("columns") at once. Not a block method: the columns do
// not mix. Invariant: each column passes through the same operations in the same order as in reliable_bicgstab() (reliable.hpp), so that
// where the algebras' sums do not depend on the other columns its solution has the same bits as alone. The columns make their updates at
// different iterations.
#pragma once

#include <kasane/krylov/bicgstab_columns.hpp>
#include <kasane/krylov/iteration_course.hpp>
#include <kasane/krylov/update_spacing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

namespace kasane::krylov {

/// One column of a solve, as reliable_bicgstab() has it in local variables.
class ReliableColumn {
   public:
    /// @param course  of the column, with |r|   @param factors  as for reliable_bicgstab()
    ReliableColumn(ColumnCourse& course, const UpdateFactors& factors)
        : course_(course), run_(0, 0, course.stagnation), spacing_(factors, 0.01), starts_(course.norm) {}

    /// Whether the recurrence starts again, with the present residual as shadow vector.
    bool fresh() const { return !sound_; }
    /// Begins with the iterations up to the next update.
    void begin() {
        run_ = IterationCourse(course_.watch.target(), course_.norm, StagnationTest(course_.options.stagnation_limit, course_.norm),
                               SlowEnds::below_first, spacing_.factors());
        sound_ = true, course_.why = "";
    }
    /// Whether an iteration follows. @param norm  of the recurrence's residual
    bool goes_on(double norm) const { return sound_ && run_.goes_on(norm); }
    /// Takes the norm after an iteration.
    void take(double norm) {
        run_.take(norm);
        if (run_.stagnated) ends("progress");
    }
    /// The recurrence has ended. @param why  the quantity that vanished; empty where none did
    void ends(const char* why) { sound_ = false, course_.why = why; }
    /// Called after an update. @param gained  the true residual has become smaller   @param claimed  norm of the recurrence's residual
    /// @return whether the column goes on
    bool updated(bool gained, double claimed) {
        auto& watch = course_.watch;
        const double norm = course_.norm;
        const bool by_rounding = !gained && sound_;
        if (by_rounding) ends("the gain in double");
        if (!std::isfinite(norm)) watch.end(Outcome::not_finite);
        if (watch.ended() || course_.converged()) return false;
        if (sound_) {
            spacing_.learn(claimed, norm);
            return !progress_.lost(run_.first, norm, claimed) || watch.end(Outcome::stagnated);
        }
        ++course_.log.restarts;
        if (!starts_.allow(norm, *course_.why != 0 && !by_rounding))
            return watch.end(by_rounding ? Outcome::stagnated : Outcome::breakdown);
        if (*course_.why != 0) watch.note("BiCGStab: new start at " + watch.place(norm) + ", where " + course_.why + " vanished");
        return true;
    }

   private:
    ColumnCourse& course_;
    IterationCourse run_;
    Spacing spacing_;
    Progress progress_;
    NewStarts starts_;
    bool sound_ = false;
};

/// reliable_bicgstab() for the columns of a set, from the x that are given: the same course for each column.
/// @param A, a     operators of the high and the low precision
/// @param r, z     vectors of the high precision   @param work, y  vectors of the low one
/// @param courses  of all columns, with the norms of b: near 1, since they are not scaled; their logs are filled
/// @param factors  as for reliable_bicgstab()
template <class High, class HighOperator, class Low, class LowOperator, class Convert>
void reliable_bicgstab_columns(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert,
                               const ColumnSet& set, const typename High::Vector& b, typename High::Vector& x, typename High::Vector& r,
                               typename High::Vector& z, ColumnsWorkspace<Low>& work, typename Low::Vector& y, ColumnCourses& courses,
                               const UpdateFactors& factors) {
    ColumnSystem system(high, A, b, x, r, courses);
    BicgstabColumns<Low> it(low, work, courses.size());
    const auto& scalars = it.scalars();
    const auto targets = courses.targets();
    const auto norms = [&](const ColumnSet& of) { return of_each(of, [&](int c) { return courses[c].norm; }); };
    ColumnSet running, starting = system.begin(set);
    std::deque<ReliableColumn> columns;
    for (int c = 0; c < courses.size(); ++c) columns.emplace_back(courses[c], factors);
    const auto at = [&](int c) -> ReliableColumn& { return columns[static_cast<std::size_t>(c)]; };

    const auto add = [&](const ColumnSet& of, double factor) {
        using Scalars = std::vector<typename High::Scalar>;
        high.axpby(of, Scalars(of.size(), factor), z, Scalars(of.size(), 1), x);
        system.update(of);
    };
    // x += y, r = b - A x, undone where the residual does not become smaller. Returns the columns where it does.
    const auto update = [&](const ColumnSet& of) {
        std::size_t i = 0, k = 0;
        const auto squares = low.norm2(of, y);
        const auto finite = divided(of, [&](int) { return std::isfinite(squares[i++]); }).first;
        const auto before = norms(finite);
        convert(finite, y, z);
        add(finite, 1);
        const auto [smaller, others] = divided(finite, [&](int c) { return courses[c].norm <= before[k++]; });
        add(others, -1);
        return smaller;
    };

    while (true) {
        convert(starting, r, work.r);
        low.zero(starting, y);
        const auto [fresh, going_on] = divided(starting, [&](int c) { return at(c).fresh(); });
        it.start(fresh, norms(fresh));
        it.replaced(going_on, norms(going_on));
        for (const int c : starting) at(c).begin();
        running.insert(running.end(), starting.begin(), starting.end());
        std::sort(running.begin(), running.end());
        if (running.empty()) break;

        courses.call_stop(running, of_each(running, [&](int c) { return scalars.of(c).norm(); }));
        const auto going = divided(running, [&](int c) {
                               const double norm = scalars.of(c).norm();
                               return at(c).goes_on(norm) && courses[c].watch.go_on(norm);
                           }).first;
        const auto& p = it.direction(going);
        a.apply(low, going, p, it.v());
        const auto half = it.half_step(going, p, y, targets);
        a.apply(low, half, it.r(), it.t());
        const auto sound = it.full_step(half, it.r(), y);
        ColumnSet broken;
        std::set_difference(going.begin(), going.end(), sound.begin(), sound.end(), std::back_inserter(broken));
        for (const int c : broken) at(c).ends(scalars.of(c).vanished());
        for (const int c : sound) at(c).take(scalars.of(c).norm());

        const auto [on, due] = divided(
            running, [&](int c) { return std::binary_search(sound.begin(), sound.end(), c) && at(c).goes_on(scalars.of(c).norm()); });
        const auto gained = update(due);
        starting = divided(due, [&](int c) {
                       return at(c).updated(std::binary_search(gained.begin(), gained.end(), c), scalars.of(c).norm());
                   }).first;
        running = on;
    }
    for (const int c : set) courses[c].end();
}

}  // namespace kasane::krylov
