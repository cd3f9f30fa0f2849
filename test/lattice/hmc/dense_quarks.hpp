// The quark operator as dense matrices of the textbook operator, on the smallest lattice, for the tests of terms of the quark action.
#pragma once

#include <kasane/lattice/solve/fields.hpp>

#include "reference/dense_matrix.hpp"
#include "reference/wilson.hpp"

#include <vector>

namespace kasane::lattice::test {

using reference::DenseMatrix;
using Number = DenseMatrix::Number;

inline const Extents smallest{{2, 2, 2, 2}};

/// Numbers of the sites of a parity, even sites first in the order of the checkerboard.
inline std::vector<Number> half_of(const SpinorField& psi, Parity parity) {
    std::vector<Number> out;
    for (index_t i = 0; i < psi.extents.half(); ++i)
        for (int k = 0; k < 12; ++k) out.push_back(psi.at(psi.extents.lexicographic(psi.extents.site(parity, i)), k / 3, k % 3));
    return out;
}
/// The k-th unit vector of the sites of a parity.
inline SpinorField unit_vector(const Extents& n, Parity parity, std::size_t k) {
    SpinorField psi(n);
    const index_t site = n.lexicographic(n.site(parity, static_cast<index_t>(k / 12)));
    psi.at(site, static_cast<int>(k % 12) / 3, static_cast<int>(k % 3)) = 1;
    return psi;
}

/// The blocks of D of the textbook operator.
struct DenseBlocks {
    std::size_t size;
    DenseMatrix ee, eo, oe, oo, whole;
    /// @param twist  D + i twist g5
    explicit DenseBlocks(const reference::WilsonClover& D, double twist = 0)
        : size(static_cast<std::size_t>(12 * smallest.half())), ee(size), eo(size), oe(size), oo(size), whole(2 * size) {
        for (std::size_t k = 0; k < size; ++k)
            for (const Parity from : {Parity::even, Parity::odd}) {
                const auto unit = unit_vector(smallest, from, k);
                const auto column = reference::combination(1, D.apply(unit), Number(0, twist), reference::WilsonClover::times_gamma5(unit));
                const auto even = half_of(column, Parity::even), odd = half_of(column, Parity::odd);
                const bool first = from == Parity::even;
                for (std::size_t i = 0; i < size; ++i) {
                    (first ? ee : eo).at(i, k) = even[i];
                    (first ? oe : oo).at(i, k) = odd[i];
                    whole.at(i, k + (first ? 0 : size)) = even[i];
                    whole.at(i + size, k + (first ? 0 : size)) = odd[i];
                }
            }
    }
    /// D_ee - D_eo D_oo^-1 D_oe
    DenseMatrix schur() const {
        std::vector<std::vector<Number>> columns(size, std::vector<Number>(size));
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = 0; k < size; ++k) columns[k][i] = oe.at(i, k);
        columns = oo.solve(std::move(columns)).first;
        auto out = ee;
        for (std::size_t k = 0; k < size; ++k) {
            const auto product = eo.times(columns[k]);
            for (std::size_t i = 0; i < size; ++i) out.at(i, k) -= product[i];
        }
        return out;
    }
};

template <Space S>
std::vector<Number> on_host(const Field<S, Precision::double_>& even, const Extents& n) {
    SpinorField psi(n);
    store(even, Parity::even, psi);
    return half_of(psi, Parity::even);
}
inline double norm2(const std::vector<Number>& x) {
    double sum = 0;
    for (const auto& z : x) sum += std::norm(z);
    return sum;
}

}  // namespace kasane::lattice::test
