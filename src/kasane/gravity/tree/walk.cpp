// Counts of walks, on any space.
#include <kasane/gravity/tree/walk.hpp>

namespace kasane::gravity {

WalkCounts& WalkCounts::operator+=(const WalkCounts& other) {
    bodies += other.bodies, cells += other.cells;
    tests += other.tests, groups += other.groups;
    return *this;
}

}  // namespace kasane::gravity
