// The operations of the field algebra on the CPU against plain loops in double, loads, stores and conversions.
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/perf/simd.hpp>

#include "lattice/random_fields.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kasane::lattice {
namespace {

using Scalar = std::complex<double>;
using Numbers = std::vector<Scalar>;

/// 4^4 and 8^4 fill all lanes; 2x6x2x10 and 2^4 end in padding.
const std::vector<Extents>& algebra_shapes() {
    static const std::vector<Extents> all = {{4, 4, 4, 4}, {2, 6, 2, 10}, {2, 2, 2, 2}, {2, 4, 6, 8}, {8, 8, 8, 8}};
    return all;
}

/// Bound of the error of a number after one operation, in units of the largest number at its site.
template <Precision P>
constexpr double unit = P == Precision::double_  ? std::numeric_limits<double>::epsilon()
                        : P == Precision::single ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                                 : 0x1p-15;

template <Precision P>
struct Case {
    std::shared_ptr<const Lattice<Cpu>> lattice;
    Extents extents;
    FieldAlgebra<Cpu, P> algebra;
    std::uint64_t seed = 0;

    explicit Case(const Extents& n, int threads = 1)
        : lattice(std::make_shared<const Lattice<Cpu>>(Cpu{threads}, n)), extents(n), algebra(lattice) {}
    Field<Cpu, P> field(const SpinorField& from) const {
        Field<Cpu, P> f(lattice);
        load(from, Parity::odd, f);
        return f;
    }
    Field<Cpu, P> random() { return field(test::random_spinor(extents, ++seed)); }
    /// The odd sites' numbers, as the field stores them.
    Numbers numbers(const Field<Cpu, P>& f) const {
        SpinorField host(extents);
        store(f, Parity::odd, host);
        Numbers odd;
        for (index_t x = 0; x < extents.volume(); ++x)
            if (extents.site(x).parity() == Parity::odd)
                odd.insert(odd.end(), host.values.begin() + 12 * x, host.values.begin() + 12 * (x + 1));
        return odd;
    }
};

Scalar dot(const Numbers& x, const Numbers& y) {
    std::complex<long double> sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(std::complex<long double>(x[i])) * std::complex<long double>(y[i]);
    return Scalar(sum);
}
double norm2(const Numbers& x) { return dot(x, x).real(); }

/// Each number within `units` of its expected value, in units of the largest at its site (where half's scale is).
template <Precision P>
void expect_near(const Numbers& got, const Numbers& expected, double units) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t site = 0; site < got.size(); site += 12) {
        double largest = 0;
        for (std::size_t i = site; i < site + 12; ++i)
            largest = std::max({largest, std::abs(expected[i].real()), std::abs(expected[i].imag())});
        for (std::size_t i = site; i < site + 12; ++i)
            ASSERT_LE(std::abs(got[i] - expected[i]), units * unit<P> * largest) << "number " << i;
    }
}
/// A sum of products: half and single sum their results, whose roundings are independent of each other; the sum itself, in double,
/// is rounded at every one of its terms.
template <Precision P>
void expect_sum(Scalar got, Scalar expected, const Numbers& x, const Numbers& y) {
    const double summing = std::sqrt(static_cast<double>(x.size())) * std::numeric_limits<double>::epsilon();
    EXPECT_LE(std::abs(got - expected), (4 * unit<P> + summing) * std::sqrt(norm2(x) * norm2(y)));
}

template <class P>
class CpuAlgebra : public ::testing::Test {
   protected:
    void TearDown() override { select_simd_target(""); }
};
template <Precision P>
struct Of {
    static constexpr Precision precision = P;
};
using Precisions = ::testing::Types<Of<Precision::half>, Of<Precision::single>, Of<Precision::double_>>;
struct PrecisionName {
    template <class T>
    static std::string GetName(int) {
        return name(T::precision);
    }
};
TYPED_TEST_SUITE(CpuAlgebra, Precisions, PrecisionName);

constexpr Scalar a{0.7, -0.3}, b{-1.1, 0.4};

TYPED_TEST(CpuAlgebra, LoadsAndStores) {
    constexpr auto P = TypeParam::precision;
    for (const auto& extents : algebra_shapes()) {
        Case<P> c(extents);
        const auto psi = test::random_spinor(extents, 3);
        SpinorField back = test::random_spinor(extents, 4);
        const auto before = back;
        const auto field = c.field(psi);
        store(field, Parity::odd, back);
        constexpr std::uint64_t word = P == Precision::double_ ? 8 : P == Precision::single ? 4 : 2;
        EXPECT_GE(field.bytes(), static_cast<std::uint64_t>(extents.half()) * 24 * word);
        Numbers got, expected;
        for (index_t x = 0; x < extents.volume(); ++x)
            for (int i = 0; i < 12; ++i) {
                const auto at = static_cast<std::size_t>(12 * x + i);
                if (extents.site(x).parity() == Parity::even) {
                    EXPECT_EQ(back.values[at], before.values[at]);  // the other parity must not change
                } else {
                    got.push_back(back.values[at]);
                    expected.push_back(psi.values[at]);
                }
            }
        expect_near<P>(got, expected, 1);
        expect_near<P>(c.numbers(c.field(back)), got, P == Precision::half ? 0x1p-7 : 0);  // the scale is a float: 2^-8 of a step
    }
}

TYPED_TEST(CpuAlgebra, OperationsEqualPlainLoops) {
    constexpr auto P = TypeParam::precision;
    const auto targets = simd_targets();
    for (const auto& target : targets)
        for (const auto& extents : algebra_shapes()) {
            select_simd_target(target);
            SCOPED_TRACE(target + " " + text(extents));
            Case<P> c(extents);
            const auto x = c.random(), y = c.random(), z = c.random();
            const auto X = c.numbers(x), Y = c.numbers(y), Z = c.numbers(z);
            const auto each = [&](const auto& f) {
                Numbers out(X.size());
                for (std::size_t i = 0; i < X.size(); ++i) out[i] = f(i);
                return out;
            };
            const auto fresh = [&](const Field<Cpu, P>& from) {
                auto f = c.algebra.like(from);
                c.algebra.copy(from, f);
                return f;
            };
            // A few roundings of terms up to some times as large as the result's largest; half rounds once, at the end.
            constexpr double units = P == Precision::half ? 1 : 12;

            expect_sum<P>(c.algebra.norm2(x), norm2(X), X, X);
            expect_sum<P>(c.algebra.dot(x, y), dot(X, Y), X, Y);
            const auto [xy, xx] = c.algebra.dot_norm2(x, y);
            EXPECT_EQ(xy, c.algebra.dot(x, y));
            EXPECT_EQ(xx, c.algebra.norm2(x));

            auto out = fresh(y);
            EXPECT_EQ(c.numbers(out), Y);
            c.algebra.axpby(a, x, b, out);
            expect_near<P>(c.numbers(out), each([&](std::size_t i) { return a * X[i] + b * Y[i]; }), units);
            c.algebra.zero(out);
            EXPECT_EQ(norm2(c.numbers(out)), 0);

            out = fresh(y);
            auto expected = each([&](std::size_t i) { return Y[i] + a * X[i]; });
            expect_sum<P>(c.algebra.axpy_norm2(a, x, out), norm2(expected), expected, expected);
            expect_near<P>(c.numbers(out), expected, units);

            out = fresh(z);
            c.algebra.axpbypz(a, x, b, y, out);
            expect_near<P>(c.numbers(out), each([&](std::size_t i) { return a * X[i] + b * Y[i] + Z[i]; }), units);

            out = fresh(z);
            c.algebra.direction(x, a, b, y, out);
            expect_near<P>(c.numbers(out), each([&](std::size_t i) { return X[i] + a * (Z[i] - b * Y[i]); }), units);

            const auto shadow = c.random();
            const auto S = c.numbers(shadow);
            auto solution = fresh(z), residual = fresh(shadow);
            const auto [sr, rr] = c.algebra.finish(a, x, b, y, z, solution, residual);
            expected = each([&](std::size_t i) { return S[i] - b * Y[i]; });
            expect_near<P>(c.numbers(residual), expected, units);
            expect_near<P>(c.numbers(solution), each([&](std::size_t i) { return Z[i] + a * X[i] + b * S[i]; }), units);
            expect_sum<P>(sr, dot(Z, expected), Z, expected);
            expect_sum<P>(rr, norm2(expected), expected, expected);

            solution = fresh(z), residual = fresh(shadow);
            const double after = c.algebra.step(0.6, x, y, solution, residual);
            expected = each([&](std::size_t i) { return S[i] - 0.6 * Y[i]; });
            expect_near<P>(c.numbers(residual), expected, units);
            expect_near<P>(c.numbers(solution), each([&](std::size_t i) { return Z[i] + 0.6 * X[i]; }), units);
            expect_sum<P>(after, norm2(expected), expected, expected);
        }
}

TYPED_TEST(CpuAlgebra, SumsDoNotDependOnThreads) {
    constexpr auto P = TypeParam::precision;
    const Extents extents{8, 8, 8, 20};  // parts that two or three threads cannot share equally
    const auto psi = test::random_spinor(extents, 5), phi = test::random_spinor(extents, 6);
    Case<P> one(extents, 1);
    const auto expected = one.algebra.dot_norm2(one.field(psi), one.field(phi));
    for (const int threads : {2, 3}) {
        Case<P> more(extents, threads);
        EXPECT_EQ(more.algebra.dot_norm2(more.field(psi), more.field(phi)), expected);
    }
}

TYPED_TEST(CpuAlgebra, UnreadNumbersMayHaveAnyValue) {
    constexpr auto P = TypeParam::precision;
    Case<P> c({4, 4, 4, 4});
    const auto x = c.random();
    SpinorField nothing({4, 4, 4, 4});
    for (auto& value : nothing.values) value = std::numeric_limits<double>::quiet_NaN();
    auto y = c.field(nothing);
    EXPECT_NE(c.algebra.norm2(y), c.algebra.norm2(y)) << "NaN propagates";
    c.algebra.axpby(1, x, 0, y);
    EXPECT_EQ(c.numbers(y), c.numbers(x));
    c.algebra.axpby(std::numeric_limits<double>::infinity(), x, 0, y);
    EXPECT_FALSE(std::isfinite(c.algebra.norm2(y)));
}

template <Precision From, Precision To>
void expect_conversion(const Extents& extents) {
    Case<From> from(extents);
    Case<To> to(extents);
    const auto x = from.random();
    Field<Cpu, To> y(from.lattice);
    convert(x, y);
    const auto X = from.numbers(x), Y = to.numbers(y);
    if (From <= To)
        expect_near<From>(Y, X, From == Precision::half && To != From ? 0x1p-7 : 0);  // half's numbers are made in single
    else
        expect_near<To>(Y, X, 1);
    Field<Cpu, From> back(from.lattice);
    convert(y, back);
    if (From <= To) expect_near<From>(from.numbers(back), X, From == Precision::half ? 0x1p-6 : 0);
}

TEST(CpuConversion, KeepsNumbersThatThePrecisionHolds) {
    for (const auto& target : simd_targets()) {
        select_simd_target(target);
        for (const auto& extents : algebra_shapes()) {
            SCOPED_TRACE(target + " " + text(extents));
            expect_conversion<Precision::half, Precision::half>(extents);
            expect_conversion<Precision::half, Precision::single>(extents);
            expect_conversion<Precision::half, Precision::double_>(extents);
            expect_conversion<Precision::single, Precision::half>(extents);
            expect_conversion<Precision::single, Precision::single>(extents);
            expect_conversion<Precision::single, Precision::double_>(extents);
            expect_conversion<Precision::double_, Precision::half>(extents);
            expect_conversion<Precision::double_, Precision::single>(extents);
            expect_conversion<Precision::double_, Precision::double_>(extents);
        }
    }
    select_simd_target("");
}

TEST(CpuConversion, HalfHoldsZeroAndItsLargestNumber) {
    const Extents extents{4, 4, 4, 4};
    Case<Precision::half> c(extents);
    SpinorField psi(extents);
    psi.at(extents.lexicographic({{1, 0, 0, 0}}), 2, 1) = {0, -0.3125};
    psi.at(extents.lexicographic({{3, 0, 0, 0}}), 0, 0) = {1e-30, 0};
    SpinorField back(extents);
    store(c.field(psi), Parity::odd, back);
    EXPECT_FLOAT_EQ(static_cast<float>(back.at(extents.lexicographic({{1, 0, 0, 0}}), 2, 1).imag()), -0.3125f);
    EXPECT_FLOAT_EQ(static_cast<float>(back.at(extents.lexicographic({{3, 0, 0, 0}}), 0, 0).real()), 1e-30f);
    EXPECT_EQ(back.at(extents.lexicographic({{0, 1, 0, 0}}), 0, 0), Scalar(0));
}

}  // namespace
}  // namespace kasane::lattice
