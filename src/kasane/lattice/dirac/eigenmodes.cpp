#include <kasane/lattice/dirac/eigenmodes.hpp>

namespace kasane::lattice {

SpinorField Eigenmodes::field(std::size_t i) const {
    SpinorField out(extents);
    for (index_t s = 0; s < extents.half(); ++s) {
        const index_t site = extents.lexicographic(extents.site(Parity::even, s));
        for (int k = 0; k < 12; ++k) out.at(site, k / 3, k % 3) = vectors[i][static_cast<std::size_t>(12 * s + k)];
    }
    return out;
}

void Eigenmodes::append(const SpinorField& field) {
    auto& numbers = vectors.emplace_back();
    numbers.reserve(static_cast<std::size_t>(12 * extents.half()));
    for (index_t s = 0; s < extents.half(); ++s) {
        const index_t site = extents.lexicographic(extents.site(Parity::even, s));
        for (int k = 0; k < 12; ++k) numbers.push_back(field.at(site, k / 3, k % 3));
    }
}

}  // namespace kasane::lattice
