// The spinor that is drawn for a site of a pseudofermion field (hmc/quark_field.hpp), host and device.
#pragma once

#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/random.hpp>

#include <numbers>

namespace kasane::lattice {

struct GaussianSpinor {
    std::uint64_t seed, trajectory, term;
    /// @param site  lexicographic number
    KS_FN Spinor<double> operator()(index_t site) const {
        auto random = random_stream(seed, RandomPurpose::pseudofermion, site | static_cast<index_t>(term << 40), trajectory);
        Spinor<double> p;
        for (auto& spin : p.s)
            for (auto& number : spin.c) {
                const auto [re, im] = gaussian_pair(random);
                number = {re * std::numbers::sqrt2 / 2, im * std::numbers::sqrt2 / 2};
            }
        return p;
    }
};

}  // namespace kasane::lattice
