// What an iteration costs by count: barriers, and bytes when every array is moved once per phase that touches it.
// The rows of phases.body.hpp, added up; entries are counted as stored, padding included. A vector that a phase gathers and also has in row
// order counts once: its neighbours' values are asked for soon before or after.
#include <kasane/sparse/iterate/iterate.hpp>

namespace kasane::sparse {

int barriers_per_iteration(Iteration iteration, int colors) {
    switch (iteration) {
        case Iteration::eisenstat: return 2 * colors;
        case Iteration::reduced: return 3;
        default: return 2 * colors + 1;
    }
}

template <Space S>
double bytes_per_iteration(const System<S>& system, Iteration iteration) {
    const auto rows = static_cast<double>(system.layout.padded);
    const auto triangles = static_cast<double>(system.lower.bytes() + system.upper.bytes());
    if (iteration == Iteration::reduced) {
        double first = 0;
        for (int part = 0; part < system.layout.shape.parts; ++part) {
            const Segment s = system.layout.at(0, part);
            first += static_cast<double>(s.end - s.begin);
        }
        const double second = rows - first;
        // Direction 6 and Residual 5 on the second colour, Inner 1 on the first; what is gathered: p in Inner, u in Residual.
        return second * 8 * (6 + 5 + 1) + first * 8 * (1 + 1) + triangles;
    }
    if (iteration == Iteration::eisenstat) return rows * 8 * (7 + 4 + 4) + triangles;
    double factor = 0;
    if (system.factor != FactorKind::identity) {
        factor = triangles;
        if (system.single_factor)
            factor = static_cast<double>(system.factor_lower_f.bytes() + system.factor_upper_f.bytes());
        else if (system.factor == FactorKind::own_values)
            factor = static_cast<double>(system.factor_lower.bytes() + system.factor_upper.bytes());
    }
    return rows * 8 * (5 + 6 + 3) + factor + triangles;
}

template <Space S>
std::uint64_t System<S>::bytes() const {
    std::uint64_t sum =
        lower.bytes() + upper.bytes() + factor_lower.bytes() + factor_upper.bytes() + factor_lower_f.bytes() + factor_upper_f.bytes();
    sum += static_cast<std::uint64_t>(diagonal.size() + scale.size()) * sizeof(double);
    return sum + static_cast<std::uint64_t>(layout.old_row.size() + layout.new_row.size() + layout.rank.size()) * sizeof(std::int32_t);
}

template double bytes_per_iteration(const System<Cpu>&, Iteration);
template std::uint64_t System<Cpu>::bytes() const;
#if defined(KASANE_CUDA)
template double bytes_per_iteration(const System<Cuda>&, Iteration);
template std::uint64_t System<Cuda>::bytes() const;
#endif

}  // namespace kasane::sparse
