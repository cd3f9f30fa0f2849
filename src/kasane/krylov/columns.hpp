// Sets of right-hand sides ("columns") that a method treats at once.
#pragma once

#include <utility>
#include <vector>

namespace kasane::krylov {

/// Numbers of columns, in increasing order.
using ColumnSet = std::vector<int>;

/// value(c) of every column c of a set.
template <class Value>
auto of_each(const ColumnSet& set, Value value) {
    std::vector<decltype(value(0))> values;
    values.reserve(set.size());
    for (const int c : set) values.push_back(value(c));
    return values;
}
/// Divides a set into the columns for which condition(c) holds, and the others.
template <class Condition>
std::pair<ColumnSet, ColumnSet> divided(const ColumnSet& set, Condition condition) {
    ColumnSet yes, no;
    for (const int c : set) (condition(c) ? yes : no).push_back(c);
    return {yes, no};
}

}  // namespace kasane::krylov
