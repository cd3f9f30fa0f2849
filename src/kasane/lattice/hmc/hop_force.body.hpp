// Products of colour vectors for the force of the hop, host and device.
#pragma once

#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/su3.hpp>

namespace kasane::lattice {

/// u v
KS_FN ColourVector<double> product(const Su3<double>& u, const ColourVector<double>& v) {
    ColourVector<double> w;
    for (int i = 0; i < 3; ++i) {
        Complex<double> sum{0, 0};
        for (int j = 0; j < 3; ++j) sum += u.e[i][j] * Complex<double>{v.c[j].re, v.c[j].im};
        w.c[i] = {sum.re, sum.im};
    }
    return w;
}

/// m += c v w^+
KS_FN void add_outer(Su3<double>& m, double c, const ColourVector<double>& v, const ColourVector<double>& w) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m.e[i][j] += Complex<double>{v.c[i].re, v.c[i].im} * Complex<double>{c * w.c[j].re, -c * w.c[j].im};
}

}  // namespace kasane::lattice
