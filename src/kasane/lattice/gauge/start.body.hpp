// The links of a start, host and device: functions of (seed, number of the link), number = 4 site + mu with the lexicographic site.
#pragma once

#include <kasane/lattice/gauge/random_su3.body.hpp>

namespace kasane::lattice {

/// Links of 1.
struct ColdStart {
    KS_FN Su3<double> operator()(index_t) const { return Su3<double>::unit(); }
};

/// Links that are distributed by Haar's measure.
struct HotStart {
    std::uint64_t seed;
    KS_FN Su3<double> operator()(index_t number) const {
        auto random = random_stream(seed, RandomPurpose::hot_start, number);
        return random_su3(random);
    }
};

/// exp(i epsilon P) with a Gaussian P (gauge/start.hpp).
struct WeakStart {
    std::uint64_t seed;
    double epsilon;
    KS_FN Su3<double> operator()(index_t number) const {
        auto random = random_stream(seed, RandomPurpose::weak_start, number);
        auto a = random_algebra(random);
        a *= epsilon;
        return reunitarised(exponential(a));
    }
};

}  // namespace kasane::lattice
