// A chiral block of A + i mu g5, host and device: its inverse is (A -+ i mu) (A^2 + mu^2)^-1, upper sign for the first chirality.
#pragma once

#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/su3.hpp>

namespace kasane::lattice {

/// A^2 + mu^2
KS_FN ChiralBlock<double> twisted_square(const ChiralBlock<double>& a, double mu) {
    const auto entry = [&](int i, int j) {
        if (i == j) return Complex<double>{a.diagonal[i], 0};
        const auto& l = i > j ? a.lower[i * (i - 1) / 2 + j] : a.lower[j * (j - 1) / 2 + i];
        return Complex<double>{l.re, i > j ? l.im : -l.im};
    };
    ChiralBlock<double> square;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j) {
            Complex<double> sum{0, 0};
            for (int k = 0; k < 6; ++k) sum += entry(i, k) * entry(k, j);
            if (i == j)
                square.diagonal[i] = sum.re + mu * mu;
            else
                square.lower[i * (i - 1) / 2 + j] = {sum.re, sum.im};
        }
    return square;
}

}  // namespace kasane::lattice
