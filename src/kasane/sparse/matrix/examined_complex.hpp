// A complex matrix before a set-up: canonical, with the magnitudes of its entries and its kind.
#pragma once

#include <kasane/sparse/matrix/complex_csr.hpp>
#include <kasane/sparse/matrix/kind.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

struct ExaminedComplex {
    ComplexCsrMatrix own;  ///< where the caller's was not canonical
    ComplexCsrView given;
    std::vector<double> magnitude;
    MatrixKind structure;  ///< of the magnitudes; symmetric where the matrix is Hermitian or symmetric
    ComplexKind kind;

    /// @throws InputError as kind_of()
    explicit ExaminedComplex(const ComplexCsrView& A, const std::string& source = "the matrix")
        : given(A), magnitude(magnitudes(A)), structure(kind_of(sizes(), source)) {
        if (!structure.sorted || structure.duplicates) {
            own = canonical(A);
            given = own.view();
            magnitude = magnitudes(given);
            structure = kind_of(sizes(), source);
        }
        kind = complex_kind_of(given);
        // Symmetric scales keep a Hermitian or symmetric matrix what it is.
        structure.symmetric = structure.symmetric && (kind.hermitian || kind.symmetric);
    }
    /// Not copyable: the object refers to its own arrays.
    ExaminedComplex(const ExaminedComplex&) = delete;
    ExaminedComplex& operator=(const ExaminedComplex&) = delete;

    /// The magnitudes as a matrix.
    CsrView sizes() const {
        CsrView view = given.pattern;
        view.value = magnitude.data();
        return view;
    }
};

}  // namespace kasane::sparse
