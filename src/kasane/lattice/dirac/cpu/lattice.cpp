#include <kasane/lattice/dirac/cpu/lattice.hpp>

#include <algorithm>

namespace kasane::lattice {

Lattice<Cpu>::Lattice(Cpu on, const Extents& extents) : on_(on), extents_(extents), part_(extents) {
    check_extents(extents, {"", 0, 0, "lattice"});
    together_ = lanes;
    // Time first: its stride is the longest.
    for (int mu = 3; mu >= 0 && together_ > 1; --mu)
        if (part_.n[mu] % 4 == 0) {
            part_.n[mu] /= 2;
            together_ /= 2;
            split_[mu] = together_;
        }
    blocks_ = (part_.half() + together_ - 1) / together_;
    find_neighbours(Parity::even);
    find_neighbours(Parity::odd);
}

Site Lattice<Cpu>::site(Parity parity, index_t place) const {
    const int lane = static_cast<int>(place % lanes);
    const index_t number = place / lanes * together_ + lane % together_;
    // Halves are even: a step from one to the next changes no parity.
    Site s = part_.site(parity, std::min(number, part_.half() - 1));
    for (int mu = 0; mu < 4; ++mu)
        if (lane & split_[mu]) s[mu] += part_.n[mu];
    return s;
}

index_t Lattice<Cpu>::place(const Site& site) const {
    Site s = site;
    int lane = 0;
    for (int mu = 0; mu < 4; ++mu)
        if (s[mu] >= part_.n[mu]) {
            s[mu] -= part_.n[mu];
            lane |= split_[mu];
        }
    const index_t number = part_.checkerboard(s);
    return number / together_ * lanes + lane + number % together_;
}

bool Lattice<Cpu>::counts(index_t place) const { return place / lanes * together_ + place % together_ < part_.half(); }

void Lattice<Cpu>::find_neighbours(Parity parity) {
    auto& neighbours = neighbours_[static_cast<int>(parity)];
    auto& lane_places = lane_places_[static_cast<int>(parity)];
    neighbours.resize(static_cast<std::size_t>(8 * blocks_));
    for (index_t block = 0; block < blocks_; ++block) {
        Site here[lanes];
        for (int l = 0; l < lanes; ++l) here[l] = site(parity, block * lanes + l);
        for (int direction = 0; direction < 8; ++direction) {
            const int mu = direction / 2, step = direction % 2 == 0 ? 1 : -1;
            NeighbourBlock entry;
            std::int32_t places[lanes];
            for (int l = 0; l < lanes; ++l) {
                const Site there = extents_.shifted(here[l], mu, step);
                places[l] = static_cast<std::int32_t>(place(there));
                if (there[mu] != here[l][mu] + step) entry.crosses = static_cast<std::uint16_t>(entry.crosses | 1u << l);
            }
            entry.at = places[0] / lanes;
            entry.exchange = static_cast<std::uint8_t>(places[0] % lanes);
            for (int l = 0; l < lanes; ++l) entry.lane_by_lane |= places[l] != entry.at * lanes + (l ^ entry.exchange);
            if (entry.lane_by_lane) {
                entry.at = static_cast<std::int32_t>(lane_places.size());
                entry.exchange = 0;
                lane_places.insert(lane_places.end(), places, places + lanes);
            }
            neighbours[static_cast<std::size_t>(8 * block + direction)] = entry;
        }
    }
}

}  // namespace kasane::lattice
