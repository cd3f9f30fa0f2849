#include <kasane/lattice/gamma_basis.hpp>

#include <kasane/core/device/parallel.hpp>

#include <array>
#include <cmath>

namespace kasane::lattice {
namespace {

/// S' S^+: converts from one basis to another through DeGrand and Rossi's.
SpinMatrix rotation(GammaBasis from, GammaBasis to) {
    const auto a = from_degrand_rossi(to), b = from_degrand_rossi(from);
    SpinMatrix s{};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
            for (std::size_t k = 0; k < 4; ++k) s[i][j] += a[i][k] * std::conj(b[j][k]);
    return s;
}

/// S psi of four numbers at successive distances of `step`.
void rotate_sink(const SpinMatrix& s, std::complex<double>* psi, index_t step) {
    const std::complex<double> old[4] = {psi[0], psi[step], psi[2 * step], psi[3 * step]};
    for (int spin = 0; spin < 4; ++spin) {
        const auto& row = s[static_cast<std::size_t>(spin)];
        psi[spin * step] = row[0] * old[0] + row[1] * old[1] + row[2] * old[2] + row[3] * old[3];
    }
}
/// The same of P S^+, whose numbers are those of the source's four spins.
void rotate_source(const SpinMatrix& s, const std::array<std::complex<double>*, 4>& p) {
    const std::complex<double> old[4] = {*p[0], *p[1], *p[2], *p[3]};
    for (std::size_t spin = 0; spin < 4; ++spin) {
        std::complex<double> sum = 0;
        for (std::size_t k = 0; k < 4; ++k) sum += old[k] * std::conj(s[spin][k]);
        *p[spin] = sum;
    }
}

void rotate(const SpinMatrix& s, SpinorField& psi) {
    const index_t volume = psi.extents.volume();
    for (index_t site = 0; site < volume; ++site)
        for (int colour = 0; colour < 3; ++colour) rotate_sink(s, &psi.values[static_cast<std::size_t>(12 * site + colour)], 3);
}

}  // namespace

const char* name(GammaBasis basis) {
    switch (basis) {
        case GammaBasis::degrand_rossi: return "degrand-rossi";
        case GammaBasis::ukqcd: return "ukqcd";
        case GammaBasis::chiral: return "chiral";
        case GammaBasis::dirac_pauli: return "dirac-pauli";
    }
    return "";
}

SpinMatrix from_degrand_rossi(GammaBasis basis) {
    // i s_2 in each block changes the sign of g_1 and g_3, which gives the chiral basis: g_k = s_2 (x) s_k, g_4 = s_1 (x) 1. A rotation
    // of the first factor by a quarter turn about its axis 2 makes g_4 diagonal, and the half turn (1, 1; 1, -1) / sqrt 2 changes the g_k.
    const double h = std::sqrt(0.5);
    switch (basis) {
        case GammaBasis::degrand_rossi: return {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
        case GammaBasis::ukqcd: return {{{0, h, 0, h}, {-h, 0, -h, 0}, {0, h, 0, -h}, {-h, 0, h, 0}}};
        case GammaBasis::chiral: return {{{0, 1, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, -1, 0}}};
        case GammaBasis::dirac_pauli: return {{{0, h, 0, h}, {-h, 0, -h, 0}, {0, -h, 0, h}, {h, 0, -h, 0}}};
    }
    return {};
}

SpinorField rotated(SpinorField psi, GammaBasis from, GammaBasis to) {
    if (from != to) rotate(rotation(from, to), psi);
    return psi;
}

std::vector<SpinorField> rotated(std::vector<SpinorField> propagator, GammaBasis from, GammaBasis to) {
    if (from == to) return propagator;
    const auto s = rotation(from, to);
    for (auto& column : propagator) rotate(s, column);
    for (std::size_t value = 0; value < propagator[0].values.size(); ++value)
        for (std::size_t colour = 0; colour < 3; ++colour)
            rotate_source(s, {&propagator[colour].values[value], &propagator[3 + colour].values[value],
                              &propagator[6 + colour].values[value], &propagator[9 + colour].values[value]});
    return propagator;
}

void rotate_rows(View<std::complex<double>> rows, int columns, GammaBasis from, GammaBasis to) {
    if (from == to) return;
    const auto s = rotation(from, to);
    parallel_for(Cpu{}, rows.n / (12 * columns), [=](index_t site) {
        auto* const row = rows.ptr + site * 12 * columns;
        for (int k = 0; k < 3 * columns; ++k) rotate_sink(s, row + k, 3 * columns);
        if (columns != 12) return;
        for (int k = 0; k < 12; ++k)
            for (int colour = 0; colour < 3; ++colour) {
                auto* const first = row + 12 * k + colour;
                rotate_source(s, {first, first + 3, first + 6, first + 9});
            }
    });
}

}  // namespace kasane::lattice
