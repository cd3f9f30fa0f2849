#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/run/gravity/particle_rows.hpp>

#include <algorithm>

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

namespace {

template <class T>
void collect(const gravity::SlabParticles& slabs, Column column, std::vector<T>& to) {
    resize_touched(to, static_cast<std::size_t>(slabs.size()));
    for (index_t first = 0; first < slabs.size(); first += gravity::rows_at_once)
        slabs.rows(column, first, view(to).subview(first, std::min(gravity::rows_at_once, slabs.size() - first)));
}

}  // namespace

std::uint64_t collected_bytes(index_t n, std::uint64_t free) {
    constexpr std::uint64_t each = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + sizeof(std::uint64_t) + 1 + sizeof(Vec3<float>);
    const auto bytes = static_cast<std::uint64_t>(n) * each;
    return n >= many_particles && bytes <= free / 4 ? bytes : 0;
}

std::shared_ptr<const gravity::Particles> collected(const gravity::SlabParticles& slabs) {
    if (collected_bytes(slabs.size(), available_memory(Cpu{})) == 0) return nullptr;
    auto all = std::make_shared<gravity::Particles>();
    collect(slabs, Column::position, all->position);
    collect(slabs, Column::velocity, all->velocity);
    collect(slabs, Column::mass, all->mass);
    collect(slabs, Column::id, all->id);
    collect(slabs, Column::type, all->type);
    if (slabs.facts().softenings) collect(slabs, Column::softening, all->softening);
    return all;
}

std::vector<Vec3<float>> collected_accelerations(const gravity::SlabParticles& slabs) {
    std::vector<Vec3<float>> all;
    collect(slabs, Column::acceleration, all);
    return all;
}

}  // namespace kasane::run
