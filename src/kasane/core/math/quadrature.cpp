#include <kasane/core/math/quadrature.hpp>

#include <array>

namespace kasane::detail {
namespace {

std::vector<TanhSinhPair> pairs_of(int level) {
    const double step = std::exp2(-level);
    std::vector<TanhSinhPair> pairs;
    for (int i = 1; i * step <= tanh_sinh_end; i += level == 0 ? 1 : 2) {
        const double t = i * step, q = std::exp(-std::numbers::pi * std::sinh(t));
        pairs.push_back({q, std::numbers::pi * std::cosh(t) * q / ((1 + q) * (1 + q))});
    }
    return pairs;
}

}  // namespace

// Kept, because three transcendental functions take longer than most integrands.
const std::vector<TanhSinhPair>& tanh_sinh_pairs(int level) {
    static const auto all = [] {
        std::array<std::vector<TanhSinhPair>, tanh_sinh_levels + 1> levels;
        for (int l = 0; l <= tanh_sinh_levels; ++l) levels[static_cast<std::size_t>(l)] = pairs_of(l);
        return levels;
    }();
    return all[static_cast<std::size_t>(level)];
}

}  // namespace kasane::detail
