#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/matrix/complex_csr.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kasane::sparse {
namespace {

using Value = std::complex<double>;

/// The entry of a place in a canonical matrix; -1 where there is none.
index_t find_entry(const CsrView& A, index_t row, index_t column) {
    index_t first = A.begin(row), last = A.end(row);
    while (first < last) {
        const index_t middle = first + (last - first) / 2;
        if (A.column(middle) < column)
            first = middle + 1;
        else
            last = middle;
    }
    return first < A.end(row) && A.column(first) == column ? first : -1;
}

bool equal(Value a, Value b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

std::vector<double> magnitudes(const ComplexCsrView& A) {
    const index_t entries = A.pattern.begin(A.pattern.n);
    std::vector<double> all(static_cast<std::size_t>(std::max<index_t>(entries, 0)));
    parallel_for(Cpu{}, static_cast<index_t>(all.size()), [&](index_t e) {
        const Value a = A.value[e];
        all[static_cast<std::size_t>(e)] = std::isfinite(a.real()) && std::isfinite(a.imag())
                                               ? std::max(std::fabs(a.real()), std::fabs(a.imag()))
                                               : std::numeric_limits<double>::quiet_NaN();
    });
    return all;
}

ComplexKind complex_kind_of(const ComplexCsrView& A) {
    const CsrView& pattern = A.pattern;
    std::vector<double> root(static_cast<std::size_t>(pattern.n), 0.);
    ComplexKind kind{.hermitian = true, .symmetric = true, .positive = true, .text = {}};
    for (index_t i = 0; i < pattern.n; ++i)
        if (const index_t e = find_entry(pattern, i, i); e >= 0 && A.value[e].real() > 0)
            root[static_cast<std::size_t>(i)] = std::sqrt(A.value[e].real());
        else
            kind.positive = false;
    for (index_t i = 0; i < pattern.n && (kind.hermitian || kind.symmetric); ++i)
        for (index_t e = pattern.begin(i); e < pattern.end(i); ++e) {
            const index_t j = pattern.column(e), mirror = find_entry(pattern, j, i);
            const Value a = A.value[e], other = mirror >= 0 ? A.value[mirror] : 0;
            kind.hermitian = kind.hermitian && equal(a, std::conj(other));
            kind.symmetric = kind.symmetric && equal(a, other);
            if (i != j && std::abs(a) > (1 + 1e-12) * root[static_cast<std::size_t>(i)] * root[static_cast<std::size_t>(j)])
                kind.positive = false;
        }
    kind.positive = kind.positive && kind.hermitian;
    kind.text = kind.hermitian   ? "the matrix is Hermitian"
                : kind.symmetric ? "the matrix is complex symmetric"
                                 : "the matrix is neither Hermitian nor symmetric";
    return kind;
}

ComplexCsrMatrix canonical(const ComplexCsrView& A) {
    const auto entries = static_cast<std::size_t>(A.pattern.begin(A.pattern.n));
    std::vector<double> part(entries);
    const auto canonical_part = [&](const auto& of) {
        for (std::size_t e = 0; e < entries; ++e) part[e] = of(A.value[e]);
        CsrView view = A.pattern;
        view.value = part.data();
        return canonical(view);
    };
    auto real = canonical_part([](Value z) { return z.real(); });
    const auto imaginary = canonical_part([](Value z) { return z.imag(); });
    ComplexCsrMatrix out{std::move(real.begin), std::move(real.column), std::vector<Value>(real.value.size())};
    for (std::size_t e = 0; e < out.value.size(); ++e) out.value[e] = {real.value[e], imaginary.value[e]};
    return out;
}

}  // namespace kasane::sparse
