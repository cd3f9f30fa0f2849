#include <kasane/run/gravity/particle_rows.hpp>

namespace kasane::run {

using gravity::Column;

bool RowsInMemory::has(Column column) const {
    if (column == Column::softening) return !particles_.softening.empty();
    return column != Column::acceleration || !acceleration_.empty();
}

const void* RowsInMemory::rows(Column column, index_t first, index_t) {
    switch (column) {
        case Column::position: return particles_.position.data() + first;
        case Column::velocity: return particles_.velocity.data() + first;
        case Column::mass: return particles_.mass.data() + first;
        case Column::id: return particles_.id.data() + first;
        case Column::type: return particles_.type.data() + first;
        case Column::softening: return particles_.softening.data() + first;
        default: return acceleration_.data() + first;
    }
}

bool RowsOfSlabs::has(Column column) const {
    if (column == Column::softening) return slabs_.facts().softenings;
    return column != Column::acceleration || accelerated_;
}

const void* RowsOfSlabs::rows(Column column, index_t first, index_t n) {
    buffer_.resize(static_cast<std::size_t>(n) * gravity::bytes_of(column));
    slabs_.rows(column, first, n, buffer_.data());
    return buffer_.data();
}

}  // namespace kasane::run
