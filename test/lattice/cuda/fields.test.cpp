// Fields on a device: to and from the host, between precisions, and every operation of their algebra against plain sums in double.
#include <lattice/cuda/plain_dirac.hpp>

#include <kasane/lattice/solve/fields.hpp>

#include <gtest/gtest.h>

#include <limits>

#if defined(KASANE_CUDA)
namespace kasane::lattice {

using namespace test;

namespace {

using Vector = std::vector<Z>;

class FieldsOnCuda : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

std::vector<Extents> lattices() { return {Extents{{4, 4, 4, 4}}, Extents{{2, 4, 6, 8}}, Extents{{6, 2, 10, 4}}, Extents{{16, 8, 8, 8}}}; }

/// Tolerance for numbers up to 1 in a site: half a unit of 16 bits, half an ulp.
double rounding(Precision precision) {
    return precision == Precision::half ? 0.5 / 32767 : precision == Precision::single ? 6e-8 : 1.2e-16;
}

/// The components of one parity, in the order of the host's sites.
Vector components(const SpinorField& field, Parity parity) {
    Vector v;
    const auto& n = field.extents;
    for (index_t i = 0; i < n.half(); ++i) {
        const auto site = at(field, n.lexicographic(n.site(parity, i)));
        v.insert(v.end(), site.begin(), site.end());
    }
    return v;
}
template <Precision P>
Vector components(const Field<Cuda, P>& field) {
    SpinorField host(field.lattice()->extents());
    store(field, Parity::odd, host);
    return components(host, Parity::odd);
}
template <Precision P>
Field<Cuda, P> random_field(const std::shared_ptr<const Lattice<Cuda>>& lattice, std::uint64_t seed) {
    Field<Cuda, P> field(lattice);
    load(random_spinor_field(lattice->extents(), seed), Parity::odd, field);
    return field;
}
double largest_difference(const Vector& a, const Vector& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (const double d = std::abs(a[i] - b[i]); !(d <= worst)) worst = d;
    return worst;
}
Z dot(const Vector& a, const Vector& b) {
    Z sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
    return sum;
}
Vector combination(Z a, const Vector& x, Z b, const Vector& y) {
    Vector z(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) z[i] = a * x[i] + b * y[i];
    return z;
}

template <Precision P>
void check_transfer(const std::shared_ptr<const Lattice<Cuda>>& lattice) {
    const auto& n = lattice->extents();
    const auto host = random_spinor_field(n, 7);
    for (const Parity parity : {Parity::even, Parity::odd}) {
        Field<Cuda, P> field(lattice);
        load(host, parity, field);
        auto back = random_spinor_field(n, 8);
        const auto untouched = components(back, other(parity));
        store(field, parity, back);
        EXPECT_LE(largest_difference(components(back, parity), components(host, parity)), 2.1 * rounding(P));
        EXPECT_EQ(components(back, other(parity)), untouched);
    }
    const Field<Cuda, P> field(lattice);
    EXPECT_GE(field.bytes(), static_cast<std::uint64_t>(n.half()) * (P == Precision::double_ ? 192 : P == Precision::single ? 96 : 52));
}

TEST_F(FieldsOnCuda, ComeBack) {
    for (const auto& n : lattices()) {
        SCOPED_TRACE(text(n));
        const auto lattice = std::make_shared<const Lattice<Cuda>>(Cuda{}, n);
        check_transfer<Precision::double_>(lattice);
        check_transfer<Precision::single>(lattice);
        check_transfer<Precision::half>(lattice);
    }
}

template <Precision From, Precision To>
void check_convert(const std::shared_ptr<const Lattice<Cuda>>& lattice) {
    const auto from = random_field<From>(lattice, 9);
    Field<Cuda, To> to(lattice);
    convert(from, to);
    const double allowed = From == To ? 0 : 2.1 * rounding(To);  // of complex numbers; half's reading rounds to single once more
    EXPECT_LE(largest_difference(components(to), components(from)), allowed) << name(From) << " to " << name(To);
}

TEST_F(FieldsOnCuda, ConvertBetweenAllPrecisions) {
    for (const auto& n : lattices()) {
        SCOPED_TRACE(text(n));
        const auto lattice = std::make_shared<const Lattice<Cuda>>(Cuda{}, n);
        check_convert<Precision::double_, Precision::double_>(lattice);
        check_convert<Precision::double_, Precision::single>(lattice);
        check_convert<Precision::double_, Precision::half>(lattice);
        check_convert<Precision::single, Precision::double_>(lattice);
        check_convert<Precision::single, Precision::single>(lattice);
        check_convert<Precision::single, Precision::half>(lattice);
        check_convert<Precision::half, Precision::double_>(lattice);
        check_convert<Precision::half, Precision::single>(lattice);
        check_convert<Precision::half, Precision::half>(lattice);
    }
}

/// A scale per site: large and tiny sites as neighbours keep their digits; zeros stay zero; NaN and infinity stay.
TEST_F(FieldsOnCuda, HalfScalesEverySite) {
    const Extents n{{4, 4, 4, 4}};
    const auto lattice = std::make_shared<const Lattice<Cuda>>(Cuda{}, n);
    auto host = random_spinor_field(n, 10);
    const auto scale_of = [&](index_t site) { return site % 3 == 0 ? 0.0 : std::pow(10.0, static_cast<double>(site % 61) - 30); };
    for (index_t site = 0; site < n.volume(); ++site)
        for (int k = 0; k < 12; ++k) host.at(site, k / 3, k % 3) *= scale_of(site);
    Field<Cuda, Precision::half> field(lattice);
    load(host, Parity::even, field);
    SpinorField back(n);
    store(field, Parity::even, back);
    for (index_t i = 0; i < n.half(); ++i) {
        const index_t site = n.lexicographic(n.site(Parity::even, i));
        for (int k = 0; k < 12; ++k)
            EXPECT_LE(std::abs(back.at(site, k / 3, k % 3) - host.at(site, k / 3, k % 3)),
                      2.1 * rounding(Precision::half) * scale_of(site));
    }
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        auto spoilt = host;
        spoilt.at(n.lexicographic(n.site(Parity::even, 5)), 2, 1) = bad;
        load(spoilt, Parity::even, field);
        EXPECT_FALSE(std::isfinite(FieldAlgebra<Cuda, Precision::half>(lattice).norm2(field)));
    }
}

/// Fields after an operation: each number is rounded once, at sizes of up to 8 here; sums of N terms in double over sites, whose terms are
/// summed in the registers' precision: relative errors of a few ulp of it. Half sums what it has in registers, before it is rounded.
template <Precision P>
void check_algebra(const std::shared_ptr<const Lattice<Cuda>>& lattice) {
    FieldAlgebra<Cuda, P> algebra(lattice);
    const double field_error = 8 * 2.1 * rounding(P);
    const auto x = random_field<P>(lattice, 11), y = random_field<P>(lattice, 12), z = random_field<P>(lattice, 13);
    const auto X = components(x), Y = components(y), W = components(z);
    const double size = std::real(dot(X, X));
    const double sum_error = size * (P == Precision::double_ ? 1e-14 : P == Precision::single ? 1e-6 : 2e-4);
    const auto near = [&](Z got, Z want) { EXPECT_LT(std::abs(got - want), 20 * sum_error) << got << " " << want; };
    const auto same = [&](const Field<Cuda, P>& got, const Vector& want) {
        EXPECT_LT(largest_difference(components(got), want), field_error);
    };
    const auto copied = [&](const Field<Cuda, P>& from) {
        auto to = algebra.like(from);
        algebra.copy(from, to);
        EXPECT_EQ(components(to), components(from));
        return to;
    };
    const Z a(0.7, -1.1), b(-0.4, 0.9), one = 1;

    near(algebra.norm2(x), size);
    near(algebra.dot(x, y), dot(X, Y));
    const auto [xy, xx] = algebra.dot_norm2(x, y);
    near(xy, dot(X, Y));
    near(xx, size);
    EXPECT_EQ(algebra.dot(x, y), algebra.dot(x, y));  // the same bits

    auto out = copied(y);
    algebra.axpby(a, x, b, out);
    same(out, combination(a, X, b, Y));
    algebra.axpby(a, x, 0, out);
    same(out, combination(a, X, 0, Y));
    algebra.zero(out);
    EXPECT_EQ(algebra.norm2(out), 0);

    out = copied(y);
    auto want = combination(a, X, one, Y);
    near(algebra.axpy_norm2(a, x, out), dot(want, want));
    same(out, want);

    out = copied(z);
    algebra.axpbypz(a, x, b, y, out);
    same(out, combination(one, combination(a, X, b, Y), one, W));

    out = copied(z);  // p = x + a (p - b y)
    algebra.direction(x, a, b, y, out);
    same(out, combination(one, X, a, combination(one, W, -b, Y)));

    auto r = copied(x);
    out = copied(z);
    const auto shadow = random_field<P>(lattice, 14);
    const auto [shadow_r, rr] = algebra.finish(a, y, b, shadow, x, out, r);  // t = shadow, the shadow = x
    const auto R = combination(one, X, -b, components(shadow));
    same(out, combination(one, W, one, combination(a, Y, b, X)));
    same(r, R);
    near(shadow_r, dot(X, R));
    near(rr, dot(R, R));

    r = copied(x);
    out = copied(z);
    want = combination(one, X, -0.3, components(shadow));
    near(algebra.step(0.3, y, shadow, out, r), dot(want, want));
    same(out, combination(one, W, 0.3, Y));
    same(r, want);
}

TEST_F(FieldsOnCuda, AlgebraIsTheFormulas) {
    for (const auto& n : lattices()) {
        SCOPED_TRACE(text(n));
        const auto lattice = std::make_shared<const Lattice<Cuda>>(Cuda{}, n);
        check_algebra<Precision::double_>(lattice);
        check_algebra<Precision::single>(lattice);
        check_algebra<Precision::half>(lattice);
    }
}

}  // namespace
}  // namespace kasane::lattice
#endif
