// The scalars of BiCGStab's recurrence for several columns (bicgstab_columns.hpp).
#pragma once

#include <kasane/krylov/bicgstab_scalars.hpp>
#include <kasane/krylov/columns.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace kasane::krylov {

/// The scalars of columns: the functions of BicgstabScalars for a set. Values are in the order of the set; those that return two sets
/// return the columns for which BicgstabScalars' function returns true, and the others.
template <class Scalar>
class ColumnScalars {
   public:
    using Sets = std::pair<ColumnSet, ColumnSet>;           ///< true, false
    using Values = std::vector<Scalar>;                     ///< one of each column
    using Sums = std::vector<std::pair<Scalar, double>>;    ///< two sums of each column
    using One = BicgstabScalars<RecurrenceScalar<Scalar>>;  ///< of one column

    /// @param columns  that the vectors have
    explicit ColumnScalars(int columns) : at_(static_cast<std::size_t>(columns)) {}

    /// Scalars of a column.
    One& of(int c) { return at_[static_cast<std::size_t>(c)]; }
    /// Scalars of a column.
    const One& of(int c) const { return at_[static_cast<std::size_t>(c)]; }
    /// alpha
    Values alpha(const ColumnSet& set) const {
        return of_each(set, [&](int c) { return Scalar(of(c).alpha()); });
    }
    /// omega
    Values omega(const ColumnSet& set) const {
        return of_each(set, [&](int c) { return Scalar(of(c).omega()); });
    }
    /// beta
    Values beta(const ColumnSet& set) const {
        return of_each(set, [&](int c) { return Scalar(of(c).beta()); });
    }
    /// -values
    static Values negative(Values values) {
        for (Scalar& value : values) value = -value;
        return values;
    }

    void start(const ColumnSet& set, const std::vector<double>& norms) {
        for (std::size_t i = 0; i < set.size(); ++i) of(set[i]).start(norms[i]);
    }
    Sets fresh(const ColumnSet& set) const {
        return divided(set, [&](int c) { return of(c).fresh(); });
    }
    Sets take_v(const ColumnSet& set, const Sums& sums) {
        return in_order(set, [&](int c, std::size_t i) { return of(c).take_v(sums[i].first, sums[i].second); });
    }
    Sets take_half(const ColumnSet& set, const std::vector<double>& squares) {
        return in_order(set, [&](int c, std::size_t i) { return of(c).take_half(squares[i]); });
    }
    void undo_half(const ColumnSet& set, const std::vector<double>& squares) {
        for (std::size_t i = 0; i < set.size(); ++i) of(set[i]).undo_half(squares[i]);
    }
    Sets is_enough(const ColumnSet& set, const std::vector<double>& enough) {
        return divided(set, [&](int c) { return of(c).is_enough(enough[static_cast<std::size_t>(c)]); });
    }
    Sets take_t(const ColumnSet& set, const Sums& sums) {
        return in_order(set, [&](int c, std::size_t i) { return of(c).take_t(sums[i].first, sums[i].second); });
    }
    ColumnSet take_rest(const ColumnSet& set, const Sums& sums) {
        return in_order(set, [&](int c, std::size_t i) { return of(c).take_rest(sums[i].first, sums[i].second); }).first;
    }
    ColumnSet take_rest(const ColumnSet& set, const Values& rho, const std::vector<double>& squares) {
        return in_order(set, [&](int c, std::size_t i) { return of(c).take_rest(rho[i], squares[i]); }).first;
    }

   private:
    /// condition(column, place in the set)
    template <class Condition>
    static Sets in_order(const ColumnSet& set, Condition condition) {
        std::size_t i = 0;
        return divided(set, [&](int c) { return condition(c, i++); });
    }

    std::vector<One> at_;
};

}  // namespace kasane::krylov
